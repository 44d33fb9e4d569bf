#include "search/search.h"

#include <algorithm>
#include <cmath>

#include "search/any_model_bound.h"

namespace hardwood::search {

/// Sums over pairs of splits, for each class and thread, and the reachable points of rows.
double memory_needed(const Instance& instance, int n_jobs) {
    const double n_splits = instance.n_splits(),
                 n_channels = instance.n_classes() == 2 ? 1.0 : instance.n_classes();
    const double n_pairs = 0.5 * n_splits * n_splits;
    const double reachable = 64.0 * sizeof(std::uint32_t) * static_cast<double>(instance.n_rows());
    return n_jobs * bytes_per_pair * n_channels * n_pairs + reachable;
}

namespace {

/// No classifier is correct about more samples without a shift: samples that no split distinguishes
/// get one label. (Such rows are adjacent only if their costs are equal; others are treated as
/// different, which only raises the number.)
double max_nominal_correct(const Instance& instance) {
    double correct = 0.0;
    for (std::size_t begin = 0; begin < instance.n_rows();) {
        const Bin* const point = instance.point(begin);
        std::vector<double> weights(idx(instance.n_classes()), 0.0);
        std::size_t end = begin;
        for (; end < instance.n_rows() &&
               std::equal(point, point + instance.n_columns(), instance.point(end));
             ++end) {
            weights[idx(instance.label(end))] += instance.weight(end);
        }
        correct += std::ranges::max(weights);
        begin = end;
    }
    return std::ceil(correct);
}

}  // namespace

Search::Search(const Instance& instance, int depth, double penalty, const SearchParams& params,
               const SearchLimits& limits, int n_jobs,
               std::function<bool(const SearchState&)> on_progress)
    : instance_(instance),
      params_(params),
      limits_(limits),
      on_progress_(std::move(on_progress)),
      stop_(limits.seconds, limits.work, [this] { return on_progress_(state()); }),
      incumbent_(instance, penalty, depth, params_),
      context_(instance, incumbent_, stop_, params_, n_jobs),
      heuristics_(context_),
      branch_and_bound_(context_),
      upper_bound_(max_nominal_correct(instance)),
      any_model_bound_(upper_bound_) {}

void Search::start_from(const HeapTree& tree) {
    EvaluationCache cache(instance_);
    incumbent_.offer(tree, cache);
}

SearchState Search::state() const {
    const Score best = incumbent_.incumbent().score;
    double bound = upper_bound_;
    if (bounds_all_sizes_) bound = std::min(bound, std::max(best.correct, std::ceil(dual_bound())));
    return {.seconds = stop_.elapsed(),
            .value = best.value,
            .n_splits = best.n_splits,
            .upper_bound = std::max(bound, best.correct),
            .proved = proved_,
            .work = stop_.work()};
}

const char* Search::stop_reason() const {
    if (!stop_.stopped() || (proved_ && !stop_.interrupted())) return "finished";
    if (stop_.reached_work_limit()) return "work_limit";
    return stop_.interrupted() ? "interrupted" : "time_limit";
}

std::vector<std::pair<std::string, BoundStatistics>> Search::statistics() const {
    std::vector<std::pair<std::string, BoundStatistics>> all;
    for (const auto& bound : context_.worker.bounds.bounds())
        all.emplace_back(bound->name(), bound->statistics);
    return all;
}

bool Search::is_trivial() const {
    return incumbent_.depth() == 0 || instance_.n_splits() == 0 || instance_.n_classes() == 1;
}

void Search::tighten_any_model_bound(double slack) {
    if (stop_.should_stop()) return;
    any_model_bound_ =
        std::min(any_model_bound_, hardwood::search::any_model_bound(context_, slack));
}

void Search::run() {
    if (is_trivial()) {
        upper_bound_ = incumbent_.incumbent().score.correct;
        proved_ = true;
        return;
    }
    bounds_all_sizes_ = true;
    if (params_.shallower_half && incumbent_.depth() > 1) stop_.break_halfway();
    heuristics_.find_greedy_tree();
    heuristics_.find_first_trees();
    heuristics_.shrink();
    tighten_any_model_bound(params_.coarse_slack);  // a first bound, whatever the splits are
    upper_bound_ = std::min(upper_bound_, any_model_bound_);
    heuristics_.refine_first_trees();
    prove();
    if (stop_.end_break()) {
        search_shallower();
        prove();
    }
    tighten_any_model_bound(params_.fine_slack);  // now that the support is known
}

/// What a search for trees with one level less finds within half of the limits. A deeper search is
/// therefore never worse than a shallower one with half of its limits, which may find better trees
/// where no proof is in reach.
void Search::search_shallower() {
    const auto on_progress = [&](const SearchState&) { return on_progress_(state()); };
    Search shallower(instance_, incumbent_.depth() - 1, incumbent_.incumbent().penalty, params_,
                     {.seconds = 0.5 * limits_.seconds,
                      .work = limits_.work < 0 ? limits_.work : limits_.work / 2},
                     to_int(context_.team.size()), on_progress);
    shallower.run();
    HeapTree tree = empty_tree(incumbent_.depth());
    copy_subtree(shallower.best_tree(), 1, tree, 1);
    start_from(tree);
    stop_.add_work(shallower.stop_.work());
    if (shallower.stop_.interrupted()) stop_.interrupt();
}

void Search::run_labels(const HeapTree& tree) {
    proved_ = branch_and_bound_.prove_labels(tree);
    if (proved_) upper_bound_ = std::min(upper_bound_, incumbent_.incumbent().score.correct);
}

bool Search::collect() {
    if (stop_.should_stop() || !proved_) return false;
    if (is_trivial()) return true;
    incumbent_.set_target_for_pool();
    return branch_and_bound_.prove() && !stop_.stopped();
}

/// A tree with n splits is better iff it keeps more than to_beat(n) samples correct, a step
/// function that rises with n. Each step of it, with the largest n on the step, is one target; a
/// better tree starts them again.
void Search::prove() {
    const int full = incumbent_.max_splits();
    int n_splits = full;
    bool first = true;
    Score proved_score = incumbent_.incumbent().score;
    while (n_splits >= 0 && !stop_.should_stop()) {
        const double cutoff = incumbent_.incumbent().to_beat(n_splits);
        if (cutoff < upper_bound_) {
            incumbent_.set_target(cutoff, n_splits);
            bounds_all_sizes_ = n_splits == full;
            // Deepening is about trees of all sizes.
            const bool proved = bounds_all_sizes_ && first ? branch_and_bound_.prove_by_deepening()
                                                           : branch_and_bound_.prove();
            first = false;
            if (bounds_all_sizes_) {  // a proof about all sizes also bounds the number of correct
                                      // samples
                const double largest =
                    proved ? incumbent_.target().cutoff : std::ceil(dual_bound());
                upper_bound_ =
                    std::min(upper_bound_, std::max(incumbent_.incumbent().score.correct, largest));
                bounds_all_sizes_ = false;
            }
            if (!proved) return;
        }
        heuristics_.shrink();
        const Incumbent best = incumbent_.incumbent();
        if (best.score.correct > proved_score.to_beat(best.score.n_splits, best.penalty)) {
            proved_score = best.score;
            n_splits = full;
            continue;
        }
        const double step = best.to_beat(n_splits);
        while (n_splits >= 0 && best.to_beat(n_splits) >= step) --n_splits;
    }
    proved_ = n_splits < 0;
}

}  // namespace hardwood::search
