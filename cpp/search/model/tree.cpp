#include "tree.h"

namespace hardwood::search {

int count_tests(const Skeleton& tree, std::size_t position) {
    if (tree[position].test < 0) return 0;
    return 1 + count_tests(tree, 2 * position) + count_tests(tree, 2 * position + 1);
}

void graft(const Skeleton& from, std::size_t source, Skeleton& to, std::size_t target) {
    to[target] = from[source];
    if (from[source].test < 0) return;
    graft(from, 2 * source, to, 2 * target);
    graft(from, 2 * source + 1, to, 2 * target + 1);
}

}  // namespace hardwood::search
