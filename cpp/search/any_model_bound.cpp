#include "search/any_model_bound.h"

#include <algorithm>
#include <cmath>

namespace hardwood::search {

double any_model_bound(SearchContext& context, double slack_share) {
    const Instance& instance = context.instance;
    const SearchParams& params = context.params;
    Worker& worker = context.worker;
    Target target = context.incumbent.target();
    target.cutoff = std::max(0.0, context.incumbent.incumbent().score.correct);
    // Dual functions of arbitrary classifiers may bend anywhere.
    MultiplierIntervals open =
        MultiplierIntervals::all(instance, target, instance.n_columns(), nullptr);
    Potentials potentials(instance.n_classes());
    const double slack = std::max(params.min_slack, slack_share * target.total);
    // At the multiplier of the incumbent, the bound is usually largest: started there, the others
    // close in large steps.
    double multiplier = context.incumbent.incumbent().dual_multiplier;
    if (!(multiplier > open.lowest() && multiplier < open.highest())) multiplier = open.highest();
    for (; !open.empty(); multiplier = open.empty() ? 0.0 : open.highest()) {
        const double loss =
            worker.lagrangian->any_model_loss(potentials, multiplier, params.any_model_steps);
        if (worker.stop.stopped()) return instance.total();
        // Where the loss is below the required one, this many samples may be possible; a little
        // more closes the multipliers nearby, too.
        const double dual =
            target.total - multiplier * target.budget - loss - target.margin_at(multiplier);
        target.cutoff = std::min(target.total, std::max(target.cutoff, std::ceil(dual + slack)));
        open.close(target, {.multiplier = multiplier, .loss = loss});
    }
    return target.cutoff;
}

}  // namespace hardwood::search
