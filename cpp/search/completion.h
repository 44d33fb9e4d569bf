// The last level: every open region is a leaf or one test with two leaves, so what is left can be enumerated.
#pragma once

#include "decomposition.h"

namespace hardwood::search {

// Offers every completion of the node whose loss at `price` is below the task's goal, in order of promise.
// A partial choice is bounded by the largest loss so far times the shares it has used, plus the least losses of the rest.
class Completion {
public:
    Completion(const Instance& instance, const Node& node, const PriceBound& bound, Task& task, double goal_price,
               Watch& watch);

    void run();

private:
    struct Option {
        double value;
        int row;  // of the test in its region, -1: a leaf
        int left;
        int right;
    };

    void list_options(std::size_t k);
    void descend(std::size_t depth, double value);
    void add_losses(std::size_t k, const Option& option, std::vector<double>& largest) const;
    void put(std::size_t k, const Option& option);

    const Instance& instance_;
    const Node& node_;
    Task& task_;
    double goal_price_;
    Watch& watch_;
    std::vector<View> views_;
    std::vector<std::vector<Option>> options_;  // by region, best first
    std::vector<double> least_;                 // by region
    std::vector<std::size_t> order_;            // regions with few options first
    std::vector<double> rest_;                  // by depth: least losses of the regions that follow
    std::vector<std::vector<double>> used_;     // by depth, by point: shares of the regions chosen so far
    std::vector<std::vector<double>> largest_;  // by depth, by point
    Skeleton tree_;
};

}  // namespace hardwood::search
