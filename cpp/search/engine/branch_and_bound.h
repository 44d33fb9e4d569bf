// Settles a question: closes prices by bounds, and decides place after place where bounds leave prices open
// (docs/theory.md#branching).
#pragma once

#include <memory>
#include <mutex>

#include "improvement.h"
#include "team.h"
#include "worker.h"

namespace hardwood::search {

class BranchAndBound {
public:
    BranchAndBound(const Instance& instance, Contest& contest, Watch& watch, const Effort& effort, int n_jobs);

    // One tree at once, then good ones to begin with.
    void find_greedy_tree();
    void find_first_trees();
    // Better ones, if they were made of few tests out of many.
    void refine_first_trees();
    // No classifier of any kind keeps more samples correct than this (docs/theory.md#any-model); such a share of them is given away for
    // fewer prices.
    double bound_any_model(double slack_by_samples);
    // True if there is no better tree than the contest knows in the end; false if stopped before.
    bool settle();
    // The same for the question about all trees; where it is not settled soon, trees with fewer levels come first.
    bool settle_climbing();
    // The same for trees with these tests: only labels are open.
    bool settle_labels(const Skeleton& tests);
    // No tree within the question's limit has a larger dual value than this.
    double dual_bound() const;
    void shrink() { contest_.shrink(workers_[0]->judge, workers_[0]->watch); }
    long long work() const { return team_.work(); }
    // Nodes that were bounded.
    long long nodes() const { return nodes_; }
    // What each bound did, all threads together.
    std::vector<std::pair<std::string, BoundStatistics>> statistics() const;

private:
    struct Child;
    Node root(int levels) const;
    bool has_many_tests() const;
    void remember(const OptionBounds& bounds, const Question& question);
    // What bounds at the root that were found before say about a question.
    std::vector<OptionBounds> recall(const Question& question) const;
    void process(Worker& worker, Node& node);
    // Given what is known at the root.
    void process_root(Node& root, std::vector<OptionBounds> bounds);
    std::vector<Child> children_of(const Node& node, const std::vector<Option>& options,
                                   const std::vector<OptionBounds>& bounds) const;
    void process_child(Worker& worker, const Node& node, std::size_t place, const Option& option, Child& child);
    // Closes prices from the highest down; those that withstand are left alive.
    void close_prices(Worker& worker, Node& node, std::size_t place, const std::vector<Option>& options,
                      std::vector<OptionBounds>& found);
    void close_root_prices(Node& root, const std::vector<Option>& options, std::vector<OptionBounds>& found);
    void leave_open(double dual);
    void improve(Worker& worker);
    // The best trees with fewer levels, from few to many, as far as a little work leads.
    void climb();

    const Instance& instance_;
    Contest& contest_;
    const Effort& effort_;
    Team team_;
    std::vector<std::unique_ptr<Worker>> workers_;
    Improvement improvement_;   // of the first worker
    long long next_improvement_;  // steps after which it is due
    bool only_labels_ = false;    // trees with other tests do not take part
    Kinks kinks_;
    Potentials root_potentials_;
    struct Remembered {
        OptionBounds bounds;
        int most_tests;  // of the trees that they are about
    };
    std::vector<Remembered> remembered_;
    mutable std::mutex mutex_;      // for what follows
    std::vector<double> pending_;   // dual bounds of what is still to do
    double open_bound_ = -infinity;
    std::atomic<long long> nodes_ = 0;
};

}  // namespace hardwood::search
