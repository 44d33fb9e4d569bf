"""Tables of how people of each answer answered the second time, in place of a certainty, and tables of prices."""

import json
import math

import numpy as np
import pandas as pd
import pytest

import hardwood as hw
from hardwood import Certificate, RobustTreeClassifier
from hardwood.evaluation import expected_accuracy, simulate_shifts
from hardwood.shifts.calibration import bounded_cost
from hardwood.shifts.models import read_shift_model

VALUES = ["no", "quit", "yes"]
MEASURED = pd.DataFrame([[0.9, 0.04, 0.06], [0.0, 0.95, 0.05], [0.2, 0.4, 0.4]], index=VALUES, columns=VALUES)


def survey(seed=0, n=90):
    rng = np.random.default_rng([47, seed])
    frame = pd.DataFrame(
        {
            "smokes": rng.choice(VALUES, n),
            "asked": rng.random(n) < 0.5,
            "visits": rng.integers(0, 5, n),
            "trust": pd.Categorical.from_codes(rng.integers(0, 3, n), ["low", "middle", "high"], ordered=True),
        }
    )
    score = (frame["smokes"] == "yes") + (frame["visits"] > 2) + rng.normal(0, 0.6, n)
    return frame, np.where(score > 1, "ill", "well")


def as_table(feature, certainty):
    """P(answer later | answer now) that a plain certainty stands for."""
    n = feature.n_values
    if not feature.ordered:
        matrix = np.full((n, n), (1 - certainty) / (n - 1))
        np.fill_diagonal(matrix, certainty)
        return matrix
    steps = np.arange(n)
    cost = bounded_cost(np.full(n, certainty), steps, steps[::-1])
    return certainty * np.exp(-cost[:, None] * np.abs(steps[:, None] - steps[None, :]))


@pytest.mark.parametrize("seed", range(4))
def test_a_table_filled_in_from_a_certainty_is_that_certainty(seed):
    frame, y = survey(seed)
    table = hw.encode(frame)
    bounds = {"visits": (0, 4)}
    certainty = 0.7 + 0.05 * seed
    filled = {feature.name: as_table(feature, certainty) for feature in table.features}
    plain, measured = (
        RobustTreeClassifier(2, certainty=own, bounds=bounds, plausibility=0.93).fit(frame, y)
        for own in (certainty, filled)
    )
    assert plain.tree_ == measured.tree_
    names = ("worst_case_correct", "nominal_correct", "upper_bound", "any_model_bound", "branching_nodes", "status")
    assert [getattr(plain.certificate_, name) for name in names] == [
        getattr(measured.certificate_, name) for name in names
    ]
    assert plain.certificate_.distributional_value == pytest.approx(measured.certificate_.distributional_value)
    assert plain.margins(frame) == pytest.approx(measured.margins(frame), rel=1e-9)
    labels = hw.encode_labels(y, len(y))
    probabilities = [expected_accuracy(m.tree_, table, labels, m.shifts_) for m in (plain, measured)]
    assert probabilities[0] == pytest.approx(probabilities[1])
    assert hw.check(measured.certificate_, frame, y).confirmed


def test_prices_are_the_logarithms_of_what_was_measured():
    table = hw.encode({"smokes": VALUES})
    costs = hw.UncertaintySet.calibrated(table, certainty={"smokes": MEASURED}, plausibility=1.0).costs
    unit_costs = np.array([costs.move_costs(0, [row] * 3, range(3)) for row in range(3)])
    assert unit_costs[0] == pytest.approx([0, math.log(0.9 / 0.04), math.log(15)])
    assert unit_costs[1] == pytest.approx([math.inf, 0, math.log(19)])
    assert unit_costs[2] == pytest.approx([math.log(2), 0, 0])  # at least 0, also where another answer is as likely


