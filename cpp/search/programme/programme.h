// The ordinary optimal tree on weighted points (docs/theory.md#programme): least errors in a box, for every number of tests.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "../support/effort.h"
#include "../support/watch.h"
#include "short_trees.h"

namespace hardwood::search {

// Least errors by the number of tests that are allowed, from 0 up; or, where tests are not counted, one number for all trees.
using Stairs = std::vector<double>;

// Which of these are wanted. Where tests are not counted: none at all.
struct Sizes {
    bool counted = false;
    int least = 0;
    int most = 0;

    static Sizes any() { return {}; }
    // What the parts below a test have to tell, with so many levels left there.
    Sizes below(int levels) const;
    // With so many levels.
    Sizes within(int levels) const;
    std::size_t width() const { return counted ? static_cast<std::size_t>(most) + 1 : 1; }
};

// Least errors of two parts: of a test with these below it if `tests` is 1, or of parts side by side if it is 0.
Stairs joined(const Stairs& first, const Stairs& second, int tests, const Sizes& sizes);

// Points of a box, and how many levels a tree may have there. Where sums over all sets of as many tests are at hand, points are not
// listed any more.
struct Region {
    Box box;
    int levels = 0;
    std::vector<std::uint32_t> members;
    std::shared_ptr<const TupleSums> sums;
};

class Programme {
public:
    Programme(const Points& points, Watch& watch, const Effort& effort)
        : points_(points), answers_(points), watch_(watch), effort_(effort) {}
    Programme(const Programme&) = delete;  // regions give their sums back to it
    Programme& operator=(const Programme&) = delete;

    // New weights: what was known is forgotten.
    void load(Weights weights);
    const Weights& weights() const { return weights_; }

    // The points of a box, out of these.
    Region region(Box box, int levels, std::vector<std::uint32_t> members);

    // Least errors in a region. Numbers below the cut-off are exact, others only say that nothing smaller than them (they are
    // at least the cut-off) exists. Infinite if the region does not hold as many samples as a leaf must.
    const Stairs& least(const Region& region, const Sizes& sizes, double cutoff);
    // The same with a test on top.
    Stairs least_with(const Region& region, int test, const Sizes& sizes, double cutoff);
    // What trees err at least that have one of the tests of an ordered column from the first to the last on top, in a region whose trees
    // are not all solved at once. Not where leaves must hold so many samples: a part may have none where a larger one has a tree.
    double least_between(const Region& region, int first, int last, const Sizes& sizes, double cutoff);
    double error_of_label(const Region& region, int label) const;
    double error_of_best_label(const Region& region) const;
    // Whether a region holds as many samples as a leaf must.
    bool holds_enough(const Region& region) const;
    int best_label(const Region& region) const;

    // A tree that attains what `least` or `least_with` said, with at most so many tests.
    void put_tree(const Region& region, const Sizes& sizes, int tests, std::size_t at, Skeleton& tree);
    void put_tree_with(const Region& region, int test, const Sizes& sizes, int tests, std::size_t at, Skeleton& tree);

    Region part(const Region& region, int test, int side);

    // Whether all trees of a region are solved at once: then counting their tests costs next to nothing.
    static bool is_short(const Region& region) { return region.sums != nullptr && region.levels <= ShortTrees::deepest; }

private:
    static constexpr int leaf = -1;

    struct Key {
        BoxKey box;
        int levels;
        bool operator==(const Key&) const = default;
    };
    struct Hash {
        std::size_t operator()(const Key& key) const {
            return key.box.hash() * 31 + static_cast<std::size_t>(key.levels);
        }
    };
    struct Entry {
        Stairs value;
        double cutoff = -infinity;  // below it, values are exact
        int least = 0;              // for so many tests and more
        std::vector<int> best;      // by tests: what stands on top

        void offer(const Stairs& errors, int test);
    };

    const Entry* known(const BoxKey& box, int levels, const Sizes& sizes, double cutoff) const;
    Entry solve(const Region& region, const Sizes& sizes, double cutoff);
    void try_test(const Region& region, int test, const Sizes& sizes, double cutoff, Entry& entry);
    // Whether sums over sets of as many tests as there are levels are worth it.
    bool may_sum(const Region& region);
    std::shared_ptr<TupleSums> blank_sums();
    // Solves all trees with few levels of a region; `short_trees_` knows their gains then.
    void load_short_trees(const Region& region, const Sizes& sizes);
    Stairs errors_of_short_trees(const TupleSums& sums, std::size_t k, const Sizes& sizes) const;
    std::vector<std::pair<double, int>> tests_by_promise(const Region& region, const Sizes& sizes, Entry& entry);
    Stairs side(const Region& region, int test, int s, const Sizes& sizes, double cutoff);

    const Points& points_;
    Answers answers_;
    ShortTrees short_trees_;
    Watch& watch_;
    const Effort& effort_;
    Weights weights_;
    std::vector<std::unique_ptr<TupleSums>> spare_sums_;  // used again, since they are large
    std::unordered_map<Key, Entry, Hash> entries_;
    BoxKey loaded_;           // what is known of short trees ...
    int loaded_levels_ = -1;  // ... for so many levels; -1: nothing
    bool loaded_counted_ = false;
};

}  // namespace hardwood::search
