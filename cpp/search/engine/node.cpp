#include "node.h"

namespace hardwood::search {

std::size_t place_to_decide(const Node& node) {
    std::size_t first = node.places.size();
    for (std::size_t k = 0; k < node.places.size(); ++k) {
        const Place& place = node.places[k];
        if (place.is_open() && (first == node.places.size() || place.levels > node.places[first].levels)) first = k;
    }
    return first;
}

std::vector<Option> options_of(const Instance& instance, const Node& node, std::size_t at, const Question& question) {
    const Place& place = node.places[at];
    std::vector<Option> options;
    const bool may_split = place.levels > 0 && !place.box.tests.empty() &&
                           (!question.counted || node.n_tests < question.most_tests);
    if (!may_split) {
        for (int label = 0; label < instance.n_classes(); ++label) options.push_back({Option::Kind::label, label});
        return options;
    }
    for (const int test : place.box.tests) options.push_back({Option::Kind::test, test});
    // Where tests are free, a leaf is a test with the same leaf on both sides. Trees without any test take part in every contest from
    // the beginning: none of them is better.
    if (question.counted && !node.is_root()) options.push_back({Option::Kind::leaf});
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
