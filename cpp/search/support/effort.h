// Every number that was tuned, with its reason. None of them changes an optimum, only the time.
#pragma once

#include <cstddef>

namespace hardwood::search {

struct Effort {
    // Switches, for tests.
    bool whole_domains = true;   // small domains are taken as a whole
    bool all_pairs = true;       // rows of small tables are compared with all points
    bool wrong_points = true;    // where trees are wrong, measures may stand
    bool fresh_starts = true;    // where an ascent does not get on, it begins anew
    bool head_start = true;      // ties are told apart by the common divisor of prices
    bool kinks = true;           // prices between kinks of all dual values are left out
    bool upward = true;          // a bound closes higher prices, too
    bool long_sums = true;       // sums over sets of more than three tests
    bool pace = true;            // steps are small where small ones did better
    bool improvement = true;     // small changes of the best tree
    bool coarse = true;          // first trees from few tests where there are many
    bool runs = true;            // thresholds side by side are closed together
    bool count_along = true;     // bounds at the root tell about smaller trees, too
    bool leaf_sizes = true;      // bounds know how many samples a leaf must hold
    bool climb = true;           // shallower trees come first

    // Ascent (docs/theory.md#ascent)
    int steps_at_root = 400;    // patience ends most ascents before; what is left open here costs a whole level of branching
    int steps_below = 200;
    int patience = 20;          // after so many steps, it is asked whether the goal will be reached ...
    double windows = 4.0;       // ... within so many times as many, at the rate of the last ones; otherwise a hole is left
    double first_step = 2.0;    // 1 takes half as many steps more on surveys, 4 is better and worse
    double slow_down = 12.0;    // steps until the step size has halved ...
    std::size_t trees_together = 3;  // ... and from when on so many trees are raised in a step: fair, .9/.85, 117 steps instead of 311
    double largest_jump = 1.5;  // from price to price at the root: further away, what was learnt is spoilt (1e5 rows, .9/.85: 93 to 48 steps)
    double want_falls = 60.0;   // what is wanted beyond the goal falls from a sample by one in so many steps ...
    double least_want = 0.1;    // ... to this
    double steps_to_all = 12.0;  // an ascent goes on beyond its goal if it closes all lower prices within so many steps
    // Pace from price to price: kr-vs-kp, depth 4, .7/.5: 6 s instead of more than 60; others the same, spect a quarter less.
    int few_steps = 5;          // an ascent as short as this says nothing about it
    double pace_change = 1.4, slowest_pace = 0.15;
    double range = 20.0;        // of potentials when the price changes: with more, slices stop moving
    int look_at_all = 5;        // every so many steps all open options are valued, otherwise the most promising ones

    std::size_t shortest_run = 3;    // thresholds that are tried together
    std::size_t most_kinks = 5'000;  // that are listed before anything else (docs/theory.md#kinks)

    // Programme (docs/theory.md#tuples)
    double most_sums = 1e6;             // over sets of tests, for a box: 8 MB; beyond, they leave the caches
    double most_sum_steps = 3e7;        // to add all points to them: some 30 ms
    std::size_t most_values = 2'000'000;  // kept by box: some 400 MB
    double tiny_weight = 1e-5, most_left_out = 0.005;  // points that weigh less are left out, so many samples in all

    // Any model: what is given away for fewer prices, since every one closes so much at least; as a share of the samples
    int any_model_steps = 2;
    double least_slack = 0.5, coarse_slack = 0.02, fine_slack = 4e-3;

    // A bound that clears its goal by less than this closes next to nothing: a hole is left around the price, the wider, the
    // more is missing, and decisions further down close it.
    double next_to_nothing = 0.02;
    double least_hole = 0.3, hole_by_gap = 0.3;  // times one over the budget

    // First trees; where there are many tests, few of them will do in the beginning
    std::size_t many_tests = 200, first_tests = 64;
    int first_depth = 3;        // deeper ones come up soon enough
    int first_steps = 2;        // at a price
    int first_prices = 8;       // from the highest down ...
    int first_in_vain = 1;      // ... until so many did not help
    double first_range = 0.02;  // of the highest price: the lowest that is tried

    // Shallower trees from this many levels on, each for so many looks (more levels are more work a look), if so many were in vain
    int climb_from = 3;
    long long climb_looks = 4000, climb_after = 500;

    // Small changes of the best tree: after so many steps, and whenever they have doubled; rows that are compared with leaves
    long long improve_after = 60;
    double improvement_work = 2e7;
    double relabel_work = 5e6;  // of the first tree of all

    // Support
    double all_points = 4096;       // domains up to this size are taken as a whole ...
    double all_ways = 4e6;          // ... if rows times points stay below this
    std::size_t most_points = 18'000;   // none is added beyond
    std::size_t most_ways = 1'500'000;  // of all rows, but twice the number of points nearby for each at least
    // Pairs of rows: beyond, each row has a list of its own, of the points that one move or two lead to. On long scales these are
    // better from fewer rows on (anes96, fair); kr-vs-kp, with its yes/no columns, needs all pairs.
    double most_pairs = 4e7, most_pairs_of_long_scales = 5e5;
    int tests_of_long_scales = 5;       // by column, on the average
    std::size_t points_nearby = 24;     // in a list on the average, where it is cut: more do not save steps, and take longer ...
    std::size_t most_ways_nearby = 6'000'000;  // ... and in all lists
    std::size_t sampled_rows = 64;      // by which that is judged
};

}  // namespace hardwood::search
