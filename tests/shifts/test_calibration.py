from decimal import Decimal, getcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hardwood as hw
from hardwood.shifts.calibration import (
    bounded_cost,
    budget_of,
    by_feature_and_sample,
    categorical_cost,
    feature_costs,
    integer_cost,
    lowest_certainty,
)
from hardwood.shifts.reach import Direction, Reach, reaches

getcontext().prec = 60
INF = float("inf")

certainties = st.floats(1e-4, 1, exclude_max=True)
counts = st.one_of(st.integers(0, 30), st.integers(31, 2000), st.just(INF))


def tail(ratio: Decimal, count: float) -> Decimal:
    """sum of ratio^k for k = 1 .. count, added term by term, or by the closed form of an endless series."""
    if count == INF:
        return ratio / (1 - ratio)
    total = power = Decimal(0) + 1
    for _ in range(int(count)):
        power *= ratio
        total += power
    return total - 1


def total_probability(certainty: float, cost: float, below: float, above: float) -> Decimal:
    ratio = (-Decimal(cost)).exp()
    return Decimal(certainty) * (1 + tail(ratio, below) + tail(ratio, above))


@settings(max_examples=400, deadline=None)
@given(certainties, counts, counts)
def test_bounded_distributions_add_up_to_one_in_high_precision(certainty, below, above):
    if below + above == 0 or certainty <= lowest_certainty(below, above):
        return
    cost = float(bounded_cost(certainty, below, above))
    assert cost > 0
    assert abs(total_probability(certainty, cost, below, above) - 1) < Decimal("1e-13")


@pytest.mark.parametrize("certainty", [0.05, 0.5, 0.9, 0.999])
def test_unbounded_integers_follow_the_symmetric_geometric_distribution(certainty):
    ratio = (-Decimal(float(integer_cost(certainty)))).exp()
    both_directions = 2 * Decimal("0.5") * Decimal(certainty) * tail(ratio, INF)
    assert abs(Decimal(certainty) + both_directions - 1) < Decimal("1e-14")


@pytest.mark.parametrize("n", [2, 3, 11])
@pytest.mark.parametrize("certainty", [0.55, 0.9, 0.999])
def test_categorical_distributions_add_up_to_one(n, certainty):
    ratio = (-Decimal(float(categorical_cost(certainty, n)))).exp()
    assert abs(Decimal(certainty) * (1 + (n - 1) * ratio) - 1) < Decimal("1e-14")


@settings(max_examples=200, deadline=None)
@given(certainties, st.integers(0, 40), st.integers(0, 40))
def test_the_ratio_solves_the_polynomials_of_the_papers_lemmas(certainty, below, above):
    rho = Decimal(certainty)
    if below > 0:
        r = (-Decimal(float(bounded_cost(certainty, below, INF)))).exp()
        assert abs(rho * r ** (below + 1) - (rho + 1) * r + 1 - rho) < Decimal("1e-13")
    if below + above > 0 and certainty > lowest_certainty(below, above):
        r = (-Decimal(float(bounded_cost(certainty, below, above)))).exp()
        polynomial = rho * r ** (max(below, above) + 1) + rho * r ** (min(below, above) + 1) - (rho + 1) * r + 1 - rho
        assert abs(polynomial) < Decimal("1e-13")


@settings(max_examples=100, deadline=None)
@given(st.floats(0.5, 1, exclude_min=True))
def test_binary_closed_form_equals_two_bounds_and_two_categories(certainty):
    closed_form = np.log(certainty) - np.log1p(-certainty) if certainty < 1 else INF
    assert bounded_cost(certainty, 0, 1) == pytest.approx(closed_form, rel=1e-12, abs=1e-15)
    assert bounded_cost(certainty, 1, 0) == pytest.approx(closed_form, rel=1e-12, abs=1e-15)
    assert categorical_cost(certainty, 2) == pytest.approx(closed_form, rel=1e-12, abs=1e-15)


def test_an_endless_single_direction_equals_the_unbounded_integer():
    certainty = np.linspace(0.01, 0.99, 50)
    assert bounded_cost(certainty, 0, INF) == pytest.approx(integer_cost(certainty), rel=1e-13)


