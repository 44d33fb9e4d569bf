/// The parts of the compiled module.
#pragma once

#include "bindings/arrays.h"

namespace hardwood::bindings {

void bind_tree(nb::module_& m);
void bind_costs(nb::module_& m);
void bind_search(nb::module_& m);

}  // namespace hardwood::bindings
