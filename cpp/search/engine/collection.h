// Several good trees, not only the best one.
#pragma once

#include <vector>

#include "../model/box.h"
#include "../model/evaluation.h"
#include "incumbent.h"

namespace hardwood::search {

// Keeps the trees that are at most so much worse than the best one, up to a number of them. Each is as small as it can be: no test can be
// taken out, for one of its sides or for a label, without losing a sample. And no two say the same: of those, the smaller is kept.
class Collection {
public:
    struct Member {
        Skeleton tree;
        Score score;
        std::vector<LabelledBox> leaves;
    };

    Collection(const Instance& instance, std::size_t most, double within)
        : instance_(instance), evaluate_(instance), most_(most), within_(within) {}

    void offer(const Skeleton& tree, const Score& score);
    // Trees that keep no more samples correct than this do not belong here.
    double rival() const;
    // The best first.
    std::vector<Member> members() const;
    // Whether trees were turned away because there were enough.
    bool is_full() const { return members_.size() > most_; }

private:
    Score score_of(const Skeleton& tree);
    // The tree with as many tests taken out as can be.
    Skeleton reduced(Skeleton tree, Score& score);
    bool says_the_same(const std::vector<LabelledBox>& one, const std::vector<LabelledBox>& other) const;
    bool meet(const BoxKey& one, const BoxKey& other) const;

    const Instance& instance_;
    Evaluator evaluate_;
    std::size_t most_;
    double within_;
    double best_ = -1.0;
    std::vector<Member> members_;  // one more than `most_` at most: then there are others
};

}  // namespace hardwood::search
