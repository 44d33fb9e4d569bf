#include "tuple_sums.h"

#include <algorithm>
#include <cmath>

#include "gains.h"

namespace hardwood::search {

namespace {

// Adds to the sums of all sets of `of` tests out of the first n.
template <int of>
void add_sets(double* sums, const std::uint32_t* tests, std::size_t n, double weight) {
    if constexpr (of == 1) {
        for (std::size_t k = 0; k < n; ++k) sums[tests[k]] += weight;
    } else {
        for (std::size_t k = of - 1; k < n; ++k) add_sets<of - 1>(sums + choose(tests[k], of), tests, k, weight);
    }
}

void add(double* to, const double* from, std::size_t n) {
    for (std::size_t k = 0; k < n; ++k) to[k] += from[k];
}

// Sums over bins to sums over tests, for sets of `of` of the first `tests` tests. A set with two tests of one column has no points
// yet, see `complete`.
void accumulate(double* sums, int of, std::size_t tests, const std::vector<Answers::Run>& runs) {
    for (std::size_t largest = static_cast<std::size_t>(of) - 1; of > 1 && largest < tests; ++largest) {
        accumulate(sums + choose(largest, of), of - 1, largest, runs);
    }
    for (const Answers::Run& run : runs) {
        if (run.end > tests) break;
        const std::size_t others = choose(run.begin, of - 1);  // tests of columns before this one
        const auto with = [&](std::size_t k) { return sums + choose(k, of); };
        if (run.missing) {
            for (std::size_t k = run.begin + 3; k < run.turn; k += 2) add(with(k), with(k - 2), others);
            for (std::size_t k = run.end - 1; k-- > run.turn + 2;) {
                if (!run.with_none(k)) add(with(k - 2), with(k), others);
            }
            for (std::size_t k = run.begin; k + 1 < run.end; ++k) {
                if (!run.with_none(k)) continue;
                add(with(k), with(k < run.turn ? k + 1 : k - 1), others);
                add(with(k), with(run.end - 1), others);
            }
            continue;
        }
        if (run.ordered) {
            for (std::size_t k = run.begin + 1; k < run.turn; ++k) add(with(k), with(k - 1), others);
            for (std::size_t k = run.end; k-- > run.turn + 1;) add(with(k - 1), with(k), others);
            continue;
        }
        for (std::size_t k = run.begin; k < run.end; ++k) {
            if (k != run.rest) add(with(run.rest), with(k), others);
        }
    }
}

// Two tests of one column are true together where one of the column's tests is, or nowhere: sets with both follow from `smaller`, the
// sums for sets with one test less.
void complete(double* sums, const double* smaller, int of, std::size_t tests, const std::vector<Answers::Run>& runs) {
    std::size_t r = 0;
    for (std::size_t high = static_cast<std::size_t>(of) - 1; high < tests; ++high) {
        double* const with_high = sums + choose(high, of);
        if (of > 2) complete(with_high, smaller + choose(high, of - 1), of - 1, high, runs);
        while (r < runs.size() && runs[r].end <= high) ++r;
        if (r == runs.size() || high < runs[r].begin) continue;
        const Answers::Run& run = runs[r];
        for (std::size_t low = run.begin; low < high; ++low) {
            double* const with_both = with_high + choose(low, of - 1);
            const std::size_t others = choose(low, of - 2);
            // It is no test below `low`, so that the sets with it and some of the others, which are, stand side by side. If it is beyond
            // the tests that are left, so is a test of this column with which these sets are completed.
            const std::size_t both = run.meet(low, high);
            if (both < tests) std::copy_n(smaller + choose(both, of - 1), others, with_both);
        }
    }
}

// Copies the sums of a part of the points.
class PartCopy {
public:
    PartCopy(std::size_t k, bool where_true, std::span<const std::uint32_t> kept) : k_(k), where_true_(where_true), kept_(kept) {
        for (std::size_t i = 0; i < kept.size(); ++i) {
            if (i == 0 || kept[i] != kept[i - 1] + 1) stretches_.push_back(i);
        }
        stretches_.push_back(kept.size());
        n_below_ = static_cast<std::size_t>(std::ranges::lower_bound(kept, static_cast<std::uint32_t>(k)) - kept.begin());
    }

