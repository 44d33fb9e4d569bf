#include "branch_and_bound.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "../model/leaf_sizes.h"
#include "coarse.h"
#include "greedy.h"

namespace hardwood::search {

namespace {

// The prices to leave alone after a bound that closes next to nothing; none if it closes enough.
Interval hole_around(const Effort& effort, const Question& question, const PricedBound& bound) {
    const double gap = bound.loss - question.goal(bound.price);
    if (gap >= effort.next_to_nothing) return {infinity, -infinity};
    const double unit = question.budget > 0 ? 1.0 / question.budget : 0.0;
    const double half = std::max(effort.least_hole, -effort.hole_by_gap * gap) * unit;
    return {bound.price - half, bound.price + half};
}

// Keeps a bound for a node: what it closes is closed, and left alone in `work` is what it cannot close.
void keep(const Effort& effort, const Question& question, OptionBounds bounds, Node& node, PriceSet& work,
          std::vector<OptionBounds>& found) {
    const PricedBound least = bounds.least();
    found.push_back(std::move(bounds));
    node.known.push_back(least);
    node.alive.close(question, least);
    work.close(question, least);
    work.remove(hole_around(effort, question, least));
}

}  // namespace

// An option that bounds leave open.
struct BranchAndBound::Child {
    double dual;
    std::size_t option;
    PriceSet alive;
    std::vector<PricedBound> known;
};

BranchAndBound::BranchAndBound(const Instance& instance, Contest& contest, Watch& watch, const Effort& effort, int n_jobs)
    : instance_(instance), contest_(contest), effort_(effort), team_(watch, n_jobs), improvement_(instance, contest, watch),
      next_improvement_(effort.improve_after), root_potentials_(instance.n_classes()), pending_{instance.n_samples()} {
    for (int k = 0; k < team_.size(); ++k) {
        workers_.push_back(std::make_unique<Worker>(instance, contest, team_.watch(k), effort));
    }
    if (effort.kinks && instance.budget() > 0) kinks_ = Kinks(instance, contest.depth(), effort.most_kinks);
}

Node BranchAndBound::root(int levels) const {
    const Kinks* const kinks = kinks_.prices.empty() ? nullptr : &kinks_;
    Box all = whole_domain(instance_);
    keep_fitting_tests(instance_, all);
    return {empty_tree(contest_.depth()), {{1, std::move(all), levels}}, 0,
            PriceSet::all(instance_, contest_.question(), contest_.depth(), kinks), {}, root_potentials_};
}

void BranchAndBound::remember(const OptionBounds& bounds, const Question& question) {
    if (question.most_tests > 0) remembered_.push_back({bounds, question.most_tests});
}

std::vector<OptionBounds> BranchAndBound::recall(const Question& question) const {
    std::vector<OptionBounds> known;
    for (const Remembered& entry : remembered_) {
        if (question.most_tests > 0 && question.most_tests <= entry.most_tests) known.push_back(entry.bounds.with_tests(question.most_tests));
    }
    return known;
}

void BranchAndBound::find_greedy_tree() {
    improvement_.relabel(greedy_tree(instance_, contest_.depth()), effort_.relabel_work);
}

// A few steps at each of a range of prices, with trees that are quick to find, then where the best one has its own price. The quickest
// trees of all, with fewer levels, come first.
void BranchAndBound::find_first_trees() {
    Worker& worker = *workers_[0];
    contest_.ask(contest_.incumbent().to_beat(contest_.all_tests()), contest_.all_tests());
    const int levels = std::min(contest_.depth(), effort_.first_depth);
    Node node = root(levels);
    if (node.alive.empty()) return;
    const bool coarse = has_many_tests();
    if (coarse) {
        node.places[0].box.tests = coarse_tests(instance_, effort_.first_tests);
        keep_fitting_tests(instance_, node.places[0].box);
    }
    const std::vector<Option> options = options_of(instance_, node, 0, contest_.question());
    const double high = node.alive.open().back().high;
    const double range = std::max(node.alive.open().front().low / high, effort_.first_range);
    std::set<std::pair<int, double>> seen;  // levels and prices
    const auto look = [&](double price) {
        if (!seen.insert({node.places[0].levels, price}).second) return;
        const OptionBounds bounds = worker.ladder.at({node, 0, options, price, price, price, effort_.first_steps});
        if (worker.watch.has_stopped() || coarse || node.places[0].levels < contest_.depth()) return;
        const Question question = contest_.question();
        remember(bounds, question);
        node.known.push_back(bounds.least());
        const std::lock_guard lock(mutex_);
        pending_ = {node.alive.largest_dual(question, node.known)};
    };
    for (node.places[0].levels = 1; node.places[0].levels < levels && !worker.watch.stopped(); ++node.places[0].levels) look(high);
    const int n_prices = range < 1.0 ? effort_.first_prices : 1;
    int in_vain = 0;
    for (int k = 0; k < n_prices && in_vain < effort_.first_in_vain && !worker.watch.stopped(); ++k) {
        const Score before = contest_.incumbent().score;
        look(high * std::pow(range, k / (effort_.first_prices - 1.0)));
        in_vain = contest_.incumbent().score == before ? in_vain + 1 : 0;
    }
    for (int k = 0; k < effort_.first_prices && !worker.watch.stopped(); ++k) {
        const double price = contest_.incumbent().dual_price;
        if (price > 0) look(price);
        if (contest_.incumbent().dual_price == price) break;
    }
}

bool BranchAndBound::has_many_tests() const {
    return effort_.coarse && static_cast<std::size_t>(instance_.n_tests()) > effort_.many_tests;
}

void BranchAndBound::refine_first_trees() {
    if (has_many_tests() && effort_.improvement) improvement_.run(effort_.improvement_work);
}

// The question about all trees of fewer levels, settled as far as it goes; what it says about bounds holds for these only, and is forgotten.
// So are the points and the pace of its worker, which would be in the way of more levels (kr-vs-kp, depth 4, .7/.75: 20 s instead of 6);
// where rows are drawn to is kept.
void BranchAndBound::climb() {
    Watch& watch = team_.watch(0);
    Worker climber(instance_, contest_, watch, effort_);
    for (int levels = effort_.climb_from; levels < contest_.depth() && !watch.stopped(); ++levels) {
        contest_.ask(contest_.incumbent().to_beat(contest_.all_tests()), contest_.all_tests());
        Node top = root(levels);
        top.potentials = top.potentials.moved_to(climber.support.points());
        watch.pause_after(effort_.climb_looks);
        process(climber, top);
        watch.resume();
        root_potentials_ = top.potentials.moved_to(workers_[0]->support.points());
        if (effort_.improvement) improvement_.run(effort_.improvement_work);  // with all levels
    }
    contest_.ask(contest_.incumbent().to_beat(contest_.all_tests()), contest_.all_tests());
}

bool BranchAndBound::settle_climbing() {
    if (!effort_.climb || contest_.depth() <= effort_.climb_from) return settle();
    Watch& watch = team_.watch(0);
    if (team_.size() == 1) {  // what is settled soon needs no help
        watch.pause_after(effort_.climb_after);
        const bool settled = settle();
        if (!watch.resume()) return settled;
    }
    climb();
    return settle();
}

double BranchAndBound::bound_any_model(double slack_by_samples) {
    Worker& worker = *workers_[0];
    Question question = contest_.question();
    question.rival = std::max(0.0, contest_.incumbent().score.correct);
    PriceSet open = PriceSet::all(instance_, question, instance_.n_columns(), nullptr);  // any classifier: its kinks may lie anywhere
    Potentials potentials(instance_.n_classes());
    const double slack = std::max(effort_.least_slack, slack_by_samples * question.n_samples);
    // Where the best tree has its own price, most is possible as a rule: begun there, the other prices are closed in large steps.
    double price = contest_.incumbent().dual_price;
    if (!(price > open.open().front().low && price < open.open().back().high)) price = open.open().back().high;
    for (; !open.empty(); price = open.empty() ? 0.0 : open.open().back().high) {
        const double loss = worker.measures->loss_of_any_model(potentials, price, effort_.any_model_steps);
        if (worker.watch.has_stopped()) return instance_.n_samples();
        // Where the bound misses its goal, so many may be possible; a little more closes the prices nearby, too.
        const double dual = question.n_samples - price * question.budget - loss - question.head_start;
        question.rival = std::min(question.n_samples, std::max(question.rival, std::ceil(dual + slack)));
        open.close(question, {price, loss});
    }
    return question.rival;
}

bool BranchAndBound::settle() {
    const Question question = contest_.question();
    const int levels = question.counted ? std::min(contest_.depth(), question.most_tests) : contest_.depth();
    Node top = root(levels);
    std::vector<OptionBounds> known = recall(question);
    for (const OptionBounds& bounds : known) {
        top.known.push_back(bounds.least());
        top.alive.close(question, top.known.back());
    }
    {
        const std::lock_guard lock(mutex_);
        open_bound_ = -infinity;
        pending_ = {top.alive.largest_dual(question, top.known)};
    }
    process_root(top, std::move(known));
    const std::lock_guard lock(mutex_);
    pending_.clear();
    return open_bound_ == -infinity;
}

bool BranchAndBound::settle_labels(const Skeleton& tests) {
    Worker& worker = *workers_[0];
    only_labels_ = true;
    improvement_.relabel(tests, infinity);
    contest_.ask(contest_.incumbent().score.correct, contest_.all_tests());
    Node top = root(0);
    top.fixed = tests;
    top.places.clear();
    for (const LabelledBox& leaf : leaves_of(instance_, tests)) top.places.push_back({leaf.position, {leaf.box, {}}, 0});
    {
        const std::lock_guard lock(mutex_);
        open_bound_ = -infinity;
        pending_ = {instance_.n_samples()};
    }
    process(worker, top);
    const std::lock_guard lock(mutex_);
    pending_.clear();
    return open_bound_ == -infinity && !worker.watch.has_stopped();
}

double BranchAndBound::dual_bound() const {
    const std::lock_guard lock(mutex_);
    double most = std::max(contest_.question().rival, open_bound_);
    for (const double bound : pending_) most = std::max(most, bound);
    return most;
}

std::vector<std::pair<std::string, BoundStatistics>> BranchAndBound::statistics() const {
    std::vector<std::pair<std::string, BoundStatistics>> all;
    for (const auto& worker : workers_) {
        for (std::size_t k = 0; k < worker->ladder.bounds().size(); ++k) {
            const Bound& bound = *worker->ladder.bounds()[k];
            if (k == all.size()) all.emplace_back(bound.name(), BoundStatistics{});
            BoundStatistics& sum = all[k].second;
            sum.calls += bound.statistics.calls;
            sum.steps += bound.statistics.steps;
            sum.options += bound.statistics.options;
            sum.closed += bound.statistics.closed;
            sum.seconds += bound.statistics.seconds;
        }
    }
    return all;
}

void BranchAndBound::leave_open(double dual) {
    const std::lock_guard lock(mutex_);
    open_bound_ = std::max(open_bound_, dual);
}

void BranchAndBound::close_prices(Worker& worker, Node& node, std::size_t place, const std::vector<Option>& options,
                                  std::vector<OptionBounds>& found) {
    PriceSet work = node.alive;
    while (!work.empty() && !worker.watch.stopped()) {
        const Interval top = work.open().back();
        OptionBounds bounds = worker.ladder.at({node, place, options, top.high, top.high, top.low, effort_.steps_below});
        if (worker.watch.has_stopped()) return;
        improve(worker);
        keep(effort_, contest_.question(), std::move(bounds), node, work, found);
    }
}

// A poor tree makes every question harder than it is, so the more steps were made, the more is done for a better one.
void BranchAndBound::improve(Worker& worker) {
    const long long steps = worker.measures->statistics.steps;
    if (!effort_.improvement || only_labels_ || &worker != workers_[0].get() || steps < next_improvement_) return;
    next_improvement_ = 2 * steps;
    improvement_.run(effort_.improvement_work);
}

// The threads take prices side by side: the first the highest that is open, the second the highest in the lower half, and so on.
void BranchAndBound::close_root_prices(Node& root, const std::vector<Option>& options, std::vector<OptionBounds>& found) {
    PriceSet work = root.alive;
    std::vector<Node> own(workers_.size(), root);
    std::mutex guard;
    team_.all([&](int k) {
        Worker& worker = *workers_[static_cast<std::size_t>(k)];
        Node& node = own[static_cast<std::size_t>(k)];
        node.potentials = root.potentials.moved_to(worker.support.points());
        double last = 0.0;  // price: what was learnt there is worth less, the further the next one is away
        while (true) {
            Interval top{};
            {
                const std::lock_guard lock(guard);
                if (work.empty()) return;
                top = work.below(static_cast<double>(k) / team_.size());
            }
            if (worker.watch.stopped()) return;
            const double price = worker.support.has_own_lists() ? std::max(top.high, last / effort_.largest_jump) : top.high;
            last = price;
            OptionBounds bounds = worker.ladder.at({node, 0, options, price, top.high, top.low, effort_.steps_at_root});
            if (worker.watch.has_stopped()) return;
            improve(worker);
            const std::lock_guard lock(guard);
            const Question question = contest_.question();
            remember(bounds, question);
            keep(effort_, question, std::move(bounds), root, work, found);
            const std::lock_guard pending(mutex_);
            pending_ = {root.alive.largest_dual(question, root.known)};
        }
    });
    root.potentials = own[0].potentials;
}

std::vector<BranchAndBound::Child> BranchAndBound::children_of(const Node& node, const std::vector<Option>& options,
                                                               const std::vector<OptionBounds>& bounds) const {
    std::vector<Child> children;
    const Question question = contest_.question();
    for (std::size_t o = 0; o < options.size() && !node.alive.empty(); ++o) {
        Child child{0.0, o, node.alive, node.known};
        for (const OptionBounds& bound : bounds) {
            child.known.push_back({bound.price, bound.loss[o]});
            child.alive.close(question, child.known.back());
        }
        if (child.alive.empty()) continue;
        child.dual = child.alive.largest_dual(question, child.known);
        children.push_back(std::move(child));
    }
    std::ranges::stable_sort(children, std::greater<>(), &Child::dual);
    return children;
}

void BranchAndBound::process_child(Worker& worker, const Node& node, std::size_t place, const Option& option, Child& child) {
    for (const PricedBound& bound : child.known) child.alive.close(contest_.question(), bound);
    if (child.alive.empty()) return;
    if (worker.watch.stopped()) {
        leave_open(child.dual);
        return;
    }
    Node next = taken(instance_, node, place, option);
    next.alive = std::move(child.alive);
    next.known = std::move(child.known);
    process(worker, next);
}

void BranchAndBound::process(Worker& worker, Node& node) {
    ++nodes_;
    const std::size_t place = place_to_decide(node);
    if (place == node.places.size()) {
        contest_.offer(node.fixed, worker.judge);
        return;
    }
    const std::vector<Option> options = options_of(instance_, node, place, contest_.question());
    std::vector<OptionBounds> bounds;
    close_prices(worker, node, place, options, bounds);
    for (Child& child : children_of(node, options, bounds)) {
        process_child(worker, node, place, options[child.option], child);
    }
}

void BranchAndBound::process_root(Node& root, std::vector<OptionBounds> bounds) {
    ++nodes_;
    const std::vector<Option> options = options_of(instance_, root, 0, contest_.question());
    close_root_prices(root, options, bounds);
    root_potentials_ = root.potentials;
    std::vector<Child> children = children_of(root, options, bounds);
    {
        const std::lock_guard lock(mutex_);
        pending_.clear();
        for (const Child& child : children) pending_.push_back(child.dual);
    }
    std::atomic<std::size_t> next = 0;
    team_.all([&](int k) {
        Worker& worker = *workers_[static_cast<std::size_t>(k)];
        Node own = root;
        own.potentials = root.potentials.moved_to(worker.support.points());
        for (std::size_t c = next++; c < children.size(); c = next++) {
            process_child(worker, own, 0, options[children[c].option], children[c]);
            const std::lock_guard lock(mutex_);
            pending_[c] = -infinity;
        }
    });
}

}  // namespace hardwood::search
