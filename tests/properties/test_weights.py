"""Sample weights and class weights."""

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
from hardwood.data.labels import Labels, with_class_weight
from hardwood.evaluation import expected_accuracy, simulate_shifts
from hardwood.problem import Goal, Problem
from hardwood.solvers import solve
from hardwood.solvers.base import Status
from tests.problems import random_problem

SHIFTS = {"certainty": 0.8, "plausibility": 0.9}
NUMBERS = (
    "status",
    "n_samples",
    "total_weight",
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
    """Columns of every kind, with missing values, and labels that follow a noisy rule."""
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
    listed = [[(c["column"], c["from"], c["to"], c["rows"]) for c in changes] for changes in (some, others)]
    assert sorted(listed[0], key=str) == sorted(listed[1], key=str)
    assert sum(c["cost"] for c in some) == pytest.approx(sum(c["cost"] for c in others))


# ---- Integer weights are repeated rows -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("objective", ["robust", "distributional"])
def test_integer_weights_equal_repeated_rows_bit_for_bit(seed, objective):
    frame, y = survey(seed, n_classes=2 + seed % 2)
    weights = np.random.default_rng(seed).integers(0, 4, len(y)).astype(float)
    parameters = {"objective": objective, "branch_penalty": "auto" if seed % 3 else 1.5}
    one, other = fitted(frame, y, weights, **parameters), fitted(*repeated(frame, y, weights), **parameters)
    assert one.tree_ == other.tree_
    names = [name for name in NUMBERS if name != "n_samples"]
    assert [getattr(one.certificate_, name) for name in names] == [getattr(other.certificate_, name) for name in names]
    assert one.certificate_.weights == "whole"
    assert (one.leaf_counts_ == other.leaf_counts_).all()
    assert one.leaf_counts_.dtype == other.leaf_counts_.dtype
    assert (one.predict_proba(frame) == other.predict_proba(frame)).all()


@pytest.mark.parametrize("seed", range(6))
def test_attacks_with_integer_weights_equal_attacks_on_repeated_rows(seed):
    frame, y = survey(seed)
    model = fitted(frame, y)
    weights = np.random.default_rng(seed).integers(0, 5, len(y)).astype(float)
    many, labels = repeated(frame, y, weights)
    one, other = model.worst_case(frame, y, weights), model.worst_case(many, labels)
    for name in ("worst_case_correct", "nominal_correct", "distributional_value", "spent", "total", "by_class"):
        assert getattr(one, name) == getattr(other, name), name
    budgets = np.linspace(0, 2 * one.uncertainty.budget, 40)
    assert (one.curve.correct_at(budgets) == other.curve.correct_at(budgets)).all()
    assert (one.curve.budgets == other.curve.budgets).all()
    assert_same_changes(one.shift.grouped(), other.shift.grouped())
    audits = [hw.audit(model, frame, y, weights), hw.audit(model, many, labels)]
    assert audits[0].worst_case_accuracy == audits[1].worst_case_accuracy
    assert_same_changes(audits[0].changes(), audits[1].changes())
    assert model.score(frame, y, weights) == pytest.approx(model.score(many, labels))


def test_random_shifts_count_weights():
    frame, y = survey(3)
    model = fitted(frame, y)
    weights = np.random.default_rng(3).integers(0, 4, len(y)).astype(float)
    many, labels = repeated(frame, y, weights)
    table, other = model._encode(frame), model._encode(many)
    weighted, unweighted = model._encode_labels(y, table, weights), model._encode_labels(labels, other)
    expected = expected_accuracy(model.tree_, table, weighted, model.shifts_)
    assert expected == pytest.approx(expected_accuracy(model.tree_, other, unweighted, model.shifts_))
    drawn = simulate_shifts([model.tree_], table, weighted, model.shifts_, n_tables=4000)
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
    methods = {"robust": RobustTreeClassifier(1, **SHIFTS), "cart": DecisionTreeClassifier(max_depth=1, random_state=0)}
    left = hw.compare(methods, numbers, y, sample_weight=weights, n_tables=50, **SHIFTS).to_dict()
    right = hw.compare(methods, many[["age", "income"]], labels, n_tables=50, **SHIFTS).to_dict()
    for name in ("nominal_accuracy", "worst_case_accuracy", "expected_accuracy", "branching_nodes"):
        assert left[name] == pytest.approx(right[name])


@pytest.mark.parametrize("objective", ["robust", "distributional"])
def test_solvers_without_weights_get_repeated_rows(objective):
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


def test_samples_of_weight_zero_are_left_out():
    frame, y = survey(4)
    weights = np.where(np.arange(len(y)) % 3 == 0, 0.0, 1.0)
    changed = frame.astype({"party": object, "age": float})
    changed.loc[weights == 0, "party"] = "unseen"
    changed.loc[weights == 0, "age"] = -999.0
    present = weights > 0
    one = fitted(changed.astype({"age": int}), y, weights)
    other = fitted(frame[present], y[present])
    assert one.tree_ == other.tree_
    assert one.certificate_.to_json().split('"seconds"')[0] == other.certificate_.to_json().split('"seconds"')[0]
    cells = np.full((len(y), 2), 0.9)
    cells[~present] = 2.0  # invalid, but unused
    by_cell = RobustTreeClassifier(1).fit(frame[["age", "income"]], y, weights, certainty=cells)
    assert by_cell.certificate_.n_samples == present.sum()


# ---- Real weights and class weights ----------------------------------------------------------------------------------


def test_certificates_with_real_weights_state_them_and_are_checked(tmp_path):
    frame, y = survey(5)
    weights = np.random.default_rng(5).lognormal(size=len(y))
    model = fitted(frame, y, weights)
    certificate = model.certificate_
    assert (certificate.weights, certificate.integral, certificate.measure) == ("real", False, "weighted accuracy")
    assert certificate.total_weight == certificate.total == pytest.approx(weights.sum())
    assert certificate.budget == pytest.approx(-weights.sum() * math.log(0.9))
    assert certificate.worst_case_correct == certificate.distributional_value
    assert "the last flipped row counts in part" in str(certificate)
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


def test_accuracy_does_not_depend_on_the_scale_of_weights():
    frame, y = survey(6)
    weights = np.random.default_rng(6).lognormal(size=len(y))
    one, other = (fitted(frame, y, scale * weights) for scale in (1.0, 1000.0))
    assert one.tree_ == other.tree_
    assert one.certificate_.worst_case_accuracy == pytest.approx(other.certificate_.worst_case_accuracy, rel=1e-9)


@pytest.mark.parametrize("scale", [1e-9, 1e-4, 1e-3])
def test_proofs_do_not_depend_on_the_scale_of_weights(scale):
    X, y = np.array([[3], [1], [1], [2], [3], [3], [1], [1]]), [1, 1, 0, 0, 1, 1, 1, 1]
    weights = np.array([2.5, 1.5, 3.5, 2.5, 2.5, 1.5, 2.5, 1.5])
    one, other = (RobustTreeClassifier(1, plausibility=0.95).fit(X, y, s * weights).certificate_ for s in (1.0, scale))
    assert other.status == "optimal"
    assert other.upper_bound / other.total == pytest.approx(one.upper_bound / one.total)


@pytest.mark.parametrize("seed", range(4))
def test_integer_weights_equal_repeated_rows_also_with_class_weights(seed):
    frame, y = survey(seed, n_classes=2 + seed % 2)
    weights = np.random.default_rng(seed).integers(0, 4, len(y)).astype(float)
    one = fitted(frame, y, weights, class_weight="balanced")
    other = fitted(*repeated(frame, y, weights), class_weight="balanced")
    assert one.tree_ == other.tree_
    for name in ("worst_case_correct", "upper_bound", "objective", "objective_bound", "branch_penalty", "total"):
        assert getattr(one.certificate_, name) == pytest.approx(getattr(other.certificate_, name), rel=1e-12)


def test_ordinary_and_stable_classifiers_take_weights():
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
    with pytest.raises(ValueError, match="it takes integer sample weights only"):
        hw.StableTreeClassifier(1, radius=0).fit(numbers, y, weights + 0.5)


def test_check_ignores_samples_of_weight_zero():
    X, y, weights = pd.DataFrame({"a": [1, 2, 3, None]}), ["a", "b", "a", "c"], [1, 2, 1, 0]
    assert hw.check(RobustTreeClassifier(1).fit(X, y, weights).certificate_, X, y, sample_weight=weights).confirmed


def test_huge_weights_need_no_long_lists():
    X, y = [[1], [2], [3], [4]], [0, 0, 1, 1]
    model = RobustTreeClassifier(1).fit(X, y, np.full(4, 10.0**12))
    assert model.certificate_.total == 4 * 10**12
    assert len(model.worst_case(X, y, np.full(4, 10.0**12)).curve.budgets) < 10


def test_a_boolean_mask_is_a_weight():
    frame, y = survey(19)
    chosen = np.arange(len(y)) % 2 == 0
    one, other = fitted(frame, y, chosen), fitted(frame[chosen], y[chosen])
    assert one.certificate_.data_hash == other.certificate_.data_hash


def test_too_few_labels_are_not_reported_as_too_few_weights():
    frame, y = survey(20)
    with pytest.raises(ValueError, match="y has 5 labels but the table has 120 rows"):
        fitted(frame, y[:5], np.ones(120))


def test_balanced_class_weights_change_nothing_on_a_balanced_table():
    frame, y = survey(7)
    chosen = np.concatenate([np.flatnonzero(y == label)[:30] for label in np.unique(y)])
    plain, balanced = (
        fitted(frame.iloc[chosen], y[chosen], class_weight=class_weights) for class_weights in (None, "balanced")
    )
    assert plain.tree_ == balanced.tree_
    assert plain.certificate_.integral
    assert balanced.certificate_.integral
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
    assert certificate.worst_case_accuracy == pytest.approx(np.mean([share.worst_case for share in shares]))
    assert certificate.nominal_accuracy == pytest.approx(np.mean([share.nominal for share in shares]))
    assert all(share.guaranteed <= share.worst_case + 1e-12 for share in shares)
    assert hw.check(certificate, frame, y, sample_weight=weights).confirmed
    audit = hw.audit(model, frame, y, weights)
    assert audit.worst_case_accuracy == certificate.worst_case_accuracy
    assert str(audit).startswith("balanced accuracy of")
    text = str(certificate)
    assert ("sensitivity" in text, "specificity" in text) == (n_classes == 2, n_classes == 2)


def test_the_guarantee_of_a_class_is_the_worst_case_of_this_class_alone():
    frame, y = survey(9)
    found = fitted(frame, y).worst_case(frame, y)
    for share in found.by_class:
        margins = np.sort(found.margins[y == share.label])
        lost = np.count_nonzero(np.cumsum(margins) <= found.uncertainty.budget * (1 + 2.0**-32))
        assert share.guaranteed == pytest.approx(1 - lost / len(margins))
        assert share.weight == len(margins)


def test_class_weights_change_the_tree_and_are_restored_from_the_file(tmp_path):
    frame, y = survey(10)
    model = fitted(frame, y, class_weight={"yes": 5.0})
    assert model.certificate_.class_weight == {"yes": 5.0}
    assert model.certificate_.measure == "class-weighted accuracy"
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


def test_only_the_search_solves_fractional_problems():
    pytest.importorskip("pyscipopt")
    frame, y = survey(11, n=20)
    for given in ({"sample_weight": np.full(20, 0.5)}, {"class_weight": {"yes": 2.0}}):
        weights = given.pop("sample_weight", None)
        with pytest.raises(
            ValueError, match=r'solver is \'scip\'; it takes integer sample weights only.*solver="search"'
        ):
            fitted(frame[["age"]], y, weights, solver="scip", **given)
    with pytest.raises(ValueError, match="repeats each row by its weight"):
        fitted(frame[["age"]], y, np.full(20, 1e6), solver="groot")


def test_the_distributional_objective_with_weights_has_a_finer_resolution():
    _, problem = random_problem([501, 3])
    weights = np.random.default_rng(1).uniform(0.2, 2.0, problem.n_samples)
    labels = Labels(problem.labels.codes, problem.labels.classes, weights)
    both = [Problem(labels, problem.uncertainty, problem.max_depth, goal=goal) for goal in Goal]
    results = [solve(problem) for problem in both]
    assert all(result.status is Status.OPTIMAL for result in results)
    assert both[1].resolution < both[0].resolution / 20
    assert results[1].objective >= results[0].objective - both[0].resolution


# ---- Metadata routing, and invalid input -----------------------------------------------------------------------------


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
def test_invalid_weights_are_refused(weights, message):
    X, y = [[1], [2], [3], [4]], [0, 0, 1, 1]
    with pytest.raises(ValueError, match=message):
        RobustTreeClassifier(1).fit(X, y, weights)
    model = RobustTreeClassifier(1).fit(X, y)
    with pytest.raises(ValueError, match=message):
        model.worst_case(X, y, weights)
    with pytest.raises(ValueError, match=message):
        hw.audit(model, X, y, weights)


@pytest.mark.parametrize(
    ("class_weights", "message"),
    [
        ({"perhaps": 2.0}, r"class_weight is 'perhaps'; it is no class; the classes are \['no', 'yes'\]"),
        ({"yes": 0.0}, "class_weight is 0.0; it must be a number > 0"),
        ({"yes": -1.0}, "class_weight is -1.0; it must be a number > 0"),
        ({"yes": "much"}, "class_weight is 'much'; expected a number"),
        ({"yes": [1, 2]}, r"class_weight is \[1, 2\]; expected one number for a class"),
        ("fair", "class_weight is 'fair'; expected None, \"balanced\", or a number > 0 for each class"),
    ],
)
def test_invalid_class_weights_are_refused(class_weights, message):
    with pytest.raises(ValueError, match=message):
        fitted(*survey(13), class_weight=class_weights)


def test_labels_check_class_weights():
    with pytest.raises(ValueError, match="expected a number for each of 2 classes"):
        Labels(np.array([0, 1]), ("a", "b"), class_weights=(1.0,))
    assert Labels(np.array([0, 1]), ("a", "b"), np.ones(2), (1.0, 1.0)).integral
    assert (
        with_class_weight(Labels(np.array([0, 0]), ("a", "b")), "balanced").class_weights is None
    )  # the other class does not occur


def test_certificates_of_the_previous_version_are_read():
    frame, y = survey(14)
    certificate = fitted(frame[["age", "party"]], y).certificate_
    document = json.loads(certificate.to_json())
    old = {
        k: v for k, v in document.items() if k not in ("weights", "total_weight", "total", "class_weight", "by_class")
    }
    old["format_version"] = 2
    old["shifts"].pop("missing_certainty")
    old["tree"]["version"] = 1
    read = Certificate.from_json(json.dumps(old))
    assert (read.total, read.total_weight, read.weights) == (len(y), len(y), "none")
    assert read.tree == certificate.tree
    assert hw.check(read, frame[["age", "party"]], y).confirmed


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(weights="many"), "weights 'many'; expected one of"),
        (lambda d: d.update(total=0), "total 0; expected > 0"),
        (lambda d: d.update(by_class="all"), "by_class 'all'; expected a list of objects"),
        (lambda d: d["by_class"][0].update(label="unknown"), "expected a list of objects"),
    ],
)
def test_invalid_claims_about_weights_are_refused(change, message):
    frame, y = survey(15)
    document = json.loads(fitted(frame[["age"]], y).certificate_.to_json())
    change(document)
    with pytest.raises(ValueError, match=message):
        Certificate.from_json(json.dumps(document))


