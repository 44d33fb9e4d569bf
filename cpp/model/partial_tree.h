/// A tree under construction: the splits that are fixed, and the nodes that are not decided yet.
#pragma once

#include <vector>

#include "model/box.h"

namespace hardwood::search {

/// A node at the lower end of the fixed part: its subtree or its label is to be chosen, or it is a
/// leaf whose label is decided (bounds still have to count its error).
struct OpenNode {
    std::size_t position;
    Box box;
    int levels;      // splits that may still follow on a path; 0: a leaf
    int label = -1;  // of a decided leaf; -1: not decided

    bool is_decided() const { return label >= 0; }
};

/// A decision about an open node: a split, that it is a leaf, or the label of a leaf.
struct Branching {
    enum class Kind { split, leaf, label } kind;
    int value = 0;  // the split or the label
};

struct PartialTree {
    HeapTree fixed;
    std::vector<OpenNode> nodes;  // decided leaves stay in the list
    int n_splits = 0;             // that are fixed

    bool is_root() const { return nodes.size() == 1 && nodes[0].position == 1; }
};

/// The node nearest to the root is decided first. If all nodes are decided: the number of nodes.
std::size_t next_open_node(const PartialTree& tree);

/// The tree after a decision about one of its nodes.
PartialTree child_after(const Instance& instance, const PartialTree& tree, std::size_t node,
                        const Branching& branching);

}  // namespace hardwood::search
