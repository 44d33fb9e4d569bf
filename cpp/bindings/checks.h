/// Validation of what Python passes in.
#pragma once

#include "model/instance.h"

namespace hardwood::bindings {

/// Throws std::invalid_argument unless the parts of a task fit together, so that the search need
/// not check them.
void check_task(const search::SearchTask& task);

}  // namespace hardwood::bindings
