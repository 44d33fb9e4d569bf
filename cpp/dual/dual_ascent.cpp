#include "dual/dual_ascent.h"

#include <algorithm>
#include <iterator>

#include "model/constraint.h"

namespace hardwood::search {

void StepSize::learn(int n_steps, const SearchParams& params) {
    if (n_steps <= params.uninformative_steps) return;
    if (n_steps > last_) growing_ = !growing_;
    last_ = n_steps;
    const double next =
        growing_ ? scale_ * params.step_size_change : scale_ / params.step_size_change;
    scale_ = std::clamp(next, params.min_step_size, 1.0);
}

DualAscent::DualAscent(AscentContext& context, const BoundRequest& request, Potentials& potentials)
    : context_(context),
      request_(request),
      potentials_(potentials),
      completions_(context.dp, request),
      target_(context.sink.target()),
      bounds_{.multiplier = request.multiplier,
              .loss = request.known_loss.empty()
                          ? std::vector<double>(request.branchings.size(), 0.0)
                          : request.known_loss},
      last_(request.branchings.size(), 0.0) {
    // Exceeding the required loss by more than the distance to the lowest multiplier has no use,
    // but for a margin that makes the bound count.
    max_overshoot_ = (request.highest_open - request.lowest_open) * target_.budget * (1.0 + 1e-9) +
                     context.params.negligible_gap;
    if (!context.instance.any_move_at(request.multiplier))
        max_overshoot_ = 0.0;  // there is one distribution only
    overshoot_ = std::min(context.overshoot, max_overshoot_);
    continues_ = context.params.adaptive_step_size && request.tree.is_root() && !potentials.empty();
    if (potentials.empty()) context.support.prepare(request.multiplier);
    potentials.extend(context.support.points(), context.team);
    potentials.compress(context.params.potential_range);
}

double DualAscent::reached() const {
    return std::ranges::min(bounds_.loss);
}

BranchBounds DualAscent::run() {
    const SearchParams& params = context_.params;
    StopToken& stop = context_.stop;
    bool reached_all = false;
    for (; steps_ < request_.max_steps && !stop.should_stop(); ++steps_) {
        ++n_started_;
        target_ = context_.sink.target();
        load_weights();
        if (steps_ >= raised_at_ + 3) {
            const double decayed =
                std::max(params.min_overshoot, 1.0 - steps_ / params.overshoot_decay);
            overshoot_ = std::min(overshoot_, decayed);
        }
        do {
            value_branchings(steps_ % params.full_valuation_interval == 0);
            reached_all = best_ < 0;
        } while (reached_all && !stop.stopped() && raise_overshoot());
        if (reached_all || stop.stopped() || request_.values_only) break;
        context_.support.prepare(
            request_.multiplier);  // lists made for higher multipliers were not enough
        step();
        if (stop.stopped() || !context_.instance.any_move_at(request_.multiplier)) break;
        if (!has_stalled()) continue;
        if (context_.support.can_enlarge()) {
            context_.support.enlarge(request_.multiplier);
            potentials_.extend(context_.support.points(), context_.team);
            continue;
        }
        if (restarted_at_ > 0 || !params.restart) break;
        restart();
    }
    if (!request_.values_only) learn(reached_all);
    return std::move(bounds_);
}

void DualAscent::learn(bool reached_all) {
    if (continues_) context_.step_size.learn(steps_, context_.params);
    if (!reached_all) {
        context_.overshoot = std::max(1.0, 0.5 * std::min(context_.overshoot, overshoot_));
    } else if (overshoot_ < max_overshoot_) {
        context_.overshoot = std::max(1.0, overshoot_);
    }
}

/// Distributes mass by the current potentials, and poses the subproblems of the open nodes.
void DualAscent::load_weights() {
    const Instance& instance = context_.instance;
    const Support& support = context_.support;
    rounding_error_ =
        rounding_error(instance, support.points(), support.reachable(), context_.depth);
    const ByClass& mass = context_.mass.distribute(bounds_.multiplier, potentials_.attractions());
    const bool with_sizes = min_leaf_size(instance) > 0.0 && context_.params.leaf_size_bounds;
    std::vector<double>& sizes = context_.sizes;
    if (with_sizes) sizes.assign(support.sizes().begin(), support.sizes().end());
    sizes.resize(with_sizes ? support.points().size() : 0, 0.0);
    std::vector<std::uint32_t> considered;
    PointWeights weights = dp_weights(mass, context_.params, sizes, considered);
    weights.sizes = sizes;
    weights.min_leaf_size = with_sizes ? min_leaf_size(instance) : 0.0;
    context_.dp.load(std::move(weights));
    completions_.pose(support.points(), considered, target_, context_.params.bounds_by_size);
}

/// The column of a split; -1 for other branchings.
int DualAscent::column_of(const Branching& branching) const {
    return branching.kind == Branching::Kind::split ? context_.instance.column_of(branching.value)
                                                    : -1;
}

/// Adjacent thresholds of one column: what lies left of the first of them lies left of all, and
/// likewise on the right of the last, so the errors on these two sides bound all of them
/// (docs/theory.md#runs). Where that does not close them, halves are tried.
void DualAscent::close_runs(std::span<const std::size_t> open, double cutoff, double offset) {
    const Instance& instance = context_.instance;
    for (std::size_t begin = 0; begin < open.size();) {
        const int c = column_of(request_.branchings[open[begin]]);
        std::size_t end = begin;
        while (end < open.size() && column_of(request_.branchings[open[end]]) == c) ++end;
        const std::span<const std::size_t> run = open.subspan(begin, end - begin);
        begin = end;
        if (c < 0 || !instance.column(c).ordered) continue;
        const Column& column = instance.column(c);
        if (!column.missing) {
            close_run(run, cutoff, offset);
            continue;
        }
        for (const bool with_missing :
             {false, true}) {  // each variant of the thresholds is a run of its own
            std::vector<std::size_t> own;
            std::ranges::copy_if(run, std::back_inserter(own), [&](std::size_t b) {
                const int split = request_.branchings[b].value;
                return column.takes_missing(split) == with_missing &&
                       split != column.missing_split();
            });
            close_run(own, cutoff, offset);
        }
    }
}

void DualAscent::close_run(std::span<const std::size_t> run, double cutoff, double offset) {
    if (run.size() < context_.params.min_run || context_.stop.should_stop()) return;
    const double error = completions_.least_error_between(
        request_.branchings[run.front()].value, request_.branchings[run.back()].value, cutoff);
    if (context_.stop.stopped()) return;
    if (error < cutoff) {
        close_run(run.first(run.size() / 2), cutoff, offset);
        close_run(run.subspan(run.size() / 2), cutoff, offset);
        return;
    }
    for (const std::size_t b : run) bounds_.loss[b] = std::max(bounds_.loss[b], error + offset);
}

/// Values open branchings, the most promising ones first; unless all are wanted, up to the first
/// exact value, and what comes with it.
void DualAscent::value_branchings(bool all) {
    const double aim = this->aim();
    const double fixed = context_.dp.weights().unavoidable_error - rounding_error_;
    const double cutoff = aim - fixed;
    completions_.value_other_nodes(cutoff);
    std::vector<std::size_t> order;
    for (std::size_t b = 0; b < request_.branchings.size(); ++b) {
        if (bounds_.loss[b] < aim) order.push_back(b);
    }
    const bool errors_are_monotone =
        context_.dp.weights().min_leaf_size == 0.0 || preserves_monotone_errors(context_.instance);
    if (all && context_.params.threshold_runs && errors_are_monotone &&
        !completions_.is_shallow()) {
        close_runs(order, cutoff, fixed);
        std::erase_if(order, [&](std::size_t b) { return bounds_.loss[b] >= aim; });
    }
    std::ranges::stable_sort(order, {}, [&](std::size_t b) { return last_[b]; });
    const bool all_sizes = completions_.has_all_sizes(), at_once = completions_.solve_at_once();
    if (all_sizes) bounds_.by_size.resize(request_.branchings.size());
    if (all) {
        std::vector<Branching> open;
        for (const std::size_t b : order) open.push_back(request_.branchings[b]);
        completions_.prepare(open);
    }
    best_ = -1;
    double least = infinity;
    int solved_column = -1;
    for (const std::size_t b : order) {
        if (!all && !at_once && best_ >= 0) {
            if (!completions_.is_columnwise()) break;
            if (column_of(request_.branchings[b]) != solved_column) continue;
        }
        solved_column = column_of(request_.branchings[b]);
        const ErrorBySize errors = completions_.errors(request_.branchings[b], cutoff);
        if (context_.stop.should_stop()) return;
        const double value = fixed + errors.back();
        last_[b] = value;
        bounds_.loss[b] = std::max(bounds_.loss[b], value);
        if (all_sizes) raise_bounds(bounds_.by_size[b], errors, fixed);
        if (value < aim && value < least) {
            least = value;
            best_ = to_int(b);
        }
    }
}

/// A long ascent alternates between several trees: then the best trees of some branchings are
/// raised together, each by what it misses. Values of other branchings belong to this step only if
/// all were computed at once.
std::vector<std::size_t> DualAscent::branchings_to_raise() const {
    const SearchParams& params = context_.params;
    if (!completions_.solve_at_once() || steps_ - restarted_at_ < params.step_half_life)
        return {idx(best_)};
    std::vector<std::size_t> open;
    for (std::size_t b = 0; b < request_.branchings.size(); ++b) {
        if (bounds_.loss[b] < aim()) open.push_back(b);
    }
    std::ranges::stable_sort(open, {}, [&](std::size_t b) { return last_[b]; });
    open.resize(std::min(open.size(), params.trees_per_step));
    return open;
}

void DualAscent::step() {
    const SearchParams& params = context_.params;
    const HeapTree tree = completions_.best(request_.branchings[idx(best_)]);
    if (context_.stop.stopped()) return;
    if (context_.sink.offer(tree, context_.evaluations, bounds_.multiplier)) {
        context_.support.add_misclassified_points(context_.evaluations.evaluator(),
                                                  bounds_.multiplier);
    }
    const double scale = restarted_at_ == 0 && continues_ ? context_.step_size.scale() : 1.0;
    const double size =
        params.first_step * scale / (1.0 + (steps_ - restarted_at_) / params.step_half_life);
    const std::vector<std::size_t> raised = branchings_to_raise();
    double missing = 0.0;
    for (const std::size_t b : raised) missing += aim() - last_[b];
    for (const std::size_t b : raised) {
        const bool is_best = b == idx(best_);
        potentials_.add(context_.support.points(),
                        is_best ? tree : completions_.best(request_.branchings[b]),
                        size * (aim() - last_[b]) / missing, context_.team);
    }
}

/// Doubles the overshoot while each increase needs at most two steps, or while the full overshoot
/// is near at the current rate.
bool DualAscent::raise_overshoot() {
    if (overshoot_ >= max_overshoot_) return false;
    const int steps = steps_ - raised_at_;
    const double now = reached(), missing = required_loss() + max_overshoot_ - now;
    const bool is_slow =
        missing * steps > context_.params.steps_to_full_overshoot * (now - reached_then_);
    if (steps > 2 && is_slow) return false;
    overshoot_ = std::min(2.0 * std::max(overshoot_, now - required_loss()), max_overshoot_);
    raised_at_ = steps_;
    reached_then_ = now;
    return true;
}

/// Called after each step; at the end of a window of steps, tells whether the required loss (or the
/// overshoot, once it is reached) is out of reach at the rate of the window.
bool DualAscent::has_stalled() {
    const SearchParams& params = context_.params;
    const int length =
        context_.support.can_enlarge() ? params.enlarging_window : params.stall_window;
    if (++window_ < length) return false;
    const double required = required_loss(), now = reached();
    const double missing = required - now + (now < required ? 0.0 : overshoot_),
                 gain = now - window_start_;
    window_start_ = now;
    window_ = 0;
    return gain * params.stall_factor < missing;
}

/// Potentials learnt at other multipliers may be misleading: start again from zero. The bounds so
/// far are kept, so the first window counts in full, and the next one only what exceeds them.
void DualAscent::restart() {
    restarted_at_ = steps_ + 1;
    window_start_ = 0.0;
    potentials_ = Potentials(context_.instance.n_classes());
    potentials_.extend(context_.support.points(), context_.team);
}

}  // namespace hardwood::search
