// Several threads on the children of the root.
#include "team.h"

#include <thread>

#include "search.h"

namespace hardwood::search {

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
void Search::for_each_child(std::vector<Node>& children, const std::function<void(Search&, Node&, std::size_t)>& work) {
    std::atomic<std::size_t> next{0}, busy{0};
    team_.best = best_;
    const auto run = [&](Search& worker) {
        while (!worker.watch_.stopped()) {
            const std::size_t z = next++;
            if (z >= children.size()) break;
            worker.exchange(team_);
            work(worker, children[z], z);
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
        if (watch_.stopped()) team_.stop = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    threads.clear();
    if (team_.failure) std::rethrow_exception(team_.failure);
    exchange(team_);
    for (const auto& helper : helpers_) open_bound_ = std::max(open_bound_, helper->open_bound_);
}

}  // namespace hardwood::search
