// What closes prices: lower bounds on the losses of a node's completions (CONTRIBUTING.md, "How to add a bound").
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "../support/watch.h"
#include "contest.h"
#include "node.h"

namespace hardwood::search {

// What is known at a price: the loss of every completion with a certain option, at least.
struct OptionBounds {
    double price;
    std::vector<double> loss;  // by option
    // Where tests were counted along, by option: the same for completions with at most so many tests in all, for 0, 1, ... of them.
    std::vector<std::vector<double>> by_tests = {};

    PricedBound least() const;
    // The same for completions with at most so many tests.
    OptionBounds with_tests(int most) const;
};

// One place of a node is to be decided, at one price.
struct Inquiry {
    Node& node;
    std::size_t place;
    const std::vector<Option>& options;
    double price;   // of the measures
    double open;    // the highest price that is to be closed; not above the price
    double lowest;  // every sample beyond the goal closes lower prices, too, down to this at most
    int most_steps;
};

struct BoundStatistics {
    long long calls = 0;
    long long steps = 0;    // of whatever the bound counts
    long long options = 0;  // that were open when it was asked ...
    long long closed = 0;   // ... and that it closed
    double seconds = 0.0;
};

// A lower bound on the loss of every completion of a node at one price, for each option.
class Bound {
public:
    virtual ~Bound() = default;
    virtual std::string_view name() const = 0;
    virtual bool serves(const Node&) const { return true; }
    // Never larger than a true loss: that is the whole contract. A bound that is stopped tells what it knows.
    virtual OptionBounds at(const Inquiry& inquiry) = 0;

    BoundStatistics statistics;
};

// Bounds one after the other, the cheap ones first, until every option is closed; of all that was found, the largest counts.
class BoundLadder {
public:
    explicit BoundLadder(Contest& contest) : contest_(contest) {}

    void add(std::unique_ptr<Bound> bound) { bounds_.push_back(std::move(bound)); }
    OptionBounds at(const Inquiry& inquiry);
    const std::vector<std::unique_ptr<Bound>>& bounds() const { return bounds_; }

private:
    Contest& contest_;
    std::vector<std::unique_ptr<Bound>> bounds_;
};

}  // namespace hardwood::search
