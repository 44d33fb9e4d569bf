#include "programme.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <variant>

#include "pair_table.h"

namespace hardwood::search {

namespace {

constexpr std::size_t most_bits = 2048;
constexpr std::size_t most_entries = 3'000'000;  // values of a feature times pairs of its tests, added up
constexpr std::size_t most_tests = 30'000;      // two sides of each must fit into 16 bits
// Each value of an ordered feature pays another price to cross. If nearly each point has a value of its own, groups hold
// single points, and bounds from regions are faster.
constexpr std::size_t wide = 16;
constexpr std::size_t cache_size = 1'000'000;  // entries; dropped altogether when full

}  // namespace

bool Programme::fits(const Instance& instance) {
    std::vector<std::size_t> n_values(instance.n_features(), 0);
    if (instance.tests().size() > most_tests) return false;
    std::size_t bits = 0, entries = 0;
    for (const Test& test : instance.tests()) {
        if (n_values[test.feature] > 0) continue;
        if (!instance.priced_by_value(test.feature)) return false;
        const std::size_t n = n_values[test.feature] = instance.values_of(test.feature).size();
        if (n > wide && 4 * n > instance.n_points()) return false;
        bits += n;
        entries += n * n * n;
    }
    return bits <= most_bits && entries <= most_entries;
}

Programme::Programme(const Instance& instance, Watch& watch)
    : instance_(instance),
      watch_(watch),
      n_points_(instance.n_points()),
      n_classes_(instance.n_classes()),
      repeat_(instance.n_samples() <= 4.0 * static_cast<double>(instance.n_points())),
      representative_(instance.n_features()),
      value_(instance.n_features() * n_points_, 0),
      tests_of_(instance.n_features()),
      n_columns_(instance.n_features(), 0),
      first_bit_(instance.n_features(), 0),
      value_bit_(instance.n_features(), 0) {
    for (std::size_t t = 0; t < instance.tests().size(); ++t) {
        std::vector<int>& own = tests_of_[feature_of(t)];
        place_of_test_.push_back(own.size());
        own.push_back(static_cast<int>(t));
    }
    std::size_t bits = 0;
    for (std::size_t f = 0; f < instance.n_features(); ++f) {
        if (tests_of_[f].empty()) continue;
        const std::vector<std::int32_t> codes = instance.values_of(f);
        representative_[f].assign(codes.size(), 0);
        for (std::size_t i = 0; i < n_points_; ++i) {
            const auto at = std::ranges::lower_bound(codes, instance.value(f, i)) - codes.begin();
            value_[f * n_points_ + i] = static_cast<std::uint16_t>(at);
            representative_[f][static_cast<std::size_t>(at)] = i;
        }
        most_values_ = std::max(most_values_, codes.size());
        first_bit_[f] = bits;
        n_columns_[f] = instance.prices(f).ordered || codes.size() == 2 ? codes.size() - 1 : codes.size();
        bits += n_columns_[f];
    }
    n_column_words_ = (bits + 63) / 64;
    for (std::size_t f = 0; f < instance.n_features(); ++f) {
        value_bit_[f] = bits;
        bits += representative_[f].size();
    }
    n_words_ = (bits + 63) / 64;
    bits_.assign(n_points_ * n_words_, 0);
    for (std::size_t f = 0; f < instance.n_features(); ++f) {
        if (tests_of_[f].empty()) continue;
        const std::size_t n_values = representative_[f].size();
        for (std::size_t i = 0; i < n_points_; ++i) {
            const auto set = [&](std::size_t bit) {
                bits_[i * n_words_ + bit / 64] |= std::uint64_t{1} << (bit % 64);
            };
            const std::size_t v = value_[f * n_points_ + i];
            set(value_bit_[f] + v);
            if (n_columns_[f] == n_values) {
                set(first_bit_[f] + v);
            } else {
                for (std::size_t below = 0; below < v; ++below) set(first_bit_[f] + below);
            }
        }
    }
    home_side_.resize(instance.tests().size());
    slope_.resize(instance.tests().size());
    pairs_ = std::make_unique<PairTable>(*this);
}

Programme::~Programme() = default;

std::size_t Programme::KeyHash::operator()(const Key& key) const {
    std::uint64_t hash = 0;
    for (const std::uint16_t item : key) hash = (hash ^ item) * 0x9E3779B97F4A7C15ULL, hash ^= hash >> 29;
    return hash;
}

Programme::Key Programme::with(const Key& key, int test, int side) const {
    const auto item = static_cast<std::uint16_t>(2 * test + side + 1);
    Key result = key;
    std::size_t at = 0;
    while (at < key.size() && key[at] != 0 && key[at] < item) ++at;
    std::copy_backward(key.begin() + static_cast<std::ptrdiff_t>(at), key.end() - 1, result.end());
    result[at] = item;
    return result;
}

void Programme::add_region(const Region& region, const std::vector<double>& weight, Part& part) {
    part.state.assign(instance_.n_features(), nullptr);
    for (std::size_t f = 0; f < instance_.n_features(); ++f) {
        if (!tests_of_[f].empty()) part.state[f] = state_of(region.limits[f]);
    }
    std::map<std::tuple<std::size_t, double, double>, std::vector<std::uint32_t>> groups;
    for (std::size_t j = 0; j < region.size(); ++j) {
        if (region.points[j] == no_point || weight[j] <= 0) continue;
        const double cost = scaled(region.cost[j]);
        if (cost >= 1.0) continue;
        const double count = instance_.count()[region.points[j]];
        const auto copies = static_cast<std::size_t>(repeat_ ? count : 1.0);
        auto& rows = groups[{instance_.label(region.points[j]), cost, repeat_ ? weight[j] / count : weight[j]}];
        rows.insert(rows.end(), copies, static_cast<std::uint32_t>(region.points[j]));
    }
    part.groups.clear();
    part.rows.clear();
    for (const auto& [key, rows] : groups) {
        const auto& [label, cost, each] = key;
        part.groups.push_back({label, cost, each, part.rows.size(), part.rows.size() + rows.size()});
        part.rows.insert(part.rows.end(), rows.begin(), rows.end());
    }
    part.key = {};
}

// Rows of a group with different values may arrive with different prices and weights; rows of different groups may arrive
// with the same.
void Programme::split(const Part& part, int test, int side, Part& result) {
    const auto t = static_cast<std::size_t>(test);
    const std::size_t f = feature_of(t);
    State& state = *part.state[f];
    const Cut& cut = state.cuts[place_of_test_[t]];
    result.state = part.state;
    result.state[f] = part_of_state(state, test, side);
    result.key = with(part.key, test, side);
    const std::uint16_t* values = value_.data() + f * n_points_;
    const std::size_t n_values = cut.side.size();

    arriving_.clear();
    std::vector<std::size_t>& bucket = bucket_;
    for (const Group& group : part.groups) {
        bucket.assign(n_values, no_point);
        const std::size_t first = arriving_.size();
        for (std::size_t v = 0; v < n_values; ++v) {
            const double weight = group.weight * sent(group.label, t, side, v, cut);
            const double cost = group.cost + cut.extra[static_cast<std::size_t>(side)][v];
            if (weight <= 0 || cost >= 1.0) continue;
            std::size_t at = first;
            while (at < arriving_.size() && (arriving_[at].weight != weight || arriving_[at].cost != cost)) ++at;
            if (at == arriving_.size()) arriving_.push_back({group.label, cost, weight, 0, 0});
            bucket[v] = at;
        }
        if (arriving_rows_.size() < arriving_.size()) arriving_rows_.resize(arriving_.size());
        for (std::size_t at = first; at < arriving_.size(); ++at) arriving_rows_[at].clear();
        for (std::size_t r = group.begin; r < group.end; ++r) {
            const std::size_t at = bucket[values[part.rows[r]]];
            if (at != no_point) arriving_rows_[at].push_back(part.rows[r]);
        }
    }
    order_.resize(arriving_.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    const auto key = [&](std::size_t g) {
        return std::tuple(arriving_[g].label, arriving_[g].cost, arriving_[g].weight);
    };
    if (arriving_.size() > 8) std::ranges::sort(order_, {}, key);
    result.groups.clear();
    result.rows.clear();
    for (const std::size_t g : order_) {
        if (arriving_rows_[g].empty()) continue;
        const bool joins = !result.groups.empty() && result.groups.back().label == arriving_[g].label &&
                           result.groups.back().cost == arriving_[g].cost &&
                           result.groups.back().weight == arriving_[g].weight;
        if (!joins) {
            result.groups.push_back(arriving_[g]);
            result.groups.back().begin = result.rows.size();
        }
        result.rows.insert(result.rows.end(), arriving_rows_[g].begin(), arriving_rows_[g].end());
        result.groups.back().end = result.rows.size();
    }
}

Relaxed Programme::solve(const Region& region, const std::vector<double>& weight, const Question& question) {
    rule_ = question.rule;
    test_price_ = question.test_price;
    if (rule_ == Rule::shared) {
        set(question.price, *question.crossings);
    } else {
        set_price(question.price);
    }
    cache_.clear();
    left_out_.assign(instance_.tests().size(), false);
    for (std::size_t k = 0; k < region.tests.size() && question.left_out != nullptr; ++k) {
        left_out_[static_cast<std::size_t>(region.tests[k])] = (*question.left_out)[k];
    }
    parts_.resize(static_cast<std::size_t>(region.levels) + 1);
    looks_.resize(parts_.size());
    add_region(region, weight, parts_[0]);
    std::vector<double> by_test;
    const EntryPtr found = least(0, region.levels, question.cutoff, question.each_test ? &by_test : nullptr);
    Relaxed result;
    result.value = found->bound;
    result.best.resize(std::size_t{2} << region.levels);
    graft(found->best, 1, result.best, 1);
    // Tests that were not looked at, or that put all points on one side, are no better than the best subtree.
    result.by_test.assign(region.tests.size(), result.value);
    result.leaf = std::max(result.value, looks_[0].leaf);
    if (!by_test.empty()) {
        for (std::size_t k = 0; k < region.tests.size(); ++k) {
            result.by_test[k] = std::max(result.value, by_test[static_cast<std::size_t>(region.tests[k])]);
        }
    }
    return result;
}

Programme::EntryPtr Programme::known(const Key& key) const {
    const auto found = cache_.find(key);
    return found == cache_.end() ? nullptr : found->second;
}

void Programme::leave_out(Look& look) const {
    std::size_t kept = 0;
    for (std::size_t s = 0; s < look.tests.size(); ++s) {
        if (left_out_[static_cast<std::size_t>(look.tests[s])]) continue;
        look.tests[kept] = look.tests[s];
        look.value[kept] = look.value[s];
        look.best[kept++] = look.best[s];
    }
    look.tests.resize(kept);
    look.value.resize(kept);
    look.best.resize(kept);
}

Programme::EntryPtr Programme::least(std::size_t depth, int levels, double cutoff, std::vector<double>* by_test) {
    const Part& part = parts_[depth];
    Look& look = looks_[depth];
    if (levels >= 2) {
        look_at_two(part, look);
    } else if (levels == 1) {
        look_at_one(part, look);
    } else {
        look_at_none(part, look);
    }
    if (depth == 0) leave_out(look);
    auto best = std::make_shared<Entry>(Entry{look.leaf, true, Skeleton(std::size_t{2} << levels)});
    best->best[1] = {-1, look.leaf_label};
    if (by_test != nullptr) by_test->assign(instance_.tests().size(), -infinity);
    // What a look finds with fewer levels counts with more levels, too.
    for (std::size_t s = 0; s < look.tests.size(); ++s) {
        if (by_test != nullptr) (*by_test)[static_cast<std::size_t>(look.tests[s])] = look.value[s];
        if (look.value[s] >= best->bound) continue;
        best->bound = look.value[s];
        std::copy_n(look.best[s].begin(), std::min<std::size_t>(8, best->best.size()), best->best.begin());
    }
    double missed = infinity;  // least value that was not worked out
    for (const std::size_t s : levels > 2 ? by_value(look) : std::vector<std::size_t>{}) {
        const double limit = by_test != nullptr ? cutoff : std::min(cutoff, best->bound);
        const Split split = split_on(depth, levels, look.tests[s], limit);
        if (by_test != nullptr) (*by_test)[static_cast<std::size_t>(look.tests[s])] = split.value;
        if (!split.exact) {
            missed = std::min(missed, split.value);
        } else if (split.value < best->bound) {
            best->bound = split.value;
            best->best[1] = {look.tests[s], 0};
            graft(split.child[0]->best, 1, best->best, 2);
            graft(split.child[1]->best, 1, best->best, 3);
        }
    }
    if (watch_.has_stopped()) return std::make_shared<Entry>(Entry{0.0, false, best->best});
    best->exact = best->bound <= missed;
    best->bound = std::min(best->bound, missed);
    if (cache_.size() >= cache_size) cache_.clear();
    cache_[part.key] = best;
    return best;
}

std::vector<std::size_t> Programme::by_value(const Look& look) {
    std::vector<std::size_t> order(look.tests.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t s) { return look.value[s]; });
    return order;
}

// The value with a test on top. Sides are worked out only as long as their bounds stay below the limit.
Programme::Split Programme::split_on(std::size_t depth, int levels, int test, double limit) {
    const Part& part = parts_[depth];
    Split result;
    std::array<double, 2> bound{0.0, 0.0};
    for (int side = 0; side < 2; ++side) {
        const auto a = static_cast<std::size_t>(side);
        result.child[a] = known(with(part.key, test, side));
        if (result.child[a]) bound[a] = result.child[a]->bound;
    }
    for (int side = 0; side < 2 && bound[0] + bound[1] + test_price_ < limit; ++side) {
        const auto a = static_cast<std::size_t>(side);
        if (result.child[a] && result.child[a]->exact) continue;
        if (watch_.stopped()) return {0.0, false, {}};
        split(part, test, side, parts_[depth + 1]);
        result.child[a] = least(depth + 1, levels - 1, limit - test_price_ - bound[1 - a], nullptr);
        bound[a] = result.child[a]->bound;
    }
    result.value = bound[0] + bound[1] + test_price_;
    result.exact = result.child[0] && result.child[1] && result.child[0]->exact && result.child[1]->exact;
    return result;
}

}  // namespace hardwood::search
