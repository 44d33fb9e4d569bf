/// Branch and bound over partial trees (docs/theory.md#branching).
#pragma once

#include "search/context.h"

namespace hardwood::search {

/// Proves that no tree meets the target: closes multipliers by bounds, and decides node after node
/// where bounds leave multipliers open. Better trees become incumbents on the way and raise the
/// cutoff.
class BranchAndBound {
public:
    explicit BranchAndBound(SearchContext& context)
        : context_(context), next_local_search_(context.params.local_search_after) {}

    /// True if no tree meets the target any more, whose cutoff better trees raise on the way; false
    /// if stopped before.
    bool prove();
    /// The same for a target without a limit on splits, which the caller must have set; with
    /// iterative deepening if the proof takes long.
    bool prove_by_deepening();
    /// The same for trees with the splits of `tree`: only labels are open.
    bool prove_labels(const HeapTree& tree);

private:
    struct Child;

    void process(Worker& worker, SearchNode& node);
    std::size_t choose_node(Worker& worker, const SearchNode& node);
    std::size_t n_open_branchings(Worker& worker, const SearchNode& node, std::size_t open_node);
    void process_root(SearchNode& root, std::vector<BranchBounds> bounds);
    void process_child(Worker& worker, const SearchNode& parent, std::size_t node,
                       const Branching& branching, Child& child);
    std::vector<Child> open_children(const SearchNode& parent,
                                     const std::vector<Branching>& branchings,
                                     const std::vector<BranchBounds>& bounds) const;
    void close_multipliers(Worker& worker, SearchNode& node, std::size_t open_node,
                           const std::vector<Branching>& branchings,
                           std::vector<BranchBounds>& found);
    void close_root_multipliers(SearchNode& root, const std::vector<Branching>& branchings,
                                std::vector<BranchBounds>& found);
    bool zero_is_apart() const;
    void settle_zero(SearchNode& root);
    void run_local_search(const Worker& worker);
    void deepen();

    SearchContext& context_;
    long long next_local_search_;  // steps of the ascent after which it is due
    bool only_labels_ = false;     // trees with other splits are not wanted
};

}  // namespace hardwood::search