@pytest.mark.parametrize(
    "given",
    [
        MEASURED,
        MEASURED.loc[["yes", "no", "quit"], ["quit", "yes", "no"]],
        MEASURED.to_numpy(),
        MEASURED.to_numpy().tolist(),
        {row: dict(MEASURED.loc[row]) for row in VALUES},
        {row: MEASURED.loc[row] for row in VALUES},
    ],
)
def test_tables_come_in_many_forms(given, tmp_path):
    frame, y = survey()
    model = RobustTreeClassifier(2, certainty={"smokes": given, "visits": 0.8}, clip=True)
    model.fit(frame[["smokes", "visits"]], y)
    reference = RobustTreeClassifier(2, certainty={"smokes": MEASURED, "visits": 0.8}, clip=True)
    reference.fit(frame[["smokes", "visits"]], y)
    assert model.tree_ == reference.tree_
    assert (model.margins(frame[["smokes", "visits"]]) == reference.margins(frame[["smokes", "visits"]])).all()
    assert not model.shifts_.per_cell
    again = read_shift_model(json.loads(json.dumps(model.shifts_.to_dict())))
    assert str(again) == str(model.shifts_) == "certainty {smokes: a table, visits: 0.8}, plausibility 0.9"
    model.save(tmp_path / "model.json")
    loaded = RobustTreeClassifier.load(tmp_path / "model.json")
    assert (loaded.margins(frame[["smokes", "visits"]]) == model.margins(frame[["smokes", "visits"]])).all()
    assert hw.check(Certificate.load(tmp_path / "model.certificate.json"), frame[["smokes", "visits"]], y).confirmed


def test_tables_may_stand_in_a_list_and_beside_weights(tmp_path):
    frame, y = survey()
    two = frame[["smokes", "visits"]]
    reference = RobustTreeClassifier(2, certainty={"smokes": MEASURED, "visits": 0.8}, clip=True).fit(two, y)
    weights = np.ones(len(y))
    weights[3] = 0
    for table in (MEASURED, MEASURED.to_numpy()):
        listed = RobustTreeClassifier(2, certainty=[table, 0.8], clip=True).fit(two, y)
        assert (listed.margins(two) == reference.margins(two)).all()
        listed.save(tmp_path / "model.json")
        assert (RobustTreeClassifier.load(tmp_path / "model.json").margins(two) == reference.margins(two)).all()
        for words in ({"smokes": table, "visits": 0.8}, [table, 0.8]):
            weighted = RobustTreeClassifier(2, clip=True).fit(two, y, weights, certainty=words)
            assert weighted.certificate_.n_samples == len(y) - 1


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ([True, False, None, True], [False, True, None]),
        ([1, 2, math.nan, 1], [1.0, 2.0, math.nan]),
        (pd.array([1, 2, None, 1], dtype="Int64"), pd.array([1, 2, pd.NA], dtype="Int64")),
        (["a", "b", None, "a"], ["a", "b", "(missing)"]),
    ],
)
def test_answers_of_tables_may_have_any_name(values, names, tmp_path):
    X, y = pd.DataFrame({"a": list(values) * 5}), [0, 1, 1, 0] * 5
    drawn = np.random.default_rng(0).dirichlet(np.ones(3), 3)
    model = RobustTreeClassifier(
        1, certainty={"a": pd.DataFrame(drawn, index=names, columns=names)}, missing="category"
    ).fit(X, y)
    model.save(tmp_path / "model.json")
    assert (RobustTreeClassifier.load(tmp_path / "model.json").margins(X) == model.margins(X)).all()
    assert "a table" in str(model.certificate_)


def test_series_of_whole_numbers_come_back_from_the_file(tmp_path):
    for values in ([1, 2], [0, 1]):
        X, table = (
            pd.DataFrame({"a": values * 10}),
            pd.DataFrame([[0.9, 0.1], [0.2, 0.8]], index=values, columns=values),
        )
        model = RobustTreeClassifier(1, certainty={"a": {value: table.loc[value] for value in values}})
        model.fit(X, [0, 1] * 10).save(tmp_path / "model.json")
        assert (RobustTreeClassifier.load(tmp_path / "model.json").margins(X) == model.margins(X)).all()


def test_an_array_of_prices_stays_a_table_for_as_few_rows_as_it_has_answers():
    X = pd.DataFrame({"b": list("xyz") * 4})
    costs = np.array([[0, 1.0, 5], [2, 0, 4], [3, 6, 0]])
    model = RobustTreeClassifier(2, costs={"b": costs}, budget=2.0, branch_penalty=0).fit(X, [0, 1, 2] * 4)
    assert (model.margins(X)[1:4] == model.margins(X[1:4])).all()