@pytest.mark.parametrize(("below", "above"), [(0, 1), (3, 4), (0, 9), (500, 7)])
def test_certainty_at_its_limit_is_free_and_certainty_one_is_immovable(below, above):
    assert bounded_cost(1 / (below + above + 1), below, above) == 0.0
    assert bounded_cost(1.0, below, above) == INF


def test_limits_of_the_other_kinds():
    assert integer_cost(1.0) == INF
    assert integer_cost(0.0) == 0.0
    assert [float(categorical_cost(1 / n, n)) for n in range(2, 60)] == [0.0] * 58
    assert categorical_cost(1.0, 3) == INF
    assert categorical_cost(0.5, 1) == INF  # no other answer


def test_less_certainty_is_never_dearer():
    certainty = np.linspace(0.2, 1, 400)
    for costs in (integer_cost(certainty), bounded_cost(certainty, 3, 5), categorical_cost(certainty, 6)):
        assert (np.diff(costs[np.isfinite(costs)]) >= 0).all()


def test_budget_is_minus_n_log_plausibility():
    assert budget_of(0.9, 100) == pytest.approx(-100 * np.log(0.9))
    assert budget_of(1.0, 100) == 0.0
    assert budget_of(np.float32(0.9), 1000) == budget_of(float(np.float32(0.9)), 1000)
    for wrong in (0.0, 1.2, -1, float("nan"), [0.9]):
        with pytest.raises(ValueError, match=r"plausibility is .*; it must lie in \(0, 1\]"):
            budget_of(wrong, 10)
    with pytest.raises(ValueError, match="plausibility is None; expected a number"):
        budget_of(None, 10)


@settings(max_examples=200, deadline=None)
@given(st.integers(2, 40), st.floats(1e-12, 1e-3))
def test_categorical_prices_keep_their_digits_near_the_limit(n, above):
    certainty = (1 + above) / n
    exact = (Decimal(certainty) * (n - 1) / (1 - Decimal(certainty))).ln()
    assert float(categorical_cost(certainty, n)) == pytest.approx(float(exact), rel=1e-13)


def test_tiny_certainties_are_free():
    assert bounded_cost(1e-310, 3, INF) == 0.0
    assert bounded_cost(1e-90, 3, INF) == pytest.approx(1e-90)


def test_a_single_category_has_nowhere_to_go():
    assert [p.tolist() for p in costs(table(a=["x", "x"], n=[1, 2]), 0.9)] == [[INF], [pytest.approx(-np.log(0.1))]]


def table(**columns):
    import pandas as pd

    return hw.encode(pd.DataFrame(columns))


def costs(encoded, certainty, direction=None, bounds=None, clip=False):
    reach = reaches(encoded, direction, bounds)
    entries = by_feature_and_sample("certainty", certainty, encoded)
    return [feature_costs(encoded, j, reach[j], entry, clip=clip) for j, entry in enumerate(entries)]


def test_every_kind_of_column_gets_its_own_formula():
    import pandas as pd

    encoded = hw.encode(
        pd.DataFrame(
            {
                "age": [30, 40, 50],
                "visits": [0, 2, 5],
                "grade": pd.Categorical(["a", "b", "c"], categories=list("abc"), ordered=True),
                "smoker": [True, False, True],
                "city": ["Rome", "Oslo", "Bern"],
                "income": [1.5, 2.5, 9.5],
            }
        )
    )
    age, visits, grade, smoker, city, income = costs(encoded, 0.9, bounds={"visits": (0, None)})
    assert age == pytest.approx([-np.log(0.1)])
    assert visits == pytest.approx([float(bounded_cost(0.9, below, INF)) for below in (0, 2, 5)])
    assert grade == pytest.approx([float(bounded_cost(0.9, below, 2 - below)) for below in (0, 1, 2)])
    assert smoker == pytest.approx([np.log(9)])
    assert city == pytest.approx([np.log(18)])
    assert income == pytest.approx(grade)


