import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hardwood as hw
from hardwood.shifts.calibration import budget_of
from hardwood.shifts.move_costs import MoveCosts
from hardwood.shifts.reach import reaches
from hardwood.shifts.uncertainty_set import UncertaintySet, allowance
from tests.instances import random_instance

INF = float("inf")


def survey():
    return hw.encode(
        pd.DataFrame(
            {"age": [30, 40, 50], "city": pd.Categorical(["Rome", "Oslo", "Rome"], categories=["Rome", "Oslo", "Bern"])}
        )
    )


@pytest.mark.parametrize("seed", range(200))
def test_move_prices_equal_the_table_of_moves_cell_by_cell(seed):
    instance = random_instance(np.random.default_rng([7, seed]))
    costs = instance.uncertainty.costs
    for j, column in enumerate(instance.columns):
        for i in range(len(instance.labels)):
            for new in column.candidates([]):
                truth = column.cost(i, new)
                (cost,) = costs.move_costs(j, [i], [new])
                assert cost == pytest.approx(INF if truth is None else float(truth), rel=1e-9, abs=1e-12)


@settings(max_examples=300, deadline=None)
@given(
    budget=st.floats(1e-300, 1e300),
    cost=st.floats(0, 1e300) | st.just(INF),
)
def test_prices_are_rounded_down_to_whole_units_by_less_than_one(budget, cost):
    table = hw.encode(np.zeros((1, 1), dtype=int))
    uncertainty = UncertaintySet.priced(table, costs=cost, budget=budget)
    unit, rounded = uncertainty.unit, float(uncertainty.costs.unit_costs[0][0, 0])
    if cost == INF:
        assert rounded == INF
        return
    assert math.frexp(unit)[0] == 0.5  # a power of two
    assert 2**47 <= Fraction(budget) / Fraction(unit) < 2**48
    assert Fraction(rounded) % Fraction(unit) == 0
    assert 0 <= Fraction(cost) - Fraction(rounded) < Fraction(unit)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(1e-3, 10), min_size=1, max_size=200), st.randoms(use_true_random=False), st.floats(0.5, 100))
def test_affordable_sums_are_exact_in_any_order(costs, order, budget):
    table = hw.encode(np.zeros((len(costs), 1), dtype=int))
    uncertainty = UncertaintySet.priced(table, costs={"x0": np.array(costs)}, budget=budget)
    rounded = uncertainty.costs.unit_costs[0][:, 0].tolist()
    shuffled = rounded.copy()
    order.shuffle(shuffled)
    exact = sum(map(Fraction, rounded))
    if exact <= 32 * Fraction(budget):
        assert sum(rounded) == sum(shuffled) == exact


def test_the_budget_counts_as_larger_by_a_tiny_part_and_no_more():
    uncertainty = UncertaintySet.priced(survey(), costs=1.0, budget=3.0)
    assert uncertainty.affords(3.0)
    assert uncertainty.affords(3.0 * (1 + 2.0**-33))
    assert not uncertainty.affords(3.0 * (1 + 2.0**-31))
    assert uncertainty.affords([2.0, 3.0, 4.0]).tolist() == [True, True, False]
    assert allowance(0.0) == 0.0


@settings(max_examples=100, deadline=None)
@given(st.floats(1e-6, 1e6))
def test_what_may_be_spent_is_the_largest_number_of_units_that_is_afforded(budget):
    uncertainty = UncertaintySet.priced(survey(), costs=1.0, budget=budget)
    assert uncertainty.affords(uncertainty.affordable_total)
    assert not uncertainty.affords(uncertainty.affordable_total + uncertainty.unit)


def test_calibration_gives_prices_and_budget():
    uncertainty = UncertaintySet.calibrated(survey(), certainty=0.9, plausibility=0.8)
    assert uncertainty.budget == budget_of(0.8, 3)
    age, city = uncertainty.costs.unit_costs
    assert age == pytest.approx(np.array([[-np.log(0.1)]]))
    assert city == pytest.approx(np.array([[np.log(18)]]))


