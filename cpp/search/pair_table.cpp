#include "pair_table.h"

#include <algorithm>

namespace hardwood::search {

namespace {

std::size_t padded(std::size_t n) { return (n + lanes - 1) / lanes * lanes; }

}  // namespace

void Gather::clear(std::size_t size) {
    column_.assign(size, 0);
    total_part_.assign(size, 0.0);
    sign_.assign(size, 0.0);
    more_.clear();
}

void Gather::set(std::size_t k, const Terms& terms, std::size_t first_column) {
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

void Gather::apply(const double* from, double total, double* to) const {
    gather(column_, total_part_.data(), sign_.data(), from, total, to);
    for (const More& more : more_) to[more.at] += more.sign * from[more.column];
}

void Programme::PairTable::begin(const Part& part) {
    lay_out_columns(part);
    lay_out_crossings();
    live_width_ = padded(programme_.live_.size());
    right_columns_.clear(live_width_);
    for (std::size_t t = 0; t < programme_.live_.size(); ++t) {
        const LiveTest& live = programme_.live_[t];
        right_columns_.set(t, live.cut->right, first_column_[live.feature]);
    }
    find_same_feature_pairs(part);
    const std::size_t n_sums = programme_.n_classes_ * n_slots_;
    own_.assign(n_sums * own_width_, 0.0);
    across_.assign(n_sums * across_width_, 0.0);
    total_.assign(n_sums, 0.0);
    correction_.assign(same_.size() * 4 * programme_.n_classes_, 0.0);  // own left, own right, across left, across right
}

// Columns: those of features with a live test.
void Programme::PairTable::lay_out_columns(const Part& part) {
    const std::size_t n_features = programme_.instance_.n_features();
    column_bit_.clear();
    rows_.clear();
    first_column_.assign(n_features, 0);
    first_row_.assign(n_features, 0);
    for (std::size_t f = 0; f < n_features; ++f) {
        if (programme_.occurring_[f].empty()) continue;
        first_column_[f] = column_bit_.size();
        first_row_[f] = rows_.size();
        for (std::size_t c = 0; c < programme_.n_columns_[f]; ++c) column_bit_.push_back(programme_.first_bit_[f] + c);
        for (const Terms& terms : part.state[f]->sets) rows_.push_back({&terms, first_column_[f]});
    }
    n_slots_ = 2 * programme_.live_.size();
    own_width_ = padded(column_bit_.size());
    row_count_.resize(rows_.size());
    count_.assign(own_width_, 0.0);
    own_count_.resize(rows_.size() * own_width_);
    pair_count_.resize(column_bit_.size() * own_width_);
}

// Crossings: what could cross each test, from the left, then from the right, by the first set of values that could; then
// further sets, to be added to it. Tests that can be crossed come first.
void Programme::PairTable::lay_out_crossings() {
    const auto can_be_crossed = [&](const LiveTest& live) {
        return std::ranges::any_of(live.cut->alike, [&](const Cut::Alike& alike) {
            return live.cut->extra[1 - live.cut->side[alike.value]][alike.value] < 1.0;
        });
    };
    const auto others = std::ranges::stable_partition(programme_.live_, can_be_crossed);
    n_crossed_ = static_cast<std::size_t>(others.begin() - programme_.live_.begin());
    crossed_width_ = padded(n_crossed_);
    struct Crossing {
        std::size_t to, row;
        double extra;
    };
    std::vector<Crossing> crossings;
    added_to_.clear();
    for (std::size_t t = 0; t < n_crossed_; ++t) {
        const LiveTest& live = programme_.live_[t];
        std::array<bool, 2> has{};
        for (const Cut::Alike& alike : live.cut->alike) {
            const std::size_t side = live.cut->side[alike.value];
            const double extra = live.cut->extra[1 - side][alike.value];
            if (extra >= 1.0) continue;
            std::size_t to = side * crossed_width_ + t;
            if (has[side]) {
                added_to_.push_back(to);
                to = 2 * crossed_width_ + added_to_.size() - 1;
            }
            has[side] = true;
            crossings.push_back({to, first_row_[live.feature] + alike.set, extra});
        }
    }
    across_width_ = 2 * crossed_width_ + padded(added_to_.size());
    across_count_.resize(rows_.size() * across_width_);
    extra_.assign(across_width_, 2.0);
    crossing_columns_.clear(across_width_);
    for (const Crossing& crossing : crossings) {
        extra_[crossing.to] = crossing.extra;
        crossing_columns_.set(crossing.to, *rows_[crossing.row].terms, rows_[crossing.row].first_column);
    }
}

void Programme::PairTable::find_same_feature_pairs(const Part& part) {
    const std::vector<LiveTest>& live = programme_.live_;
    same_.clear();
    corrected_features_.clear();
    live_place_.assign(programme_.instance_.tests().size(), no_point);
    for (std::size_t s = 0; s < live.size(); ++s) live_place_[static_cast<std::size_t>(live[s].test)] = s;
    for (std::size_t s = 0; s < live.size(); ++s) {
        const std::size_t f = live[s].feature;
        if (programme_.tests_of_[f].size() < 2) continue;
        State& state = *part.state[f];
        if (state.seconds.empty()) programme_.find_seconds(state);
        const auto& seconds = state.seconds[programme_.place_of_test_[static_cast<std::size_t>(live[s].test)]];
        for (std::size_t side = 0; side < 2; ++side) {
            for (const State::Second& second : seconds[side]) {
                const std::size_t t = live_place_[static_cast<std::size_t>(programme_.tests_of_[f][second.place])];
                if (t == no_point) continue;
                same_.push_back({2 * s + side, t, &second});
                const bool is_new = std::ranges::find(corrected_features_, f) == corrected_features_.end();
                if (!second.differs.empty() && is_new) corrected_features_.push_back(f);
            }
        }
    }
}

void Programme::PairTable::add(const Part& part, const Group& group) {
    count_columns(part, group);
    count_rows(static_cast<double>(group.end - group.begin));
    contribute(group);
    if (!corrected_features_.empty()) correct(part, group);
}

// The bits of the rows of a group, turned into columns, and how many bits each pair of columns has in common.
void Programme::PairTable::count_columns(const Part& part, const Group& group) {
    const std::size_t n = group.end - group.begin, n_blocks = (n + 63) / 64;
    column_bits_.assign(n_blocks * own_width_, 0);
    for (std::size_t b = 0; b < n_blocks; ++b) {
        const std::size_t in_block = std::min<std::size_t>(64, n - 64 * b);
        std::size_t c = 0;
        for (std::size_t w = 0; w < programme_.n_column_words_ && c < column_bit_.size(); ++w) {
            if (column_bit_[c] / 64 != w) continue;
            std::uint64_t block[64] = {};
            for (std::size_t r = 0; r < in_block; ++r) {
                block[r] = programme_.bits_[part.rows[group.begin + 64 * b + r] * programme_.n_words_ + w];
            }
            transpose(block);
            for (; c < column_bit_.size() && column_bit_[c] / 64 == w; ++c) {
                column_bits_[b * own_width_ + c] = block[column_bit_[c] % 64];
            }
        }
    }
    pair_counts(column_bits_.data(), n_blocks, column_bit_.size(), own_width_, pair_count_.data());
    for (std::size_t c = 0; c < column_bit_.size(); ++c) count_[c] = pair_count_[c * own_width_ + c];
}

// For each set of values: how many have it, together with each column, and together with each crossing.
void Programme::PairTable::count_rows(double n) {
    for (std::size_t r = 0; r < rows_.size(); ++r) {
        double* own = own_count_.data() + r * own_width_;
        if (rows_[r].terms->all) {
            std::copy_n(count_.data(), own_width_, own);
            row_count_[r] = n;
        } else {
            std::fill_n(own, own_width_, 0.0);
            row_count_[r] = 0.0;
        }
        for (const auto& [column, sign] : rows_[r].terms->columns) {
            const std::size_t at = rows_[r].first_column + column;
            const double* pairs = pair_count_.data() + at * own_width_;
            for (std::size_t c = 0; c < own_width_; ++c) own[c] += sign * pairs[c];
            row_count_[r] += sign * count_[at];
        }
        if (row_count_[r] == 0 || across_width_ == 0) continue;
        crossing_columns_.apply(own, row_count_[r], across_count_.data() + r * across_width_);
    }
}

void Programme::PairTable::contribute(const Group& group) {
    contributions_.clear();
    double* totals = total_.data() + group.label * n_slots_;
    for (std::size_t s = 0; s < programme_.live_.size(); ++s) {
        const LiveTest& live = programme_.live_[s];
        for (const Cut::Alike& alike : live.cut->alike) {
            const std::size_t r = first_row_[live.feature] + alike.set;
            if (row_count_[r] == 0) continue;
            for (int side = 0; side < 2; ++side) {
                const auto a = static_cast<std::size_t>(side);
                const double presence = 1.0 - group.cost - live.cut->extra[a][alike.value];
                if (presence <= 0) continue;
                const double weight = group.weight * programme_.sent(group.label, static_cast<std::size_t>(live.test),
                                                                     side, alike.value, *live.cut);
                if (weight <= 0) continue;
                contributions_.push_back({r, 2 * s + a, weight, presence});
                totals[2 * s + a] += weight * presence * row_count_[r];
            }
        }
    }
    add_contributions(contributions_, own_count_.data(), own_width_, across_count_.data(), extra_.data(), across_width_,
                      own_.data() + group.label * n_slots_ * own_width_,
                      across_.data() + group.label * n_slots_ * across_width_);
}

// For values that a second test treats otherwise after the first: what was added to its sums as if there were no first test is
// taken off, and what is true is added.
void Programme::PairTable::correct(const Part& part, const Group& group) {
    const std::size_t most_values = programme_.most_values_, n_classes = programme_.n_classes_;
    value_count_.assign(programme_.instance_.n_features() * most_values, 0.0);
    for (std::size_t r = group.begin; r < group.end; ++r) {
        for (const std::size_t f : corrected_features_) {
            value_count_[f * most_values + programme_.value_[f * programme_.n_points_ + part.rows[r]]] += 1.0;
        }
    }
    for (std::size_t q = 0; q < same_.size(); ++q) {
        const LiveTest& live = programme_.live_[same_[q].slot / 2];
        const std::size_t side = same_[q].slot % 2;
        double* sums = correction_.data() + q * 4 * n_classes + group.label;
        const auto add_value = [&](const Cut& cut, std::size_t v, double weight, double presence) {
            const std::size_t second_side = cut.side[v];
            sums[second_side * n_classes] += weight * presence;
            const double there = presence - cut.extra[1 - second_side][v];
            if (there > 0) sums[(2 + second_side) * n_classes] += weight * there;
        };
        for (const std::size_t v : same_[q].how->differs) {
            const double n_rows = value_count_[live.feature * most_values + v];
            const double presence = 1.0 - group.cost - live.cut->extra[side][v];
            if (n_rows == 0 || presence <= 0) continue;
            const double weight =
                n_rows * group.weight *
                programme_.sent(group.label, static_cast<std::size_t>(live.test), static_cast<int>(side), v, *live.cut);
            add_value(*programme_.live_[same_[q].second].cut, v, -weight, presence);
            add_value(*same_[q].how->cut, v, weight, presence);
        }
    }
}

void Programme::PairTable::finish(Look& result) {
    const std::size_t n_classes = programme_.n_classes_;
    for (std::size_t row = 0; row < n_classes * n_slots_ && !added_to_.empty(); ++row) {
        double* across = across_.data() + row * across_width_;
        for (std::size_t z = 0; z < added_to_.size(); ++z) across[added_to_[z]] += across[2 * crossed_width_ + z];
    }
    right_.assign(n_classes * live_width_, 0.0);
    loss_.resize(live_width_);
    totals_.resize(n_classes);
    pair_own_.resize(2 * n_classes);
    pair_across_.resize(2 * n_classes);
    next_same_ = 0;
    for (std::size_t s = 0; s < programme_.live_.size(); ++s) {
        std::array<Choice, 8> best{};
        best[1] = {programme_.live_[s].test, 0};
        double value = programme_.test_price_;
        for (std::size_t side = 0; side < 2; ++side) value += best_below(2 * s + side, best);
        result.tests.push_back(programme_.live_[s].test);
        result.value.push_back(value);
        result.best.push_back(best);
    }
}

// The least loss with a leaf or a last test on one side of a test.
double Programme::PairTable::best_below(std::size_t slot, std::array<Choice, 8>& best) {
    const std::size_t n_classes = programme_.n_classes_, side = slot % 2;
    const std::vector<LiveTest>& live = programme_.live_;
    double total = 0.0;
    for (std::size_t c = 0; c < n_classes; ++c) {
        totals_[c] = total_[c * n_slots_ + slot];
        total += totals_[c];
        right_columns_.apply(own_.data() + (c * n_slots_ + slot) * own_width_, totals_[c], right_.data() + c * live_width_);
    }
    double least = best_leaf(totals_.data(), n_classes, best[2 + side].label);
    // With two classes all losses are found at once; otherwise, and to learn the labels, one by one.
    const bool quick = n_classes == 2;
    if (quick) {
        two_class_losses(totals_.data(), right_.data(), live_width_, crossing(0, slot), crossing(1, slot), crossed_width_,
                         loss_.data());
    }
    const auto consider = [&](std::size_t t) {
        const LeafPair pair = best_pair(n_classes, pair_own_.data(), pair_across_.data(), pair_own_.data() + n_classes,
                                        pair_across_.data() + n_classes, total);
        if (pair.loss + programme_.test_price_ >= least) return;
        least = pair.loss + programme_.test_price_;
        best[2 + side] = {live[t].test, 0};
        best[4 + 2 * side] = {-1, pair.left};
        best[5 + 2 * side] = {-1, pair.right};
    };
    for (std::size_t t = 0; t < live.size(); ++t) {
        if (quick && loss_[t] + programme_.test_price_ >= least) continue;
        if (live[t].feature == live[slot / 2].feature) continue;
        collect(slot, t);
        consider(t);
    }
    for (; next_same_ < same_.size() && same_[next_same_].slot == slot; ++next_same_) {
        const std::size_t t = same_[next_same_].second;
        const bool corrected = !same_[next_same_].how->differs.empty();
        if (quick && !corrected && loss_[t] + programme_.test_price_ >= least) continue;
        collect(slot, t);
        const double* sums = correction_.data() + next_same_ * 4 * n_classes;
        for (std::size_t z = 0; z < 2 * n_classes && corrected; ++z) {
            pair_own_[z] += sums[z];
            pair_across_[z] += sums[2 * n_classes + z];
        }
        consider(t);
    }
    return least;
}

// What each class has left and right of a second test, and what of it could cross.
void Programme::PairTable::collect(std::size_t slot, std::size_t test) {
    const std::size_t n_classes = programme_.n_classes_;
    for (std::size_t c = 0; c < n_classes; ++c) {
        const double right = right_[c * live_width_ + test];
        pair_own_[c] = totals_[c] - right;
        pair_own_[n_classes + c] = right;
        pair_across_[c] = test < n_crossed_ ? crossing(c, slot)[test] : 0.0;
        pair_across_[n_classes + c] = test < n_crossed_ ? crossing(c, slot)[crossed_width_ + test] : 0.0;
    }
}

}  // namespace hardwood::search
