// The question that is asked, and the best tree so far, which makes it harder. Threads share it.
#pragma once

#include <mutex>

#include "../support/effort.h"
#include "../support/watch.h"
#include "collection.h"
#include "incumbent.h"
#include "question.h"

namespace hardwood::search {

class Contest {
public:
    Contest(const Instance& instance, double penalty, int depth, const Effort& effort);

    // Is there a tree with at most so many tests that keeps more samples correct?
    void ask(double rival, int most_tests);
    Question question() const;
    Incumbent incumbent() const;

    // Takes part with a tree; true if this judge did not see it before, at this price or a lower one: then it knows its margins.
    bool offer(const Skeleton& tree, Judge& judge, double price = infinity);
    // From now on, all trees that take part are kept that the collection wants ...
    void collect_into(Collection& collection);
    // ... and all of these are asked for.
    void ask_for_all();

    // Takes tests out of the best tree as long as it stays as good.
    void shrink(Judge& judge, Watch& watch);

    const Instance& instance() const { return instance_; }
    int depth() const { return depth_; }
    int all_tests() const { return (1 << std::min(depth_, 20)) - 1; }

private:
    void offer_leaves();

    const Instance& instance_;
    int depth_;
    mutable std::mutex mutex_;
    Incumbent incumbent_;
    Question question_;
    Collection* collection_ = nullptr;
};

}  // namespace hardwood::search
