// The exact search (theory, section 5): branch on tests from the top, close prices by bounds, evaluate complete trees.
#pragma once

#include <functional>
#include <string>
#include <unordered_set>

#include "region_solver.h"
#include "sharing.h"
#include "team.h"

namespace hardwood::search {

// correct, tests   of the best tree so far
// upper_bound      no tree keeps more samples correct
// proved           no tree has a larger objective
struct State {
    double seconds;
    double correct;
    int tests;
    double upper_bound;
    bool proved;
    long long work;
};

struct Limits {
    double seconds = infinity;
    long long work = -1;
    double memory = infinity;  // bytes
};

// What a search needs at least, with so many threads, in bytes: the regions of the node it works on and of those above. With
// more it also keeps the regions of all children of the root.
double least_memory(const Instance& instance, int depth, int n_jobs);
double memory_of_all_children(const Instance& instance);

class Search : public Task {
public:
    Search(const Instance& instance, int depth, double penalty, const Options& options, const Limits& limits,
           std::function<bool(const State&)> on_progress);

    // Known beforehand: a tree, and a number of correct samples that no tree exceeds.
    void start_from(const Skeleton& tree) { offer(tree); }
    void start_below(double upper_bound) { upper_bound_ = std::min(upper_bound_, upper_bound); }

    // Other threads to share the work; one thread is there anyway.
    void hire(int n_jobs);

    void run();

    const Skeleton& best_tree() const { return best_.tree; }
    State state() const;
    // As the statuses of hardwood.solvers.base.StopReason.
    const char* stop_reason() const;

    double goal(double price) const override;
    void offer(const Skeleton& tree) override;

private:
    void prove();
    // Answers whether a tree with at most so many tests has a dual value above the rival: either there is none, or a better
    // tree was found. False if stopped before.
    bool settle(double rival, int tests);
    bool close(double rival, int most_tests);
    // Trees with so many tests need more correct samples than this to be better than the best so far.
    double to_beat(int tests) const;

    bool solve_ordinary();
    void find_first_trees();
    double highest_price(const Region& root);
    double surrogate(const Region& region, double price, Skeleton& tree);
    void shrink();

    void evaluate(Node& node, bool thorough);
    PriceBound bound_at(const Node& node, double price, double target, bool thorough);
    void narrow(Node& node) const;
    bool is_closed(const Node& node, std::size_t region, std::size_t test, double price) const;
    long long work() const { return watch_.looks() + team_.work; }
    double price_of_tests(const Node& root);
    void expand(Node& node);
    void expand_root(Node& root);
    void for_each_child(std::vector<Node>& children, const std::function<void(Search&, Node&, std::size_t)>& job);
    void exchange(Team& team);
    void adopt(const Best& best);
    void restore(const Node& root, Node& child) const;
    void refresh(Node& node) const;
    void prepare(std::vector<Node>& children);
    void finish(Node& node);
    Node make_child(const Node& node, std::size_t region, std::size_t test, std::vector<Interval> alive);
    static void pass_on(const Node& node, std::size_t region, std::size_t test, Node& child);
    std::vector<Interval> child_alive(const Node& node, std::size_t region, std::size_t test) const;
    std::vector<std::size_t> tests_by_promise(const Node& node, std::size_t region) const;
    bool is_twin(const Node& node, const Region& region, std::size_t test) const;

    void discard(std::vector<Interval>& alive, double price, double value) const;
    double dual_bound(const Node& node) const;
    // What a tree of the full depth has; nobody counts beyond 20 levels.
    int all_tests() const { return (1 << std::min(depth_, 20)) - 1; }
    bool shares() const { return options_.sharing && sharing_.fits(); }
    void leave_open(double bound) { open_bound_ = std::max(open_bound_, bound); }
    double cost_of(const Node& node) const;

    const Instance& instance_;
    int depth_;
    double penalty_;
    Options options_;
    Watch watch_;
    std::function<bool(const State&)> on_progress_;
    Limits limits_;
    bool lean_;  // whether regions of children of the root are made anew when they are needed
    Decomposition decomposition_;
    RegionSolver solver_;
    Sharing sharing_;
    Evaluator evaluate_tree_;

    Best best_;
    double upper_bound_;
    bool proved_ = false;
    std::unordered_set<std::string> seen_;  // trees that were evaluated, or many of them

    bool integral_;          // only free moves are affordable: losses are whole numbers at every price
    double rival_ = -1.0;    // a tree is wanted whose dual value exceeds this ...
    int most_tests_;         // ... with at most so many tests
    double open_bound_ = -infinity;  // largest dual bound among nodes that were not closed
    double settled_rival_ = infinity;  // no tree with at most `settled_tests_` tests beats this
    int settled_tests_ = 0;
    std::vector<std::unique_ptr<Search>> helpers_;
    Team team_;
    long long reported_work_ = 0;
    std::vector<double> pending_;    // dual bounds of nodes at the first level that are still to do
};

}  // namespace hardwood::search
