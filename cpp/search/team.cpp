// The children of the root, and the threads that work on them.
#include "team.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "search.h"

namespace hardwood::search {

namespace {

// Two numbers for each point and test of a region, and about as much again while it is worked on.
double memory_of_region(const Instance& instance) {
    return 32.0 * static_cast<double>(instance.n_points()) * static_cast<double>(instance.tests().size());
}

}  // namespace

double memory_of_all_children(const Instance& instance) {
    return memory_of_region(instance) * (static_cast<double>(instance.tests().size()) + 8.0);
}

double least_memory(const Instance& instance, int depth, int n_jobs) {
    const auto n_tests = static_cast<double>(instance.tests().size());
    const double pairs = 24.0 * static_cast<double>(instance.n_classes()) * n_tests * n_tests;  // sums for pairs of tests
    return memory_of_region(instance) * (1.0 + (depth + 1.0) * n_jobs) + pairs * n_jobs;
}

void Search::hire(int n_jobs) {
    Limits limits = limits_;
    limits.work = -1;  // one thread counts for all
    for (int k = 1; k < n_jobs; ++k) {
        const auto keep_going = [team = &team_](const State&) { return !team->stop.load(); };
        helpers_.push_back(std::make_unique<Search>(instance_, depth_, penalty_, options_, limits, keep_going));
        helpers_.back()->lean_ = lean_;
    }
}

// Tells the others about the best tree, or learns of a better one.
void Search::exchange(Team& team) {
    if (&team != &team_) {
        team.work += work() - reported_work_;
        reported_work_ = work();
    }
    const std::lock_guard lock(team.mutex);
    Best& common = team.best;
    const double mine = best_.correct - penalty_ * best_.tests, theirs = common.correct - penalty_ * common.tests;
    if (common.correct >= 0 && theirs > mine + 1e-9) {
        adopt(common);
    } else {
        common = best_;
    }
}

// Every thread takes the next child that nobody works on. What one of them learns about the best tree, the others see when
// they take their next child.
void Search::for_each_child(std::vector<Node>& children, const std::function<void(Search&, Node&, std::size_t)>& job) {
    std::atomic<std::size_t> next{0}, busy{0};
    team_.best = best_;
    const auto run = [&](Search& worker) {
        while (!worker.watch_.stopped()) {
            const std::size_t z = next++;
            if (z >= children.size()) break;
            worker.exchange(team_);
            job(worker, children[z], z);
            worker.exchange(team_);
        }
    };
    std::vector<std::jthread> threads;
    for (const auto& helper : helpers_) {
        helper->rival_ = rival_;
        helper->most_tests_ = most_tests_;
        helper->test_price = test_price;
        helper->open_bound_ = -infinity;
        ++busy;
        threads.emplace_back([&, worker = helper.get()] {
            try {
                run(*worker);
            } catch (...) {
                const std::lock_guard lock(team_.mutex);
                team_.failure = std::current_exception();
            }
            --busy;
        });
    }
    try {
        run(*this);
    } catch (...) {
        team_.stop = true;
        throw;
    }
    // The watch of this thread also listens for Ctrl-C, so it must be looked at until the others are done.
    while (busy.load() > 0) {
        if (watch_.stopped_while_waiting()) team_.stop = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    threads.clear();
    if (team_.failure) std::rethrow_exception(team_.failure);
    exchange(team_);
    for (const auto& helper : helpers_) open_bound_ = std::max(open_bound_, helper->open_bound_);
}

void Search::expand_root(Node& root) {
    std::vector<Node> children;
    for (const std::size_t test : tests_by_promise(root, 0)) {
        std::vector<Interval> alive = child_alive(root, 0, test);
        if (alive.empty()) continue;
        Node child = make_child(root, 0, test, std::move(alive));
        if (child.n_tests > most_tests_) continue;
        if (lean_) child.open.clear();
        children.push_back(std::move(child));
    }
    const auto note = [&](std::size_t z, double bound) {
        const std::lock_guard lock(team_.mutex);
        pending_[z] = bound;
    };
    // All children get a cheap look, then a thorough one, before any is expanded: the bound falls steadily, and what is
    // learnt from one about the best tree helps the others.
    for (const bool thorough : {false, true}) {
        prepare(children);
        for_each_child(children, [&](Search& worker, Node& child, std::size_t z) {
            worker.restore(root, child);
            worker.evaluate(child, thorough);
            note(z, worker.dual_bound(child));
            if (lean_) child.open.clear();
        });
    }
    prepare(children);
    for_each_child(children, [&](Search& worker, Node& child, std::size_t z) {
        worker.refresh(child);
        worker.restore(root, child);
        if (!child.alive.empty()) worker.expand(child);
        child = Node();
        note(z, std::max(worker.rival_, worker.open_bound_));
    });
    for (const Node& child : children) {
        if (!child.alive.empty()) leave_open(dual_bound(child));  // nobody came to it before the end
    }
}

// Makes the regions of a child of the root again, if they were dropped.
void Search::restore(const Node& root, Node& child) const {
    if (!child.open.empty()) return;
    const auto& tests = root.open[0]->tests;
    const auto found = std::ranges::find(tests, child.fixed[1].test);
    const std::size_t test = child.n_tests == 0 ? no_point : static_cast<std::size_t>(found - tests.begin());
    child.open = child_of(instance_, root, 0, test, most_tests_ - 1, child.ceiling, false).open;
}

// Leaves out the children that are closed, and sorts the others: the largest bound first.
void Search::prepare(std::vector<Node>& children) {
    for (Node& child : children) refresh(child);
    std::erase_if(children, [](const Node& child) { return child.alive.empty(); });
    std::ranges::stable_sort(children, [&](const Node& a, const Node& b) { return dual_bound(a) > dual_bound(b); });
    const std::lock_guard lock(team_.mutex);
    pending_.clear();
    for (const Node& child : children) pending_.push_back(dual_bound(child));
}

}  // namespace hardwood::search
