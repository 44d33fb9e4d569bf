#include "model/tree.h"

#include <stdexcept>
#include <utility>

namespace hardwood {

Tree::Tree(std::vector<TreeNode> nodes, std::size_t n_features)
    : nodes_(std::move(nodes)), leaf_number_(nodes_.size(), -1), n_features_(n_features) {
    if (nodes_.empty()) throw std::invalid_argument("nodes: a tree has at least one");
    const auto size = static_cast<std::int32_t>(nodes_.size());
    std::int32_t n_leaves = 0;
    for (std::int32_t k = 0; k < size; ++k) {
        const TreeNode& node = nodes_[static_cast<std::size_t>(k)];
        if (node.feature < 0) {
            leaf_number_[static_cast<std::size_t>(k)] = n_leaves++;
            continue;
        }
        const bool feature_exists = static_cast<std::size_t>(node.feature) < n_features;
        const bool children_follow =
            node.left > k && node.right > k && node.left < size && node.right < size;
        if (!feature_exists || !children_follow)
            throw std::invalid_argument("nodes: not a tree in preorder");
    }
}

void Tree::leaf_of(const Table& table, std::span<std::int32_t> leaves) const {
    for (std::size_t i = 0; i < leaves.size(); ++i) {
        std::size_t at = 0;
        while (nodes_[at].feature >= 0) {
            const TreeNode& node = nodes_[at];
            const std::int32_t code = table.column(static_cast<std::size_t>(node.feature))[i];
            const bool left = !node.ordered          ? code == node.code
                              : code == missing_code ? node.missing_left
                                                     : code <= node.code;
            at = static_cast<std::size_t>(left ? node.left : node.right);
        }
        leaves[i] = leaf_number_[at];
    }
}

}  // namespace hardwood
