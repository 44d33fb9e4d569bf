/// Several good trees instead of one.
#pragma once

#include <vector>

#include "model/box.h"
#include "model/evaluator.h"
#include "search/incumbent.h"

namespace hardwood::search {

/// Keeps the trees that are at most `gap` worse than the best one, up to `max_size` of them. Each
/// is reduced: no split can be removed, in favour of one of its subtrees or of a label, without
/// losing a sample. Of several trees that predict the same everywhere, the smallest is kept.
class SolutionPool {
public:
    struct Member {
        HeapTree tree;
        Score score;
        std::vector<LeafBox> leaves;
    };

    SolutionPool(const Instance& instance, std::size_t max_size, double gap)
        : instance_(instance), evaluate_(instance), max_size_(max_size), gap_(gap) {}

    void offer(const HeapTree& tree, const Score& score);
    /// Trees that keep no more samples correct than this do not belong to the pool.
    double cutoff() const;
    /// The best first.
    std::vector<Member> members() const;
    /// Whether the size limit rejected trees.
    bool has_rejected() const { return members_.size() > max_size_; }

private:
    Score score_of(const HeapTree& tree);
    HeapTree reduce(HeapTree tree, Score& score);
    bool same_predictions(const std::vector<LeafBox>& one, const std::vector<LeafBox>& other) const;
    bool intersect(const BoxKey& one, const BoxKey& other) const;

    const Instance& instance_;
    Evaluator evaluate_;
    std::size_t max_size_;
    double gap_;
    double best_ = -1.0;
    std::vector<Member>
        members_;  // at most one more than `max_size_`, which shows that there are others
};

}  // namespace hardwood::search
