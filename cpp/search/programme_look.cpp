// The last two levels of a dynamic programme: all pairs of tests at once, from counts of pairs of values.
#include <algorithm>

#include "kernels.h"
#include "programme.h"

namespace hardwood::search {

namespace {

std::size_t padded(std::size_t n) { return (n + lanes - 1) / lanes * lanes; }

// The best single leaf, by class; what is lost is the rest.
double best_leaf(const double* mass, std::size_t n_classes, std::size_t stride, int& label) {
    double total = 0.0, most = -1.0;
    for (std::size_t c = 0; c < n_classes; ++c) {
        total += mass[c * stride];
        if (mass[c * stride] > most) {
            most = mass[c * stride];
            label = static_cast<int>(c);
        }
    }
    return std::max(0.0, total - most);
}

// Sums of columns, most of them of a single one.
class Gather {
public:
    explicit Gather(std::size_t size) : column_(size, 0), total_part_(size, 0.0), sign_(size, 0.0) {}

    template <typename Terms>
    void set(std::size_t k, const Terms& terms, std::size_t first_column) {
        total_part_[k] = terms.all ? 1.0 : 0.0;
        for (const auto& [column, sign] : terms.columns) {
            if (sign_[k] == 0.0) {
                column_[k] = static_cast<std::int32_t>(first_column + column);
                sign_[k] = sign;
            } else {
                more_.push_back({k, first_column + column, sign});
            }
        }
    }

