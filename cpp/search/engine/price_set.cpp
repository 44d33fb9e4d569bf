#include "price_set.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace hardwood::search {

// Times one over the budget: at most 1 - the largest head start. Where the last row may be lost in part, claims are larger by this.
double price_for_zero(const Instance& instance) { return instance.in_part() ? 0.25 : 0.75; }

// The dual value of a tree has its kinks at 1 / margin, and only margins up to the budget matter. Where all margins together cost
// no more than the budget, its maximum is at price 0, and at 3 / (4 budget) it is larger than the rival by a quarter or more. But where
// everybody can pay for getting everywhere, all margins of a tree with two labels are finite: at price 0 its dual value is 0, and prices
// below one over the longest margin are left out (docs/theory.md#pricing).
double lowest_price(const Instance& instance, int columns) {
    const double zero = price_for_zero(instance) / instance.budget(), longest = instance.longest_margin(columns);
    return longest > instance.limit() ? zero : std::max(zero, instance.least_worth() / longest * (1.0 - 1e-12));
}

PriceSet PriceSet::all(const Instance& instance, const Question& question, int columns, const Kinks* kinks) {
    if (instance.budget() <= 0) return {Interval{1.0, 1.0}, nullptr};
    const double low = lowest_price(instance, columns);
    const double high = std::min(instance.most_worth() / instance.smallest_price(), (question.n_samples - question.rival) / instance.budget());
    return {Interval{low, std::max(low, high * (1.0 + 1e-12))}, kinks};
}

void PriceSet::close(const Question& question, const PricedBound& bound) {
    const double gap = bound.loss - question.goal(bound.price);
    if (gap < 0) return;
    if (question.budget <= 0) {
        open_.clear();
        return;
    }
    constexpr double almost = 1.0 - 1e-12;
    const double k = question.rival + question.head_start;
    const double high = !question.upward ? bound.price : k > gap ? bound.price * (k / (k - gap)) * almost : infinity;
    remove({bound.price - gap / question.budget * almost, std::max(high, bound.price)});
}

void PriceSet::remove(Interval closed) {
    std::vector<Interval> left;
    for (const Interval& interval : open_) {
        if (closed.high < interval.low || closed.low > interval.high) {
            left.push_back(interval);
            continue;
        }
        if (interval.low < closed.low) left.push_back({interval.low, closed.low});
        if (interval.high > closed.high) left.push_back({closed.high, interval.high});
    }
    open_ = std::move(left);
    trim();
}

Kinks::Kinks(const Instance& instance, int depth, std::size_t most) {
    double longest = 0.0;
    const std::vector<double> margins = instance.possible_margins(depth, most, longest);
    std::set<double> worths;
    for (int label = 0; label < instance.n_classes(); ++label) worths.insert(instance.worth(label));
    // The lowest price is one of them. Rounding worth / margin moves a dual value by less than the rounding term.
    prices.push_back(lowest_price(instance, depth));
    for (const double worth : worths) {
        for (const double margin : margins) prices.push_back(worth / margin);
    }
    std::ranges::sort(prices);
    complete = longest < instance.limit() ? instance.most_worth() / longest : 0.0;
}

void PriceSet::trim() {
    if (kinks_ == nullptr) return;
    std::vector<Interval> left;
    for (Interval interval : open_) {
        const auto above = std::ranges::upper_bound(kinks_->prices, interval.high);
        const double last = above == kinks_->prices.begin() ? 0.0 : *(above - 1);
        if (interval.high > kinks_->complete) interval.high = std::max(last, std::min(interval.high, kinks_->complete));
        if (interval.low >= kinks_->complete) {
            const auto next = std::ranges::lower_bound(kinks_->prices, interval.low);
            interval.low = next == kinks_->prices.end() ? infinity : *next;
        }
        if (interval.low <= interval.high) left.push_back(interval);
    }
    open_ = std::move(left);
}

Interval PriceSet::below(double share) const {
    double length = 0.0;
    for (const Interval& interval : open_) length += interval.high - interval.low;
    double left = share * length;
    for (std::size_t k = open_.size(); k-- > 0;) {
        const Interval& interval = open_[k];
        if (left <= interval.high - interval.low || k == 0) {
            const double high = std::max(interval.low, interval.high - left);
            if (kinks_ == nullptr || share == 0.0) return {interval.low, high};
            const PriceSet part({interval.low, high}, kinks_);  // from kink to kink
            return part.empty() ? Interval{interval.low, interval.low} : part.open().back();
        }
        left -= interval.high - interval.low;
    }
    return {};
}

double PriceSet::largest_dual(const Question& question, std::vector<PricedBound> known) const {
    std::ranges::sort(known, {}, &PricedBound::price);
    for (std::size_t k = known.size(); k-- > 1;) known[k - 1].loss = std::max(known[k - 1].loss, known[k].loss);
    double most = question.rival;
    const auto dual = [&](double price, double loss) {
        return question.n_samples * (1.0 + 0x1p-48) - price * question.budget - loss;  // docs/theory.md#numbers
    };
    for (const Interval& interval : open_) {
        double from = interval.low;  // the lowest price that is not covered yet
        for (auto bound = known.begin(); bound != known.end() && from <= interval.high; ++bound) {
            if (bound->price < from) continue;
            most = std::max(most, dual(from, bound->loss));
            from = next_price(bound->price);
        }
        if (from <= interval.high) most = std::max(most, dual(from, 0.0));
    }
    return most;
}

// The lowest price above this one that counts.
double PriceSet::next_price(double price) const {
    if (kinks_ == nullptr || price < kinks_->complete) return std::nextafter(price, infinity);
    const auto next = std::ranges::upper_bound(kinks_->prices, price);
    return next == kinks_->prices.end() ? infinity : *next;
}

}  // namespace hardwood::search
