#include "tuple_kernel.h"

#include <algorithm>
#include <cmath>

#include "gains.h"

namespace hardwood::search {

TupleKernel::TupleKernel(const Points& points)
    : points_(points), answers_(points), places_(static_cast<std::size_t>(points.instance().n_columns())) {}

bool TupleKernel::serves(int levels, std::size_t tests, int channels) {
    if (levels <= 2) return true;
    // Numbers in the table: 8 MB, beyond which it leaves the caches. Four levels at once took two to four times as long as kernels of
    // three, of which cut-offs spare many.
    constexpr double most = 1e6;
    return levels == 3 && std::pow(static_cast<double>(tests), levels) * channels <= most;
}

// A table of so many dimensions; the last one is padded.
std::size_t TupleKernel::length(int dimensions) const {
    std::size_t length = stride_;
    for (int d = 1; d < dimensions; ++d) length *= size_;
    return dimensions == 0 ? 1 : length;
}

void TupleKernel::load(const Box& box, std::span<const std::uint32_t> members, const Weights& weights, int levels, bool counted) {
    levels_ = levels;
    counted_ = counted;
    channels_ = weights.channels;
    scale_ = channels_ == 1 ? 0.5 : 1.0;
    answers_.map(box);
    size_ = box.tests.size();
    stride_ = (size_ + lanes - 1) / lanes * lanes;
    tables_.assign(static_cast<std::size_t>(channels_) * length(levels), 0.0);
    total_.assign(static_cast<std::size_t>(channels_), 0.0);
    sum(members, weights);
    Tables tables;
    for (int c = 0; c < channels_; ++c) {
        double* const own = tables_.data() + static_cast<std::size_t>(c) * length(levels);
        from_bins_to_tests(own);
        tables.push_back(own);
    }
    buffers_.resize(static_cast<std::size_t>(std::max(levels + 1, static_cast<int>(buffers_.size()))));
    by_test_.resize(size_);
    solve(levels, tables, total_.data(), best_, &by_test_);
}

// A point enters the sums of all tuples of tests that are true for it. In the last two dimensions only pairs in order are summed
// up, the others follow.
void TupleKernel::sum(std::span<const std::uint32_t> members, const Weights& weights) {
    mass_ = 0.0;
    const std::uint32_t* const here = places_.data();
    const std::size_t whole = length(levels_);
    for (const std::uint32_t z : members) {
        const std::size_t n = answers_.places_of(z, places_.data());
        for (std::size_t c = 0; c < total_.size(); ++c) {
            const double weight = weights.at(z)[c];
            if (weight == 0.0) continue;
            total_[c] += weight;
            mass_ += std::abs(weight);
            const auto add_pairs = [&](double* table) {
                for (std::size_t x = 0; x < n; ++x) {
                    double* const row = table + here[x] * stride_;
                    for (std::size_t y = x; y < n; ++y) row[here[y]] += weight;
                }
            };
            double* const own = tables_.data() + c * whole;
            switch (levels_) {
                case 1:
                    for (std::size_t x = 0; x < n; ++x) own[here[x]] += weight;
                    break;
                case 2: add_pairs(own); break;
                default:
                    for (std::size_t a = 0; a < n; ++a) add_pairs(own + here[a] * length(2));
            }
        }
    }
}

void TupleKernel::from_bins_to_tests(double* table) const {
    if (levels_ > 1) {
        for (double* square = table; square < table + length(levels_); square += length(2)) {
            for (std::size_t x = 0; x < size_; ++x) {
                for (std::size_t y = 0; y < x; ++y) square[x * stride_ + y] = square[y * stride_ + x];
            }
        }
    }
    if (!answers_.adds_anything()) return;
    for (int d = levels_; d >= 1; --d) {  // along each dimension, from the first
        const std::size_t inner = d > 1 ? length(d - 1) : 1, outer = length(d);
        for (double* part = table; part < table + length(levels_); part += outer) answers_.add_rows(part, inner);
    }
}

double TupleKernel::gain_of(const double* sums) const {
    return channels_ == 1 ? std::abs(sums[0]) : *std::max_element(sums, sums + channels_);
}

// A test with these gains on its two sides.
void TupleKernel::offer(const Gains& here, const Gains& there, Gains& best) const {
    if (!counted_) {
        best[0] = std::max(best[0], here[0] + there[0]);
        return;
    }
    for (std::size_t a = 0; a < here.size(); ++a) {
        for (std::size_t b = 0; b < there.size(); ++b) best[a + b + 1] = std::max(best[a + b + 1], here[a] + there[b]);
    }
}

void TupleKernel::solve(int levels, const Tables& tables, const double* totals, Gains& best, std::vector<Gains>* by_test) {
    const std::size_t width = counted_ ? std::size_t{1} << levels : 1;
    best.assign(width, gain_of(totals));
    if (levels == 1) return solve_one(tables, totals, best, by_test);
    if (levels == 2) return solve_two(tables, totals, best, by_test);
    const std::size_t channels = total_.size(), inner = length(levels - 1), block = length(levels - 2);
    Buffers& own = buffers_[static_cast<std::size_t>(levels)];
    // What all points of this part have: for a tuple of one test less, repeat its first test.
    own.lower.resize(channels * inner);
    own.there.resize(channels * inner);
    own.totals.resize(2 * channels);
    for (std::size_t c = 0; c < channels; ++c) {
        for (std::size_t b = 0; b < size_; ++b) {
            const double* const from = tables[c] + b * inner + b * block;
            std::copy(from, from + block, own.lower.data() + c * inner + b * block);
        }
    }
    std::size_t diagonal = 1;  // from (b, ..., b) to the next
    for (int d = 1; d < levels; ++d) diagonal += length(d);
    for (std::size_t k = 0; k < size_; ++k) {
        Tables here(channels), there(channels);
        for (std::size_t c = 0; c < channels; ++c) {
            here[c] = tables[c] + k * inner;
            there[c] = own.there.data() + c * inner;
            for (std::size_t e = 0; e < inner; ++e) own.there[c * inner + e] = own.lower[c * inner + e] - here[c][e];
            own.totals[c] = tables[c][k * diagonal];
            own.totals[channels + c] = totals[c] - own.totals[c];
        }
        solve(levels - 1, here, own.totals.data(), own.here_gains, nullptr);
        solve(levels - 1, there, own.totals.data() + channels, own.there_gains, nullptr);
        offer(own.here_gains, own.there_gains, best);
        if (by_test != nullptr) {
            (*by_test)[k].assign(width, 0.0);
            offer(own.here_gains, own.there_gains, (*by_test)[k]);
        }
    }
}

void TupleKernel::solve_one(const Tables& tables, const double* totals, Gains& best, std::vector<Gains>* by_test) {
    std::vector<double> here(total_.size()), there(total_.size());
    for (std::size_t k = 0; k < size_; ++k) {
        for (std::size_t c = 0; c < here.size(); ++c) {
            here[c] = tables[c][k];
            there[c] = totals[c] - here[c];
        }
        const double gain = gain_of(here.data()) + gain_of(there.data());
        best.back() = std::max(best.back(), gain);
        if (by_test != nullptr) (*by_test)[k].assign(best.size(), gain);
    }
}

void TupleKernel::solve_two(const Tables& tables, const double* totals, Gains& best, std::vector<Gains>* by_test) {
    const std::size_t channels = total_.size();
    single_.assign(channels * stride_, 0.0);
    for (std::size_t c = 0; c < channels; ++c) {
        for (std::size_t k = 0; k < size_; ++k) single_[c * stride_ + k] = tables[c][k * stride_ + k];
    }
    inside_.resize(stride_);
    outside_.resize(stride_);
    if (channels_ == 1) {
        best_gains(tables[0], single_.data(), totals[0], size_, stride_, inside_.data(), outside_.data());
    } else {
        best_gains_of_classes(tables.data(), single_.data(), totals, channels, size_, stride_, inside_.data(), outside_.data());
    }
    if (!counted_) {
        for (std::size_t k = 0; k < size_; ++k) {
            best[0] = std::max(best[0], inside_[k] + outside_[k]);
            if (by_test != nullptr) (*by_test)[k].assign(1, inside_[k] + outside_[k]);
        }
        return;
    }
    std::vector<double> here(channels), there(channels);
    for (std::size_t k = 0; k < size_; ++k) {
        for (std::size_t c = 0; c < channels; ++c) {
            here[c] = single_[c * stride_ + k];
            there[c] = totals[c] - here[c];
        }
        const Gains in{gain_of(here.data()), inside_[k]}, out{gain_of(there.data()), outside_[k]};
        offer(in, out, best);
        if (by_test != nullptr) {
            (*by_test)[k].assign(best.size(), 0.0);
            offer(in, out, (*by_test)[k]);
        }
    }
}

double TupleKernel::error_with(std::size_t k, std::size_t tests) const {
    const Gains& gains = by_test_[k];
    double gain = gains[0];
    for (std::size_t n = 1; n < gains.size() && n <= tests; ++n) gain = std::max(gain, gains[n]);
    return std::max(0.0, scale_ * (mass_ - gain));
}

}  // namespace hardwood::search