    // The sets of `of` tests out of the first m that are kept: `own` has their sums over all points, `with` those where k is true, too.
    // As long as k is not `placed` in a set, all tests that were chosen are larger.
    void sets(double*& out, int of, std::size_t m, const double* own, const double* with, bool placed) const {
        if (of == 0) {
            const double in = with[placed ? 0 : k_];
            *out++ = where_true_ ? in : *own - in;
            return;
        }
        if (of == 1) return single(out, m, own, with, placed);
        for (std::size_t i = static_cast<std::size_t>(of) - 1; i < m; ++i) {
            const std::size_t p = kept_[i];
            const double* const own_p = own + choose(p, of);
            if (placed) {
                sets(out, of - 1, i, own_p, with + choose(p, of), true);
            } else if (p > k_) {
                sets(out, of - 1, i, own_p, with + choose(p, of + 1), false);
            } else {
                sets(out, of - 1, i, own_p, with + choose(k_, of + 1) + choose(p, of), true);
            }
        }
    }

private:
    void single(double*& out, std::size_t m, const double* own, const double* with, bool placed) const {
        const double* const below = placed ? with : with + choose(k_, 2);
        const std::size_t n_below = placed ? m : std::min(m, n_below_);
        for (std::size_t s = 0; stretches_[s] < n_below; ++s) {  // tests that stand side by side are copied side by side
            const std::size_t begin = stretches_[s], n = std::min(stretches_[s + 1], n_below) - begin, p = kept_[begin];
            double* const to = out + begin;
            if (where_true_) {
                std::copy_n(below + p, n, to);
            } else {
                for (std::size_t i = 0; i < n; ++i) to[i] = own[p + i] - below[p + i];
            }
        }
        for (std::size_t i = n_below; i < m; ++i) {
            const std::size_t p = kept_[i];
            const double in = with[choose(p, 2) + k_];
            out[i] = where_true_ ? in : own[p] - in;
        }
        out += m;
    }

