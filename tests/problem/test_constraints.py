from dataclasses import fields

import numpy as np
import pytest

import hardwood as hw
from hardwood.cli.options import TreeOptions
from hardwood.estimators.baselines import baselines, cart
from hardwood.estimators.persistence import SAVED_PARAMETERS
from hardwood.problem import CONSTRAINTS, UNCONSTRAINED, MinLeafSize, constraint_parameters, tree_constraints
from hardwood.trees.tree import Branch, Leaf, Tree


def problem(min_samples_leaf, weights=None):
    table = hw.encode({"a": [0, 1, 1, 2]})
    labels = hw.encode_labels([0, 1, 0, 1], 4, weights=weights)
    uncertainty = hw.UncertaintySet.priced(table, costs=1.0, budget=1.0)
    return hw.Problem(labels, uncertainty, 2, min_samples_leaf=min_samples_leaf)


def stump(asked, code):
    return Tree(asked.table.features, (0, 1), Branch(0, code, Leaf(0), Leaf(1)))


def test_the_smallest_leaf_is_a_constraint_with_a_description():
    assert problem(0).constraints == ()
    assert problem(2).constraints == (MinLeafSize(2),)
    assert problem(2).constraints[0].describe() == "with at least 2 samples in each leaf"


def test_trees_must_meet_depth_and_constraints():
    asked = problem(2)
    assert not asked.admits(stump(asked, 0))
    assert problem(1).admits(stump(asked, 0))
    deep = Leaf(0)
    for _ in range(3):
        deep = Branch(0, 1, deep, Leaf(1))
    assert not problem(0).admits(Tree(asked.table.features, (0, 1), deep))


@pytest.mark.parametrize(("weights", "admitted"), [([2, 1, 1, 1], True), ([1.5, 1, 1, 1], False)])
def test_only_integer_weights_count_as_repeated_rows(weights, admitted):
    asked = problem(2, weights)
    assert asked.admits(stump(asked, 0)) is admitted


def test_a_limit_larger_than_the_table_is_refused():
    with pytest.raises(ValueError, match="min_samples_leaf is 5; the table has only 4 rows for all leaves"):
        problem(5)
    problem(5, np.array([2, 1, 1, 1]))


class OnlyStumps:
    """A constraint that is not a `TreeConstraint`: no solver and no certificate knows it."""

    def check(self, labels):
        pass

    def admits(self, tree, table, labels):  # noqa: ARG002 - the protocol has them
        return tree.depth <= 1

    def describe(self):
        return "with one split"


class ProblemForStumps(hw.Problem):
    constraints = (OnlyStumps(),)


def test_solvers_and_certificates_refuse_constraints_that_they_do_not_know():
    known = problem(0)
    asked = ProblemForStumps(known.labels, known.uncertainty, 2)
    with pytest.raises(ValueError, match=r"solver is 'search'; .*trees with one split .*add OnlyStumps to the `constr"):
        hw.solve(asked, "search")
    with pytest.raises(ValueError, match=r"solver is 'leaf'; .*trees with one split"):
        hw.solve(asked, "leaf")
    found = hw.solve(known, "search")
    with pytest.raises(ValueError, match="asks for trees with one split, which a certificate cannot state"):
        hw.Certificate.of(asked, hw.Priced(1.0, budget=1.0), found, "0")


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_every_constraint_has_a_parameter_wherever_trees_are_asked_for(name):
    assert {name} <= {field.name for field in fields(hw.Problem)}
    assert {name} <= {field.name for field in fields(hw.Certificate)}
    assert {name} <= {field.name for field in fields(TreeOptions)}
    assert name in SAVED_PARAMETERS
    assert hw.RobustTreeClassifier().get_params()[name] == CONSTRAINTS[name].default
    assert name in TreeOptions().parameters()


def test_parameters_and_constraints_state_each_other():
    assert constraint_parameters(problem(2)) == UNCONSTRAINED | {"min_samples_leaf": 2}
    assert tree_constraints(constraint_parameters(problem(2))) == problem(2).constraints
    assert tree_constraints(UNCONSTRAINED) == ()


def test_a_baseline_that_the_problem_does_not_admit_is_left_out(monkeypatch):
    fitted = hw.RobustTreeClassifier(1).fit({"a": [0, 1, 2, 3]}, [0, 1, 0, 1])
    asked = hw.Problem(fitted._problem.labels, fitted._problem.uncertainty, 1)
    too_deep = cart(hw.Problem(asked.labels, asked.uncertainty, 2))
    assert "CART" in baselines(asked, fitted.certificate_)
    monkeypatch.setattr("hardwood.estimators.baselines.cart", lambda _: too_deep)
    assert not asked.admits(too_deep)
    assert "CART" not in baselines(asked, fitted.certificate_)
