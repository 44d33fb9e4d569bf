/// Trees as the search builds them: arrays in heap order.
#pragma once

#include <cstddef>
#include <vector>

namespace hardwood::search {

/// A node of a tree in heap order: the root has position 1, the children of p are 2p and 2p + 1.
struct HeapNode {
    int split = -1;  // -1: a leaf
    int label = 0;   // of a leaf

    bool is_leaf() const { return split < 0; }
    bool operator==(const HeapNode&) const = default;

    static HeapNode leaf(int label) { return {.split = -1, .label = label}; }
    static HeapNode branch(int split) { return {.split = split, .label = 0}; }
};

using HeapTree = std::vector<HeapNode>;

inline HeapTree empty_tree(int depth) {
    return HeapTree(std::size_t{2} << depth);
}

/// Splits of a full tree.
constexpr int max_tree_splits(int depth) {
    return (1 << (depth < 20 ? depth : 20)) - 1;
}

int count_splits(const HeapTree& tree, std::size_t position = 1);

/// Copies the subtree at one position to another position of the same or another tree.
void copy_subtree(const HeapTree& from, std::size_t source, HeapTree& to, std::size_t target);

}  // namespace hardwood::search
