// The last levels of a dynamic programme.
#include <algorithm>

#include "pair_table.h"

namespace hardwood::search {

double best_leaf(const double* mass, std::size_t n_classes, int& label) {
    double total = 0.0, most = -1.0;
    for (std::size_t c = 0; c < n_classes; ++c) {
        total += mass[c];
        if (mass[c] > most) {
            most = mass[c];
            label = static_cast<int>(c);
        }
    }
    return std::max(0.0, total - most);
}

void Programme::look_at_none(const Part& part, Look& result) {
    std::vector<double> mass(n_classes_, 0.0);
    for (const Group& group : part.groups) {
        mass[group.label] += group.weight * (1.0 - group.cost) * static_cast<double>(group.end - group.begin);
    }
    result.leaf = best_leaf(mass.data(), n_classes_, result.leaf_label);
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
    occurring_.assign(instance_.n_features(), {});
    if (part.rows.empty()) return;
    for (std::size_t f = 0; f < instance_.n_features(); ++f) {
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

void Programme::look_at_two(const Part& part, Look& result) {
    look_at_none(part, result);
    find_live_tests(part);
    if (live_.empty()) return;
    PairTable& pairs = *pairs_;
    pairs.begin(part);
    for (const Group& group : part.groups) pairs.add(part, group);
    pairs.finish(result);
}

}  // namespace hardwood::search
