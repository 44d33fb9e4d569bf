/// Better trees by small changes.
#pragma once

#include "search/shared_incumbent.h"
#include "util/stop_token.h"

namespace hardwood::search {

/// Changes the incumbent node by node: another split, another label, a leaf in place of a subtree,
/// or a split in place of a leaf, whichever has the largest value; until no change of a single node
/// is better, or the work (rows compared with leaves) is used up.
class LocalSearch {
public:
    LocalSearch(const Instance& instance, SharedIncumbent& incumbent, StopToken& stop)
        : instance_(instance),
          incumbent_(incumbent),
          stop_(stop),
          evaluator_(instance),
          evaluations_(instance) {}

    /// Does nothing if the incumbent is what the last run produced.
    void run(double max_work);
    /// Changes the labels of a tree one by one as long as that helps, then offers it.
    void relabel(const HeapTree& tree, double max_work);

private:
    struct Candidate {
        HeapTree tree;
        double value;
    };
    double value_of(const HeapTree& tree, double penalty);
    bool improve_node(std::size_t at, const Box& box, int levels, double penalty, Candidate& best);
    bool improve_subtree(std::size_t at, const Box& box, int levels, double penalty,
                         Candidate& best);
    bool improve_labels(std::size_t at, Candidate& best);
    bool has_work_left() { return work_left_ > 0 && !stop_.should_stop(); }

    const Instance& instance_;
    SharedIncumbent& incumbent_;
    StopToken& stop_;
    Evaluator evaluator_;
    EvaluationCache evaluations_;
    HeapTree last_;  // result of the last run
    double work_left_ = 0.0;
};

}  // namespace hardwood::search
