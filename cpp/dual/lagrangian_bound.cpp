#include "dual/lagrangian_bound.h"

#include <algorithm>

namespace hardwood::search {

LagrangianBound::LagrangianBound(const Instance& instance, int depth, Support& support,
                                 TreeSink& sink, EvaluationCache& evaluations, StopToken& stop,
                                 ThreadTeam& team, const SearchParams& params)
    : context_{.instance = instance,
               .depth = depth,
               .support = support,
               .sink = sink,
               .evaluations = evaluations,
               .stop = stop,
               .team = team,
               .params = params,
               .dp = {support.points(), stop, team, params},
               .mass = {instance, support.reachable(), team}} {}

BranchBounds LagrangianBound::compute(const BoundRequest& request, Potentials& potentials) {
    DualAscent ascent(context_, request, potentials);
    BranchBounds bounds = ascent.run();
    statistics.steps += ascent.n_steps();
    return bounds;
}

double LagrangianBound::any_model_loss(Potentials& potentials, double multiplier, int n_steps) {
    const Instance& instance = context_.instance;
    const Support& support = context_.support;
    potentials.extend(support.points(), context_.team);
    potentials.compress(context_.params.potential_range);
    double best = 0.0;
    for (int k = 0; k < n_steps && !context_.stop.should_stop(); ++k) {
        const ByClass& mass = context_.mass.distribute(multiplier, potentials.attractions());
        const double rounding = rounding_error(instance, support.points(), support.reachable(), 0);
        best = std::max(best, any_labelling_error(mass) - rounding);
        if (!instance.any_move_at(multiplier)) break;
        potentials.add(mass, 1.0 / (1.0 + k / context_.params.step_half_life));
    }
    return best;
}

}  // namespace hardwood::search
