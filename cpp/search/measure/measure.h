// Spreads every row over the points in its reach (docs/theory.md#measures): what weighs at most as much on any set of points as
// the row is present there.
#pragma once

#include <span>
#include <vector>

#include "../programme/weights.h"
#include "../support/effort.h"
#include "reach.h"

namespace hardwood::search {

using ByClass = std::vector<std::vector<double>>;  // numbers by class and point

// How much rows of each class are drawn to each point: a slice of a row is shared out among the points of its ball by the
// exponentials of these.
class Potentials {
public:
    explicit Potentials(int n_classes) : of_(static_cast<std::size_t>(n_classes)) {}

    // Points at which the tree is wrong about a class attract that class by `step` more.
    void add(const Points& points, const Skeleton& tree, double step);
    // The same for the labelling that is wrong about the least weight at each point; it is no tree, so that points which are added
    // later know nothing of it.
    void add(const ByClass& weights, double step);
    // Takes in the points that were added since.
    void extend(const Points& points);
    // Makes the largest difference at most `range`.
    void compress(double range);

    bool empty() const { return steps_.empty(); }
    const ByClass& of() const { return of_; }
    // The same for points of another set.
    Potentials moved_to(const Points& points) const;

private:
    void attract(const Points& points, const Skeleton& tree, double step, std::size_t from);

    struct Step {
        Skeleton tree;
        double size;
    };
    ByClass of_;
    std::vector<Step> steps_;
};

// Slices at one price: the weight of every class at every point.
void spread(const Instance& instance, const Reach& reach, double price, const ByClass& potentials, ByClass& weights);

// How much the error of a tree with so many levels may err, or a bound made from it (docs/theory.md#numbers).
double rounding(const Instance& instance, const Points& points, const Reach& reach, int levels);

// As the programme wants them; points that weigh next to nothing are left out, which only lowers the errors. Those where samples stand
// are not if `sizes` says how many.
Weights weights_for_programme(const ByClass& weights, const Effort& effort, std::span<const double> sizes,
                              std::vector<std::uint32_t>& members);

// The least error of any labelling of the points, tree or not.
double error_of_any_labelling(const ByClass& weights);

}  // namespace hardwood::search
