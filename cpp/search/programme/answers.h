// How the points of a box enter the sums of its tests.
#pragma once

#include <cstdint>
#include <vector>

#include "points.h"

namespace hardwood::search {

// Only bins that are not the usual one of their column are summed up, since most points have the usual one. Sums are those of
// the minority, so to speak: of an ordered column, a test below the usual bin stands for what is at most its code, a test above
// for what is more; and the test of a usual category stands for all others.
class Answers {
public:
    explicit Answers(const Points& points);

    void map(const Box& box);
    std::size_t size() const { return flipped_.size(); }  // tests of the box
    // Whether the sums of a test are those of the points where it is false.
    bool is_flipped(std::size_t k) const { return flipped_[k] != 0; }

    // The tests whose sums a point enters, in order; `places` has room for all columns. Returns how many.
    std::size_t places_of(std::uint32_t z, std::uint32_t* places) const {
        std::size_t n = 0;
        for (const std::uint16_t bin : points_.unusual(z)) {
            const std::int32_t place = place_[bin];
            places[n] = static_cast<std::uint32_t>(place);
            n += place >= 0;
        }
        return n;
    }

    std::size_t most_places() const { return static_cast<std::size_t>(instance_.n_columns()); }

    // Tests of one column that stand side by side, where sums by tests differ from sums by bins: an ordered column adds up from both
    // ends towards its usual bin, and a usual category is what the others are not.
    struct Run {
        std::size_t begin, end;
        std::size_t turn;   // ordered: tests before it add up upwards, others downwards
        std::size_t rest;   // unordered: the test of the usual bin, whose sums are those of the others; end: none
        bool ordered;
        // With missing answers, tests are in pairs, and the last one asks for no answer. Below the turn, "low or none" and "low"; from it on,
        // "high" and "high or none". (Sums of what the test of the pair says, or of what it does not say: those without the usual bin.)
        bool missing = false;

        // The test whose points are those of two tests together, `none` if there are no such points.
        std::size_t meet(std::size_t low, std::size_t high) const;
        bool with_none(std::size_t k) const { return k + 1 == end || (k < turn) == ((k - begin) % 2 == 0); }
        static constexpr std::size_t none = static_cast<std::size_t>(-1);
    };
    const std::vector<Run>& runs() const { return runs_; }

private:
    void map_ordered(const Column& column, const Box& box, int usual, Run& run);
    void map_with_missing(const Column& column, const Box& box, int usual, Run& run);
    void map_categories(const Column& column, int c, const Box& box, Run& run);

    const Points& points_;
    const Instance& instance_;
    std::vector<std::int32_t> place_;  // by bin: the test whose sums it enters, -1: none
    std::vector<std::int8_t> flipped_;
    std::vector<Run> runs_;
};

}  // namespace hardwood::search
