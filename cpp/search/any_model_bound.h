/// A bound on every classifier, tree or not (docs/theory.md#any-model).
#pragma once

#include "search/context.h"

namespace hardwood::search {

/// No classifier of any kind keeps more samples correct than the result.
///
/// At every multiplier (breakpoints are not used: a region may restrict all columns), the mass that
/// the best labelling of the points misclassifies reaches the loss that the result requires. The
/// result is at least what the incumbent keeps, and up to `slack_share` of all samples (but at
/// least `SearchParams::min_slack`) larger than necessary, so that each bound closes an interval.
/// All samples if the search is stopped.
double any_model_bound(SearchContext& context, double slack_share);

}  // namespace hardwood::search
