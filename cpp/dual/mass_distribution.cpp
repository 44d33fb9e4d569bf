#include "dual/mass_distribution.h"

#include <algorithm>

#include "dp/split_kernels.h"
#include "util/clones.h"

namespace hardwood::search {

namespace {

/// The loops below take most of the time of many searches. A sum along a list is one chain of
/// additions, each waiting for the one before, so the list is cut into this many stretches whose
/// chains run side by side.
constexpr std::size_t n_stretches = 4;
/// Rows are divided where each point is shared by this many rows on average.
constexpr std::size_t min_shares_per_point = 8, max_parts = 4;
constexpr std::size_t points_per_task = 8192;

HARDWOOD_CLONES
void gather(const double* attraction, const std::uint32_t* points, std::size_t n, double* to) {
    for (std::size_t k = 0; k < n; ++k) to[k] = attraction[points[k]];
}

/// to[k] = values[0] + ... + values[k].
HARDWOOD_CLONES
void sum_up_to(const double* values, std::size_t n, double* to) {
    const std::size_t length = n / n_stretches;
    double a = 0.0, b = 0.0, c = 0.0, d = 0.0;
    for (std::size_t k = 0; k < length; ++k) {
        to[k] = a += values[k];
        to[length + k] = b += values[length + k];
        to[2 * length + k] = c += values[2 * length + k];
        to[3 * length + k] = d += values[3 * length + k];
    }
    b += a;
    c += b;
    d += c;
    for (std::size_t k = length; k < 2 * length; ++k) to[k] += a;
    for (std::size_t k = 2 * length; k < 3 * length; ++k) to[k] += b;
    for (std::size_t k = 3 * length; k < 4 * length; ++k) to[k] += c;
    for (std::size_t k = n_stretches * length; k < n; ++k) to[k] = d += values[k];
}

/// to[k] = (values[k] + ... + values[n - 1]) * factor.
HARDWOOD_CLONES
void sum_from(const double* values, std::size_t n, double factor, double* to) {
    const std::size_t length = n / n_stretches, rest = n - n_stretches * length;
    const double* const own = values + rest;
    double* const sums = to + rest;
    double a = 0.0, b = 0.0, c = 0.0, d = 0.0;
    for (std::size_t k = length; k-- > 0;) {
        sums[k] = a += own[k];
        sums[length + k] = b += own[length + k];
        sums[2 * length + k] = c += own[2 * length + k];
        sums[3 * length + k] = d += own[3 * length + k];
    }
    c += d;
    b += c;
    a += b;
    for (std::size_t k = 0; k < length; ++k) sums[k] = (sums[k] + b) * factor;
    for (std::size_t k = length; k < 2 * length; ++k) sums[k] = (sums[k] + c) * factor;
    for (std::size_t k = 2 * length; k < 3 * length; ++k) sums[k] = (sums[k] + d) * factor;
    for (std::size_t k = 3 * length; k < 4 * length; ++k) sums[k] *= factor;
    for (std::size_t k = rest; k-- > 0;) to[k] = (a += values[k]) * factor;
}

/// Slices divided by the attraction of the points that share them.
HARDWOOD_CLONES
void divide_slices(const double* presence, const double* sums, std::size_t n, double* to) {
    for (std::size_t l = 0; l < n; ++l) to[l] = (presence[l + 1] - presence[l]) / sums[l];
}

}  // namespace

/// Room for the numbers of one row: by point of its set, and by level.
struct MassDistribution::Buffers {
    std::vector<double> attraction, sums, presence, slices, shares;

