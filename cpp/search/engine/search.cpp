#include "search.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace hardwood::search {

// The sums over pairs of tests, for each class and thread, and the ways of rows to points.
double memory_needed(const Instance& instance, int n_jobs) {
    const double tests = instance.n_tests(), classes = instance.n_classes() == 2 ? 1.0 : instance.n_classes();
    const double pairs = 0.5 * tests * tests;
    return n_jobs * (8.0 * classes * pairs + 64.0 * sizeof(std::uint32_t) * static_cast<double>(instance.n_rows()));
}

namespace {

// No classifier gets more right if nothing shifts: rows that no test tells apart have one label. (Such rows stand side by side only if they
// pay alike; others are told apart here, which only raises the number.)
double most_correct_as_they_stand(const Instance& instance) {
    double correct = 0.0;
    for (std::size_t begin = 0; begin < instance.n_rows();) {
        std::vector<double> counts(static_cast<std::size_t>(instance.n_classes()), 0.0);
        std::size_t end = begin;
        for (; end < instance.n_rows() && std::equal(instance.point(begin), instance.point(begin) + instance.n_columns(), instance.point(end));
             ++end) {
            counts[static_cast<std::size_t>(instance.label(end))] += instance.count(end);
        }
        correct += std::ranges::max(counts);
        begin = end;
    }
    return std::ceil(correct);
}

}  // namespace

Search::Search(const Instance& instance, int depth, double penalty, const Effort& effort, const Limits& limits, int n_jobs,
               std::function<bool(const State&)> on_progress)
    : instance_(instance),
      effort_(effort),
      on_progress_(std::move(on_progress)),
      watch_(limits.seconds, limits.work, [this] { return on_progress_(state()); }),
      contest_(instance, penalty, depth, effort_),
      tree_search_(instance, contest_, watch_, effort_, n_jobs),
      upper_bound_(most_correct_as_they_stand(instance)),
      any_model_bound_(upper_bound_) {}

void Search::start_from(const Skeleton& tree) {
    Judge judge(instance_);
    contest_.offer(tree, judge);
}

State Search::state() const {
    const Score best = contest_.incumbent().score;
    double bound = upper_bound_;
    if (asking_about_all_) bound = std::min(bound, std::max(best.correct, std::ceil(tree_search_.dual_bound())));
    return {watch_.elapsed(), best.value, best.tests, std::max(bound, best.correct), proved_, tree_search_.work()};
}

const char* Search::stop_reason() const {
    if (!watch_.has_stopped() || (proved_ && !watch_.interrupted())) return "finished";
    if (watch_.worked()) return "work_limit";
    return watch_.interrupted() ? "interrupted" : "time_limit";
}

void Search::run() {
    if (contest_.depth() > 0 && instance_.n_tests() > 0 && instance_.n_classes() > 1) {
        asking_about_all_ = true;
        tree_search_.find_greedy_tree();
        tree_search_.find_first_trees();
        tree_search_.shrink();
        // A first bound at once, whatever the tests are; a better one when the points that matter are known.
        if (!watch_.stopped()) any_model_bound_ = std::min(any_model_bound_, tree_search_.bound_any_model(effort_.coarse_slack));
        upper_bound_ = std::min(upper_bound_, any_model_bound_);
        tree_search_.refine_first_trees();
        prove();
        if (!watch_.stopped()) any_model_bound_ = std::min(any_model_bound_, tree_search_.bound_any_model(effort_.fine_slack));
    } else {
        upper_bound_ = contest_.incumbent().score.correct;
        proved_ = true;
    }
}

void Search::run_labels(const Skeleton& tests) {
    proved_ = tree_search_.settle_labels(tests);
    if (proved_) upper_bound_ = std::min(upper_bound_, contest_.incumbent().score.correct);
}

bool Search::collect() {
    if (watch_.stopped() || !proved_) return false;
    if (contest_.depth() == 0 || instance_.n_tests() == 0 || instance_.n_classes() == 1) return true;
    contest_.ask_for_all();
    return tree_search_.settle() && !watch_.has_stopped();
}

// A tree with n tests is better iff it keeps more than to_beat(n) samples correct, a staircase that rises with n. Each
// step of it, with the largest n on the step, is one question; a better tree starts them anew.
void Search::prove() {
    const int full = contest_.all_tests();
    int tests = full;
    bool first = true;
    Score asked = contest_.incumbent().score;
    while (tests >= 0 && !watch_.stopped()) {
        const double rival = contest_.incumbent().to_beat(tests);
        if (rival < upper_bound_) {
            contest_.ask(rival, tests);
            asking_about_all_ = tests == full;
            const bool settled = first ? tree_search_.settle_climbing() : tree_search_.settle();
            first = false;
            if (asking_about_all_) {  // what was asked about all trees also bounds the number of correct samples
                const double most = settled ? contest_.question().rival : std::ceil(tree_search_.dual_bound());
                upper_bound_ = std::min(upper_bound_, std::max(contest_.incumbent().score.correct, most));
                asking_about_all_ = false;
            }
            if (!settled) return;
        }
        tree_search_.shrink();
        const Incumbent best = contest_.incumbent();
        if (best.score.correct > asked.to_beat(best.score.tests, best.penalty)) {
            asked = best.score;
            tests = full;
            continue;
        }
        const double step = best.to_beat(tests);
        while (tests >= 0 && best.to_beat(tests) >= step) --tests;
    }
    proved_ = !watch_.stopped();
}

}  // namespace hardwood::search
