// Prices at which a better tree may still exist: disjoint closed intervals, ascending.
#pragma once

#include <vector>

#include "question.h"

namespace hardwood::search {

struct Interval {
    double low;
    double high;
};

// A lower bound on losses at one price.
struct PricedBound {
    double price;
    double loss;
};

// Where dual values may have a kink (docs/theory.md#kinks): at one over a possible margin. Their largest values are there.
struct Kinks {
    std::vector<double> prices;  // ascending; all from `complete` on
    double complete = infinity;

    Kinks() = default;
    Kinks(const Instance& instance, int depth, std::size_t most);
};

// The price that stands for 0, times one over the budget (docs/theory.md#pricing).
double price_for_zero(const Instance& instance);

class PriceSet {
public:
    PriceSet() = default;
    PriceSet(Interval all, const Kinks* kinks) : kinks_(kinks), open_{all} { trim(); }

    // Every price at which a classifier with two labels, each of whose parts limits so many columns, may have its largest dual value
    // (docs/theory.md#pricing).
    static PriceSet all(const Instance& instance, const Question& question, int columns, const Kinks* kinks);

    // A bound at a price closes the prices around it (docs/theory.md#intervals): down to price - gap / budget, because losses
    // fall with the price; up to price * k / (k - gap) with k = rival + head start, because a dual value is concave in the price
    // and not negative at 0.
    void close(const Question& question, const PricedBound& bound);
    void remove(Interval closed);

    bool empty() const { return open_.empty(); }
    const std::vector<Interval>& open() const { return open_; }
    // The highest interval, or the part of the set below the given share of its length, counted from the top.
    Interval below(double share) const;

    // The largest dual value that a tree may have at an open price, if losses are at least as large as the bounds say: between
    // two prices, at least what is known at the higher one.
    double largest_dual(const Question& question, std::vector<PricedBound> known) const;

private:
    double next_price(double price) const;
    // Takes prices between kinks off the ends of intervals.
    void trim();

    const Kinks* kinks_ = nullptr;  // may be left out
    std::vector<Interval> open_;
};

}  // namespace hardwood::search
