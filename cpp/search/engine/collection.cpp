#include "collection.h"

#include <algorithm>

namespace hardwood::search {

double Collection::rival() const {
    const double floor = best_ - within_ - 1.0;
    return is_full() ? std::max(floor, members_.back().score.correct) : floor;
}

Score Collection::score_of(const Skeleton& tree) {
    const Evaluation found = evaluate_(tree);
    return {found.correct, count_tests(tree), instance_.in_part() ? found.dual : found.correct};
}

Skeleton Collection::reduced(Skeleton tree, Score& score) {
    const auto try_at = [&](const auto& self, std::size_t at) -> bool {
        if (tree[at].test < 0) return false;
        const auto takes = [&](const Skeleton& smaller) {
            const Score own = score_of(smaller);
            if (own.correct < score.correct) return false;
            tree = smaller;
            score = own;
            return true;
        };
        for (int label = 0; label < instance_.n_classes(); ++label) {
            Skeleton pruned = tree;
            pruned[at] = {-1, label};
            if (takes(pruned)) return true;
        }
        for (std::size_t side = 0; side < 2; ++side) {
            Skeleton lifted = tree;
            graft(tree, 2 * at + side, lifted, at);
            if (takes(lifted)) return true;
        }
        return self(self, 2 * at) || self(self, 2 * at + 1);
    };
    while (try_at(try_at, 1)) {
    }
    return tree;
}

bool Collection::meet(const BoxKey& one, const BoxKey& other) const {
    for (const std::uint16_t answer : one.answers()) {
        const int c = instance_.column_of(BoxKey::test_of(answer));
        const std::vector<bool> here = allowed_bins(instance_, one, c), there = allowed_bins(instance_, other, c);
        bool any = false;
        for (std::size_t b = 0; b < here.size(); ++b) any = any || (here[b] && there[b]);
        if (!any) return false;
    }
    return true;
}

bool Collection::says_the_same(const std::vector<LabelledBox>& one, const std::vector<LabelledBox>& other) const {
    return std::ranges::all_of(one, [&](const LabelledBox& mine) {
        return std::ranges::all_of(other, [&](const LabelledBox& theirs) {
            return mine.label == theirs.label || !meet(mine.box, theirs.box);
        });
    });
}

void Collection::offer(const Skeleton& tree, const Score& score) {
    best_ = std::max(best_, score.correct);
    if (score.correct <= rival()) return;
    Score own = score;
    const Skeleton small = reduced(tree, own);
    Member member{small, own, leaves_of(instance_, small)};
    const auto same = std::ranges::find_if(members_, [&](const Member& known) {
        return known.score.correct == own.correct && says_the_same(known.leaves, member.leaves);
    });
    if (same != members_.end()) {
        if (own.tests < same->score.tests) *same = std::move(member);
    } else {
        members_.push_back(std::move(member));
    }
    std::ranges::stable_sort(members_, [](const Member& a, const Member& b) {
        return a.score.correct != b.score.correct ? a.score.correct > b.score.correct : a.score.tests < b.score.tests;
    });
    std::erase_if(members_, [&](const Member& known) { return known.score.correct < best_ - within_; });
    if (members_.size() > most_ + 1) members_.resize(most_ + 1);
}

std::vector<Collection::Member> Collection::members() const {
    return {members_.begin(), members_.begin() + static_cast<std::ptrdiff_t>(std::min(members_.size(), most_))};
}

}  // namespace hardwood::search
