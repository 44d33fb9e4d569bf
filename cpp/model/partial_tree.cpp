#include "model/partial_tree.h"

#include "model/constraint.h"

namespace hardwood::search {

std::size_t next_open_node(const PartialTree& tree) {
    std::size_t first = tree.nodes.size();
    for (std::size_t k = 0; k < tree.nodes.size(); ++k) {
        const OpenNode& node = tree.nodes[k];
        if (node.is_decided()) continue;
        if (first == tree.nodes.size() || node.levels > tree.nodes[first].levels) first = k;
    }
    return first;
}

PartialTree child_after(const Instance& instance, const PartialTree& tree, std::size_t at,
                        const Branching& branching) {
    PartialTree child = tree;
    OpenNode& node = child.nodes[at];
    switch (branching.kind) {
        case Branching::Kind::label:
            node.label = branching.value;
            child.fixed[node.position] = HeapNode::leaf(branching.value);
            return child;
        case Branching::Kind::leaf:
            node.levels = 0;
            return child;
        case Branching::Kind::split:
            break;
    }
    child.fixed[node.position] = HeapNode::branch(branching.value);
    ++child.n_splits;
    const OpenNode whole = node;
    for (int side = 0; side < 2; ++side) {
        OpenNode part{.position = 2 * whole.position + idx(side),
                      .box = part_of(instance, whole.box, branching.value, side),
                      .levels = whole.levels - 1};
        keep_admitted_splits(instance, part.box);
        if (side == 0) {
            child.nodes[at] = std::move(part);
        } else {
            child.nodes.push_back(std::move(part));
        }
    }
    return child;
}

}  // namespace hardwood::search