def test_whole_numbers_list_the_values_they_may_have():
    table = hw.encode({"visits": [1, 5, 5]})
    listed = {1: {1: 0.8, 3: 0.1, 5: 0.1}, 3: {1: 0.1, 3: 0.8, 5: 0.1}, 5: {1: 0.0, 3: 0.5, 5: 0.5}}
    costs = hw.UncertaintySet.calibrated(table, certainty={"visits": listed}, plausibility=1.0).costs
    assert costs.move_costs(0, [0, 0, 0, 1, 1], [3, 5, 2, 1, 3]) == pytest.approx(
        [math.log(8), math.log(8), math.inf, math.inf, 0.0]
    )
    upward = hw.UncertaintySet.calibrated(
        table, certainty={"visits": listed}, plausibility=1.0, direction={"visits": "up"}
    ).costs
    assert np.isinf(upward.move_costs(0, [1], [3])).all()


def test_missing_answers_are_listed_or_have_a_certainty():
    X = {"visits": [0.0, 1.0, math.nan]}
    table = hw.encode(X, missing="category")
    with_missing = {
        0: {0: 0.8, 1: 0.1, None: 0.1},
        1: {0: 0.1, 1: 0.8, None: 0.1},
        None: {0: 0.25, 1: 0.25, None: 0.5},
    }
    from hardwood.data.codes import MISSING_CODE

    listed = hw.UncertaintySet.calibrated(table, certainty={"visits": with_missing}, plausibility=1.0).costs
    assert listed.move_costs(0, [0, 2], [MISSING_CODE, 1]) == pytest.approx([math.log(8), math.log(2)])
    answers = {0: {0: 0.9, 1: 0.1}, 1: {0: 0.1, 1: 0.9}}
    apart = hw.UncertaintySet.calibrated(
        table, certainty={"visits": answers}, plausibility=1.0, missing_certainty=0.75
    ).costs
    assert apart.move_costs(0, [0, 2, 0], [MISSING_CODE, 1, 1]) == pytest.approx(
        [math.log(3), math.log(3), math.log(9)]
    )
    with pytest.raises(ValueError, match=r'a table without \[\'\(missing\)\'\].*missing_certainty={"visits": 0.9}'):
        hw.UncertaintySet.calibrated(table, certainty={"visits": answers}, plausibility=1.0)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (MEASURED * 0.9, r'certainty\["smokes"\] is a table whose row for \'no\' adds up to 0.9; each row'),
        (MEASURED.loc[["no", "yes"], ["no", "yes"]].to_numpy(), r"an array of shape \(2, 2\); expected 3 by 3"),
        ({"no": {"no": 1.0}}, r"a table without \['quit', 'yes'\]; it must list every value of the column"),
        (MEASURED.loc[["no", "yes"]], "expected the same values"),
        (MEASURED.rename(index={"no": "never"}), "a table with the value 'never'; the column has"),
        (MEASURED - 0.5, "probabilities must lie in"),
        (MEASURED * 100, r"probabilities must lie in \[0, 1\] \(divide each row of counts by its sum\)"),
        (MEASURED.rename(index={"yes": "no"}), "each value once"),
        ({math.inf: {math.inf: 1.0}}, "a table with the value inf"),
        ({"no": {"no": 1.0, "quit": 0.0, "yes": 0.0}, "quit": {"quit": 1.0}, "yes": {"yes": 1.0}}, "different values"),
        (pd.DataFrame({"no": ["a", "b", "c"]}), "expected a number, or an array of numbers"),
    ],
)
def test_tables_that_are_none_are_refused(table, message):
    frame, y = survey()
    with pytest.raises(ValueError, match=message):
        RobustTreeClassifier(1, certainty={"smokes": table}).fit(frame[["smokes"]], y)


def test_bins_have_no_answers_to_list():
    with pytest.raises(ValueError, match="a column of bins has no values to list"):
        RobustTreeClassifier(1, certainty={"a": np.eye(3)}).fit({"a": [0.5, 1.5, 2.5]}, [0, 1, 1])