def test_one_sided_shifts_take_the_value_itself_as_bound():
    encoded = table(x=[0, 2, 5])
    (up,) = costs(encoded, 0.9, direction="up", bounds=(0, 5))
    assert up == pytest.approx([float(bounded_cost(0.9, 0, above)) for above in (5, 3, 0)])
    assert up[2] == INF  # nowhere to go
    (down,) = costs(encoded, 0.9, direction={"x": "down"}, bounds={"x": (0, 5)})
    assert down == pytest.approx([float(bounded_cost(0.9, below, 0)) for below in (0, 2, 5)])
    (unbounded,) = costs(encoded, 0.9, direction="up")
    assert unbounded == pytest.approx([-np.log(0.1)])
    (away_from_bound,) = costs(encoded, 0.9, direction="up", bounds=(0, None))
    assert away_from_bound == pytest.approx([-np.log(0.1)])


def test_certainty_comes_as_one_value_by_column_or_by_cell():
    encoded = table(a=[1, 2], b=[3, 4])
    one = costs(encoded, 0.9)
    assert [p.tolist() for p in costs(encoded, {"a": 0.9, "b": 0.9})] == [p.tolist() for p in one]
    assert [p.tolist() for p in costs(encoded, [0.9, 0.9])] == [p.tolist() for p in one]
    cells = np.array([[0.9, 0.8], [0.7, 1.0]])
    a, b = costs(encoded, cells)
    assert a == pytest.approx(-np.log1p(-cells[:, 0]))
    assert b.tolist() == pytest.approx([-np.log1p(-0.8), INF])
    nested = costs(encoded, cells.tolist())
    mixed = costs(encoded, {"a": [0.9, 0.7], "b": np.array([0.8, 1.0])})
    assert [p.tolist() for p in nested] == [p.tolist() for p in mixed] == [a.tolist(), b.tolist()]


def test_a_series_of_certainties_is_matched_by_name():
    import pandas as pd

    encoded = table(a=[1, 2], b=[3, 4])
    by_name = costs(encoded, pd.Series({"b": 0.8, "a": 0.9}))
    assert [p.tolist() for p in by_name] == [p.tolist() for p in costs(encoded, {"a": 0.9, "b": 0.8})]
    rows = [np.array([0.9, 0.8]), np.array([0.7, 0.6])]
    assert [p.tolist() for p in costs(encoded, rows)] == [p.tolist() for p in costs(encoded, np.array(rows))]


def test_open_ends_may_be_written_as_infinite_and_pairs_as_arrays():
    encoded = table(a=[1, 2])
    assert reaches(encoded, None, {"a": np.array([0, 5])}) == (Reach(Direction.BOTH, 0, 5),)
    assert reaches(encoded, None, (-INF, INF)) == (Reach(),)


def test_a_frame_of_certainties_is_matched_by_name():
    import pandas as pd
    import polars as pl

    encoded = table(a=[1, 2], b=[3, 4])
    wanted = [p.tolist() for p in costs(encoded, np.array([[0.9, 0.8], [0.7, 0.6]]))]
    data = {"b": [0.8, 0.6], "a": [0.9, 0.7]}
    assert [p.tolist() for p in costs(encoded, pd.DataFrame(data))] == wanted
    assert [p.tolist() for p in costs(encoded, pl.DataFrame(data))] == wanted


def test_prices_that_do_not_depend_on_the_sample_are_held_once():
    encoded = table(a=np.arange(1000) % 101, b=np.arange(1000) % 2 == 0)
    assert [p.shape for p in costs(encoded, 0.9)] == [(1,), (1,)]
    assert [p.shape for p in costs(encoded, 0.9, bounds={"a": (0, None)})] == [(1000,), (1,)]


def test_clipping_uses_the_limit_as_in_the_papers_experiments():
    encoded = table(whole=[1, 2], answer=["x", "y"], yes=[True, False], bounded=[0, 3])
    clipped = costs(encoded, [-0.3, 0.1, 0.2, 0.01], bounds={"bounded": (0, 3)}, clip=True)
    assert [p.tolist() for p in clipped] == [[0.0], [0.0], [0.0], [0.0]]
    above_one = costs(encoded, 1.7, clip=True)
    assert [p.tolist() for p in above_one] == [[INF]] * 4


