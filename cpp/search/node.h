/// A node of the branch and bound: a partial tree, the multipliers that are open for it, and what
/// is known.
#pragma once

#include <vector>

#include "dual/multiplier_intervals.h"
#include "dual/potentials.h"
#include "model/partial_tree.h"

namespace hardwood::search {

struct SearchNode {
    PartialTree tree;
    MultiplierIntervals open;
    std::vector<LossBound> known;  // bounds for all completions, those of the ancestors included
    Potentials potentials;
};

/// The branchings of an open node that together cover all completions that the target asks for.
std::vector<Branching> branchings_of(const Instance& instance, const PartialTree& tree,
                                     std::size_t node, const Target& target);

}  // namespace hardwood::search
