// How many samples a leaf must hold as the table stands (docs/theory.md#leaf-sizes).
#pragma once

#include "box.h"

namespace hardwood::search {

// The tests of a box that leave enough samples on both sides; all of them if leaves may be of any size.
std::vector<int> fitting_tests(const Instance& instance, const Box& box);

// Takes the other tests out of a box. Those of columns with missing answers stay: they are summed up in pairs (`Answers`).
void keep_fitting_tests(const Instance& instance, Box& box);

// Whether every leaf of a tree holds enough samples.
bool leaves_fit(const Instance& instance, const Skeleton& tree);

}  // namespace hardwood::search
