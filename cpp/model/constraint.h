/// Conditions on trees.
#pragma once

#include <string_view>
#include <vector>

#include "model/box.h"

namespace hardwood::search {

/// A condition that every tree must meet.
///
/// The search uses a constraint as follows, and stays exact if every member keeps its contract:
///   * branching: `admitted_splits` lists the splits that the box of an open node may be divided
///     by, out of the list of the box above it;
///   * incumbents: only trees with `admits` become incumbents. Single leaves must be admitted: they
///     are offered first, and later bounds are about trees with at least two labels;
///   * the tree DP: below an open node, every level may use the list of this node. With
///     `min_leaf_size`, leaves that hold fewer observations cost infinity. Whatever else a
///     constraint demands is relaxed there, which keeps every lower bound valid;
///   * the greedy first tree knows `min_leaf_size` only; what it finds may not be admitted;
///   * speed-ups that a constraint would invalidate are switched off by the last two members;
///   * splits that do not divide a box are never tried, nor are candidates that an optimal tree
///     does not need: replacing a node by one of its subtrees must keep a tree admissible
///     (docs/theory.md#branching). Conditions on the level of a split do not meet this. A condition
///     on whole trees, such as a count, may refuse trees in `admits` alone.
class TreeConstraint {
public:
    virtual ~TreeConstraint() = default;
    virtual std::string_view name() const = 0;

    /// The splits of a box that an admissible tree may use there, in order. A split that is refused
    /// for a box must be refused for all parts of it, and a split of the same column that
    /// divides a box as a refused one does must be refused too: boxes keep one of several
    /// equivalent splits. The box's key names every column that splits on its path restrict.
    virtual std::vector<int> admitted_splits(const Instance& instance, const Box& box) const = 0;
    /// Whether a tree meets the condition. A condition on paths walks the tree: the key of a leaf
    /// omits splits that others imply.
    virtual bool admits(const Instance& instance, const HeapTree& tree) const = 0;

    /// Observations that every leaf must hold without a shift; 0: no such condition.
    virtual double min_leaf_size() const { return 0.0; }
    /// Whether a leaf can be written as a split with equal labels on both sides, wherever a split
    /// is admitted. If not, "leaf" is a branching of its own.
    virtual bool leaf_is_trivial_split() const { return false; }
    /// Whether the least error of a box never falls when points are added to it
    /// (docs/theory.md#runs): bounds for runs of thresholds rest on this. Only read together with a
    /// `min_leaf_size`; without one, the tree DP does not see the constraint.
    virtual bool preserves_monotone_errors() const { return false; }
};

/// Every leaf holds at least `min_size` observations of the unshifted table
/// (docs/theory.md#leaf-sizes).
class MinLeafSize : public TreeConstraint {
public:
    explicit MinLeafSize(double min_size) : min_size_(min_size) {}

    std::string_view name() const override { return "min_leaf_size"; }
    std::vector<int> admitted_splits(const Instance& instance, const Box& box) const override;
    bool admits(const Instance& instance, const HeapTree& tree) const override;
    double min_leaf_size() const override { return min_size_; }

private:
    double min_size_;
};

/// The splits of a box that all constraints of the instance admit.
std::vector<int> admitted_splits(const Instance& instance, const Box& box);

/// Removes the other splits from a box. Columns with missing values keep theirs: the sums over
/// subsets of splits need them in pairs (`SplitLayout`).
void keep_admitted_splits(const Instance& instance, Box& box);

/// Whether all constraints of the instance admit a tree.
bool admits(const Instance& instance, const HeapTree& tree);

/// The largest `min_leaf_size` of the constraints.
double min_leaf_size(const Instance& instance);

bool leaf_is_trivial_split(const Instance& instance);
bool preserves_monotone_errors(const Instance& instance);

}  // namespace hardwood::search
