#include "search/shared_incumbent.h"

#include <algorithm>

#include "model/constraint.h"

namespace hardwood::search {

namespace {

bool is_reached(const HeapTree& tree, std::size_t at) {
    for (std::size_t above = at / 2; above >= 1; above /= 2) {
        if (tree[above].is_leaf()) return false;
    }
    return true;
}

}  // namespace

SharedIncumbent::SharedIncumbent(const Instance& instance, double penalty, int depth,
                                 const SearchParams& params)
    : instance_(instance),
      depth_(depth),
      incumbent_{.penalty = penalty},
      target_{.total = instance.total(),
              .budget = instance.budget(),
              .upward_closing = params.upward_closing,
              .tie_margin = params.tie_margin ? tie_margin_of(instance) : 0.0,
              .zero_margin = params.exact_zero ? zero_margin_of(instance) : 0.0} {
    offer_single_leaves();
}

void SharedIncumbent::offer_single_leaves() {
    EvaluationCache cache(instance_);
    for (int label = 0; label < instance_.n_classes(); ++label) {
        HeapTree leaf = empty_tree(depth_);
        leaf[1] = HeapNode::leaf(label);
        offer(leaf, cache);
    }
}

void SharedIncumbent::collect_into(SolutionPool& pool) {
    pool_ = &pool;
    offer_single_leaves();
}

void SharedIncumbent::set_target(double cutoff, int max_splits) {
    target_.cutoff = cutoff;
    target_.max_splits = max_splits;
    target_.limits_size = max_splits < this->max_splits();
}

void SharedIncumbent::set_target_for_all_sizes() {
    set_target(incumbent().to_beat(max_splits()), max_splits());
}

void SharedIncumbent::set_target_for_pool() {
    target_.cutoff = pool_->cutoff();
    target_.max_splits = max_splits();
    target_.limits_size = false;
    target_.collects_all = true;
}

Target SharedIncumbent::target() const {
    return target_;
}

Incumbent SharedIncumbent::incumbent() const {
    return incumbent_;
}

bool SharedIncumbent::offer(const HeapTree& tree, EvaluationCache& cache, double multiplier) {
    const std::optional<Evaluation> evaluation = cache.evaluate(tree, multiplier);
    if (!evaluation) return false;
    if (!admits(instance_, tree)) return true;
    const Score score{.correct = evaluation->correct,
                      .n_splits = count_splits(tree),
                      .value = instance_.fractional() ? evaluation->dual : evaluation->correct};
    if (pool_ != nullptr) pool_->offer(tree, score);
    if (target_.collects_all) target_.cutoff = std::max(target_.cutoff, pool_->cutoff());
    if (incumbent_.is_beaten_by(score)) {
        incumbent_.score = score;
        incumbent_.tree = tree;
        incumbent_.dual_multiplier = evaluation->dual_multiplier;
        if (!target_.collects_all) {
            target_.cutoff = std::max(target_.cutoff, incumbent_.to_beat(target_.max_splits));
        }
    }
    return true;
}

void SharedIncumbent::shrink(EvaluationCache& cache, StopToken& stop) {
    bool smaller = true;
    while (smaller && incumbent().score.n_splits > 0) {
        smaller = false;
        const Incumbent best = incumbent();
        for (std::size_t at = 1; at < best.tree.size() / 2 && !smaller && !stop.should_stop();
             ++at) {
            if (best.tree[at].is_leaf() || !is_reached(best.tree, at)) continue;
            for (int label = 0; label < instance_.n_classes() && !stop.should_stop_waiting();
                 ++label) {
                HeapTree pruned = best.tree;
                pruned[at] = HeapNode::leaf(label);
                offer(pruned, cache);
            }
            for (std::size_t side = 0; side < 2; ++side) {
                HeapTree lifted = best.tree;
                copy_subtree(best.tree, 2 * at + side, lifted, at);
                offer(lifted, cache);
            }
            smaller = incumbent().score.n_splits < best.score.n_splits;
        }
    }
}

}  // namespace hardwood::search