def test_check_finds_edited_shares():
    frame, y = survey(16)
    document = json.loads(fitted(frame[["age"]], y).certificate_.to_json())
    document["by_class"][0]["guaranteed"] = 0.123
    outcome = hw.check(Certificate.from_json(json.dumps(document)), frame[["age"]], y)
    assert not outcome.confirmed
    assert "by_class" in str(outcome)


def test_a_chunked_table_has_a_column_of_weights(tmp_path):
    frame, y = survey(17, n=600)
    weights = np.random.default_rng(17).lognormal(size=len(y)).round(3)
    weights[:100] = 0.0  # a whole chunk of weight zero
    whole = frame.assign(vote=y, w=weights)
    for k in range(6):
        whole.iloc[100 * k : 100 * k + 100].astype({"trust": str}).to_parquet(tmp_path / f"{k}.parquet")
    kinds = {"trust": ["low", "middle", "high"]}
    for class_weights in (None, "balanced"):
        model = fitted(frame, y, weights, class_weight=class_weights, feature_kinds=kinds)
        memory, chunked = hw.audit(model, frame, y, weights), hw.audit(model, tmp_path, "vote", "w")
        assert chunked.worst_case_accuracy == pytest.approx(memory.worst_case_accuracy)
        assert chunked.nominal_accuracy == pytest.approx(memory.nominal_accuracy)
        assert chunked.budget == pytest.approx(memory.budget)
        assert sum(c["cost"] for c in chunked.changes()) == pytest.approx(sum(c["cost"] for c in memory.changes()))
        assert sum(c["rows"] for c in chunked.changes()) == pytest.approx(sum(c["rows"] for c in memory.changes()))
        assert hw.check(model.certificate_, tmp_path, "vote", sample_weight="w").confirmed
    with pytest.raises(ValueError, match="give the name of the column that holds it"):
        hw.audit(model, tmp_path, "vote", weights)
