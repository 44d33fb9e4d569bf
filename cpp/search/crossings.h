// How a point is shared out over the sides of each test.
#pragma once

#include <cstddef>
#include <vector>

namespace hardwood::search {

// Which part of a point crosses a test, by its class and its side, for a point that could cross for
// nothing; the part of others fades with their presence across. The part that crosses depends on the point and the test only,
// and the parts multiply along a path, so they add up to one over the leaves and do not depend on the order of the tests.
class Crossings {
public:
    Crossings() = default;
    Crossings(std::size_t n_classes, std::size_t n_tests, double part) : n_tests_(n_tests), part_(n_classes * 2 * n_tests, part) {}

    static std::size_t index(std::size_t c, int side, std::size_t test, std::size_t n_tests) {
        return (c * 2 + static_cast<std::size_t>(side)) * n_tests + test;
    }
    double operator()(std::size_t c, int side, std::size_t test) const { return part_[index(c, side, test, n_tests_)]; }
    std::vector<double>& parts() { return part_; }
    const std::vector<double>& parts() const { return part_; }

private:
    std::size_t n_tests_ = 0;
    std::vector<double> part_;
};

}  // namespace hardwood::search