    void reserve(const ReachableSets::Set& set) {
        if (attraction.size() < set.points.size()) {
            attraction.resize(2 * set.points.size());
            sums.resize(2 * set.points.size());
        }
        if (slices.size() < set.levels.size()) {
            slices.resize(2 * set.levels.size());
            shares.resize(2 * set.levels.size());
            presence.resize(2 * set.levels.size() + 1);
        }
    }
};

namespace {

/// The slice of mass between the costs k and l of two neighbouring levels has size
/// multiplier * (l - k) / class weight and is divided among all points up to cost k. Property (P)
/// must hold for doubles: each mass is a sum of at most m products, each within m + 4 roundings of
/// a sum of positive numbers, so 2m + 16 units in the last place are subtracted.
void distribute_row(const ReachableSets::Set& set, double weight, double multiplier,
                    const double* attractions, auto& buffers, double* mass) {
    const auto [levels, points] = set;
    double* const presence = buffers.presence.data();
    std::size_t n = 0;  // levels at which the row keeps mass
    for (; n < levels.size(); ++n) {
        presence[n] = multiplier * levels[n].cost;
        if (!(presence[n] < 1.0)) break;
    }
    if (n == 0) return;
    presence[n] = 1.0;
    const std::size_t m = levels[n - 1].end;
    double* const own = buffers.attraction.data();
    double* const sums = buffers.sums.data();
    gather(attractions, points.data(), m, own);
    sum_up_to(own, m, sums);
    if (n < m) {  // never overwrites a sum that is still needed: levels have at least one point
        for (std::size_t l = 0; l < n; ++l) sums[l] = sums[levels[l].end - 1];
    }
    divide_slices(presence, sums, n, buffers.slices.data());
    double* const shares = buffers.shares.data();
    sum_from(buffers.slices.data(), n, weight * (1.0 - static_cast<double>(2 * m + 16) * 0x1p-52),
             shares);
    std::size_t k = 0;
    for (std::size_t l = 0; l < n; ++l) {
        const double share = shares[l];
        for (const std::size_t end = levels[l].end; k < end; ++k) mass[points[k]] += share * own[k];
    }
}

}  // namespace

MassDistribution::MassDistribution(const Instance& instance, const ReachableSets& reachable,
                                   ThreadTeam& team)
    : instance_(instance), reachable_(reachable), team_(team), buffers_(team.size()) {}

MassDistribution::~MassDistribution() = default;

/// Adding up a part takes a step for each point, so it has to be worth it.
std::size_t MassDistribution::n_parts(std::size_t n_points) const {
    return reachable_.n_points() >= min_shares_per_point * n_points ? max_parts : 1;
}

void MassDistribution::distribute_part(std::size_t label, std::size_t part, double multiplier,
                                       const std::vector<double>& attractions, Buffers& buffers) {
    std::vector<double>& mass = part == 0 ? mass_[label] : parts_[part - 1][label];
    mass.assign(attractions.size(), 0.0);
    const std::size_t n = parts_.size() + 1, n_sets = reachable_.n_sets();
    for (std::size_t set = n_sets * part / n; set < n_sets * (part + 1) / n; ++set) {
        const ReachableSets::Set own = reachable_[set];
        buffers.reserve(own);
        for (std::size_t i = reachable_.first_row(set); i < reachable_.end_row(set); ++i) {
            if (idx(instance_.label(i)) != label) continue;
            distribute_row(own, instance_.weight(i),
                           multiplier / instance_.class_weight(to_int(label)), attractions.data(),
                           buffers, mass.data());
        }
    }
}

void MassDistribution::add_parts(std::size_t n_points) {
    if (parts_.empty()) return;
    team_.run(n_ranges(n_points, points_per_task), [&](std::size_t task, std::size_t) {
        const std::size_t begin = task * points_per_task,
                          n = std::min(points_per_task, n_points - begin);
        for (std::size_t label = 0; label < mass_.size(); ++label) {
            for (const ByClass& part : parts_)
                add_numbers(mass_[label].data() + begin, part[label].data() + begin, n);
        }
    });
}

const ByClass& MassDistribution::distribute(double multiplier, const ByClass& attractions) {
    const std::size_t n_points = attractions[0].size(), n_classes = attractions.size();
    mass_.resize(n_classes);
    parts_.resize(n_parts(n_points) - 1);
    for (ByClass& part : parts_) part.resize(n_classes);
    const std::size_t n = parts_.size() + 1;
    team_.run(n * n_classes, [&](std::size_t task, std::size_t thread) {
        const std::size_t label = task / n;
        distribute_part(label, task % n, multiplier, attractions[label], buffers_[thread]);
    });
    add_parts(n_points);
    return mass_;
}

}  // namespace hardwood::search
