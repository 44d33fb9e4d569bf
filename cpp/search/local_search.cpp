#include "search/local_search.h"

#include "model/constraint.h"

namespace hardwood::search {

namespace {

constexpr double min_improvement = 1e-9;

}  // namespace

/// The dual value, which counts the sample that is flipped in part: ties between integers would
/// lead nowhere.
double LocalSearch::value_of(const HeapTree& tree, double penalty) {
    const int n_splits = count_splits(tree);
    work_left_ -= static_cast<double>(instance_.n_rows()) * (n_splits + 8);  // sorting counts, too
    if (!admits(instance_, tree)) return -infinity;
    return evaluator_(tree).dual - penalty * n_splits;
}

bool LocalSearch::improve_node(std::size_t at, const Box& box, int levels, double penalty,
                               Candidate& best) {
    const HeapTree before = best.tree;
    const HeapNode own = before[at];
    const double known = best.value;
    const auto offer = [&](const HeapTree& tree) {
        if (!has_work_left()) return;
        const double value = value_of(tree, penalty);
        if (value > best.value + min_improvement) best = {.tree = tree, .value = value};
    };
    HeapTree tree = before;
    for (int label = 0; label < instance_.n_classes(); ++label) {
        if (own == HeapNode::leaf(label)) continue;
        tree[at] = HeapNode::leaf(label);
        offer(tree);
    }
    for (const int split : levels > 0 ? box.splits : std::vector<int>{}) {
        if (own.split == split) continue;
        tree[at] = HeapNode::branch(split);
        if (!own.is_leaf()) {
            offer(tree);
            continue;
        }
        for (int label = 0; label < instance_.n_classes(); ++label) {
            if (label == own.label) continue;
            for (std::size_t side = 0; side < 2; ++side) {
                tree[2 * at + side] = HeapNode::leaf(label);
                tree[2 * at + 1 - side] = HeapNode::leaf(own.label);
                offer(tree);
            }
        }
    }
    return best.value > known;
}

bool LocalSearch::improve_subtree(std::size_t at, const Box& box, int levels, double penalty,
                                  Candidate& best) {
    bool better = improve_node(at, box, levels, penalty, best);
    const int split = best.tree[at].split;
    if (split < 0) return better;
    for (int side = 0; side < 2; ++side) {
        const Box part = part_of(instance_, box, split, side);
        better |= improve_subtree(2 * at + idx(side), part, levels - 1, penalty, best);
    }
    return better;
}

bool LocalSearch::improve_labels(std::size_t at, Candidate& best) {
    if (!best.tree[at].is_leaf()) {
        const bool left = improve_labels(2 * at, best), right = improve_labels(2 * at + 1, best);
        return left || right;
    }
    const double before = best.value;
    for (int label = 0; label < instance_.n_classes() && has_work_left(); ++label) {
        if (best.tree[at].label == label) continue;
        Candidate other = best;
        other.tree[at].label = label;
        other.value = value_of(other.tree, 0.0);
        if (other.value > best.value + min_improvement) best = std::move(other);
    }
    return best.value > before;
}

void LocalSearch::relabel(const HeapTree& tree, double max_work) {
    work_left_ = max_work;
    Candidate best{.tree = tree, .value = value_of(tree, 0.0)};
    while (has_work_left() && improve_labels(1, best)) {
    }
    incumbent_.offer(best.tree, evaluations_);
}

void LocalSearch::run(double max_work) {
    const Incumbent start = incumbent_.incumbent();
    if (start.tree == last_) return;
    work_left_ = max_work;
    Candidate best{.tree = start.tree, .value = value_of(start.tree, start.penalty)};
    while (has_work_left() &&
           improve_subtree(1, whole_domain(instance_), incumbent_.depth(), start.penalty, best)) {
    }
    incumbent_.offer(best.tree, evaluations_);
    last_ = best.tree;
}

}  // namespace hardwood::search
