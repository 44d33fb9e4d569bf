#include "model/tree.h"
#include "bindings/modules.h"

using namespace nanobind::literals;

namespace hardwood::bindings {

namespace {

Tree make_tree(Ints feature, Ints code, Ints left, Ints right, Ints ordered, Ints missing_left,
               std::size_t n_features) {
    std::vector<TreeNode> nodes(feature.size());
    for (const Ints& array : {code, left, right, ordered, missing_left}) {
        require(array.size() == nodes.size(), "arrays of nodes differ in length");
    }
    for (std::size_t k = 0; k < nodes.size(); ++k) {
        nodes[k] = {.feature = feature(k),
                    .code = code(k),
                    .left = left(k),
                    .right = right(k),
                    .ordered = ordered(k) != 0,
                    .missing_left = missing_left(k) != 0};
    }
    return Tree(std::move(nodes), n_features);
}

nb::ndarray<nb::numpy, std::int32_t> leaf_of(const Tree& tree, Codes values) {
    const Table table = table_of(values);
    require(table.n_features == tree.n_features(), "table and tree differ in features");
    std::unique_ptr<std::int32_t[]> leaves(new std::int32_t[table.n_samples]);
    {
        nb::gil_scoped_release unlocked;
        tree.leaf_of(table, {leaves.get(), table.n_samples});
    }
    return to_numpy(std::move(leaves), table.n_samples);
}

}  // namespace

void bind_tree(nb::module_& m) {
    nb::class_<Tree>(m, "Tree")
        .def(
            "__init__",
            [](Tree* self, Ints feature, Ints code, Ints left, Ints right, Ints ordered,
               Ints missing_left, std::size_t n_features) {
                new (self)
                    Tree(make_tree(feature, code, left, right, ordered, missing_left, n_features));
            },
            "feature"_a, "code"_a, "left"_a, "right"_a, "ordered"_a, "missing_left"_a,
            "n_features"_a)
        .def("leaf_of", &leaf_of, "values"_a);
}

}  // namespace hardwood::bindings
