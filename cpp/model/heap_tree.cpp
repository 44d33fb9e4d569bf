#include "model/heap_tree.h"

namespace hardwood::search {

int count_splits(const HeapTree& tree, std::size_t position) {
    if (tree[position].is_leaf()) return 0;
    return 1 + count_splits(tree, 2 * position) + count_splits(tree, 2 * position + 1);
}

void copy_subtree(const HeapTree& from, std::size_t source, HeapTree& to, std::size_t target) {
    to[target] = from[source];
    if (from[source].is_leaf()) return;
    copy_subtree(from, 2 * source, to, 2 * target);
    copy_subtree(from, 2 * source + 1, to, 2 * target + 1);
}

}  // namespace hardwood::search
