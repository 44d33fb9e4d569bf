"""Rows that stand for several people, and classes that are worth more than others."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

import hardwood as hw
from hardwood import Certificate, RobustTreeClassifier
from hardwood.data.labels import Labels, with_worth
from hardwood.evaluation import expected_accuracy, simulate_shifts
from hardwood.problem import Goal, Problem
from hardwood.solvers import solve
from hardwood.solvers.base import Status
from problems import random_problem

SHIFTS = {"certainty": 0.8, "plausibility": 0.9}
NUMBERS = (
    "status",
    "n_samples",
    "people",
    "total",
    "worst_case_correct",
    "nominal_correct",
    "distributional_value",
    "upper_bound",
    "any_model_bound",
    "branching_nodes",
    "objective",
    "objective_bound",
    "budget",
    "by_class",
)


def survey(seed, n=120, n_classes=2):
    """Answers of every kind, some of them missing, and a rule behind the label."""
    rng = np.random.default_rng([41, seed])
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 60, n),
            "income": rng.normal(30, 8, n).round(1),
            "party": rng.choice(["left", "right", "none"], n),
            "trust": pd.Categorical(rng.choice(["low", "middle", "high"], n), ["low", "middle", "high"], ordered=True),
            "visits": np.where(rng.random(n) < 0.15, np.nan, rng.integers(0, 5, n)),
        }
    )
    score = (frame["age"] > 40) + 1.0 * (frame["party"] == "left") + rng.normal(0, 0.7, n)
    y = np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes + 0.15))
    return frame, np.array(["no", "yes", "maybe"])[y]


def fitted(X, y, sample_weight=None, **parameters):
    settings = SHIFTS | {"missing": "category", "clip": True} | parameters
    return RobustTreeClassifier(2, **settings).fit(X, y, sample_weight)


def repeated(frame, y, weights):
    times = weights.astype(int)
    return frame.loc[frame.index.repeat(times)].reset_index(drop=True), np.repeat(y, times)


def assert_same_changes(some, others):
    told = [[(c["column"], c["from"], c["to"], c["rows"]) for c in changes] for changes in (some, others)]
    assert sorted(told[0], key=str) == sorted(told[1], key=str)
    assert sum(c["price"] for c in some) == pytest.approx(sum(c["price"] for c in others))


# ---- Whole weights are repeated rows ---------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("objective", ["robust", "distributional"])
def test_whole_weights_are_repeated_rows_bit_for_bit(seed, objective):
    frame, y = survey(seed, n_classes=2 + seed % 2)
    weights = np.random.default_rng(seed).integers(0, 4, len(y)).astype(float)
    parameters = {"objective": objective, "branch_penalty": "auto" if seed % 3 else 1.5}
    one, other = fitted(frame, y, weights, **parameters), fitted(*repeated(frame, y, weights), **parameters)
    assert one.tree_ == other.tree_
    told = [name for name in NUMBERS if name != "n_samples"]
    assert [getattr(one.certificate_, name) for name in told] == [getattr(other.certificate_, name) for name in told]
    assert one.certificate_.weights == "whole"
    assert (one.leaf_counts_ == other.leaf_counts_).all()
    assert one.leaf_counts_.dtype == other.leaf_counts_.dtype
    assert (one.predict_proba(frame) == other.predict_proba(frame)).all()


@pytest.mark.parametrize("seed", range(6))
def test_judging_with_whole_weights_is_judging_repeated_rows(seed):
    frame, y = survey(seed)
    model = fitted(frame, y)
    weights = np.random.default_rng(seed).integers(0, 5, len(y)).astype(float)
    many, labels = repeated(frame, y, weights)
    one, other = model.worst_case(frame, y, weights), model.worst_case(many, labels)
    for name in ("worst_case_correct", "nominal_correct", "priced_value", "spent", "total", "by_class"):
        assert getattr(one, name) == getattr(other, name), name
    budgets = np.linspace(0, 2 * one.uncertainty.budget, 40)
    assert (one.curve.correct_at(budgets) == other.curve.correct_at(budgets)).all()
    assert (one.curve.budgets == other.curve.budgets).all()
    assert_same_changes(one.shift.grouped(), other.shift.grouped())
    audits = [hw.audit(model, frame, y, weights), hw.audit(model, many, labels)]
    assert audits[0].worst_case_accuracy == audits[1].worst_case_accuracy
    assert_same_changes(audits[0].changes(), audits[1].changes())
    assert model.score(frame, y, weights) == pytest.approx(model.score(many, labels))


def test_chances_count_people():
    frame, y = survey(3)
    model = fitted(frame, y)
    weights = np.random.default_rng(3).integers(0, 4, len(y)).astype(float)
    many, labels = repeated(frame, y, weights)
    table, other = model.encoded(frame), model.encoded(many)
    own, theirs = model.labelled(y, table, weights), model.labelled(labels, other)
    expected = expected_accuracy(model.tree_, table, own, model.shifts_)
    assert expected == pytest.approx(expected_accuracy(model.tree_, other, theirs, model.shifts_))
    drawn = simulate_shifts([model.tree_], table, own, model.shifts_, n_tables=4000)
    assert drawn.mean() == pytest.approx(expected, abs=4 * drawn.std() / math.sqrt(4000))


def test_a_path_and_a_comparison_take_weights():
    frame, y = survey(1)
    weights = np.random.default_rng(1).integers(0, 4, len(y)).astype(float)
    many, labels = repeated(frame, y, weights)
    given = {"certainty": 0.8, "missing": "category", "clip": True, "max_depth": 2}
    one = hw.robustness_path(frame, y, (1.0, 0.9), sample_weight=weights, **given)
    other = hw.robustness_path(many, labels, (1.0, 0.9), **given)
    differ = ("seconds", "n_samples")
    assert {k: v for k, v in one.to_dict().items() if k not in differ} == {
        k: v for k, v in other.to_dict().items() if k not in differ
    }
    numbers = frame[["age", "income"]]
    methods = {"ours": RobustTreeClassifier(1, **SHIFTS), "cart": DecisionTreeClassifier(max_depth=1, random_state=0)}
    left = hw.compare(methods, numbers, y, sample_weight=weights, n_tables=50, **SHIFTS).to_dict()
    right = hw.compare(methods, many[["age", "income"]], labels, n_tables=50, **SHIFTS).to_dict()
    for name in ("nominal_accuracy", "worst_case_accuracy", "expected_accuracy", "branching_nodes"):
        assert left[name] == pytest.approx(right[name])


@pytest.mark.parametrize("objective", ["robust", "distributional"])
def test_engines_that_know_single_rows_get_them_repeated(objective):
    pytest.importorskip("pyscipopt")
    frame, y = survey(2, n=14)
    weights = np.random.default_rng(2).integers(0, 3, len(y)).astype(float)
    two = frame[["age", "visits"]]
    results = [
        fitted(two, y, weights, solver=solver, max_bins=3, objective=objective, certainty=0.9)
        for solver in ("search", "scip")
    ]
    assert results[0].certificate_.objective == pytest.approx(results[1].certificate_.objective, abs=0.03)
    assert all(model.certificate_.status == "optimal" for model in results)


def test_rows_without_weight_vanish():
    frame, y = survey(4)
    weights = np.where(np.arange(len(y)) % 3 == 0, 0.0, 1.0)
    strange = frame.astype({"party": object, "age": float})
    strange.loc[weights == 0, "party"] = "nobody says this"
    strange.loc[weights == 0, "age"] = -999.0
    there = weights > 0
    one = fitted(strange.astype({"age": int}), y, weights)
    other = fitted(frame[there], y[there])
    assert one.tree_ == other.tree_
    assert one.certificate_.to_json().split('"seconds"')[0] == other.certificate_.to_json().split('"seconds"')[0]
    cells = np.full((len(y), 2), 0.9)
    cells[~there] = 2.0  # nonsense that nobody asks for
    by_cell = RobustTreeClassifier(1).fit(frame[["age", "income"]], y, weights, certainty=cells)
    assert by_cell.certificate_.n_samples == there.sum()


# ---- Real weights, and worth -----------------------------------------------------------------------------------------


def test_real_weights_are_told_as_such_and_checked(tmp_path):
    frame, y = survey(5)
    weights = np.random.default_rng(5).lognormal(size=len(y))
    model = fitted(frame, y, weights)
    certificate = model.certificate_
    assert (certificate.weights, certificate.counted, certificate.measure) == ("real", False, "weighted accuracy")
    assert certificate.people == certificate.total == pytest.approx(weights.sum())
    assert certificate.budget == pytest.approx(-weights.sum() * math.log(0.9))
    assert certificate.worst_case_correct == certificate.distributional_value
    assert "the last row that is lost counts in part" in str(certificate)
    assert "proved optimal to within" in str(certificate)
    assert certificate.objective_bound - certificate.objective < 0.626 * certificate.total / len(y)
    outcome = hw.check(certificate, frame, y, sample_weight=weights)
    assert outcome.confirmed, outcome
    assert "a weighted accuracy of" in str(outcome)
    with pytest.raises(ValueError, match="sample_weight is not given; the certificate is about a table with weights"):
        hw.check(certificate, frame, y)
    assert not hw.check(certificate, frame, y, sample_weight=weights[::-1]).confirmed
    model.save(tmp_path / "model.json")
    loaded = RobustTreeClassifier.load(tmp_path / "model.json")
    assert loaded.certificate_ == certificate
    assert loaded.leaf_counts_ == pytest.approx(model.leaf_counts_)
    assert loaded.worst_case(frame, y, weights).worst_case_correct == certificate.worst_case_correct


def test_the_scale_of_weights_changes_no_share():
    frame, y = survey(6)
    weights = np.random.default_rng(6).lognormal(size=len(y))
    one, other = (fitted(frame, y, scale * weights) for scale in (1.0, 1000.0))
    assert one.tree_ == other.tree_
    assert one.certificate_.worst_case_accuracy == pytest.approx(other.certificate_.worst_case_accuracy, rel=1e-9)


@pytest.mark.parametrize("scale", [1e-9, 1e-4, 1e-3])
def test_tiny_weights_are_proved_as_large_ones_are(scale):
    X, y = np.array([[3], [1], [1], [2], [3], [3], [1], [1]]), [1, 1, 0, 0, 1, 1, 1, 1]
    weights = np.array([2.5, 1.5, 3.5, 2.5, 2.5, 1.5, 2.5, 1.5])
    one, other = (RobustTreeClassifier(1, plausibility=0.95).fit(X, y, s * weights).certificate_ for s in (1.0, scale))
    assert other.status == "optimal"
    assert other.upper_bound / other.total == pytest.approx(one.upper_bound / one.total)


@pytest.mark.parametrize("seed", range(4))
def test_whole_weights_are_repeated_rows_also_where_classes_are_worth_something(seed):
    frame, y = survey(seed, n_classes=2 + seed % 2)
    weights = np.random.default_rng(seed).integers(0, 4, len(y)).astype(float)
    one = fitted(frame, y, weights, class_weight="balanced")
    other = fitted(*repeated(frame, y, weights), class_weight="balanced")
    assert one.tree_ == other.tree_
    for name in ("worst_case_correct", "upper_bound", "objective", "objective_bound", "branch_penalty", "total"):
        assert getattr(one.certificate_, name) == pytest.approx(getattr(other.certificate_, name), rel=1e-12)


def test_the_other_classifiers_take_weights():
    frame, y = survey(18, n=40)
    weights = np.random.default_rng(18).integers(0, 3, len(y)).astype(float)
    numbers, (many, labels) = frame[["age", "income"]], repeated(frame[["age", "income"]], y, weights)
    one, other = (
        hw.OrdinaryTreeClassifier(2, strengths=(0.9,)).fit(*table) for table in ((numbers, y, weights), (many, labels))
    )
    assert one.tree_ == other.tree_
    real = hw.OrdinaryTreeClassifier(2, strengths=(0.9, 1.0), random_state=0).fit(numbers, y, weights + 0.5)
    assert real.score(numbers, y, weights + 0.5) > 0.6
    pytest.importorskip("pyscipopt")
    stable = [hw.StableTreeClassifier(1, radius=0).fit(*table) for table in ((numbers, y, weights), (many, labels))]
    assert stable[0].tree_ == stable[1].tree_
    with pytest.raises(ValueError, match="it knows neither weights that are no whole numbers"):
        hw.StableTreeClassifier(1, radius=0).fit(numbers, y, weights + 0.5)


def test_rows_without_weight_need_not_be_readable_when_a_certificate_is_checked():
    X, y, weights = pd.DataFrame({"a": [1, 2, 3, None]}), ["a", "b", "a", "c"], [1, 2, 1, 0]
    assert hw.check(RobustTreeClassifier(1).fit(X, y, weights).certificate_, X, y, sample_weight=weights).confirmed


def test_counts_of_billions_are_no_lists():
    X, y = [[1], [2], [3], [4]], [0, 0, 1, 1]
    model = RobustTreeClassifier(1).fit(X, y, np.full(4, 10.0**12))
    assert model.certificate_.total == 4 * 10**12
    assert len(model.worst_case(X, y, np.full(4, 10.0**12)).curve.budgets) < 10


def test_a_mask_is_a_weight():
    frame, y = survey(19)
    chosen = np.arange(len(y)) % 2 == 0
    one, other = fitted(frame, y, chosen), fitted(frame[chosen], y[chosen])
    assert one.certificate_.data_hash == other.certificate_.data_hash


def test_it_is_said_whether_labels_or_weights_are_too_few():
    frame, y = survey(20)
    with pytest.raises(ValueError, match="y has 5 labels but the table has 120 rows"):
        fitted(frame, y[:5], np.ones(120))


def test_balanced_on_a_balanced_table_is_nothing_new():
    frame, y = survey(7)
    chosen = np.concatenate([np.flatnonzero(y == label)[:30] for label in np.unique(y)])
    plain, balanced = (fitted(frame.iloc[chosen], y[chosen], class_weight=worth) for worth in (None, "balanced"))
    assert plain.tree_ == balanced.tree_
    assert plain.certificate_.counted
    assert balanced.certificate_.counted
    assert [getattr(plain.certificate_, name) for name in NUMBERS] == [
        getattr(balanced.certificate_, name) for name in NUMBERS
    ]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_worst_case_is_the_balanced_accuracy_of_its_shift(n_classes, weighted):
    frame, y = survey(8, n_classes=n_classes)
    weights = np.random.default_rng(8).lognormal(size=len(y)) if weighted else None
    model = fitted(frame, y, weights, class_weight="balanced")
    certificate = model.certificate_
    shares = certificate.by_class
    assert certificate.measure == "balanced accuracy"
    assert certificate.worst_case_accuracy == pytest.approx(np.mean([own.worst_case for own in shares]))
    assert certificate.nominal_accuracy == pytest.approx(np.mean([own.nominal for own in shares]))
    assert all(own.guaranteed <= own.worst_case + 1e-12 for own in shares)
    assert hw.check(certificate, frame, y, sample_weight=weights).confirmed
    audit = hw.audit(model, frame, y, weights)
    assert audit.worst_case_accuracy == certificate.worst_case_accuracy
    assert str(audit).startswith("balanced accuracy of")
    words = str(certificate)
    assert ("sensitivity" in words, "specificity" in words) == (n_classes == 2, n_classes == 2)


def test_what_is_guaranteed_to_a_class_is_its_own_worst_case():
    frame, y = survey(9)
    found = fitted(frame, y).worst_case(frame, y)
    for own in found.by_class:
        margins = np.sort(found.margins[y == own.label])
        lost = np.count_nonzero(np.cumsum(margins) <= found.uncertainty.budget * (1 + 2.0**-32))
        assert own.guaranteed == pytest.approx(1 - lost / len(margins))
        assert own.people == len(margins)


def test_worth_by_class_moves_the_tree_and_comes_back_from_the_file(tmp_path):
    frame, y = survey(10)
    model = fitted(frame, y, class_weight={"yes": 5.0})
    assert model.certificate_.class_weight == {"yes": 5.0}
    assert model.certificate_.measure == "accuracy by worth"
    recall = [np.mean(m.predict(frame)[y == "yes"] == "yes") for m in (fitted(frame, y), model)]
    assert recall[1] > recall[0]
    model.save(tmp_path / "model.json")
    loaded = RobustTreeClassifier.load(tmp_path / "model.json")
    assert loaded.class_weight == {"yes": 5.0}
    assert loaded.worst_case(frame, y).worst_case_correct == model.certificate_.worst_case_correct
    numbers = fitted(frame, (y == "yes").astype(int), class_weight={1: 5.0})
    numbers.save(tmp_path / "numbers.json")
    assert RobustTreeClassifier.load(tmp_path / "numbers.json").class_weight == {1: 5.0}
    assert hw.check(tmp_path / "numbers.certificate.json", frame, (y == "yes").astype(int)).confirmed


def test_only_the_search_knows_parts_of_rows():
    pytest.importorskip("pyscipopt")
    frame, y = survey(11, n=20)
    for given in ({"sample_weight": np.full(20, 0.5)}, {"class_weight": {"yes": 2.0}}):
        weights = given.pop("sample_weight", None)
        with pytest.raises(ValueError, match=r'solver is \'scip\'; it knows neither weights.*solver="search"'):
            fitted(frame[["age"]], y, weights, solver="scip", **given)
    with pytest.raises(ValueError, match="needs a row for each of them"):
        fitted(frame[["age"]], y, np.full(20, 1e6), solver="groot")


def test_a_distributional_goal_with_weights_is_finer():
    _, problem = random_problem([501, 3])
    weights = np.random.default_rng(1).uniform(0.2, 2.0, problem.n_samples)
    labels = Labels(problem.labels.codes, problem.labels.classes, weights)
    both = [Problem(labels, problem.uncertainty, problem.max_depth, goal=goal) for goal in Goal]
    results = [solve(own) for own in both]
    assert all(result.status is Status.OPTIMAL for result in results)
    assert both[1].resolution < both[0].resolution / 20
    assert results[1].objective >= results[0].objective - both[0].resolution


# ---- scikit-learn's manners, and bad input ---------------------------------------------------------------------------


def test_weights_are_routed_through_a_search_over_parameters():
    import sklearn

    frame, y = survey(12)
    weights = np.random.default_rng(12).integers(1, 4, len(y)).astype(float)
    with sklearn.config_context(enable_metadata_routing=True):
        model = RobustTreeClassifier(1, **SHIFTS, clip=True, class_weight="balanced").set_fit_request(
            sample_weight=True
        )
        model.set_score_request(sample_weight=True)
        grid = GridSearchCV(model, {"plausibility": [0.9, 1.0], "class_weight": [None, "balanced"]}, cv=3)
        grid.fit(frame[["age", "income"]], y, sample_weight=weights)
    assert clone(model).get_params() == model.get_params()
    assert grid.best_estimator_.certificate_.weights == "whole"


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, 2.0], r"sample_weight is an array of shape \(2,\); expected one weight for each of 4 rows"),
        ([1.0, -2.0, 1.0, 1.0], "sample_weight, row 1 is -2.0; it must be a number >= 0"),
        ([1.0, math.nan, 1.0, 1.0], "sample_weight, row 1 is nan; it must be a number >= 0"),
        ([1.0, math.inf, 1.0, 1.0], "sample_weight, row 1 is inf; it must be a number >= 0"),
        ([0.0, 0.0, 0.0, 0.0], "sample_weight is zero for every row; some weight must be more than zero"),
        ([1e16, 1.0, 1.0, 1.0], "sample_weight is 1e.16 in total"),
        ([1e-320, 0.0, 0.0, 0.0], "sample_weight is .* in total; it must lie between"),
        (["a", "b", "c", "d"], "sample_weight is .*; expected a number, or an array of numbers"),
    ],
)
def test_senseless_weights_are_refused(weights, message):
    X, y = [[1], [2], [3], [4]], [0, 0, 1, 1]
    with pytest.raises(ValueError, match=message):
        RobustTreeClassifier(1).fit(X, y, weights)
    model = RobustTreeClassifier(1).fit(X, y)
    with pytest.raises(ValueError, match=message):
        model.worst_case(X, y, weights)
    with pytest.raises(ValueError, match=message):
        hw.audit(model, X, y, weights)


@pytest.mark.parametrize(
    ("worth", "message"),
    [
        ({"perhaps": 2.0}, r"class_weight is 'perhaps'; it is no class; the classes are \['no', 'yes'\]"),
        ({"yes": 0.0}, "class_weight is 0.0; it must be a number > 0"),
        ({"yes": -1.0}, "class_weight is -1.0; it must be a number > 0"),
        ({"yes": "much"}, "class_weight is 'much'; expected a number"),
        ({"yes": [1, 2]}, r"class_weight is \[1, 2\]; expected one number for a class"),
        ("fair", "class_weight is 'fair'; expected None, \"balanced\", or a number > 0 for each class"),
    ],
)
def test_senseless_worth_is_refused(worth, message):
    with pytest.raises(ValueError, match=message):
        fitted(*survey(13), class_weight=worth)


def test_labels_refuse_what_they_cannot_be():
    with pytest.raises(ValueError, match="expected a number for each of 2 classes"):
        Labels(np.array([0, 1]), ("a", "b"), worth=(1.0,))
    assert Labels(np.array([0, 1]), ("a", "b"), np.ones(2), (1.0, 1.0)).counted
    assert with_worth(Labels(np.array([0, 0]), ("a", "b")), "balanced").worth is None  # nobody has the other class


def test_certificates_of_the_last_version_are_still_read():
    frame, y = survey(14)
    certificate = fitted(frame[["age", "party"]], y).certificate_
    document = json.loads(certificate.to_json())
    old = {k: v for k, v in document.items() if k not in ("weights", "people", "total", "class_weight", "by_class")}
    old["format_version"] = 2
    old["shifts"].pop("missing_certainty")
    old["tree"]["version"] = 1
    read = Certificate.from_json(json.dumps(old))
    assert (read.total, read.people, read.weights) == (len(y), len(y), "none")
    assert read.tree == certificate.tree
    assert hw.check(read, frame[["age", "party"]], y).confirmed


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(weights="many"), "weights 'many'; expected one of"),
        (lambda d: d.update(total=0), "total 0; expected > 0"),
        (lambda d: d.update(by_class="all"), "by_class 'all'; expected a list of objects"),
        (lambda d: d["by_class"][0].update(label="nobody"), "expected a list of objects"),
    ],
)
def test_claims_about_people_that_make_no_sense_are_refused(change, message):
    frame, y = survey(15)
    document = json.loads(fitted(frame[["age"]], y).certificate_.to_json())
    change(document)
    with pytest.raises(ValueError, match=message):
        Certificate.from_json(json.dumps(document))


def test_edited_shares_are_found_out():
    frame, y = survey(16)
    document = json.loads(fitted(frame[["age"]], y).certificate_.to_json())
    document["by_class"][0]["guaranteed"] = 0.123
    outcome = hw.check(Certificate.from_json(json.dumps(document)), frame[["age"]], y)
    assert not outcome.confirmed
    assert "by_class" in str(outcome)


def test_a_table_in_pieces_has_a_column_of_weights(tmp_path):
    frame, y = survey(17, n=600)
    weights = np.random.default_rng(17).lognormal(size=len(y)).round(3)
    weights[:100] = 0.0  # a whole piece that stands for nobody
    whole = frame.assign(vote=y, people=weights)
    for k in range(6):
        whole.iloc[100 * k : 100 * k + 100].astype({"trust": str}).to_parquet(tmp_path / f"{k}.parquet")
    kinds = {"trust": ["low", "middle", "high"]}
    for worth in (None, "balanced"):
        model = fitted(frame, y, weights, class_weight=worth, feature_kinds=kinds)
        memory, pieces = hw.audit(model, frame, y, weights), hw.audit(model, tmp_path, "vote", "people")
        assert pieces.worst_case_accuracy == pytest.approx(memory.worst_case_accuracy)
        assert pieces.nominal_accuracy == pytest.approx(memory.nominal_accuracy)
        assert pieces.budget == pytest.approx(memory.budget)
        assert sum(c["price"] for c in pieces.changes()) == pytest.approx(sum(c["price"] for c in memory.changes()))
        assert sum(c["rows"] for c in pieces.changes()) == pytest.approx(sum(c["rows"] for c in memory.changes()))
        assert hw.check(model.certificate_, tmp_path, "vote", sample_weight="people").confirmed
    with pytest.raises(ValueError, match="give the name of the column that holds it"):
        hw.audit(model, tmp_path, "vote", weights)