@pytest.mark.parametrize(
    ("certainty", "message"),
    [
        (1.2, r'certainty\["age"\] is 1.2; it must lie in \(0, 1\]'),
        (0.0, r'certainty\["age"\] is 0.0; it must lie in \(0, 1\]'),
        (float("nan"), r'certainty\["age"\] is nan; it must lie in \(0, 1\]'),
        (
            {"age": 0.9, "city": 0.2},
            r'certainty\["city"\] is 0.2; with 3 categories it must be at least 1/3 = 0.333333',
        ),
        ({"age": 0.9}, r"certainty is not given for \['city'\]"),
        ({"age": 0.9, "town": 0.9}, r'certainty\["town"\] is 0.9; the table has no such column'),
        ("high", r"certainty\[\"age\"\] is 'high'; expected a number"),
        (None, r"certainty\[\"age\"\] is None; expected a number"),
        ([0.9, 0.9, 0.9], "certainty is a list of 3; the table has 2 columns"),
        ({"age": [0.9, 0.9], "city": 0.9}, r'certainty\["age"\] is an array of shape \(2,\); expected one value'),
        ({"age": [0.9, 1.1, 0.9], "city": 0.9}, r'certainty\["age"\], row 1 is 1.1'),
        (np.full((2, 2), 0.9), r"certainty has shape \(2, 2\); expected samples by columns, \(3, 2\)"),
    ],
)
def test_wrong_certainties_say_what_is_right(certainty, message):
    with pytest.raises(ValueError, match=message):
        costs(table(age=[30, 40, 50], city=["Rome", "Oslo", "Bern"]), certainty)


def test_a_certainty_below_the_limit_of_one_row_names_the_row_and_the_remedy():
    with pytest.raises(
        ValueError, match=r'certainty\["x"\], row 1 is 0.4; with 2 reachable values .* 1/2 = 0.5.*clip=True'
    ):
        costs(table(x=[0, 4, 2]), 0.4, direction="up", bounds=(0, 5))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"bounds": {"age": (35, 60)}}, r'column "age", row 0 is 30, outside its bounds \(35, 60\)'),
        ({"bounds": {"age": (None, 45)}}, r'column "age", row 2 is 50, outside its bounds \(None, 45\)'),
        ({"bounds": {"age": (60, 20)}}, r"the lower bound must not exceed the upper one"),
        ({"bounds": {"age": (0, 99.5)}}, r"must be integers or None"),
        ({"bounds": {"age": 5}}, r"expected \(lower, upper\)"),
        ({"bounds": {"age": ("0", 60)}}, r"expected \(lower, upper\)"),
        ({"bounds": {"age": (float("inf"), None)}}, r"must be integers or None"),
        ({"bounds": {"age": (float("nan"), 60)}}, r"must be integers or None"),
        ({"bounds": {"city": (0, 1)}}, r"only integer columns take bounds"),
        ({"bounds": {"height": (0, 1)}}, r'bounds\["height"\] is .*; the table has no such column'),
        ({"direction": {"age": "sideways"}}, r'direction\["age"\] is \'sideways\'; expected "both", "up" or "down"'),
        ({"direction": {"city": "up"}}, r"a categorical column has no order"),
        ({"direction": {"shoe": "up"}}, r'direction\["shoe"\] is .*; the table has no such column'),
    ],
)
def test_wrong_bounds_and_directions_say_what_is_right(arguments, message):
    with pytest.raises(ValueError, match=message):
        reaches(table(age=[30, 40, 50], city=["Rome", "Oslo", "Bern"]), **arguments)


def test_one_direction_and_one_pair_of_bounds_for_all_leave_other_kinds_alone():
    encoded = table(age=[30, 40, 50], city=["Rome", "Oslo", "Bern"])
    age, city = reaches(encoded, "up", (0, 120))
    assert age == Reach(Direction.UP, 0, 120)
    assert city == Reach(Direction.BOTH, 0, 2)
    one_each = reaches(encoded, ["down", None], [(0, None), None])
    assert one_each == (Reach(Direction.DOWN, 0, None), Reach(Direction.BOTH, 0, 2))


def test_a_value_outside_its_bounds_is_named_by_its_row_in_the_table():
    ages = [np.nan, 30, np.nan, 41, 50]
    table = hw.encode({"age": ages}, missing="category")
    with pytest.raises(ValueError, match=r'column "age", row 4 is 50, outside its bounds \(20, 45\)'):
        hw.UncertaintySet.calibrated(table, certainty=0.8, plausibility=0.9, bounds={"age": (20, 45)})
