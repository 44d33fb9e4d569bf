// Lower bounds on the losses of a node's completions at one price, for every option of one of its places
// (docs/theory.md#ascent).
#pragma once

#include <limits>

#include "../measure/support.h"
#include "../programme/programme.h"
#include "bound.h"

namespace hardwood::search {

// How large steps are where potentials come from another price: large steps spoil what is nearly right, small ones take long where
// much has changed. As long as ascents become shorter, the pace goes on changing as it did; then it turns.
class Pace {
public:
    double scale() const { return scale_; }
    void learn(int steps, const Effort& effort);

private:
    double scale_ = 1.0;
    bool rising_ = true;
    int last_ = std::numeric_limits<int>::max();
};

class MeasureBound : public Bound {
public:
    MeasureBound(const Instance& instance, Support& support, Contest& contest, Judge& judge, Watch& watch, const Effort& effort);

    std::string_view name() const override { return "measures"; }

    // Improves the node's potentials step by step, until every option reaches the goal by some measure, or the steps do not help
    // any more. Trees that come up on the way are offered to the contest. Reaching the goal early, it goes on.
    OptionBounds at(const Inquiry& inquiry) override;

    // A lower bound on the loss of every classifier at a price, tree or not (docs/theory.md#any-model), by so many steps.
    double loss_of_any_model(Potentials& potentials, double price, int steps);

private:
    struct Ascent;
    void load(Ascent& ascent);
    void value_options(Ascent& ascent, bool all);
    void close_runs(Ascent& ascent, std::span<const std::size_t> open, double cutoff, double more);
    void close_run(Ascent& ascent, std::span<const std::size_t> run, double cutoff, double more);
    Sizes sizes_of(const Ascent& ascent, const Place& place) const;
    Stairs value_of(Ascent& ascent, const Option& option, double cutoff);
    void step(Ascent& ascent);
    std::vector<std::size_t> options_to_raise(const Ascent& ascent) const;
    bool may_want_more(Ascent& ascent) const;
    void begin_anew(Ascent& ascent) const;
    Skeleton tree_of(const Ascent& ascent, const Option& option);

    const Instance& instance_;
    Support& support_;
    Contest& contest_;
    Judge& judge_;
    Watch& watch_;
    const Effort& effort_;
    Programme programme_;
    ByClass weights_;
    std::vector<double> sizes_;  // samples by point, where leaves must hold some
    double rounding_ = 0.0;
    std::vector<std::uint32_t> members_;
    double ambition_ = 1.0;  // by how much the goal is to be exceeded, so that prices nearby are closed, too
    Pace pace_;
};

}  // namespace hardwood::search
