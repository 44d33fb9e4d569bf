// A tree as arrays: the compiled twin of hardwood.tree.Tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "prices.h"

namespace hardwood {

struct Node {
    std::int32_t feature;  // -1: a leaf
    std::int32_t code;
    std::int32_t left;
    std::int32_t right;
    bool ordered;
    bool missing_left;  // where to go without an answer; ordered features only
};

class Tree {
public:
    // Nodes in preorder: every child stands behind its parent, so each walk ends.
    explicit Tree(std::vector<Node> nodes, std::size_t n_features);

    // For each sample the leaf it ends in, counted from left to right.
    void leaf_of(const Table& table, std::span<std::int32_t> leaves) const;

    std::size_t n_features() const { return n_features_; }

private:
    std::vector<Node> nodes_;
    std::vector<std::int32_t> leaf_number_;  // by node
    std::size_t n_features_;
};

}  // namespace hardwood