    void apply(const double* from, double total, double* to) const {
        gather(column_, total_part_.data(), sign_.data(), from, total, to);
        for (const More& more : more_) to[more.at] += more.sign * from[more.column];
    }

private:
    struct More {
        std::size_t at, column;
        double sign;
    };
    std::vector<std::int32_t> column_;
    std::vector<double> total_part_, sign_;
    std::vector<More> more_;
};

}  // namespace

void Programme::look_at_none(const Part& part, Look& result) {
    std::vector<double> mass(n_classes_, 0.0);
    for (const Group& group : part.groups) {
        mass[group.label] += group.weight * (1.0 - group.cost) * static_cast<double>(group.end - group.begin);
    }
    result.leaf = best_leaf(mass.data(), n_classes_, 1, result.leaf_label);
    result.tests.clear();
    result.value.clear();
    result.best.clear();
}

// A test on which all points are on one side is no better than the subtree of that side alone: nobody pays more for a leaf of
// that subtree without the test. (Where arriving has a price by category, taking the test away may open a cheaper category.)
void Programme::find_live_tests(const Part& part) {
    seen_.assign(n_words_, 0);
    for (const std::uint32_t row : part.rows) {
        for (std::size_t w = 0; w < n_words_; ++w) seen_[w] |= bits_[row * n_words_ + w];
    }
    live_.clear();
    occurring_.resize(instance_.n_features());
    for (std::size_t f = 0; f < instance_.n_features(); ++f) {
        occurring_[f].clear();
        if (tests_of_[f].empty()) continue;
        for (std::size_t v = 0; v < representative_[f].size(); ++v) {
            const std::size_t bit = value_bit_[f] + v;
            if ((seen_[bit / 64] >> (bit % 64) & 1) != 0) occurring_[f].push_back(v);
        }
        const bool price_by_category = instance_.prices(f).columns > 1;
        bool any = false;
        for (std::size_t k = 0; k < tests_of_[f].size(); ++k) {
            const Cut& cut = part.state[f]->cuts[k];
            if (!cut.splits) continue;
            const bool right = std::ranges::any_of(occurring_[f], [&](std::size_t v) { return cut.side[v] == 1; });
            const bool left = std::ranges::any_of(occurring_[f], [&](std::size_t v) { return cut.side[v] == 0; });
            if (!(left && right) && !price_by_category) continue;
            live_.push_back({tests_of_[f][k], f, &cut});
            any = true;
        }
        if (!any) occurring_[f].clear();
    }
}

void Programme::look_at_one(const Part& part, Look& result) {
    look_at_none(part, result);
    find_live_tests(part);
    std::vector<double> own(2 * n_classes_), across(2 * n_classes_);
    for (const LiveTest& live : live_) {
        std::ranges::fill(own, 0.0);
        std::ranges::fill(across, 0.0);
        const std::uint16_t* values = value_.data() + live.feature * n_points_;
        double total = 0.0;
        for (const Group& group : part.groups) {
            for (std::size_t r = group.begin; r < group.end; ++r) {
                const std::size_t v = values[part.rows[r]];
                const std::size_t side = live.cut->side[v];
                const double here = group.weight * (1.0 - group.cost);
                total += here;
                own[side * n_classes_ + group.label] += here;
                across[side * n_classes_ + group.label] +=
                    group.weight * std::max(0.0, 1.0 - group.cost - live.cut->extra[1 - side][v]);
            }
        }
        const LeafPair pair = best_pair(n_classes_, own.data(), across.data(), own.data() + n_classes_,
                                        across.data() + n_classes_, total);
        result.tests.push_back(live.test);
        result.value.push_back(pair.loss + test_price_);
        result.best.push_back({Choice{}, {live.test, 0}, {-1, pair.left}, {-1, pair.right}});
    }
}

// For each side of each test on top ("slot"), and each class: what is there in total, by value of every other feature, and,
// for every other test and value, what of it could cross that test.
void Programme::look_at_two(const Part& part, Look& result) {
    look_at_none(part, result);
    find_live_tests(part);
    const std::size_t n_live = live_.size();
    if (n_live == 0) return;

    // Columns: those of features with a live test. Rows: sets of values that some test treats alike.
    std::vector<std::size_t> column_bit, first_column(instance_.n_features(), 0), first_row(instance_.n_features(), 0);
    struct Row {
        const Terms* terms;
        std::size_t first_column;
    };
    std::vector<Row> rows;
    for (std::size_t f = 0; f < occurring_.size(); ++f) {
        if (occurring_[f].empty()) continue;
        first_column[f] = column_bit.size();
        first_row[f] = rows.size();
        for (std::size_t c = 0; c < n_columns_[f]; ++c) column_bit.push_back(first_bit_[f] + c);
        for (const Terms& terms : part.state[f]->sets) rows.push_back({&terms, first_column[f]});
    }

    // Crossings: what could cross each test, from the left and from the right, by the first set of values that could; then
    // other sets, to be added to it. Tests that can be crossed come first.
    const auto can_be_crossed = [&](const LiveTest& live) {
        return std::ranges::any_of(live.cut->alike, [&](const Cut::Alike& alike) {
            return live.cut->extra[1 - live.cut->side[alike.value]][alike.value] < 1.0;
        });
    };
    const std::size_t n_crossed =
        static_cast<std::size_t>(std::ranges::stable_partition(live_, can_be_crossed).begin() - live_.begin());
    const std::size_t crossed_width = padded(n_crossed);
    struct Crossing {
        std::size_t to, row;
        double extra;
    };
    std::vector<Crossing> crossings;
    std::vector<std::size_t> added_to;  // for other sets: the crossing they are added to
    for (std::size_t t = 0; t < n_crossed; ++t) {
        const LiveTest& live = live_[t];
        std::array<bool, 2> has{};
        for (const Cut::Alike& alike : live.cut->alike) {
            const std::size_t side = live.cut->side[alike.value];
            const double price = live.cut->extra[1 - side][alike.value];
            if (price >= 1.0) continue;
            std::size_t to = side * crossed_width + t;
            if (has[side]) {
                added_to.push_back(to);
                to = 2 * crossed_width + added_to.size() - 1;
            }
            has[side] = true;
            crossings.push_back({to, first_row[live.feature] + alike.set, price});
        }
    }
    const std::size_t across_width = 2 * crossed_width + padded(added_to.size());
    std::vector<double> extra(across_width, 2.0);
    Gather crossing_columns(across_width);
    for (const Crossing& crossing : crossings) {
        extra[crossing.to] = crossing.extra;
        crossing_columns.set(crossing.to, *rows[crossing.row].terms, rows[crossing.row].first_column);
    }
    // What is on the right of each test.
    const std::size_t width = padded(n_live);
    Gather right_columns(width);
    for (std::size_t t = 0; t < n_live; ++t) right_columns.set(t, live_[t].cut->right, first_column[live_[t].feature]);
    const std::size_t own_width = padded(column_bit.size());
    const std::size_t n_slots = 2 * n_live;
    own_.assign(n_classes_ * n_slots * own_width, 0.0);
    across_.assign(n_classes_ * n_slots * across_width, 0.0);
    total_.assign(n_classes_ * n_slots, 0.0);

    // Two tests on one feature: the second acts on what the first leaves of it. For most values that makes no difference; for
    // the others, sums are corrected.
    struct Same {
        std::size_t slot, second;
        const State::Second* how;
    };
    std::vector<Same> same;
    std::vector<std::size_t> corrected_features;
    live_place_.assign(instance_.tests().size(), no_point);
    for (std::size_t s = 0; s < n_live; ++s) live_place_[static_cast<std::size_t>(live_[s].test)] = s;
    for (std::size_t s = 0; s < n_live; ++s) {
        const std::size_t f = live_[s].feature;
        if (tests_of_[f].size() < 2) continue;
        State& state = *part.state[f];
        if (state.seconds.empty()) find_seconds(state);
        for (std::size_t side = 0; side < 2; ++side) {
            for (const State::Second& second : state.seconds[place_of_test_[static_cast<std::size_t>(live_[s].test)]][side]) {
                const std::size_t t = live_place_[static_cast<std::size_t>(tests_of_[f][second.place])];
                if (t == no_point) continue;
                same.push_back({2 * s + side, t, &second});
                const bool known = std::ranges::find(corrected_features, f) != corrected_features.end();
                if (!second.differs.empty() && !known) corrected_features.push_back(f);
            }
        }
    }
    correction_.assign(same.size() * 4 * n_classes_, 0.0);  // own left, own right, across left, across right

    std::vector<double> row_count(rows.size()), count(own_width, 0.0);
    std::vector<Contribution> contributions;
    const std::size_t stride = own_width;
    own_count_.assign(rows.size() * own_width, 0.0);
    across_count_.assign(rows.size() * across_width, 0.0);
    pair_count_.resize(column_bit.size() * stride);
    for (const Group& group : part.groups) {
        const std::size_t n = group.end - group.begin, n_blocks = (n + 63) / 64;
        column_bits_.assign(n_blocks * stride, 0);
        for (std::size_t b = 0; b < n_blocks; ++b) {
            const std::size_t in_block = std::min<std::size_t>(64, n - 64 * b);
            std::size_t c = 0;
            for (std::size_t w = 0; w < n_column_words_ && c < column_bit.size(); ++w) {
                if (column_bit[c] / 64 != w) continue;
                std::uint64_t block[64] = {};
                for (std::size_t r = 0; r < in_block; ++r) {
                    block[r] = bits_[part.rows[group.begin + 64 * b + r] * n_words_ + w];
                }
                transpose(block);
                for (; c < column_bit.size() && column_bit[c] / 64 == w; ++c) {
                    column_bits_[b * stride + c] = block[column_bit[c] % 64];
                }
            }
        }
        pair_counts(column_bits_.data(), n_blocks, column_bit.size(), stride, pair_count_.data());
        for (std::size_t c = 0; c < column_bit.size(); ++c) count[c] = pair_count_[c * stride + c];
        for (std::size_t r = 0; r < rows.size(); ++r) {
            double* own = own_count_.data() + r * own_width;
            if (rows[r].terms->all) {
                std::copy_n(count.data(), own_width, own);
                row_count[r] = static_cast<double>(n);
            } else {
                std::fill_n(own, own_width, 0.0);
                row_count[r] = 0.0;
            }
            for (const auto& [column, sign] : rows[r].terms->columns) {
                const std::size_t at = rows[r].first_column + column;
                const double* pairs = pair_count_.data() + at * stride;
                for (std::size_t c = 0; c < own_width; ++c) own[c] += sign * pairs[c];
                row_count[r] += sign * count[at];
            }
        }
        for (std::size_t r = 0; r < rows.size() && across_width > 0; ++r) {
            if (row_count[r] == 0) continue;
            const double* own = own_count_.data() + r * own_width;
            double* across = across_count_.data() + r * across_width;
            crossing_columns.apply(own, row_count[r], across);
        }
        contributions.clear();
        const double here = 1.0 - group.cost;
        double* totals = total_.data() + group.label * n_slots;
        for (std::size_t s = 0; s < n_live; ++s) {
            const LiveTest& live = live_[s];
            for (const Cut::Alike& alike : live.cut->alike) {
                const std::size_t r = first_row[live.feature] + alike.set;
                if (row_count[r] == 0) continue;
                for (int side = 0; side < 2; ++side) {
                    const auto a = static_cast<std::size_t>(side);
                    const double presence = here - live.cut->extra[a][alike.value];
                    if (presence <= 0) continue;
                    const double weight = group.weight * sent(group.label, static_cast<std::size_t>(live.test), side,
                                                              alike.value, *live.cut);
                    if (weight <= 0) continue;
                    contributions.push_back({r, 2 * s + a, weight, presence});
                    totals[2 * s + a] += weight * presence * row_count[r];
                }
            }
        }
        add_contributions(contributions, own_count_.data(), own_width, across_count_.data(), extra.data(), across_width,
                          own_.data() + group.label * n_slots * own_width,
                          across_.data() + group.label * n_slots * across_width);
        if (corrected_features.empty()) continue;
        value_count_.assign(instance_.n_features() * most_values_, 0.0);
        for (std::size_t r = group.begin; r < group.end; ++r) {
            for (const std::size_t f : corrected_features) {
                value_count_[f * most_values_ + value_[f * n_points_ + part.rows[r]]] += 1.0;
            }
        }
        for (std::size_t q = 0; q < same.size(); ++q) {
            const LiveTest& live = live_[same[q].slot / 2];
            const std::size_t side = same[q].slot % 2;
            double* sums = correction_.data() + q * 4 * n_classes_ + group.label;
            const auto add = [&](const Cut& cut, std::size_t v, double weight, double presence) {
                const std::size_t second_side = cut.side[v];
                sums[second_side * n_classes_] += weight * presence;
                const double there = presence - cut.extra[1 - second_side][v];
                if (there > 0) sums[(2 + second_side) * n_classes_] += weight * there;
            };
            for (const std::size_t v : same[q].how->differs) {
                const double rows_here = value_count_[live.feature * most_values_ + v];
                const double presence = here - live.cut->extra[side][v];
                if (rows_here == 0 || presence <= 0) continue;
                const double weight =
                    rows_here * group.weight *
                    sent(group.label, static_cast<std::size_t>(live.test), static_cast<int>(side), v, *live.cut);
                add(*live_[same[q].second].cut, v, -weight, presence);
                add(*same[q].how->cut, v, weight, presence);
            }
        }
    }

    for (std::size_t row = 0; row < n_classes_ * n_slots && !added_to.empty(); ++row) {
        double* across = across_.data() + row * across_width;
        for (std::size_t z = 0; z < added_to.size(); ++z) across[added_to[z]] += across[2 * crossed_width + z];
    }
    std::vector<double> right(n_classes_ * width, 0.0), loss(width);
    std::vector<double> own(2 * n_classes_), across(2 * n_classes_), totals(n_classes_);
    std::size_t next_same = 0;
    for (std::size_t s = 0; s < n_live; ++s) {
        std::array<Choice, 8> best{};
        best[1] = {live_[s].test, 0};
        double value = test_price_;
        for (std::size_t side = 0; side < 2; ++side) {
            const std::size_t slot = 2 * s + side;
            double total = 0.0;
            for (std::size_t c = 0; c < n_classes_; ++c) {
                totals[c] = total_[c * n_slots + slot];
                total += totals[c];
                right_columns.apply(own_.data() + (c * n_slots + slot) * own_width, totals[c], right.data() + c * width);
            }
            const auto crossing = [&](std::size_t c) { return across_.data() + (c * n_slots + slot) * across_width; };
            Choice* choice = best.data();
            double least = best_leaf(totals.data(), n_classes_, 1, choice[2 + side].label);
            const auto consider = [&](std::size_t t) {
                const LeafPair pair = best_pair(n_classes_, own.data(), across.data(), own.data() + n_classes_,
                                                across.data() + n_classes_, total);
                if (pair.loss + test_price_ >= least) return;
                least = pair.loss + test_price_;
                choice[2 + side] = {live_[t].test, 0};
                choice[4 + 2 * side] = {-1, pair.left};
                choice[5 + 2 * side] = {-1, pair.right};
            };
            if (n_classes_ == 2) {
                two_class_losses(totals.data(), right.data(), width, crossing(0), crossing(1), crossed_width, loss.data());
            }
            const auto collect = [&](std::size_t t) {
                for (std::size_t c = 0; c < n_classes_; ++c) {
                    own[c] = totals[c] - right[c * width + t];
                    own[n_classes_ + c] = right[c * width + t];
                    across[c] = t < n_crossed ? crossing(c)[t] : 0.0;
                    across[n_classes_ + c] = t < n_crossed ? crossing(c)[crossed_width + t] : 0.0;
                }
            };
            for (std::size_t t = 0; t < n_live; ++t) {
                if (n_classes_ == 2 && loss[t] + test_price_ >= least) continue;
                if (live_[t].feature == live_[s].feature) continue;
                collect(t);
                consider(t);
            }
            for (; next_same < same.size() && same[next_same].slot == slot; ++next_same) {
                const std::size_t t = same[next_same].second;
                const bool corrected = !same[next_same].how->differs.empty();
                if (n_classes_ == 2 && !corrected && loss[t] + test_price_ >= least) continue;
                collect(t);
                const double* sums = correction_.data() + next_same * 4 * n_classes_;
                for (std::size_t z = 0; z < 2 * n_classes_ && corrected; ++z) {
                    own[z] += sums[z];
                    across[z] += sums[2 * n_classes_ + z];
                }
                consider(t);
            }
            value += least;
        }
        result.tests.push_back(live_[s].test);
        result.value.push_back(value);
        result.best.push_back(best);
    }
}

}  // namespace hardwood::search
