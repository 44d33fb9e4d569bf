"""The form of a report agrees with the classifier."""

import numpy as np
import pandas as pd
import pytest

from hardwood import RobustTreeClassifier
from tests.report.records import check_record
from tests.surveys import survey


def test_the_form_traces_the_path_of_many_records(voters, opened):
    _, found, frame, _, path = voters
    tab = opened(path)
    for number, classifier in enumerate(found.classifiers):
        tab.locator("#slider").fill(str(number))
        for k in range(number, len(frame), 7):
            check_record(tab, classifier, frame.iloc[[k]])


def test_the_form_waits_for_a_valid_value(tmp_path, opened):
    frame = pd.DataFrame({"age": [20, 30, 40, 50] * 10, "unasked": [1] * 40})
    model = RobustTreeClassifier(1, bounds={"age": (0, 65)}).fit(frame, frame["age"] > 35)
    model.report(tmp_path / "report.html")
    tab = opened(tmp_path / "report.html")
    assert "Waiting for a valid answer: age" in tab.inner_text("#result")
    age = tab.locator("#field-0")
    for wrong in ("30.5", "-1", "70"):
        age.fill(wrong)
        assert "Waiting for a valid answer: age" in tab.inner_text("#result")
        assert age.get_attribute("aria-invalid") == "true"
    for value in (0, 31, 62, 65):  # within the bounds, also where no row was
        check_record(tab, model, pd.DataFrame({"age": [value], "unasked": [1]}))


@pytest.mark.parametrize("seed", range(6))
def test_the_form_agrees_with_the_classifier_on_random_models(tmp_path, opened, seed):
    """All kinds of columns, bounds, directions and costs; records also from outside the training table."""
    rng = np.random.default_rng(seed)
    frame, y = survey(seed=seed)
    frame["visits"] = rng.integers(-2, 7, len(frame))
    options = [
        {"certainty": 0.75},
        {"certainty": {name: float(rng.uniform(0.6, 1.0)) for name in frame}, "bounds": {"age": (10, 90)}},
        {"certainty": 0.8, "direction": {"age": "up", "visits": "down"}, "bounds": {"visits": (None, 9)}},
        {"costs": {"age": 0.3, "party": {"left": 1.0, "right": 0.5, "none": 2.0}}, "budget": 20.0},
        {"radius": {"age": 2, "party": 0, "trust": 1, "asked before": 1, "income": 0, "visits": 3}},
        {"certainty": 0.7, "bounds": {"visits": (-2, 6), "age": (0, None)}, "direction": {"visits": "up"}},
    ][seed]
    if "costs" in options:
        options["costs"] |= {name: float(rng.uniform(0.2, 2)) for name in ("trust", "asked before", "income", "visits")}
    kinds = {"trust": ["low", "middle", "high"]}
    labels = np.where((frame["visits"] > 2) & (frame["age"] > 40), "often", y)
    model = RobustTreeClassifier(3, **options, feature_kinds=kinds, time_limit=3).fit(frame, labels)
    model.report(tmp_path / "report.html")
    tab = opened(tmp_path / "report.html")
    for k in range(0, 120, 8):
        row = frame.iloc[[k]].copy()
        row["income"] += float(rng.normal(0, 20))
        row["age"] = int(rng.integers(10, 90))
        check_record(tab, model, row)


@pytest.mark.parametrize("seed", range(3))
def test_the_form_handles_missing_values_pair_tables_and_weights(tmp_path, opened, seed):
    rng = np.random.default_rng([9, seed])
    frame, y = survey(seed=seed)
    frame = frame.astype({"age": float})
    for name in ("age", "income", "trust"):
        frame.loc[rng.random(len(frame)) < 0.2, name] = None
    frame["visits"] = rng.integers(0, 4, len(frame))
    parties = sorted(frame["party"].unique())
    probabilities = pd.DataFrame(rng.dirichlet(np.ones(len(parties)), len(parties)), index=parties, columns=parties)
    visits = [0, 1, 2, 3]
    listed = pd.DataFrame(rng.dirichlet(np.ones(4), 4), index=visits, columns=visits)
    certainty = dict.fromkeys(frame, 0.8) | {"party": probabilities, "visits": listed}
    labels = np.where((frame["visits"] > 1) & ~(frame["age"] < 40), "often", y)
    model = RobustTreeClassifier(
        3,
        certainty=certainty,
        plausibility=0.98,
        missing="category",
        missing_certainty={"age": 0.7},
        feature_kinds={"trust": ["low", "middle", "high"]},
        class_weight="balanced" if seed else None,
        clip=True,
        bounds={"age": (0, 99)} if seed == 2 else None,
    ).fit(frame, labels, rng.lognormal(size=len(frame)))
    model.report(tmp_path / "report.html")
    tab = opened(tmp_path / "report.html")
    for k in range(0, len(frame), 9):
        check_record(tab, model, frame.iloc[[k]])
    text = tab.inner_text("body")
    assert "The rows represent" in text
    assert ("balanced accuracy" in text) == bool(seed)
    assert "by pair of values" in text
    for share in model.certificate_.by_class:
        assert f"{100 * share.guaranteed:.1f}" in tab.inner_text("#curve")


def test_a_model_with_certainty_by_cell_has_a_report(tmp_path, opened):
    frame = pd.DataFrame({"a": [0, 1, 2, 3] * 10})
    cells = np.full((40, 1), 0.8)
    model = RobustTreeClassifier(1).fit(frame, frame["a"] > 1, certainty=cells)
    model.report(tmp_path / "report.html", frame[:20], frame["a"][:20] > 1, certainty=cells[:20])
    model.report(tmp_path / "report.html")
    tab = opened(tmp_path / "report.html")
    tab.locator("#field-0").fill("2")
    assert "it shows no margin" in tab.inner_text("#result")


@pytest.mark.parametrize(
    "parameters",
    [{"radius": 1}, {"costs": 1.0, "budget": 3.0}, {"direction": {"a": "up"}}, {"objective": "distributional"}],
)
def test_every_shift_model_has_a_report(tmp_path, parameters, opened):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"a": rng.integers(0, 6, 80), "b": rng.choice(["u", "v"], 80)})
    y = (frame["a"] > 2).astype(int)
    model = RobustTreeClassifier(2, **parameters).fit(frame, y)
    model.report(tmp_path / "report.html")
    tab = opened(tmp_path / "report.html")
    for k in range(0, 80, 9):
        check_record(tab, model, frame.iloc[[k]])
