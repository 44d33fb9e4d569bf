#include "dual/completions.h"

#include <algorithm>
#include <iterator>

namespace hardwood::search {

void Completions::pose(const PointSet& points, std::span<const std::uint32_t> considered,
                       const Target& target, bool sizes_at_root) {
    max_splits_ = std::max(0, target.max_splits - request_.tree.n_splits);
    limits_size_ = target.limits_size;
    subproblems_.clear();
    for (const OpenNode& open : request_.tree.nodes) {
        std::vector<std::uint32_t> inside;
        std::ranges::copy_if(considered, std::back_inserter(inside), [&](std::uint32_t z) {
            return contains(points.instance(), open.box.key, points[z]);
        });
        subproblems_.push_back(dp_.subproblem(open.box, open.levels, std::move(inside)));
    }
    all_sizes_ = sizes_at_root && request_.tree.is_root() && subproblems_.front().is_shallow();
}

SizeRange Completions::whole() const {
    return {.by_size = limits_size_ || all_sizes_, .min = 0, .max = max_splits_};
}

/// The largest size of the other nodes is known, so a node has to provide errors for the rest and
/// more only.
SizeRange Completions::sizes_of(const OpenNode& node) const {
    if (!whole().by_size) return SizeRange::any();
    int others = 0;
    for (const OpenNode& other : request_.tree.nodes) {
        if (&other != &node && !other.is_decided()) others += max_tree_splits(other.levels);
    }
    return {.by_size = true, .min = std::max(0, max_splits_ - others), .max = max_splits_};
}

void Completions::value_other_nodes(double cutoff) {
    others_ = {0.0};
    for (std::size_t k = 0; k < subproblems_.size(); ++k) {
        if (k == request_.node) continue;
        const OpenNode& open = request_.tree.nodes[k];
        const ErrorBySize own =
            open.is_decided()
                ? ErrorBySize{dp_.error_of_label(subproblems_[k], open.label)}
                : dp_.least_error(subproblems_[k], sizes_of(open), cutoff - others_.back());
        others_ = merge_children(others_, own, 0, whole());
    }
}

void Completions::prepare(std::span<const Branching> branchings) {
    std::vector<int> splits;
    for (const Branching& own : branchings) {
        if (own.kind == Branching::Kind::split) splits.push_back(own.value);
    }
    dp_.prepare(branched(), splits, sizes_of(request_.tree.nodes[request_.node]).by_size);
}

ErrorBySize Completions::errors(const Branching& branching, double cutoff) {
    return merge_children(others_, own_errors(branching, cutoff - others_.back()), 0, whole());
}

ErrorBySize Completions::own_errors(const Branching& branching, double cutoff) {
    switch (branching.kind) {
        case Branching::Kind::split:
            return dp_.least_error_with(branched(), branching.value,
                                        sizes_of(request_.tree.nodes[request_.node]), cutoff);
        case Branching::Kind::label:
            return {dp_.error_of_label(branched(), branching.value)};
        case Branching::Kind::leaf:
            break;
    }
    return {dp_.error_of_best_label(branched())};
}

double Completions::least_error_between(int first, int last, double cutoff) {
    const SizeRange sizes = sizes_of(request_.tree.nodes[request_.node]);
    return others_.back() +
           dp_.least_error_between(branched(), first, last, sizes, cutoff - others_.back());
}

/// Writes the best subtree of an open node, given the branching of the node that is to be decided.
void Completions::extract(std::size_t k, const Branching& branching, int max_splits,
                          HeapTree& tree) {
    const OpenNode& open = request_.tree.nodes[k];
    if (k != request_.node) {
        if (!open.is_decided())
            dp_.extract_tree(subproblems_[k], sizes_of(open), max_splits, open.position, tree);
        return;
    }
    switch (branching.kind) {
        case Branching::Kind::split:
            dp_.extract_tree_with(subproblems_[k], branching.value, sizes_of(open), max_splits,
                                  open.position, tree);
            return;
        case Branching::Kind::leaf:
            tree[open.position] = HeapNode::leaf(dp_.best_label(subproblems_[k]));
            return;
        case Branching::Kind::label:
            tree[open.position] = HeapNode::leaf(branching.value);
            return;
    }
}

HeapTree Completions::best(const Branching& branching) {
    if (limits_size_) return best_within_size(branching);
    HeapTree tree = request_.tree.fixed;
    for (std::size_t k = 0; k < subproblems_.size(); ++k) {
        extract(k, branching, max_splits_, tree);
    }
    return tree;
}

/// Splits are assigned node after node; what the nodes after can do with the rest is known from
/// their errors.
HeapTree Completions::best_within_size(const Branching& branching) {
    std::vector<ErrorBySize> own, rest{{0.0}};
    for (std::size_t k = 0; k < subproblems_.size(); ++k) {
        const OpenNode& open = request_.tree.nodes[k];
        const bool is_split = k == request_.node && branching.kind == Branching::Kind::split;
        if (is_split) {
            own.push_back(own_errors(branching, infinity));
        } else if (k != request_.node && !open.is_decided()) {
            own.push_back(dp_.least_error(subproblems_[k], sizes_of(open), infinity));
        } else {
            own.push_back({0.0});
        }
    }
    for (std::size_t k = own.size(); k-- > 1;) {
        rest.push_back(merge_children(rest.back(), own[k], 0,
                                      {.by_size = true, .min = 0, .max = max_splits_}));
    }
    HeapTree tree = request_.tree.fixed;
    int left = max_splits_;
    for (std::size_t k = 0; k < own.size(); ++k) {
        const ErrorBySize& after = rest[own.size() - 1 - k];
        int n_splits = 0;
        double least = infinity;
        for (int n = 0; n < to_int(own[k].size()) && n <= left; ++n) {
            const double error = own[k][idx(n)] + after[std::min(idx(left - n), after.size() - 1)];
            if (error < least) {
                least = error;
                n_splits = n;
            }
        }
        extract(k, branching, n_splits, tree);
        left -= n_splits;
    }
    return tree;
}

}  // namespace hardwood::search
