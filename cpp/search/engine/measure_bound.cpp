#include "measure_bound.h"

#include <algorithm>
#include <cmath>

namespace hardwood::search {

// What an ascent at one price holds.
struct MeasureBound::Ascent {
    Node& node;
    std::size_t place;
    const std::vector<Option>& options;
    OptionBounds bounds;
    double open;               // the price that is to be closed
    Question question;
    std::vector<double> last;  // values of the options when they were last looked at
    std::vector<Region> regions;
    Stairs others;             // least errors at the other places
    int steps = 0;
    int best = -1;             // the open option with the least value that is known exactly
    double want = 0.0;         // by how much the goal is to be exceeded
    double most_wanted = 0.0;
    int raised = 0;            // step at which that was last raised ...
    double reached_then = 0.0;  // ... and what was reached
    int began = 0;             // step at which the potentials were 0
    bool paced = false;        // whether they come from the price before, at the root
    bool along = false;        // whether tests are counted along, for all numbers of them
    bool counting = false;     // whether they are counted at all: along, or because there is a limit

    double before = 0.0;       // what was reached when the window of steps began
    int window = 0;            // steps in it

    double goal() const { return question.goal(open); }
    double target() const { return goal() + want; }
    double reached() const { return std::ranges::min(bounds.loss); }
    bool is_hopeless(const Effort& effort);
};

// Asked after each step, it answers at the end of a window: whether the goal, or what is wanted once it is reached, is out of reach at
// the rate of the window.
bool MeasureBound::Ascent::is_hopeless(const Effort& effort) {
    if (++window < effort.patience) return false;
    const double goal = this->goal(), now = reached();
    const double missing = goal - now + (now < goal ? 0.0 : want), gain = now - before;
    before = now;
    window = 0;
    return gain * effort.windows < missing;
}

void Pace::learn(int steps, const Effort& effort) {
    if (steps <= effort.few_steps) return;
    if (steps > last_) rising_ = !rising_;
    last_ = steps;
    scale_ = std::clamp(rising_ ? scale_ * effort.pace_change : scale_ / effort.pace_change, effort.slowest_pace, 1.0);
}

MeasureBound::MeasureBound(const Instance& instance, Support& support, Contest& contest, Judge& judge, Watch& watch,
                           const Effort& effort)
    : instance_(instance),
      support_(support),
      contest_(contest),
      judge_(judge),
      watch_(watch),
      effort_(effort),
      programme_(support.points(), watch, effort) {}

// What the other places may need at most is known, so this one has to tell about trees with the rest or more only.
Sizes MeasureBound::sizes_of(const Ascent& ascent, const Place& place) const {
    const Question& question = ascent.question;
    if (!ascent.counting) return Sizes::any();
    const int left = std::max(0, question.most_tests - ascent.node.n_tests);
    int others = 0;
    for (const Place& other : ascent.node.places) {
        if (&other != &place && other.is_open()) others += (1 << std::min(other.levels, 20)) - 1;
    }
    return {true, std::max(0, left - others), left};
}

Stairs MeasureBound::value_of(Ascent& ascent, const Option& option, double cutoff) {
    const Region& region = ascent.regions[ascent.place];
    const Sizes sizes = sizes_of(ascent, ascent.node.places[ascent.place]);
    switch (option.kind) {
        case Option::Kind::test: return programme_.least_with(region, option.number, sizes, cutoff);
        case Option::Kind::label: return {programme_.error_of_label(region, option.number)};
        case Option::Kind::leaf: break;
    }
    return {programme_.error_of_best_label(region)};
}

// Weights for the potentials as they are.
void MeasureBound::load(Ascent& ascent) {
    rounding_ = rounding(instance_, support_.points(), support_.reach(), contest_.depth());
    spread(instance_, support_.reach(), ascent.bounds.price, ascent.node.potentials.of(), weights_);
    const bool by_size = instance_.has_least_leaf() && effort_.leaf_sizes;
    if (by_size) sizes_.assign(support_.sizes().begin(), support_.sizes().end());
    sizes_.resize(by_size ? support_.points().size() : 0, 0.0);
    Weights weights = weights_for_programme(weights_, effort_, sizes_, members_);
    weights.sizes = sizes_;
    weights.least_leaf = by_size ? instance_.least_leaf() : 0.0;
    programme_.load(std::move(weights));
    ascent.regions.clear();
    for (const Place& place : ascent.node.places) {
        std::vector<std::uint32_t> members;
        std::ranges::copy_if(members_, std::back_inserter(members), [&](std::uint32_t z) {
            return contains(instance_, place.box.key, support_.points()[z]);
        });
        ascent.regions.push_back(programme_.region(place.box, place.levels, std::move(members)));
    }
    ascent.along = effort_.count_along && ascent.node.is_root() && Programme::is_short(ascent.regions[0]);
    ascent.counting = ascent.question.counted || ascent.along;
}

namespace {

// What is known about trees with at most so many tests becomes known to be at least this, and so much more.
void raise(std::vector<double>& known, const Stairs& errors, double more) {
    if (known.size() < errors.size()) known.resize(errors.size(), known.empty() ? 0.0 : known.back());
    for (std::size_t n = 0; n < errors.size(); ++n) known[n] = std::max(known[n], errors[n] + more);
}

}  // namespace

// Thresholds of one column side by side: whatever lies left of the first of them lies left of all, and likewise on the right, so the
// errors on these two sides are a bound for all of them (docs/theory.md#runs). Where it does not close them, halves are tried.
void MeasureBound::close_runs(Ascent& ascent, std::span<const std::size_t> open, double cutoff, double more) {
    const auto column_of = [&](std::size_t o) {
        return ascent.options[o].kind == Option::Kind::test ? instance_.column_of(ascent.options[o].number) : -1;
    };
    for (std::size_t begin = 0; begin < open.size();) {
        const int c = column_of(open[begin]);
        std::size_t end = begin;
        while (end < open.size() && column_of(open[end]) == c) ++end;
        const std::span<const std::size_t> run = open.subspan(begin, end - begin);
        begin = end;
        if (c < 0 || !instance_.column(c).ordered) continue;
        if (!instance_.column(c).missing) {
            close_run(ascent, run, cutoff, more);
            continue;
        }
        for (const bool with_none : {false, true}) {  // each kind of its thresholds is a run of its own
            std::vector<std::size_t> own;
            std::ranges::copy_if(run, std::back_inserter(own), [&](std::size_t o) {
                const int test = ascent.options[o].number;
                return instance_.column(c).takes_missing(test) == with_none && test != instance_.column(c).missing_test();
            });
            close_run(ascent, own, cutoff, more);
        }
    }
}

void MeasureBound::close_run(Ascent& ascent, std::span<const std::size_t> run, double cutoff, double more) {
    if (run.size() < effort_.shortest_run || watch_.stopped()) return;
    const Sizes sizes = sizes_of(ascent, ascent.node.places[ascent.place]);
    const double least = programme_.least_between(ascent.regions[ascent.place], ascent.options[run.front()].number,
                                                  ascent.options[run.back()].number, sizes, cutoff);
    if (watch_.has_stopped()) return;
    if (least < cutoff) {
        close_run(ascent, run.first(run.size() / 2), cutoff, more);
        close_run(ascent, run.subspan(run.size() / 2), cutoff, more);
        return;
    }
    for (const std::size_t o : run) ascent.bounds.loss[o] = std::max(ascent.bounds.loss[o], least + more);
}

// Values options that are open, the most promising ones first; unless all are wanted, up to the first that is known exactly.
void MeasureBound::value_options(Ascent& ascent, bool all) {
    const Question& question = ascent.question;
    const double target = ascent.target();
    const double fixed = programme_.weights().unavoidable - rounding_;
    ascent.others = {0.0};
    const Sizes whole{ascent.counting, 0, std::max(0, question.most_tests - ascent.node.n_tests)};
    for (std::size_t k = 0; k < ascent.regions.size(); ++k) {
        if (k == ascent.place) continue;
        const Place& place = ascent.node.places[k];
        const double cutoff = target - fixed - ascent.others.back();
        const Stairs own = place.is_open() ? programme_.least(ascent.regions[k], sizes_of(ascent, place), cutoff)
                                           : Stairs{programme_.error_of_label(ascent.regions[k], place.label)};
        ascent.others = joined(ascent.others, own, 0, whole);
    }
    std::vector<std::size_t> order;
    for (std::size_t o = 0; o < ascent.options.size(); ++o) {
        if (ascent.bounds.loss[o] < target) order.push_back(o);
    }
    const bool may_run = effort_.runs && programme_.weights().least_leaf == 0.0;  // see `least_between`
    if (all && may_run && !Programme::is_short(ascent.regions[ascent.place])) {
        close_runs(ascent, order, target - fixed - ascent.others.back(), fixed + ascent.others.back());
        std::erase_if(order, [&](std::size_t o) { return ascent.bounds.loss[o] >= target; });
    }
    std::ranges::stable_sort(order, {}, [&](std::size_t o) { return ascent.last[o]; });
    if (ascent.along) ascent.bounds.by_tests.resize(ascent.options.size());
    ascent.best = -1;
    double least = infinity;
    for (const std::size_t o : order) {
        if (!all && !ascent.along && ascent.best >= 0) break;
        const double cutoff = target - fixed - ascent.others.back();
        const Stairs own = value_of(ascent, ascent.options[o], cutoff);
        if (watch_.stopped()) return;
        const Stairs stairs = joined(ascent.others, own, 0, whole);
        const double value = fixed + stairs.back();
        ascent.last[o] = value;
        ascent.bounds.loss[o] = std::max(ascent.bounds.loss[o], value);
        if (ascent.along) raise(ascent.bounds.by_tests[o], stairs, fixed);
        if (value < target && value < least) {
            least = value;
            ascent.best = static_cast<int>(o);
        }
    }
}

Skeleton MeasureBound::tree_of(const Ascent& ascent, const Option& option) {
    Skeleton tree = ascent.node.fixed;
    const Question& question = ascent.question;
    int left = question.most_tests - ascent.node.n_tests;
    // Tests are handed out place after place; what the places after may do with the rest is known by `least`.
    const auto put = [&](std::size_t k, int tests) {
        const Place& place = ascent.node.places[k];
        const Sizes sizes = sizes_of(ascent, place);
        if (k != ascent.place) {
            if (place.is_open()) programme_.put_tree(ascent.regions[k], sizes, tests, place.position, tree);
            return;
        }
        if (option.kind == Option::Kind::test) {
            programme_.put_tree_with(ascent.regions[k], option.number, sizes, tests, place.position, tree);
            return;
        }
        const bool is_leaf = option.kind == Option::Kind::leaf;
        tree[place.position] = {-1, is_leaf ? programme_.best_label(ascent.regions[k]) : option.number};
    };
    if (!question.counted) {
        for (std::size_t k = 0; k < ascent.regions.size(); ++k) put(k, left);
        return tree;
    }
    std::vector<Stairs> own, rest{{0.0}};
    for (std::size_t k = 0; k < ascent.regions.size(); ++k) {
        const Place& place = ascent.node.places[k];
        if (k == ascent.place) {
            own.push_back(option.kind == Option::Kind::test
                              ? programme_.least_with(ascent.regions[k], option.number, sizes_of(ascent, place), infinity)
                              : Stairs{0.0});
        } else {
            own.push_back(place.is_open() ? programme_.least(ascent.regions[k], sizes_of(ascent, place), infinity) : Stairs{0.0});
        }
    }
    for (std::size_t k = own.size(); k-- > 1;) rest.push_back(joined(rest.back(), own[k], 0, {true, 0, left}));
    for (std::size_t k = 0; k < own.size(); ++k) {
        const Stairs& after = rest[own.size() - 1 - k];
        int take = 0;
        double least = infinity;
        for (int n = 0; n < static_cast<int>(own[k].size()) && n <= left; ++n) {
            const double error = own[k][static_cast<std::size_t>(n)] +
                                 after[std::min(static_cast<std::size_t>(left - n), after.size() - 1)];
            if (error < least) {
                least = error;
                take = n;
            }
        }
        put(k, take);
        left -= take;
    }
    return tree;
}

// Where an ascent takes long, it is because several trees take turns: then the best ones of some options are raised together, each by
// what it misses. Values of other options are of this step only if all were solved at once.
std::vector<std::size_t> MeasureBound::options_to_raise(const Ascent& ascent) const {
    const auto best = static_cast<std::size_t>(ascent.best);
    if (!ascent.along || ascent.steps - ascent.began < effort_.slow_down) return {best};
    std::vector<std::size_t> open;
    for (std::size_t o = 0; o < ascent.options.size(); ++o) {
        if (ascent.bounds.loss[o] < ascent.target()) open.push_back(o);
    }
    std::ranges::stable_sort(open, {}, [&](std::size_t o) { return ascent.last[o]; });
    open.resize(std::min(open.size(), effort_.trees_together));
    return open;
}

void MeasureBound::step(Ascent& ascent) {
    const Skeleton tree = tree_of(ascent, ascent.options[static_cast<std::size_t>(ascent.best)]);
    if (watch_.has_stopped()) return;
    if (contest_.offer(tree, judge_, ascent.bounds.price)) support_.add_wrong_points(judge_.evaluator(), ascent.bounds.price);
    const double scale = ascent.began == 0 && ascent.paced ? pace_.scale() : 1.0;
    const double size = effort_.first_step * scale / (1.0 + (ascent.steps - ascent.began) / effort_.slow_down);
    const std::vector<std::size_t> options = options_to_raise(ascent);
    double missing = 0.0;
    for (const std::size_t o : options) missing += ascent.target() - ascent.last[o];
    for (const std::size_t o : options) {
        const bool is_best = o == static_cast<std::size_t>(ascent.best);
        ascent.node.potentials.add(support_.points(), is_best ? tree : tree_of(ascent, ascent.options[o]),
                                   size * (ascent.target() - ascent.last[o]) / missing);
    }
}

// What came fast may go on fast: as long as a rise takes two steps at most, or everything that may be wanted is near at its rate, the
// next one is twice as high.
bool MeasureBound::may_want_more(Ascent& ascent) const {
    if (ascent.want >= ascent.most_wanted) return false;
    const int steps = ascent.steps - ascent.raised;
    const double now = ascent.reached(), missing = ascent.goal() + ascent.most_wanted - now;
    if (steps > 2 && missing * steps > effort_.steps_to_all * (now - ascent.reached_then)) return false;
    ascent.want = std::min(2.0 * std::max(ascent.want, now - ascent.goal()), ascent.most_wanted);
    ascent.raised = ascent.steps;
    ascent.reached_then = now;
    return true;
}

// What was learnt at other prices may be in the way: once more from nothing, where samples are drawn nowhere. The bounds so far are
// kept, so the first window counts in full, and the next one only what exceeds them.
void MeasureBound::begin_anew(Ascent& ascent) const {
    ascent.began = ascent.steps + 1;
    ascent.before = 0.0;
    ascent.node.potentials = Potentials(instance_.n_classes());
    ascent.node.potentials.extend(support_.points());
}

OptionBounds MeasureBound::at(const Inquiry& inquiry) {
    const auto& [node, place, options, price, open, lowest, most_steps] = inquiry;
    Ascent ascent{node, place, options, {price, std::vector<double>(options.size(), 0.0)}, open, contest_.question(),
                  std::vector<double>(options.size(), 0.0), {}, {}};
    // More than the distance to the lowest price is good for nothing, but for a trifle that makes it count.
    ascent.most_wanted = (open - lowest) * ascent.question.budget * (1.0 + 1e-9) + effort_.next_to_nothing;
    if (!instance_.anybody_moves_at(price)) ascent.most_wanted = 0.0;  // there is one measure only
    ascent.want = std::min(ambition_, ascent.most_wanted);
    ascent.paced = effort_.pace && node.is_root() && !node.potentials.empty();
    if (node.potentials.empty()) support_.prepare(price);
    node.potentials.extend(support_.points());
    node.potentials.compress(effort_.range);
    bool reached = false;
    for (; ascent.steps < most_steps && !watch_.stopped(); ++ascent.steps) {
        ++statistics.steps;
        ascent.question = contest_.question();
        load(ascent);
        if (ascent.steps >= ascent.raised + 3) {
            ascent.want = std::min(ascent.want, std::max(effort_.least_want, 1.0 - ascent.steps / effort_.want_falls));
        }
        do {
            value_options(ascent, ascent.steps % effort_.look_at_all == 0);
            reached = ascent.best < 0;  // every option has reached the goal
        } while (reached && !watch_.has_stopped() && may_want_more(ascent));
        if (reached || watch_.has_stopped()) break;
        support_.prepare(price);  // lists for higher prices did not do
        step(ascent);
        if (watch_.has_stopped() || !instance_.anybody_moves_at(price)) break;
        if (!ascent.is_hopeless(effort_)) continue;
        if (ascent.began > 0 || !effort_.fresh_starts) break;
        begin_anew(ascent);
    }
    if (ascent.paced) pace_.learn(ascent.steps, effort_);
    if (!reached) {
        ambition_ = std::max(1.0, 0.5 * std::min(ambition_, ascent.want));
    } else if (ascent.want < ascent.most_wanted) {
        ambition_ = std::max(1.0, ascent.want);
    }
    return std::move(ascent.bounds);
}

double MeasureBound::loss_of_any_model(Potentials& potentials, double price, int steps) {
    const Points& points = support_.points();
    potentials.extend(points);
    potentials.compress(effort_.range);
    double best = 0.0;
    for (int k = 0; k < steps && !watch_.stopped(); ++k) {
        spread(instance_, support_.reach(), price, potentials.of(), weights_);
        best = std::max(best, error_of_any_labelling(weights_) - rounding(instance_, points, support_.reach(), 0));
        if (!instance_.anybody_moves_at(price)) break;
        potentials.add(weights_, 1.0 / (1.0 + k / effort_.slow_down));
    }
    return best;
}

}  // namespace hardwood::search
