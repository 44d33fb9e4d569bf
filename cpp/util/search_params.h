/// All tuned numbers of the search, each with its reason.
///
/// None of them makes a claim invalid or changes a proved optimum: they change the time, and how
/// tight the bound of a search is that was stopped (tests/solvers/test_search.py switches every
/// speed-up off).
#pragma once

#include <cstddef>

namespace hardwood::search {

struct SearchParams {
    // Speed-ups that tests switch off.
    bool full_domain = true;           // small domains: the support is the whole domain
    bool all_pairs = true;             // small tables: every row is compared with every point
    bool misclassified_points = true;  // the support grows by points that trees misclassify
    bool restart = true;               // an ascent that stalls restarts from zero potentials
    bool tie_margin = true;            // the common divisor of costs separates ties
    bool breakpoints = true;           // multipliers between breakpoints are skipped
    bool exact_zero = true;            // multiplier 0 counts itself, with whole numbers
    bool zero_apart = true;            // at 0, only columns count that some row cannot afford
    bool upward_closing = true;        // a bound closes higher multipliers, too
    bool subset_sums = true;           // sums over subsets of more than two splits ...
    bool large_subsets = true;         // ... and of more than three
    bool known_losses = true;          // ascents begin with what higher multipliers showed
    bool columnwise = true;            // three levels column by column where there are many splits
    bool adaptive_step_size = true;    // smaller steps where smaller steps did better
    bool local_search = true;          // small changes of the incumbent
    bool coarse_splits = true;         // first trees from few splits where there are many
    bool threshold_runs = true;        // adjacent thresholds are closed together
    bool bounds_by_size = true;        // root bounds are computed for every tree size
    bool leaf_size_bounds = true;      // bounds know the smallest leaf size
    bool iterative_deepening = true;   // shallower trees first
    bool shallower_half = true;        // half of the limits goes to one level less without a proof
    bool choose_nodes = true;          // the open node with the fewest open branchings comes first

    // Dual ascent (docs/theory.md#ascent)
    // A stall ends most ascents earlier. What the root leaves open costs a level.
    int max_root_steps = 400, max_node_steps = 200;
    // After each window of steps, the ascent continues if the required loss is within reach of
    // stall_factor * stall_window steps at the current rate.
    int stall_window = 20;
    // The same as long as the support can be enlarged, which is tried first.
    int enlarging_window = 6;
    double stall_factor = 4.0;
    // 1 takes half as many steps more on surveys; 4 is better and worse.
    double first_step = 2.0;
    // Steps until the step size has halved; from then on, `trees_per_step` trees are raised per
    // step (fair, .9/.85: 117 steps instead of 311).
    double step_half_life = 12.0;
    std::size_t trees_per_step = 3;
    // Between root multipliers: a larger jump loses the potentials (1e5 rows, .9/.85: 93 to 48
    // steps).
    double max_multiplier_ratio = 2.0;
    // Steps in which the overshoot falls from one sample by one, and the least it falls to.
    double overshoot_decay = 60.0, min_overshoot = 0.1;
    // Continue beyond the required loss if all lower multipliers close within this many steps.
    double steps_to_full_overshoot = 12;
    // Step size from multiplier to multiplier: kr-vs-kp, depth 4, .7/.5: 6 s instead of more than
    // 60; others unchanged, spect a quarter less. Shorter ascents teach nothing about it.
    int uninformative_steps = 5;
    double step_size_change = 1.4, min_step_size = 0.15;
    // Of potentials when the multiplier changes; with more, mass stops moving.
    double potential_range = 20.0;
    // Steps between valuations of all open branchings.
    int full_valuation_interval = 5;

    std::size_t min_run = 3;              // thresholds that are tried together
    std::size_t max_breakpoints = 5'000;  // listed before the search (docs/theory.md#breakpoints)

    // Tree DP (docs/theory.md#subset-sums)
    double max_subset_sums = 1e6;            // per box: 8 MB; larger tables leave the caches
    double max_subset_sum_steps = 3e7;       // to add all points: about 30 ms
    std::size_t max_dp_entries = 2'000'000;  // about 400 MB
    // Points with less weight are left out, up to a total.
    double negligible_weight = 1e-5, max_neglected = 0.005;

    // Branching: a node that is a level further down has to leave this many times fewer branchings
    // open to be decided first (car-evaluation, depth 4, .9/.75: 12 to 3 s with 4, balance-scale,
    // depth 3, .6/.9: 9.5 s with 1 and 1.7 s with 4).
    double branchings_per_level = 4.0;

    // Any-model bound: what is given away so that every multiplier closes an interval, at least in
    // samples, and as shares of all samples
    int any_model_steps = 2;
    double min_slack = 0.5, coarse_slack = 0.02, fine_slack = 4e-3;

    // A bound that exceeds the required loss by less than `negligible_gap` closes almost nothing:
    // an interval around the multiplier is skipped, wider the more is missing, and decisions
    // further down close it.
    double negligible_gap = 0.02;
    double min_skip = 0.3, skip_per_gap = 0.3;  // times one over the budget

    // First trees; with many splits, a few of them are enough at the beginning
    std::size_t many_splits = 200, first_splits = 64;
    int first_depth = 3;        // deeper trees follow early enough
    int first_steps = 2;        // per multiplier
    int first_multipliers = 8;  // from the highest down ...
    int first_failures = 1;     // ... until this many did not improve the incumbent
    double first_range = 0.02;  // lowest multiplier tried, as a share of the highest

    // Iterative deepening: from this many levels on, this much work per level, if the direct proof
    // takes longer than `deepening_after`
    int deepening_from = 3;
    long long deepening_work = 4000, deepening_after = 500;

    // Local search: after this many steps of the ascent, then whenever they have doubled; work in
    // rows times leaves
    long long local_search_after = 60;
    double local_search_work = 2e7;
    double relabel_work = 5e6;  // of the greedy tree

    // Support
    double max_full_domain = 4096;  // domains up to this size are used completely ...
    double max_full_pairs = 4e6;    // ... if rows times points stay below this
    // Where rows are compared with all points, points that trees misclassify are added as long as
    // there are fewer, or fewer pairs than `max_points_per_row` times the largest number of pairs
    // of rows.
    std::size_t max_points = 18'000;
    double max_points_per_row = 4.0;
    // Over the sets of all rows; at least 2 * n_neighbours for each set.
    std::size_t max_reachable = 1'500'000;
    // Pairs of rows up to which each row is compared with every point from the start. Beyond, each
    // row has a list of its own: the points that one or two moves reach (HMDA, depth 3: .6 to
    // .06 s).
    double max_first_pairs = 1e5;
    // Up to these, rows are compared with every point where lists do not suffice. On long scales,
    // long lists are better from fewer rows on (anes96, fair); kr-vs-kp, with binary columns, needs
    // all pairs.
    double max_pairs = 4e7, max_pairs_long_scales = 5e5;
    int splits_per_long_scale = 5;  // on average, by column
    // Length of a list on average (more does not save steps and takes longer), and of all lists
    // and all points. It is estimated from a sample of the rows.
    std::size_t n_neighbours = 24, max_neighbours = 6'000'000;
    // Lists begin shorter, and become longer where an ascent stalls (DoctorContacts, depth 3: 1.4
    // to .5 s).
    std::size_t first_neighbours = 8;
    std::size_t sampled_rows = 64;
};

}  // namespace hardwood::search