    std::size_t k_;
    bool where_true_;
    std::span<const std::uint32_t> kept_;
    std::vector<std::size_t> stretches_;  // where they begin among the kept tests, and their end
    std::size_t n_below_;                 // kept tests below k
};

}  // namespace

void SetSums::lay_out(int order, std::size_t tests) {
    order_ = order;
    tests_ = tests;
    first_.assign(1, 0);
    for (int of = 0; of <= order; ++of) first_.push_back(first_.back() + choose(tests, of));
    sums_.resize(first_.back() + lanes);
}

void SetSums::clear(int order, std::size_t tests) {
    lay_out(order, tests);
    std::ranges::fill(sums_, 0.0);
}

void SetSums::add(std::span<const std::uint32_t> tests, double weight) {
    sums_[0] += weight;
    const std::size_t n = tests.size();
    if (order_ >= 1) add_sets<1>(to(1), tests.data(), n, weight);
    if (order_ >= 2) add_sets<2>(to(2), tests.data(), n, weight);
    if (order_ >= 3) add_sets<3>(to(3), tests.data(), n, weight);
    if (order_ >= 4) add_sets<4>(to(4), tests.data(), n, weight);
    if (order_ >= 5) add_sets<5>(to(5), tests.data(), n, weight);
}

void SetSums::from_bins(const Answers& answers) {
    if (answers.runs().empty()) return;
    for (int of = 1; of <= order_; ++of) {
        accumulate(to(of), of, tests_, answers.runs());
        if (of > 1) complete(to(of), to(of - 1), of, tests_, answers.runs());
    }
}

void SetSums::assign_part(const SetSums& whole, std::size_t k, bool where_true, std::span<const std::uint32_t> kept, int order) {
    lay_out(order, kept.size());
    const PartCopy copy(k, where_true, kept);
    for (int of = 0; of <= order; ++of) {
        double* out = to(of);
        copy.sets(out, of, kept.size(), whole.of(of), whole.of(of + 1), false);
    }
}

void SetSums::copy_pairs_where(std::size_t k, double* pairs, double* single, double& total) const {
    const double* const two = of(2);
    const double* const three = of(3);
    total = of(1)[k];
    std::copy_n(two + choose(k, 2), k, single);
    single[k] = total;
    for (std::size_t p = k + 1; p < tests_; ++p) single[p] = two[choose(p, 2) + k];
    std::copy_n(three + choose(k, 3), choose(k, 2), pairs);  // both tests before k
    std::copy_n(two + choose(k, 2), k, pairs + choose(k, 2));
    for (std::size_t high = k + 1; high < tests_; ++high) {
        double* const row = pairs + choose(high, 2);
        const double* const from = three + choose(high, 3);
        std::copy_n(from + choose(k, 2), k, row);
        row[k] = single[high];
        const double* next = from + choose(k + 1, 2) + k;
        for (std::size_t low = k + 1; low < high; next += low++) row[low] = *next;
    }
}

double TupleSums::n_sets(int order, std::size_t tests) {
    double n = 0.0;
    for (int of = 0; of <= order; ++of) n += static_cast<double>(choose(tests, of));
    return n;
}

void TupleSums::assign(const Answers& answers, std::span<const std::uint32_t> members, const Weights& weights, int order) {
    const std::size_t n_tests = answers.size();
    flipped_.resize(n_tests);
    for (std::size_t k = 0; k < n_tests; ++k) flipped_[k] = answers.is_flipped(k) ? 1 : 0;
    channels_.resize(static_cast<std::size_t>(weights.channels));
    for (SetSums& own : channels_) own.clear(order, n_tests);
    const bool two_classes = weights.channels == 1;
    masses_.clear(two_classes ? std::max(0, order - 3) : 0, n_tests);
    least_leaf_ = weights.least_leaf;
    if (least_leaf_ > 0.0) sizes_.clear(order, n_tests);
    std::vector<std::uint32_t> places(answers.most_places());
    for (const std::uint32_t z : members) {
        const std::span<const std::uint32_t> own(places.data(), answers.places_of(z, places.data()));
        for (std::size_t c = 0; c < channels_.size(); ++c) {
            const double weight = weights.at(z)[c];
            if (weight != 0.0) channels_[c].add(own, weight);
        }
        if (two_classes) masses_.add(own, std::abs(weights.at(z)[0]));
        if (least_leaf_ > 0.0 && weights.sizes[z] > 0.0) sizes_.add(own, weights.sizes[z]);
    }
    for (SetSums& own : channels_) own.from_bins(answers);
    masses_.from_bins(answers);
    if (least_leaf_ > 0.0) sizes_.from_bins(answers);
}

void TupleSums::assign_part(const TupleSums& whole, std::size_t k, int side, std::span<const std::uint32_t> kept) {
    flipped_.resize(kept.size());
    for (std::size_t i = 0; i < kept.size(); ++i) flipped_[i] = whole.flipped_[kept[i]];
    const bool where_true = (side == 0) != whole.is_flipped(k);
    channels_.resize(whole.channels_.size());
    for (std::size_t c = 0; c < channels_.size(); ++c) {
        channels_[c].assign_part(whole.channels_[c], k, where_true, kept, whole.order() - 1);
    }
    least_leaf_ = whole.least_leaf_;
    if (least_leaf_ > 0.0) sizes_.assign_part(whole.sizes_, k, where_true, kept, whole.order() - 1);
    if (whole.masses_.order() > 0) {
        masses_.assign_part(whole.masses_, k, where_true, kept, whole.masses_.order() - 1);
    } else {
        masses_.clear(0, 0);
    }
}

double TupleSums::mass() const {
    if (channels_.size() == 1) return masses_.total();
    double all = 0.0;
    for (const SetSums& own : channels_) all += own.total();
    return all;
}

}  // namespace hardwood::search
