// The least loss inside one region at one price, exactly, and the bound for several regions that comes from it ("nesting").
#pragma once

#include "completion.h"
#include "decomposition.h"

namespace hardwood::search {

// Speed-ups, each to be switched off by tests.
struct Options {
    bool child_bounds = true;    // bounds for each test on top of a region, from the bound of the node
    bool right_discard = true;   // a bound also closes higher prices
    bool nesting = true;         // exact least losses of regions inside bounds
    bool inherit_shares = true;  // children start from the shares of their parent
    bool pool = true;            // regions remember good subtrees
    bool skip_twins = true;      // one of two orders of the same tests
    bool surrogate = true;       // good trees before the search begins
    bool sharing = true;         // bounds from shared weights
};

class RegionSolver {
public:
    RegionSolver(const Instance& instance, const Options& options, Decomposition& decomposition, Watch& watch)
        : instance_(instance), options_(options), decomposition_(decomposition), evaluator_(instance), watch_(watch) {}

    struct Outcome {
        double value;       // no subtree has a smaller loss
        bool found;         // whether a subtree with a loss below the cutoff was found
        Skeleton subtree;   // at the positions of the region
    };

    // The least share-weighted loss of a region, or at least `cutoff` if it is not below that.
    Outcome solve(const Region& region, const std::vector<double>& shares, const Task& parent, double price,
                  double cutoff);

    // Raises a bound on several open regions: their relaxed least losses are replaced by exact ones, and the shares
    // adapted to the subtrees found. Aims at `target`, settles for less, and gives up if even `least` is out of reach.
    void raise(const Node& node, Task& task, double target, double least, PriceBound& bound);

private:
    class InnerTask;
    class Model;
    struct Known;

    // How much more to ask for than is needed, since exact values come with something taken off.
    double hair(const Node& node) const;
    // Finds the shares under which the known subtrees promise most, and returns what they promise.
    double fit_shares(Model& model, const Meetings& meetings, double target, double margin, Shares& shares) const;
    Known relax_all(const Node& node, Task& task, const Shares& shares, Model& model);
    void solve_regions(const Node& node, Task& task, double price, double aim, const Shares& shares, Model& model,
                       Known& known);
    static void take_over(const Known& known, const Shares& shares, PriceBound& bound);

    void remember(const Region& region, const Skeleton& tree);
    void search(Node& node, InnerTask& task, double price);
    void branch(Node& node, InnerTask& task, double price, const PriceBound& bound);

    const Instance& instance_;
    const Options& options_;
    Decomposition& decomposition_;
    Evaluator evaluator_;
    Watch& watch_;
};

// The same region as a single leaf.
RegionPtr as_leaf(const Region& region);

// The node after the k-th test (or a leaf, k = no_point) was put on top of an open region, with so many tests left at most.
Node child_of(const Instance& instance, const Node& node, std::size_t region, std::size_t k, int tests_left,
              double ceiling, bool inherit_shares);

// The open region to branch on: the one with the fewest tests that survive.
std::size_t region_to_branch(const Node& node, const std::vector<std::size_t>& survivors);

}  // namespace hardwood::search
