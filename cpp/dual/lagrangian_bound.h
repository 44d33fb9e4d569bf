/// The Lagrangian bound.
#pragma once

#include "dual/dual_ascent.h"

namespace hardwood::search {

/// Lower bound on the loss of every completion of a partial tree at a multiplier u.
///
/// The mass of each row is distributed over points at which it keeps mass (u * cost < class
/// weight), with property (P) of `distribute_mass`. For every such distribution the least error of
/// an ordinary tree on the labelled mass is a lower bound on the loss (docs/theory.md#measures);
/// the tree DP computes it for every branching that is still open. Dual ascent improves the
/// distribution.
class LagrangianBound : public Bound {
public:
    /// `depth`: of the trees that are searched.
    LagrangianBound(const Instance& instance, int depth, Support& support, TreeSink& sink,
                    EvaluationCache& evaluations, StopToken& stop, ThreadTeam& team,
                    const SearchParams& params);

    std::string_view name() const override { return "lagrangian"; }
    BranchBounds compute(const BoundRequest& request, Potentials& potentials) override;

    /// A lower bound on the loss of every classifier at a multiplier, tree or not
    /// (docs/theory.md#any-model).
    double any_model_loss(Potentials& potentials, double multiplier, int n_steps);

private:
    AscentContext context_;
};

}  // namespace hardwood::search
