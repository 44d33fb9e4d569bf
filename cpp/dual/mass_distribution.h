/// How the mass of rows is distributed over the points that they can afford
/// (docs/theory.md#measures).
#pragma once

#include <vector>

#include "dual/reachable_sets.h"
#include "util/thread_team.h"

namespace hardwood::search {

using ByClass = std::vector<std::vector<double>>;  // numbers by class and point

/// The mass of every class at every point, at one multiplier: each slice of a row's mass is divided
/// in proportion to the attractions of the points for the row's class, positive numbers. Property
/// (P) of docs/theory.md#measures: the mass of a row on any set of points is at most weight *
/// max(0, 1 - multiplier * cost / class weight), where cost is that of the cheapest point of the
/// set.
///
/// Threads share the classes, and parts of the rows where points are many times shared. Parts do
/// not depend on the number of threads, and are added in order.
class MassDistribution {
public:
    MassDistribution(const Instance& instance, const ReachableSets& reachable, ThreadTeam& team);
    ~MassDistribution();

    const ByClass& distribute(double multiplier, const ByClass& attractions);
    const ByClass& mass() const { return mass_; }

private:
    struct Buffers;

    std::size_t n_parts(std::size_t n_points) const;
    void distribute_part(std::size_t label, std::size_t part, double multiplier,
                         const std::vector<double>& attractions, Buffers& buffers);
    void add_parts(std::size_t n_points);

    const Instance& instance_;
    const ReachableSets& reachable_;
    ThreadTeam& team_;
    ByClass mass_;
    std::vector<ByClass> parts_;    // the first one is in `mass_`
    std::vector<Buffers> buffers_;  // by thread
};

}  // namespace hardwood::search
