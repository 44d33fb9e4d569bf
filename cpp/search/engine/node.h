// A node of the search: the top of a tree that is fixed, places that are open, prices that are alive.
#pragma once

#include <vector>

#include "../measure/measure.h"
#include "price_set.h"

namespace hardwood::search {

// A part of the domain where a subtree is still to be chosen, or a leaf whose label is.
struct Place {
    std::size_t position;
    Box box;
    int levels;      // tests that may still follow on a path; 0: a leaf
    int label = -1;  // -1: open

    bool is_open() const { return label < 0; }
};

// What may be decided about a place: a test on top, that it is a leaf, or the label of a leaf.
struct Option {
    enum class Kind { test, leaf, label } kind;
    int number = 0;
};

struct Node {
    Skeleton fixed;
    std::vector<Place> places;
    int n_tests = 0;
    PriceSet alive;
    std::vector<PricedBound> known;  // bounds for all its completions, its ancestors' included
    Potentials potentials;

    bool is_root() const { return places.size() == 1 && places[0].position == 1; }
};

// The place nearest to the root is decided first. All places decided: the number of places.
std::size_t place_to_decide(const Node& node);

std::vector<Option> options_of(const Instance& instance, const Node& node, std::size_t place, const Question& question);

// The node with an option taken; prices, bounds and potentials are those of the parent.
Node taken(const Instance& instance, const Node& node, std::size_t place, const Option& option);

}  // namespace hardwood::search
