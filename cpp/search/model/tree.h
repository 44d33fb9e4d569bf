// Trees as the search builds them.
#pragma once

#include <cstddef>
#include <vector>

namespace hardwood::search {

// A node of a tree in heap order: position 1 is the root, 2p and 2p + 1 are the children of p.
struct Choice {
    int test = -1;  // -1: a leaf
    int label = 0;

    bool operator==(const Choice&) const = default;
};

using Skeleton = std::vector<Choice>;

inline Skeleton empty_tree(int depth) { return Skeleton(std::size_t{2} << depth); }

int count_tests(const Skeleton& tree, std::size_t position = 1);

// Copies the subtree at one position to another position of the same or another tree.
void graft(const Skeleton& from, std::size_t source, Skeleton& to, std::size_t target);

}  // namespace hardwood::search
