/// A decision tree as arrays: the compiled counterpart of hardwood.trees.tree.Tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "costs/move_costs.h"

namespace hardwood {

struct TreeNode {
    std::int32_t feature = -1;  // -1: a leaf
    std::int32_t code = 0;
    std::int32_t left = -1;
    std::int32_t right = -1;
    bool ordered = false;
    bool missing_left = false;  // where a missing value goes; ordered features only
};

class Tree {
public:
    /// Nodes in preorder: every child follows its parent, so each walk ends.
    explicit Tree(std::vector<TreeNode> nodes, std::size_t n_features);

    /// For each sample the leaf that it reaches, counted from left to right.
    void leaf_of(const Table& table, std::span<std::int32_t> leaves) const;

    std::size_t n_features() const { return n_features_; }

private:
    std::vector<TreeNode> nodes_;
    std::vector<std::int32_t> leaf_number_;  // by node
    std::size_t n_features_;
};

}  // namespace hardwood
