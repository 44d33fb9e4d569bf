#include "contest.h"

#include "../model/leaf_sizes.h"

namespace hardwood::search {

namespace {

bool is_reached(const Skeleton& tree, std::size_t at) {
    for (std::size_t above = at / 2; above >= 1; above /= 2) {
        if (tree[above].test < 0) return false;
    }
    return true;
}

}  // namespace

Contest::Contest(const Instance& instance, double penalty, int depth, const Effort& effort)
    : instance_(instance),
      depth_(depth),
      incumbent_{{}, {}, 0.0, penalty},
      question_{instance.n_samples(), instance.budget(), -1.0, 0, false, effort.upward,
                effort.head_start ? head_start_of(instance) : 0.0} {
    offer_leaves();
}

void Contest::offer_leaves() {
    Judge judge(instance_);
    for (int label = 0; label < instance_.n_classes(); ++label) {
        Skeleton leaf = empty_tree(depth_);
        leaf[1] = {-1, label};
        offer(leaf, judge);
    }
}

void Contest::collect_into(Collection& collection) {
    collection_ = &collection;
    offer_leaves();
}

void Contest::ask(double rival, int most_tests) {
    const std::lock_guard lock(mutex_);
    question_.rival = rival;
    question_.most_tests = most_tests;
    question_.counted = most_tests < all_tests();
}

void Contest::ask_for_all() {
    ask(collection_->rival(), all_tests());
    question_.collecting = true;
}

Question Contest::question() const {
    const std::lock_guard lock(mutex_);
    return question_;
}

Incumbent Contest::incumbent() const {
    const std::lock_guard lock(mutex_);
    return incumbent_;
}

bool Contest::offer(const Skeleton& tree, Judge& judge, double price) {
    const std::optional<Evaluation> evaluation = judge(tree, price);
    if (!evaluation) return false;
    if (!leaves_fit(instance_, tree)) return true;
    const Score score{evaluation->correct, count_tests(tree), instance_.in_part() ? evaluation->dual : evaluation->correct};
    const std::lock_guard lock(mutex_);
    if (collection_ != nullptr) collection_->offer(tree, score);
    if (question_.collecting) question_.rival = std::max(question_.rival, collection_->rival());
    if (incumbent_.is_beaten_by(score)) {
        incumbent_.score = score;
        incumbent_.tree = tree;
        incumbent_.dual_price = evaluation->dual_price;
        if (!question_.collecting) question_.rival = std::max(question_.rival, incumbent_.to_beat(question_.most_tests));
    }
    return true;
}

void Contest::shrink(Judge& judge, Watch& watch) {
    bool smaller = true;
    while (smaller && incumbent().score.tests > 0) {
        smaller = false;
        const Incumbent best = incumbent();
        for (std::size_t at = 1; at < best.tree.size() / 2 && !smaller && !watch.stopped(); ++at) {
            if (best.tree[at].test < 0 || !is_reached(best.tree, at)) continue;
            for (int label = 0; label < instance_.n_classes(); ++label) {
                Skeleton pruned = best.tree;
                pruned[at] = {-1, label};
                offer(pruned, judge);
            }
            for (std::size_t side = 0; side < 2; ++side) {
                Skeleton lifted = best.tree;
                graft(best.tree, 2 * at + side, lifted, at);
                offer(lifted, judge);
            }
            smaller = incumbent().score.tests < best.score.tests;
        }
    }
}

}  // namespace hardwood::search
