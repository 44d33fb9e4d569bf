/// How the mass of rows is distributed over the points that they can afford
/// (docs/theory.md#measures).
#pragma once

#include <span>
#include <vector>

#include "dp/point_weights.h"
#include "dual/reachable_sets.h"
#include "util/search_params.h"

namespace hardwood::search {

using ByClass = std::vector<std::vector<double>>;  // numbers by class and point

/// One number for each point and class. The mass of a row is cut into slices by cost; each slice is
/// divided among the points that cost at most as much, in proportion to the exponentials of the
/// potentials of the row's class.
class Potentials {
public:
    explicit Potentials(int n_classes) : values_(idx(n_classes)) {}

    /// Raises the potential of every point for the classes that the tree misclassifies there.
    void add(const PointSet& points, const HeapTree& tree, double step);
    /// The same for the labelling with the least error. It is not a tree, so points that are added
    /// later do not know of this step.
    void add(const ByClass& weights, double step);
    /// Includes the points that were added since.
    void extend(const PointSet& points);
    /// Scales potentials so that their range is at most `range`.
    void compress(double range);

    bool empty() const { return steps_.empty(); }
    const ByClass& values() const { return values_; }
    /// The same steps for another set of points.
    Potentials moved_to(const PointSet& points) const;

private:
    void apply(const PointSet& points, const HeapTree& tree, double step, std::size_t from);

    struct Step {
        HeapTree tree;
        double size;
    };
    ByClass values_;
    std::vector<Step> steps_;
};

/// The mass of every class at every point, at one multiplier. Property (P) of
/// docs/theory.md#measures: the mass of a row on any set of points is at most weight * max(0, 1 -
/// multiplier * cost / class weight), where cost is that of the cheapest point of the set.
void distribute_mass(const Instance& instance, const ReachableSets& reachable, double multiplier,
                     const ByClass& potentials, ByClass& weights);

/// By how much the computed error of a tree with this many levels may exceed the exact one
/// (docs/theory.md#numbers).
double rounding_error(const Instance& instance, const PointSet& points,
                      const ReachableSets& reachable, int levels);

/// Weights for the tree DP, and the points that it has to consider: points of negligible weight are
/// left out, which only lowers errors. Points with observations stay if `sizes` counts them.
PointWeights dp_weights(const ByClass& weights, const SearchParams& params,
                        std::span<const double> sizes, std::vector<std::uint32_t>& points);

/// The least error of any labelling of the points, tree or not.
double any_labelling_error(const ByClass& weights);

}  // namespace hardwood::search
