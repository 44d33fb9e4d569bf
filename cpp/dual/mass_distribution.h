/// How the mass of rows is distributed over the points that they can afford
/// (docs/theory.md#measures).
#pragma once

#include <vector>

#include "dual/reachable_sets.h"

namespace hardwood::search {

using ByClass = std::vector<std::vector<double>>;  // numbers by class and point

/// The mass of every class at every point, at one multiplier: each slice of a row's mass is divided
/// in proportion to the attractions of the points for the row's class, positive numbers. Property
/// (P) of docs/theory.md#measures: the mass of a row on any set of points is at most weight *
/// max(0, 1 - multiplier * cost / class weight), where cost is that of the cheapest point of the
/// set.
void distribute_mass(const Instance& instance, const ReachableSets& reachable, double multiplier,
                     const ByClass& attractions, ByClass& mass);

}  // namespace hardwood::search
