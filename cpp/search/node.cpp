#include "search/node.h"

#include "model/constraint.h"

namespace hardwood::search {

namespace {

/// The label of the leaf on the other side of the same split, -1 if there is none: with equal
/// labels on both sides, the split could be removed.
int label_of_sibling(const PartialTree& tree, const OpenNode& node) {
    for (const OpenNode& other : tree.nodes) {
        if (other.position == (node.position ^ 1) && node.position > 1) return other.label;
    }
    return -1;
}

}  // namespace

std::vector<Branching> branchings_of(const Instance& instance, const PartialTree& tree,
                                     std::size_t at, const Target& target) {
    const OpenNode& node = tree.nodes[at];
    const bool may_split =
        node.levels > 0 && (!target.limits_size || tree.n_splits < target.max_splits);
    const std::vector<int> splits =
        may_split ? admitted_splits(instance, node.box) : std::vector<int>{};
    std::vector<Branching> branchings;
    if (splits.empty()) {
        const int sibling = target.collects_all ? label_of_sibling(tree, node) : -1;
        for (int label = 0; label < instance.n_classes(); ++label) {
            if (label != sibling)
                branchings.push_back({.kind = Branching::Kind::label, .value = label});
        }
        return branchings;
    }
    for (const int split : splits)
        branchings.push_back({.kind = Branching::Kind::split, .value = split});
    // If splits are free, a leaf is a split with equal labels on both sides, unless a constraint
    // forbids that or such splits are not wanted. Trees without any split were offered at the
    // beginning: none of them is better.
    const bool needs_leaf =
        target.limits_size || target.collects_all || !leaf_is_trivial_split(instance);
    if (needs_leaf && !tree.is_root()) branchings.push_back({.kind = Branching::Kind::leaf});
    return branchings;
}

}  // namespace hardwood::search