def test_plausibility_one_leaves_only_free_moves():
    uncertainty = UncertaintySet.calibrated(survey(), certainty={"age": 0.9, "city": 1 / 3}, plausibility=1.0)
    assert (uncertainty.budget, uncertainty.unit) == (0.0, 0.0)
    assert [p.tolist() for p in uncertainty.costs.unit_costs] == [[[pytest.approx(-np.log(0.1))]], [[0.0]]]
    assert uncertainty.affords(0.0)
    assert not uncertainty.affords(5e-324)


def test_prices_by_category_are_paid_for_leaving_and_for_arriving():
    costs = {"age": 1.0, "city": {"Rome": 1.0, "Oslo": 2.0, "Bern": 4.0}}
    uncertainty = UncertaintySet.priced(survey(), costs=costs, budget=8.0)
    assert uncertainty.costs.move_costs(1, [0, 0, 0, 1, 1], [0, 1, 2, 0, 2]).tolist() == [0.0, 3.0, 5.0, 3.0, 6.0]
    by_sample = {"age": 1.0, "city": np.arange(9.0).reshape(3, 3)}
    uncertainty = UncertaintySet.priced(survey(), costs=by_sample, budget=8.0)
    assert uncertainty.costs.move_costs(1, [0, 1, 2], [1, 0, 2]).tolist() == [1.0, 7.0, 14.0]


def test_shared_prices_take_no_room_for_samples():
    table = hw.encode(np.arange(1000).reshape(-1, 1))
    assert UncertaintySet.priced(table, costs=2.0, budget=1.0).costs.unit_costs[0].shape == (1, 1)
    per_sample = UncertaintySet.priced(table, costs=np.ones((1000, 1)), budget=1.0)
    assert per_sample.costs.unit_costs[0].shape == (1000, 1)


def test_the_callers_prices_stay_as_they_were():
    given_costs = np.full((3, 2), 0.3)
    UncertaintySet.priced(survey(), costs=given_costs, budget=1.0)
    assert given_costs.flags.writeable
    assert (given_costs == 0.3).all()
    own = np.full((1, 1), 0.3)
    table = hw.encode(np.zeros((1, 1), dtype=int))
    MoveCosts(table, reaches(table), (own,))
    assert own.flags.writeable


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        (-1.0, r'costs\["age"\] is -1.0; it must be a number >= 0'),
        (float("nan"), r'costs\["age"\] is nan'),
        ({"age": [1.0, -2.0, 1.0], "city": 1.0}, r'costs\["age"\], row 1 is -2.0'),
        ({"age": 1.0}, r"costs is not given for \['city'\]"),
        ({"age": 1.0, "city": 1.0, "town": 1.0}, r'costs\["town"\] is 1.0; the table has no such column'),
        (
            {"age": [1.0, 2.0], "city": 1.0},
            r'costs\["age"\] is an array of shape \(2, 1\); expected one cost, or one for each of 3',
        ),
        ({"age": 1.0, "city": {"Rome": 1.0}}, r"a cost for each of its categories \['Rome', 'Oslo', 'Bern'\]"),
        (
            {"age": {"30": 1.0}, "city": 1.0},
            r'costs\["age"\] is a mapping of costs by category; expected a categorical column',
        ),
        ([1.0, 2.0, 3.0], "costs is a list of 3; the table has 2 columns"),
        ("high", r"costs\[\"age\"\] is 'high'; expected a number"),
        (np.ones((2, 2)), r"costs has shape \(2, 2\); expected samples by columns, \(3, 2\)"),
    ],
)
def test_wrong_costs_say_what_is_right(costs, message):
    with pytest.raises(ValueError, match=message):
        UncertaintySet.priced(survey(), costs=costs, budget=1.0)


def test_a_frozen_set_does_not_follow_the_callers_array():
    own = np.full((1, 1), 0.3)
    table = hw.encode(np.zeros((1, 1), dtype=int))
    uncertainty = UncertaintySet(MoveCosts(table, reaches(table), (own,)), 0.0)
    own[0, 0] = -5
    assert uncertainty.costs.unit_costs[0].tolist() == [[0.3]]


@pytest.mark.parametrize("budget", [-1.0, float("nan"), INF, None, "5", [1.0]])
def test_a_budget_must_be_finite_and_not_negative(budget):
    with pytest.raises(ValueError, match=r"budget is .*; (it must be a finite number >= 0|expected a number)"):
        UncertaintySet.priced(survey(), costs=1.0, budget=budget)
