#include "node.h"

#include "../model/leaf_sizes.h"

namespace hardwood::search {

std::size_t place_to_decide(const Node& node) {
    std::size_t first = node.places.size();
    for (std::size_t k = 0; k < node.places.size(); ++k) {
        const Place& place = node.places[k];
        if (place.is_open() && (first == node.places.size() || place.levels > node.places[first].levels)) first = k;
    }
    return first;
}

namespace {

// The label of the leaf on the other side of the same test, -1 if there is none: with it on both sides, the test could be taken out.
int label_of_twin(const Node& node, const Place& place) {
    for (const Place& other : node.places) {
        if (other.position == (place.position ^ 1) && place.position > 1) return other.label;
    }
    return -1;
}

}  // namespace

std::vector<Option> options_of(const Instance& instance, const Node& node, std::size_t at, const Question& question) {
    const Place& place = node.places[at];
    std::vector<Option> options;
    const bool may_have_tests = place.levels > 0 && (!question.counted || node.n_tests < question.most_tests);
    const std::vector<int> tests = may_have_tests ? fitting_tests(instance, place.box) : std::vector<int>{};
    if (tests.empty()) {
        const int twin = question.collecting ? label_of_twin(node, place) : -1;
        for (int label = 0; label < instance.n_classes(); ++label) {
            if (label != twin) options.push_back({Option::Kind::label, label});
        }
        return options;
    }
    for (const int test : tests) options.push_back({Option::Kind::test, test});
    // Where tests are free, a leaf is a test with the same leaf on both sides, unless these must hold so many samples, or such tests are
    // not wanted. Trees without any test take part in every contest from the beginning: none of them is better.
    if ((question.counted || question.collecting || instance.has_least_leaf()) && !node.is_root()) options.push_back({Option::Kind::leaf});
    return options;
}

Node taken(const Instance& instance, const Node& node, std::size_t at, const Option& option) {
    Node child = node;
    Place& place = child.places[at];
    if (option.kind == Option::Kind::label) {
        place.label = option.number;
        child.fixed[place.position] = {-1, option.number};
    } else if (option.kind == Option::Kind::leaf) {
        place.levels = 0;
    } else {
        child.fixed[place.position] = {option.number, 0};
        ++child.n_tests;
        const Place whole = place;
        for (int side = 0; side < 2; ++side) {
            Place part{2 * whole.position + static_cast<std::size_t>(side), part_of(instance, whole.box, option.number, side),
                       whole.levels - 1};
            keep_fitting_tests(instance, part.box);
            if (side == 0) {
                child.places[at] = std::move(part);
            } else {
                child.places.push_back(std::move(part));
            }
        }
    }
    return child;
}

}  // namespace hardwood::search
