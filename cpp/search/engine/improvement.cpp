#include "improvement.h"

#include "../model/leaf_sizes.h"

namespace hardwood::search {

// What a tree keeps, the sample that is lost in part included: ties between whole numbers would lead nowhere.
double Improvement::worth(const Skeleton& tree, double penalty) {
    const int tests = count_tests(tree);
    left_ -= static_cast<double>(instance_.n_rows()) * (tests + 8);  // sorting counts, too
    if (!leaves_fit(instance_, tree)) return -infinity;
    return evaluate_(tree).dual - penalty * tests;
}

bool Improvement::improve_at(std::size_t at, const Box& box, int levels, double penalty, Candidate& best) {
    const Skeleton before = best.tree;
    const Choice own = before[at];
    const double known = best.worth;
    const auto offer = [&](const Skeleton& tree) {
        if (left_ <= 0 || watch_.stopped()) return;
        const double value = worth(tree, penalty);
        if (value > best.worth + 1e-9) best = {tree, value};
    };
    Skeleton tree = before;
    for (int label = 0; label < instance_.n_classes(); ++label) {
        if (own == Choice{-1, label}) continue;
        tree[at] = {-1, label};
        offer(tree);
    }
    for (const int test : levels > 0 ? box.tests : std::vector<int>{}) {
        if (own.test == test) continue;
        tree[at] = {test, 0};
        if (own.test >= 0) {
            offer(tree);
            continue;
        }
        for (int label = 0; label < instance_.n_classes(); ++label) {
            if (label == own.label) continue;
            for (std::size_t side = 0; side < 2; ++side) {
                tree[2 * at + side] = {-1, label};
                tree[2 * at + 1 - side] = {-1, own.label};
                offer(tree);
            }
        }
    }
    return best.worth > known;
}

bool Improvement::improve_below(std::size_t at, const Box& box, int levels, double penalty, Candidate& best) {
    bool better = improve_at(at, box, levels, penalty, best);
    const int test = best.tree[at].test;
    if (test < 0) return better;
    for (int side = 0; side < 2; ++side) {
        const std::size_t child = 2 * at + static_cast<std::size_t>(side);
        better |= improve_below(child, part_of(instance_, box, test, side), levels - 1, penalty, best);
    }
    return better;
}

void Improvement::relabel(const Skeleton& tree, double most_work) {
    left_ = most_work;
    Candidate best{tree, worth(tree, 0.0)};
    const auto improve_leaves = [&](const auto& self, std::size_t at) -> bool {
        if (best.tree[at].test >= 0) {
            const bool left = self(self, 2 * at), right = self(self, 2 * at + 1);
            return left || right;
        }
        const double before = best.worth;
        for (int label = 0; label < instance_.n_classes() && left_ > 0 && !watch_.stopped(); ++label) {
            if (best.tree[at].label == label) continue;
            Candidate other = best;
            other.tree[at].label = label;
            other.worth = worth(other.tree, 0.0);
            if (other.worth > best.worth + 1e-9) best = std::move(other);
        }
        return best.worth > before;
    };
    while (left_ > 0 && !watch_.stopped() && improve_leaves(improve_leaves, 1)) {
    }
    contest_.offer(best.tree, judge_);
}

void Improvement::run(double most_work) {
    const Incumbent start = contest_.incumbent();
    if (start.tree == last_) return;
    left_ = most_work;
    Candidate best{start.tree, worth(start.tree, start.penalty)};
    while (left_ > 0 && !watch_.stopped() && improve_below(1, whole_domain(instance_), contest_.depth(), start.penalty, best)) {
    }
    contest_.offer(best.tree, judge_);
    last_ = best.tree;
}

}  // namespace hardwood::search
