#include "search/solution_pool.h"

#include <algorithm>

namespace hardwood::search {

double SolutionPool::cutoff() const {
    const double floor = best_ - gap_ - 1.0;
    return has_rejected() ? std::max(floor, members_.back().score.correct) : floor;
}

Score SolutionPool::score_of(const HeapTree& tree) {
    const Evaluation found = evaluate_(tree);
    return {.correct = found.correct,
            .n_splits = count_splits(tree),
            .value = instance_.fractional() ? found.dual : found.correct};
}

HeapTree SolutionPool::reduce(HeapTree tree, Score& score) {
    const auto reduce_at = [&](const auto& self, std::size_t at) -> bool {
        if (tree[at].is_leaf()) return false;
        const auto accept = [&](const HeapTree& smaller) {
            const Score own = score_of(smaller);
            if (own.correct < score.correct) return false;
            tree = smaller;
            score = own;
            return true;
        };
        for (int label = 0; label < instance_.n_classes(); ++label) {
            HeapTree pruned = tree;
            pruned[at] = HeapNode::leaf(label);
            if (accept(pruned)) return true;
        }
        for (std::size_t side = 0; side < 2; ++side) {
            HeapTree lifted = tree;
            copy_subtree(tree, 2 * at + side, lifted, at);
            if (accept(lifted)) return true;
        }
        return self(self, 2 * at) || self(self, 2 * at + 1);
    };
    while (reduce_at(reduce_at, 1)) {
    }
    return tree;
}

bool SolutionPool::intersect(const BoxKey& one, const BoxKey& other) const {
    for (const std::uint16_t outcome : one.outcomes()) {
        const int c = instance_.column_of(BoxKey::split_of(outcome));
        const std::vector<bool> first = allowed_bins(instance_, one, c),
                                second = allowed_bins(instance_, other, c);
        bool any = false;
        for (std::size_t b = 0; b < first.size(); ++b) any = any || (first[b] && second[b]);
        if (!any) return false;
    }
    return true;
}

bool SolutionPool::same_predictions(const std::vector<LeafBox>& one,
                                    const std::vector<LeafBox>& other) const {
    return std::ranges::all_of(one, [&](const LeafBox& mine) {
        return std::ranges::all_of(other, [&](const LeafBox& theirs) {
            return mine.label == theirs.label || !intersect(mine.box, theirs.box);
        });
    });
}

void SolutionPool::offer(const HeapTree& tree, const Score& score) {
    best_ = std::max(best_, score.correct);
    if (score.correct <= cutoff()) return;
    Score own = score;
    const HeapTree reduced = reduce(tree, own);
    best_ = std::max(best_, own.correct);  // a smaller tree may keep more
    Member member{.tree = reduced, .score = own, .leaves = leaves_of(instance_, reduced)};
    const auto same = std::ranges::find_if(members_, [&](const Member& known) {
        return known.score.correct == own.correct && same_predictions(known.leaves, member.leaves);
    });
    if (same != members_.end()) {
        if (own.n_splits < same->score.n_splits) *same = std::move(member);
    } else {
        members_.push_back(std::move(member));
    }
    std::ranges::stable_sort(members_, [](const Member& a, const Member& b) {
        if (a.score.correct != b.score.correct) return a.score.correct > b.score.correct;
        return a.score.n_splits < b.score.n_splits;
    });
    std::erase_if(members_,
                  [&](const Member& known) { return known.score.correct < best_ - gap_; });
    if (members_.size() > max_size_ + 1) members_.resize(max_size_ + 1);
}

std::vector<SolutionPool::Member> SolutionPool::members() const {
    const std::size_t n = std::min(members_.size(), max_size_);
    return {members_.begin(), members_.begin() + static_cast<std::ptrdiff_t>(n)};
}

}  // namespace hardwood::search
