/// The compiled module. The bindings translate and validate; algorithms are elsewhere.
#include "bindings/modules.h"

NB_MODULE(_core, m) {
    m.doc() = "The compiled part of hardwood.";
    hardwood::bindings::bind_tree(m);
    hardwood::bindings::bind_costs(m);
    hardwood::bindings::bind_search(m);
}
