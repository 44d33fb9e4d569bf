"""Certainty from data: intervals hold at the stated rate, tests of direction and shape have the stated power."""

import json
import math
from functools import cache

import numpy as np
import pandas as pd
import pytest

import hardwood as hw
from hardwood import shiftlab
from hardwood.shiftlab.fitting import direction_test, fit_shares, smoothed
from tests.random_moves import moves_among, moves_on_scale

TRIALS = 1000
MIN_RATE = 0.95 - 3 * math.sqrt(0.95 * 0.05 / TRIALS)  # three standard errors below the stated rate


def moved(rng, values, moves_of):
    """Draw a new value for each value, without code of the package."""
    by_value = {value: moves_of(value) for value in set(values.tolist())}
    new = values.copy()
    for value, moves in by_value.items():
        rows = np.flatnonzero(values == value)
        probabilities = np.array([p for p, _ in moves.values()])
        new[rows] = np.array(list(moves))[rng.choice(len(moves), len(rows), p=probabilities / probabilities.sum())]
    return new


MODELS = {
    "endless": (lambda rng, n: rng.integers(0, 30, n), lambda v: moves_on_scale(int(v), 0.8), {}),
    "one bound": (
        lambda rng, n: rng.integers(0, 8, n),
        lambda v: moves_on_scale(int(v), 0.8, "both", 0, None),
        {"bounds": {"a": (0, None)}},
    ),
    "rating": (
        lambda rng, n: rng.integers(1, 6, n),
        lambda v: moves_on_scale(int(v), 0.8, "both", 1, 5),
        {"bounds": {"a": (1, 5)}},
    ),
    "ordinal": (
        lambda rng, n: rng.integers(0, 4, n),
        lambda v: moves_on_scale(int(v), 0.8, "both", 0, 3),
        {"feature_kinds": {"a": [0, 1, 2, 3]}},
    ),
    "yes or no": (lambda rng, n: rng.random(n) < 0.3, lambda v: moves_among(bool(v), [False, True], 0.8), {}),
    "categories": (lambda rng, n: rng.choice(list("xyz"), n), lambda v: moves_among(str(v), list("xyz"), 0.8), {}),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_the_true_certainty_lies_within_its_interval_in_95_of_100_trials(name):
    """Shape and direction are rejected in at most 5 of 100 trials (plus three standard errors)."""
    draw, moves_of, parameters = MODELS[name]
    rng, moves_of = np.random.default_rng(0), cache(moves_of)
    inside = misfits = one_way = 0
    for _ in range(TRIALS):
        then = draw(rng, 200)
        found = shiftlab.estimate_certainty({"a": then}, {"a": moved(rng, then, moves_of)}, **parameters)["a"]
        inside += found.low <= 0.8 <= found.high
        misfits += found.shape_p is not None and found.shape_p < 0.05
        one_way += found.direction_p is not None and found.direction_p < 0.05
    assert inside >= MIN_RATE * TRIALS
    max_rate = 0.05 + 3 * math.sqrt(0.95 * 0.05 / TRIALS)
    assert one_way <= max_rate * TRIALS
    assert misfits <= (max_rate + 0.02) * TRIALS  # the certainty is fitted to single steps, the test merges some


@pytest.mark.parametrize("name", MODELS)
def test_the_certainty_has_the_highest_likelihood(name):
    draw, moves_of, parameters = MODELS[name]
    rng = np.random.default_rng(1)
    then = draw(rng, 300)
    now = moved(rng, then, moves_of)
    found = shiftlab.estimate_certainty({"a": then}, {"a": now}, **parameters)["a"]

    def likelihood(certainty):
        moves_of = {
            "endless": lambda v: moves_on_scale(int(v), certainty),
            "one bound": lambda v: moves_on_scale(int(v), certainty, "both", 0, None),
            "rating": lambda v: moves_on_scale(int(v), certainty, "both", 1, 5),
            "ordinal": lambda v: moves_on_scale(int(v), certainty, "both", 0, 3),
            "yes or no": lambda v: moves_among(bool(v), [False, True], certainty),
            "categories": lambda v: moves_among(str(v), list("xyz"), certainty),
        }[name]
        moves = {value: moves_of(value) for value in set(then.tolist())}
        return sum(math.log(moves[x][y][0]) for x, y in zip(then.tolist(), now.tolist(), strict=True))

    best = likelihood(found.certainty)
    for other in (found.certainty - 0.004, found.certainty + 0.004, 0.6, 0.95):
        assert likelihood(other) < best
    if name in ("one bound", "rating", "ordinal"):  # the interval is that of the likelihood ratio
        for end in (found.low, found.high):
            assert 2 * (best - likelihood(end)) == pytest.approx(3.8415, abs=0.01)
    assert found.unchanged == np.mean(then == now)


def test_one_sided_changes_are_found_at_the_stated_power():
    """Six changes in one direction are enough; 200 rows at certainty 0.9 have more than 9 in 99.9 of 100 trials."""
    rng = np.random.default_rng(2)
    for way in ("up", "down"):
        found = []
        for _ in range(100):
            then = rng.integers(0, 30, 200)
            now = moved(rng, then, lambda v, way=way: moves_on_scale(int(v), 0.9, way))
            found.append(shiftlab.estimate_certainty({"a": then}, {"a": now})["a"])
        assert sum(column.direction == way for column in found) >= 98
        assert all(f"all changes go {way}" in column.remarks for column in found if column.direction == way)
        assert np.mean([column.low <= 0.9 <= column.high for column in found]) >= 0.88


def test_changes_that_go_mostly_one_way_are_remarked():
    rng = np.random.default_rng(3)
    then = rng.integers(0, 30, 500)
    now = then + np.where(rng.random(500) < 0.2, np.where(rng.random(500) < 0.8, 1, -1), 0)
    found = shiftlab.estimate_certainty({"a": then}, {"a": now})["a"]
    assert found.direction == "both"
    assert found.direction_p < 0.001
    assert "mostly up" in found.remarks
    assert found.up == np.mean((now - then)[now != then] > 0)


def test_the_ends_of_a_scale_do_not_imply_a_direction():
    """Almost all values are 1, so changes can only go up: that is the scale, not a tendency."""
    rng = np.random.default_rng(4)
    then = np.ones(300, dtype=int)
    then[0] = 5
    now = moved(rng, then, lambda v: moves_on_scale(int(v), 0.8, "both", 1, 5))
    found = shiftlab.estimate_certainty({"a": then}, {"a": now}, bounds={"a": (1, 5)})["a"]
    assert found.direction == "both"
    assert found.direction_p is None or found.direction_p > 0.05


@pytest.mark.parametrize("shape", ["far jumps", "asymmetric changes"])
def test_changes_of_another_shape_are_found_at_the_stated_power(shape):
    """One in five values jumps anywhere on the scale, or only one of three values changes: found in 95 of 100."""
    rng = np.random.default_rng(5)
    rejected = 0
    for _ in range(60):
        if shape == "far jumps":
            then = rng.integers(0, 20, 300)
            now = np.where(rng.random(300) < 0.2, rng.integers(0, 20, 300), then)
        else:
            then = rng.choice(list("xyz"), 300)
            now = np.where((then == "x") & (rng.random(300) < 0.4), "y", then)
        found = shiftlab.estimate_certainty({"a": then}, {"a": now})["a"]
        rejected += found.shape_p is not None and found.shape_p < 0.05
    assert rejected >= 57
    assert "shape does not fit" in found.remarks


def test_intervals_of_shares_and_steps_are_exact():
    from scipy.stats import binomtest, nbinom

    for unchanged, n in ((17, 20), (20, 20), (0, 20), (150, 200)):
        interval = binomtest(unchanged, n).proportion_ci(0.95, "exact")
        found = fit_shares(unchanged, n, 0.95)
        assert (found.low, found.high) == pytest.approx((interval.low, interval.high))
    then = np.zeros(50, dtype=int) + 10
    now = then + np.r_[np.zeros(40, dtype=int), np.ones(8, dtype=int), [2, -3]]
    found = shiftlab.estimate_certainty({"a": then, "b": now}, {"a": now, "b": now})["a"]
    assert found.certainty == 50 / (50 + 13)
    assert nbinom.cdf(13, 50, found.low) == pytest.approx(0.025)  # at most 13 steps
    assert nbinom.sf(12, 50, found.high) == pytest.approx(0.025)  # at least 13 steps


def test_the_direction_test_is_the_sign_test_where_both_directions_are_equally_likely():
    from scipy.stats import binomtest

    for up, down in ((8, 2), (6, 0), (5, 5), (1, 9)):
        p = direction_test(np.array([up], float), np.array([down], float), np.array([0.5]))
        assert p == pytest.approx(
            min(1.0, 2 * min(binomtest(up, up + down, alternative=a).pvalue for a in ("less", "greater")))
        )
    assert direction_test(np.array([3.0]), np.array([0.0]), np.array([1.0])) is None  # only one direction is possible


def test_tables_are_shrunk_towards_the_model_where_counts_are_small():
    model = np.full((3, 3), 0.05) + np.eye(3) * 0.85
    counts = np.array([[9000, 500, 500], [3, 1, 0], [0, 0, 0]], dtype=float)
    found = smoothed(counts, model)
    assert found.sum(axis=1) == pytest.approx(np.ones(3))
    assert found[0] == pytest.approx([0.9, 0.05, 0.05], abs=0.01)
    assert found[2] == pytest.approx(model[2])
    assert 0 < found[1, 2] < model[1, 2]
    assert counts[1, 1] / 4 < found[1, 1] <= model[1, 1]


def test_an_estimate_gives_arguments_of_a_classifier():
    rng = np.random.default_rng(6)
    n = 300
    then = pd.DataFrame({"a": rng.integers(1, 6, n), "b": rng.choice(["x", "y", "z"], n), "c": rng.random(n) < 0.5})
    now = then.copy()
    now["a"] = moved(rng, then["a"].to_numpy(), lambda v: moves_on_scale(int(v), 0.8, "up", 1, 5))
    now["b"] = moved(rng, then["b"].to_numpy().astype(str), lambda v: moves_among(str(v), list("xyz"), 0.9))
    y = (then["a"] > 3).astype(int)
    found = shiftlab.estimate_certainty(then, now, bounds={"a": (1, 5)})
    assert found.direction == {"a": "up"}
    model = hw.RobustTreeClassifier(2, bounds={"a": (1, 5)}, plausibility=0.95, clip=True, **found.parameters).fit(
        then, y
    )
    assert model.shifts_.certainty == found.certainty
    tabled = hw.RobustTreeClassifier(2, certainty=found.tables, plausibility=0.95).fit(then, y)
    assert 0 < tabled.certificate_.worst_case_accuracy <= 1
    assert set(found.tables) == {"a", "b", "c"}
    assert found.cautious["c"] < 1 == found.certainty["c"]
    assert "nothing changed" in found["c"].remarks
    assert all(sum(row.values()) == pytest.approx(1) for table in found.tables.values() for row in table.values())
    text = str(found)
    assert "all changes go up" in text
    assert "95% interval" in text
    json.dumps(found.to_dict(), allow_nan=False)


def test_groups_are_estimated_separately_and_compared():
    rng = np.random.default_rng(7)
    n = 600
    then = {"a": rng.integers(0, 30, n), "b": rng.integers(0, 30, n)}
    groups = np.where(np.arange(n) < 300, "young", "old")
    a = np.where(groups == "young", moved(rng, then["a"], lambda v: moves_on_scale(int(v), 0.95)), 0)
    a = np.where(groups == "old", moved(rng, then["a"], lambda v: moves_on_scale(int(v), 0.6)), a)
    now = {"a": a, "b": moved(rng, then["b"], lambda v: moves_on_scale(int(v), 0.8))}
    found = shiftlab.estimate_certainty(then, now, groups=groups)
    assert found.groups["young"].certainty["a"] > 0.9 > 0.7 > found.groups["old"].certainty["a"]
    assert found.differs("a") < 1e-6 < 0.01 < found.differs("b")
    cells = found.by_cell(groups)
    assert cells.shape == (n, 2)
    assert cells[0, 0] == found.groups["young"].certainty["a"]
    y = (then["a"] > 15).astype(int)
    hw.RobustTreeClassifier(1).fit(then, y, certainty=cells)
    assert "a by group: old 0.5" in str(found)
    assert "(they differ)" in str(found)
    with pytest.raises(ValueError, match="the estimate knows the groups"):
        found.by_cell(["unknown"])
    framed = pd.DataFrame(then).assign(age_group=groups)
    assert shiftlab.estimate_certainty(framed, pd.DataFrame(now), groups="age_group").groups.keys() == {"young", "old"}


def test_integer_weights_are_repeated_rows_and_others_are_scaled_to_the_effective_size():
    rng = np.random.default_rng(8)
    then = rng.integers(1, 6, 60)
    now = moved(rng, then, lambda v: moves_on_scale(int(v), 0.7, "both", 1, 5))
    weights = rng.integers(1, 4, 60)
    bounds = {"a": (1, 5)}
    weighted = shiftlab.estimate_certainty({"a": then}, {"a": now}, weights, bounds=bounds)["a"]
    rows = {"a": np.repeat(then, weights)}, {"a": np.repeat(now, weights)}
    repeated = shiftlab.estimate_certainty(*rows, bounds=bounds)["a"]
    assert (weighted.certainty, weighted.low, weighted.high) == pytest.approx(
        (repeated.certainty, repeated.low, repeated.high)
    )
    assert (weighted.shape_p, weighted.direction_p) == pytest.approx((repeated.shape_p, repeated.direction_p))
    plain = shiftlab.estimate_certainty({"a": then}, {"a": now}, bounds=bounds)["a"]
    scaled = shiftlab.estimate_certainty({"a": then}, {"a": now}, np.full(60, 7.5), bounds=bounds)["a"]
    assert (scaled.certainty, scaled.low) == pytest.approx((plain.certainty, plain.low))


def test_missingness_has_its_own_certainty():
    rng = np.random.default_rng(9)
    then = rng.integers(0, 9, 400).astype(float)
    now = then.copy()
    then[:40] = np.nan
    now[20:50] = np.nan
    found = shiftlab.estimate_certainty({"a": then}, {"a": now})
    assert found["a"].total_weight == 350
    assert found.missing_certainty["a"] == pytest.approx(1 - 30 / 400)
    assert "whether there is an answer stays the same" in str(found)
    texts = {"a": [*"xyxyx", None]}, {"a": [*"xyxy", None, None]}
    found = shiftlab.estimate_certainty(*texts)
    assert found["a"].total_weight == 4
    assert found.missing_certainty["a"] == pytest.approx(5 / 6)
    assert found["a"].values == ("x", "y")
    codes = shiftlab.estimate_certainty({"a": [1, 2, -9, 4]}, {"a": [1, 2, 3, -9]}, missing_values=-9)
    assert codes["a"].total_weight == 2


def test_rows_are_linked_by_a_column():
    first = pd.DataFrame({"id": [3, 1, 2, 9], "a": [30, 10, 20, 90], "only here": 1})
    second = pd.DataFrame({"id": [1.0, 2.0, 3.0, 5.0], "a": [10, 21, 30, 50]})
    found = shiftlab.estimate_certainty(first, second, on="id")
    assert found["a"].total_weight == 3
    assert found["a"].unchanged == pytest.approx(2 / 3)
    assert found.left_out == ("only here",)
    for parameters, message in (
        ({"on": "name"}, "has no such column"),
        ({}, "row i of both tables must be the same sample, but they have 4 and 3 rows"),
    ):
        with pytest.raises(ValueError, match=message):
            shiftlab.estimate_certainty(first, second[:3], **parameters)
    with pytest.raises(ValueError, match="has an identifier twice"):
        shiftlab.estimate_certainty(first.assign(id=1), second, on="id")
    with pytest.raises(ValueError, match="the tables have no sample in common"):
        shiftlab.estimate_certainty(first.assign(id=[11, 12, 13, 14]), second, on="id")
    with pytest.raises(ValueError, match="no column in common"):
        shiftlab.estimate_certainty({"a": [1, 2]}, {"b": [1, 2]})
    with pytest.raises(ValueError, match="holds numbers in one table and text in the other"):
        shiftlab.estimate_certainty({"a": [1, 2]}, {"a": ["x", "y"]})
    with pytest.raises(ValueError, match="outside its bounds"):
        shiftlab.estimate_certainty({"a": [1, 2]}, {"a": [1, 9]}, bounds={"a": (1, 5)})
    with pytest.raises(ValueError, match="confidence is 2"):
        shiftlab.estimate_certainty({"a": [1, 2]}, {"a": [1, 2]}, confidence=2)


def test_different_people_only_give_the_least_change():
    rng = np.random.default_rng(10)
    then = {"a": rng.integers(0, 9, 4000), "b": rng.choice(list("xyz"), 4000)}
    now = {"a": rng.integers(0, 9, 3000) + 1, "b": rng.choice(list("xyz"), 3000, p=[0.2, 0.4, 0.4])}
    found = shiftlab.estimate_certainty(then, now, different_people=True)
    assert found["a"].steps == pytest.approx(1.0, abs=0.15)
    assert found["a"].certainty <= 1 / (1 + found["a"].steps) + 1e-12
    assert found["b"].moved == pytest.approx(2 / 15, abs=0.03)
    assert found["b"].certainty == pytest.approx(1 - found["b"].moved)
    assert found["b"].p < 0.01
    same = shiftlab.estimate_certainty(then, {"a": rng.integers(0, 9, 3000)}, different_people=True)
    assert same["a"].p > 0.001
    assert "a lower bound of change" in str(found)
    json.dumps(found.to_dict(), allow_nan=False)
    with pytest.raises(ValueError, match="belong to linked rows"):
        shiftlab.estimate_certainty(then, now, np.ones(4000), different_people=True)


def test_a_group_without_values_in_a_column_is_left_out_of_its_line():
    rng = np.random.default_rng(0)
    then = pd.DataFrame({"a": rng.integers(0, 5, 100), "b": rng.integers(0, 5, 100)}, dtype="Int64")
    then.loc[:49, "b"] = pd.NA
    found = shiftlab.estimate_certainty(then, then, groups=["A"] * 50 + ["B"] * 50)
    assert "b by group: B 1.000" in str(found)


def test_weights_do_not_hide_a_difference_between_groups():
    rng = np.random.default_rng(0)
    then, rho = rng.integers(0, 30, 600), np.r_[np.full(300, 0.95), np.full(300, 0.7)]
    now = then + np.where(rng.random(600) < rho, 0, 1) * rng.choice([-1, 1], 600)
    weights = np.r_[np.full(300, 1.5), np.full(300, 10.5)]
    found = shiftlab.estimate_certainty({"a": then}, {"a": now}, weights, groups=["A"] * 300 + ["B"] * 300)
    assert found.differs("a") < 1e-3


def test_becoming_missing_is_no_change_of_a_value():
    then, now = {"a": [0.0] * 50 + [10.0] * 50 + [5.0]}, {"a": [0.0] * 50 + [np.nan] * 50 + [5.0]}
    found = shiftlab.estimate_certainty(then, now, different_people=True, feature_kinds={"a": "integer"})["a"]
    assert (found.moved, found.steps, found.certainty) == (pytest.approx(0), pytest.approx(0), pytest.approx(1))
    texts = {"a": [*"xyxyxy", None, "x"]}, {"a": [*"xyxyyy", "y", None]}
    table = shiftlab.estimate_certainty(*texts).tables["a"]
    assert set(table) == {"x", "y", None}
    assert all(sum(row.values()) == pytest.approx(1) for row in table.values())
    hw.RobustTreeClassifier(1, certainty={"a": table}, missing="category").fit(texts[0], [0, 1] * 4)


def test_rows_without_a_group_are_a_group_and_lengths_must_match():
    then, now = pd.DataFrame({"a": [1, 2] * 50, "g": [1.0] * 50 + [np.nan] * 50}), {"a": [1, 2] * 50}
    assert set(shiftlab.estimate_certainty(then, now, groups="g").groups) == {"1", "missing"}
    with pytest.raises(ValueError, match="expected an entry for each of 100 rows"):
        shiftlab.estimate_certainty(then, now, groups=["x"] * 99)
    with pytest.raises(ValueError, match="expected one weight for each of 100 rows"):
        shiftlab.estimate_certainty(then, now, np.ones(101))


def test_integer_columns_with_two_values_are_scales():
    found = shiftlab.estimate_certainty({"a": [5] * 200}, {"a": [5] * 160 + [6] * 40})["a"]
    assert found.certainty == pytest.approx(200 / 240)
    assert found.direction == "up"


def test_values_near_the_end_of_a_scale_do_not_raise_the_certainty_of_all():
    rng = np.random.default_rng(12)
    inside = 0
    for _ in range(100):
        then = rng.integers(1, 6, 200)
        certainty = np.maximum(0.4, 1 / (6 - then))
        now = then.copy()
        for value in range(1, 5):
            rows = then == value
            moves = moves_on_scale(value, float(certainty[rows][0]), "up", 1, 5)
            probabilities = np.array([p for p, _ in moves.values()])
            now[rows] = rng.choice(list(moves), rows.sum(), p=probabilities / probabilities.sum())
        found = shiftlab.estimate_certainty({"a": then}, {"a": now}, bounds={"a": (1, 5)})["a"]
        inside += found.low <= 0.4 <= found.high
    assert inside >= 88


def test_changes_between_values_of_unequal_shares_are_no_misfit():
    rng = np.random.default_rng(13)
    values = np.array(list("abcdefgh"))
    shares = np.array([0.4, 0.2, 0.1, 0.1, 0.08, 0.06, 0.04, 0.02])
    misfits = tested = 0
    for _ in range(300):
        then = rng.choice(values, 500, p=shares)
        other = values[(np.searchsorted(values, then) + rng.integers(1, 8, 500)) % 8]
        now = np.where(rng.random(500) < 0.6, then, other)
        p = shiftlab.estimate_certainty({"a": then}, {"a": now})["a"].shape_p
        tested += p is not None
        misfits += p is not None and p < 0.05
    assert tested > 290
    assert misfits <= 300 * (0.05 + 3 * math.sqrt(0.05 * 0.95 / 300))
