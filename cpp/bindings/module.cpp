/// The compiled module. The bindings translate and validate; algorithms are elsewhere.
#include "bindings/modules.h"

NB_MODULE(_core, m) {
    m.doc() = "The compiled part of hardwood.";
    // Objects that caches and tracebacks hold when the interpreter ends are no leaks; nanobind
    // would list them at the end of every test process.
    nanobind::set_leak_warnings(false);
    hardwood::bindings::bind_tree(m);
    hardwood::bindings::bind_costs(m);
    hardwood::bindings::bind_search(m);
}