def test_prices_may_be_a_square_table():
    frame, y = survey()
    unit_costs = pd.DataFrame([[0, 1.0, 2.0], [math.inf, 0, 3.0], [0.5, 0.25, 0]], index=VALUES, columns=VALUES)
    model = RobustTreeClassifier(2, costs={"smokes": unit_costs}, budget=5.0).fit(frame[["smokes"]], y)
    table = model._encode(frame[["smokes"]])
    costs = model.shifts_.uncertainty(table).costs
    for row in range(9):
        now = VALUES.index(frame["smokes"][row])
        assert costs.move_costs(0, [row] * 3, range(3)).tolist() == unit_costs.to_numpy()[now].tolist()
    assert hw.check(model.certificate_, frame[["smokes"]], y).confirmed
    with pytest.raises(ValueError, match=r'costs\["smokes"\] is -0.5; it must be a number >= 0'):
        RobustTreeClassifier(1, costs={"smokes": unit_costs - 1}, budget=5.0).fit(frame[["smokes"]], y)


@pytest.mark.parametrize("seed", range(3))
def test_chances_are_drawn_from_the_table(seed):
    frame, y = survey(seed, n=60)
    frame = frame.assign(visits=np.where(np.arange(60) % 7 == 0, np.nan, frame["visits"]))
    rng = np.random.default_rng(seed)
    listed = [0, 1, 2, 3, 4, None]
    drawn = rng.dirichlet(np.ones(6), 6)
    probabilities = {a: dict(zip(listed, row, strict=True)) for a, row in zip(listed, drawn, strict=True)}
    certainty = {"smokes": MEASURED, "visits": probabilities, "asked": 0.8, "trust": 0.7}
    model = RobustTreeClassifier(3, certainty=certainty, plausibility=0.99, missing="category", clip=True).fit(frame, y)
    table, labels = model._encode(frame), hw.encode_labels(y, 60)
    expected = expected_accuracy(model.tree_, table, labels, model.shifts_)
    sampled = simulate_shifts([model.tree_], table, labels, model.shifts_, n_tables=5000, seed=seed)[0]
    assert sampled.mean() == pytest.approx(expected, abs=4.5 * sampled.std() / math.sqrt(5000) + 1e-9)
    by_hand, predictions = 0.0, {}
    for k in range(60):  # every way that one row may go
        ways = [
            MEASURED.loc[frame["smokes"][k]].to_dict(),
            {v: 0.8 if v == frame["asked"][k] else 0.2 for v in (False, True)},
            probabilities[None if math.isnan(frame["visits"][k]) else int(frame["visits"][k])],
            dict(
                zip(
                    ["low", "middle", "high"],
                    as_table(table.features[3], 0.7)[frame["trust"].cat.codes[k]],
                    strict=True,
                )
            ),
        ]
        for smokes, p in ways[0].items():
            for asked, q in ways[1].items():
                for visits, r in ways[2].items():
                    for trust, s in ways[3].items():
                        if p * q * r * s < 1e-9:
                            continue
                        by_hand += (
                            p * q * r * s * (predicted_by(model, predictions, smokes, asked, visits, trust) == y[k])
                        )
    assert by_hand / 60 == pytest.approx(expected, abs=1e-6)


def predicted_by(model, predictions, smokes, asked, visits, trust):
    """The prediction for one row; `predictions` remembers those of this model."""
    key = (smokes, asked, visits, trust)
    if key not in predictions:
        row = {"smokes": [smokes], "asked": [asked], "visits": [math.nan if visits is None else visits]}
        frame = pd.DataFrame(row | {"trust": pd.Categorical([trust], ["low", "middle", "high"], ordered=True)})
        predictions[key] = model.predict(frame)[0]
    return predictions[key]


@pytest.mark.parametrize("value", [3_000_000_000, -3_000_000_000, 2**31 - 1])
def test_a_value_beyond_the_range_of_codes_is_refused(value):
    table = {a: {b: 0.0 if a == b else 1.0 for b in (1, 2, value)} for a in (1, 2, value)}
    message = rf'costs\["a"\] is a table with the value {value}; the values of an integer column must stay within'
    with pytest.raises(ValueError, match=message):
        RobustTreeClassifier(1, costs={"a": table}, budget=1.0).fit({"a": [1, 2, 2, 1]}, [0, 1, 1, 0])


@pytest.mark.parametrize(("argument", "never"), [("costs", "inf"), ("certainty", "0")])
def test_a_table_that_is_not_square_says_how_to_complete_it(argument, never):
    message = rf"every row lists every value, \[12, 21\] \({never} for a change that never happens\)"
    with pytest.raises(ValueError, match=message):
        RobustTreeClassifier(1, **{argument: {"a": {12: {21: 1}, 21: {12: 1}}}}).fit({"a": [12, 21]}, [0, 1])
