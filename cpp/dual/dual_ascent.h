/// Dual ascent: raising the Lagrangian bound of a partial tree at one multiplier
/// (docs/theory.md#ascent).
#pragma once

#include <limits>

#include "dp/tree_dp.h"
#include "dual/bound.h"
#include "dual/completions.h"
#include "dual/support.h"
#include "model/evaluation_cache.h"

namespace hardwood::search {

/// Scales the steps of ascents that continue from the potentials of another multiplier: large steps
/// destroy what is nearly right, small ones take long where much has changed. As long as ascents
/// become shorter, the scale keeps changing in the same direction; then it turns.
class StepSize {
public:
    double scale() const { return scale_; }
    void learn(int n_steps, const SearchParams& params);

private:
    double scale_ = 1.0;
    bool growing_ = true;
    int last_ = std::numeric_limits<int>::max();
};

/// What the ascents of one search share: the parts that they use, and what they learn for the next
/// one.
struct AscentContext {
    const Instance& instance;
    int depth;  // of the trees that are searched
    Support& support;
    TreeSink& sink;
    EvaluationCache& evaluations;
    StopToken& stop;
    ThreadTeam& team;
    const SearchParams& params;
    TreeDp dp;
    StepSize step_size = {};
    double overshoot = 1.0;  // how far an ascent is asked to exceed the required loss
    MassDistribution mass;   // of the last step
    std::vector<double> sizes =
        {};  // observations by point; a buffer that the DP's weights refer to
};

/// One ascent. Each step distributes the mass of all rows by the current potentials, values open
/// branchings by the tree DP (all of them every few steps, otherwise up to the first below the
/// aim), and raises the potentials of the points that the best tree misclassifies; a long ascent at
/// the root raises the best trees of several branchings in one step. It ends when every branching
/// exceeds the required loss by the overshoot, each by some distribution, or after a stall that a
/// restart did not resolve. Trees found on the way are offered as incumbents.
class DualAscent {
public:
    DualAscent(AscentContext& context, const BoundRequest& request, Potentials& potentials);

    BranchBounds run();
    int n_steps() const { return n_started_; }

private:
    double required_loss() const { return target_.required_loss(request_.highest_open); }
    double aim() const { return required_loss() + overshoot_; }
    double reached() const;

    int column_of(const Branching& branching) const;
    void load_weights();
    void value_branchings(bool all);
    void close_runs(std::span<const std::size_t> open, double cutoff, double offset);
    void close_run(std::span<const std::size_t> run, double cutoff, double offset);
    void step();
    std::vector<std::size_t> branchings_to_raise() const;
    bool raise_overshoot();
    bool has_stalled();
    void restart();
    void learn(bool reached_all);

    AscentContext& context_;
    const BoundRequest& request_;
    Potentials& potentials_;
    Completions completions_;
    Target target_;
    BranchBounds bounds_;
    std::vector<double> last_;  // values of the branchings when they were last computed
    double rounding_error_ = 0.0;
    int best_ = -1;  // the branching below the aim with the least exact value
    int steps_ = 0, n_started_ = 0;

    double overshoot_ = 0.0, max_overshoot_ = 0.0;
    int raised_at_ = 0;          // step at which the overshoot was last raised ...
    double reached_then_ = 0.0;  // ... and the value reached at that time
    int restarted_at_ = 0;       // step after a restart; 0: none
    bool continues_ = false;     // whether the root's potentials come from another multiplier
    double window_start_ = 0.0;  // the value reached when the current window of steps began
    int window_ = 0;             // steps in it
};

}  // namespace hardwood::search
