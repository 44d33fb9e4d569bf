/// The incumbent and the target that it sets, shared by the parts of the search.
#pragma once

#include "dual/bound.h"
#include "model/evaluation_cache.h"
#include "search/incumbent.h"
#include "search/solution_pool.h"
#include "util/search_params.h"

namespace hardwood::search {

/// Every better tree becomes the incumbent and raises the cutoff of the target.
class SharedIncumbent : public TreeSink {
public:
    SharedIncumbent(const Instance& instance, double penalty, int depth,
                    const SearchParams& params);

    /// From now on: is there a tree with at most `max_splits` splits and more than `cutoff` samples
    /// correct?
    void set_target(double cutoff, int max_splits);
    /// The target for all trees that are better than the incumbent.
    void set_target_for_all_sizes();
    Target target() const override;
    Incumbent incumbent() const;

    bool offer(const HeapTree& tree, EvaluationCache& cache, double multiplier) override;
    bool offer(const HeapTree& tree, EvaluationCache& cache) {
        return offer(tree, cache, infinity);
    }
    /// From now on, trees that the pool accepts are kept ...
    void collect_into(SolutionPool& pool);
    /// ... and the target asks for all of these.
    void set_target_for_pool();

    /// Removes splits from the incumbent as long as it stays as good.
    void shrink(EvaluationCache& cache, StopToken& stop);

    const Instance& instance() const { return instance_; }
    int depth() const { return depth_; }
    int max_splits() const { return max_tree_splits(depth_); }

private:
    void offer_single_leaves();

    const Instance& instance_;
    int depth_;
    Incumbent incumbent_;
    Target target_;
    SolutionPool* pool_ = nullptr;
};

}  // namespace hardwood::search
