/// Potentials of points, and the weights for the tree DP that follow from them
/// (docs/theory.md#ascent).
#pragma once

#include <span>
#include <vector>

#include "dp/point_weights.h"
#include "dual/mass_distribution.h"
#include "util/search_params.h"

namespace hardwood::search {

/// One number for each point and class. The mass of a row is cut into slices by cost; each slice is
/// divided among the points that cost at most as much, in proportion to the exponentials of the
/// potentials of the row's class.
class Potentials {
public:
    explicit Potentials(int n_classes)
        : values_(idx(n_classes)), attractions_(values_.size()), references_(values_.size(), 0.0) {}

    /// Raises the potential of every point for the classes that the tree misclassifies there.
    void add(const PointSet& points, const HeapTree& tree, double step, ThreadTeam& team);
    /// The same for the labelling with the least error. It is not a tree, so points that are added
    /// later do not know of this step.
    void add(const ByClass& mass, double step);
    /// Includes the points that were added since.
    void extend(const PointSet& points, ThreadTeam& team);
    /// Scales potentials so that their range is at most `range`.
    void compress(double range);

    bool empty() const { return steps_.empty(); }
    /// Exponentials of the potentials, but for a factor for each class. A step multiplies them by
    /// one of two numbers, so they are kept rather than computed anew.
    const ByClass& attractions() const { return attractions_; }
    /// The same steps for another set of points.
    Potentials moved_to(const PointSet& points, ThreadTeam& team) const;

private:
    struct Step {
        HeapTree tree;
        double size;
    };
    /// Only the points in a range.
    void apply(const PointSet& points, const Step& step, std::size_t begin, std::size_t end);
    void update_attractions();
    double attraction_of(std::size_t label, std::size_t point) const;
    void finish_step(double step);

    ByClass values_;
    ByClass attractions_;
    std::vector<double> references_;  // by class: the potential whose attraction is 1 ...
    double raised_ = 0.0;  // ... and by how much potentials rose since it was the largest
    std::vector<Step> steps_;
};

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
