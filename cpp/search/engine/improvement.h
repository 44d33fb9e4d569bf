// Better trees by small changes.
#pragma once

#include "contest.h"
#include "../support/watch.h"

namespace hardwood::search {

// Changes the best tree of the contest place by place: another test, another label, a leaf in place of a subtree or one more test in
// place of a leaf, whichever has the largest worth; until no change at a single place is better, or so much work is done (rows that
// were compared with leaves). Trees that were tried before are not tried again.
class Improvement {
public:
    Improvement(const Instance& instance, Contest& contest, Watch& watch)
        : instance_(instance), contest_(contest), watch_(watch), evaluate_(instance), judge_(instance) {}

    void run(double most_work);
    // Takes part in the contest with a tree, after its labels were changed one by one as long as that helps.
    void relabel(const Skeleton& tree, double most_work);

private:
    struct Candidate {
        Skeleton tree;
        double worth;
    };
    double worth(const Skeleton& tree, double penalty);
    bool improve_at(std::size_t at, const Box& box, int levels, double penalty, Candidate& best);
    bool improve_below(std::size_t at, const Box& box, int levels, double penalty, Candidate& best);

    const Instance& instance_;
    Contest& contest_;
    Watch& watch_;
    Evaluator evaluate_;
    Judge judge_;
    Skeleton last_;     // what came out of the last run
    double left_ = 0.0;  // work that may still be done
};

}  // namespace hardwood::search
