import inspect
import math
import re

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

import hardwood as hw
from hardwood import RobustTreeClassifier
from tests.surveys import survey

CERTIFICATE_ATTRIBUTES = [
    "status",
    "n_samples",
    "worst_case_correct",
    "worst_case_accuracy",
    "nominal_accuracy",
    "upper_bound",
    "gap",
    "branching_nodes",
    "objective",
    "objective_bound",
    "seconds",
    "solver",
    "version",
    "data_hash",
]


@parametrize_with_checks([RobustTreeClassifier(max_depth=2)])
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
def test_scikit_learns_own_checks_pass(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def fitted():
    frame, y = survey()
    return RobustTreeClassifier(2).fit(frame, y)


def test_fitted_attributes_scores_and_text_agree(fitted):
    frame, y = survey()
    assert fitted.tree_.depth <= 2
    assert list(fitted.classes_) == ["no", "yes"]
    assert list(fitted.feature_names_in_) == list(frame.columns)
    assert fitted.score(frame, y) == fitted.certificate_.nominal_accuracy
    assert fitted.worst_case(frame, y).worst_case_accuracy == fitted.certificate_.worst_case_accuracy
    assert "party = left" in str(fitted.tree_)


def test_the_certificate_has_its_documented_attributes(fitted):
    certificate = fitted.certificate_
    for name in CERTIFICATE_ATTRIBUTES:
        assert getattr(certificate, name) is not None
    assert certificate.status == "optimal"
    assert certificate.gap == (certificate.upper_bound - certificate.worst_case_correct) / certificate.n_samples == 0
    assert certificate.version == hw.__version__


def test_the_classifier_equals_the_functions_it_calls():
    frame, y = survey()
    table = hw.encode(frame)
    shifts = hw.UncertaintySet.calibrated(table, certainty=0.8, plausibility=0.95, bounds={"age": (0, 120)})
    result = hw.solve(hw.Problem(hw.encode_labels(y, len(y)), shifts, 3))
    classifier = RobustTreeClassifier(3, certainty=0.8, plausibility=0.95, bounds={"age": (0, 120)}).fit(frame, y)
    assert classifier.tree_ == result.tree
    assert classifier.certificate_.objective_bound == result.objective_bound


@pytest.mark.parametrize("solver", ["search", "scip", "gurobi", "leaf"])
def test_every_solver_can_be_named(solver):
    frame, y = survey(40)
    classifier = RobustTreeClassifier(1, solver=solver).fit(frame[["age", "party"]], y)
    assert classifier.certificate_.solver == solver
    best = RobustTreeClassifier(1).fit(frame[["age", "party"]], y).certificate_
    assert classifier.certificate_.worst_case_correct <= best.worst_case_correct <= classifier.certificate_.upper_bound


@pytest.mark.parametrize("make", [pl.from_pandas, pa.Table.from_pandas, lambda frame: frame.to_dict("series"), None])
def test_tables_of_all_libraries_give_the_same_tree(fitted, make):
    frame, y = survey()
    frame["trust"] = frame["trust"].astype(str)
    kinds = {"trust": ["low", "middle", "high"]}
    given = frame.to_numpy(dtype=object) if make is None else make(frame)
    if make is None:
        kinds = {"x2": kinds["trust"]}
    other = RobustTreeClassifier(2, feature_kinds=kinds).fit(given, y)
    assert other.certificate_.objective == fitted.certificate_.objective
    assert (other.predict(given) == fitted.predict(survey()[0])).all()


def test_names_of_categories_are_in_every_output(fitted):
    frame, y = survey()
    text = str(fitted.tree_)
    assert "party = left" in text
    assert "trust <= middle" in text
    changes = {(change.column, change.old) for change in fitted.worst_case(frame, y).shift}
    assert ("trust", "middle") in changes or ("trust", "high") in changes


def test_grid_search_over_plausibility_and_depth():
    frame, y = survey(60)
    grid = GridSearchCV(RobustTreeClassifier(), {"plausibility": [1.0, 0.9], "max_depth": [1, 2]}, cv=3).fit(frame, y)
    assert set(grid.best_params_) == {"plausibility", "max_depth"}
    assert grid.best_estimator_.certificate_.n_samples == 60


def test_the_classifier_works_in_a_pipeline_and_in_cross_validation():
    frame, y = survey(60)
    pipeline = make_pipeline(FunctionTransformer(lambda table: table.drop(columns="income")), RobustTreeClassifier(2))
    scores = cross_val_score(pipeline, frame, y, cv=3)
    assert scores.shape == (3,)
    assert scores.mean() > 0.6


def test_the_classifier_works_under_the_dask_backend_of_joblib():
    from distributed import Client

    frame, y = survey(60)
    client = Client(n_workers=1, threads_per_worker=1, dashboard_address=":0", processes=False)
    with client, joblib.parallel_config(backend="dask"):
        scores = cross_val_score(RobustTreeClassifier(1), frame, y, cv=3, n_jobs=2)
    assert scores == pytest.approx(cross_val_score(RobustTreeClassifier(1), frame, y, cv=3))


def test_certainties_of_single_cells_are_sliced_by_cross_validation():
    frame, y = survey(60)
    certainty = np.random.default_rng(1).uniform(0.6, 0.95, frame.shape)
    with sklearn.config_context(enable_metadata_routing=True):
        estimator = RobustTreeClassifier(1).set_fit_request(certainty=True, costs=False)
        found = cross_validate(
            estimator, frame, y, cv=3, params={"certainty": certainty}, return_estimator=True, return_indices=True
        )
    for split, fold in zip(found["indices"]["train"], found["estimator"], strict=True):
        alone = RobustTreeClassifier(1).fit(frame.iloc[split], y[split], certainty=certainty[split])
        assert fold.certificate_.worst_case_correct == alone.certificate_.worst_case_correct
        assert fold.certificate_.shifts.certainty.shape == (len(split), frame.shape[1])


def test_costs_and_budget_replace_certainty_and_plausibility():
    frame, y = survey()
    priced = RobustTreeClassifier(
        2, costs={"party": 2.0} | dict.fromkeys(["age", "trust", "asked before", "income"], 1)
    )
    robust = priced.set_params(budget=10.0).fit(frame, y)
    table = hw.encode(frame)
    costs = {name: 2.0 if name == "party" else 1.0 for name in frame.columns}
    shifts = hw.UncertaintySet.priced(table, costs=costs, budget=10.0)
    assert robust.certificate_.objective == hw.solve(hw.Problem(hw.encode_labels(y, len(y)), shifts, 2)).objective
    half = robust.worst_case(frame[:60], y[:60])
    assert half.uncertainty.budget == 5.0  # the budget is for the training table; half of the rows get half of it
    per_cell = RobustTreeClassifier(2, budget=10.0).fit(frame, y, costs=np.tile(list(costs.values()), (len(y), 1)))
    assert per_cell.certificate_.objective == robust.certificate_.objective


def test_a_margin_is_the_smallest_cost_that_changes_a_prediction(fitted):
    frame, _ = survey()
    margins = fitted.margins(frame)
    predicted = fitted.predict(frame)
    attack = fitted.worst_case(frame, predicted, plausibility=0.5)
    assert margins == pytest.approx(attack.margins, abs=1e-9)
    shifted = attack.shift.apply()
    changed = fitted.tree_.predict(shifted) != fitted.tree_.predict(attack.uncertainty.costs.table)
    assert changed.sum() == len(attack.lost) > 0


def test_worst_case_takes_other_shifts(fitted):
    frame, y = survey(seed=3)
    default = fitted.worst_case(frame, y)
    assert fitted.worst_case(frame, y, plausibility=1.0).worst_case_accuracy == fitted.score(frame, y)
    assert fitted.worst_case(frame, y, certainty=0.6).worst_case_correct < default.worst_case_correct


def test_probabilities_are_class_frequencies_of_leaves(fitted):
    frame, y = survey()
    shares = fitted.predict_proba(frame)
    assert shares.sum(axis=1) == pytest.approx(1.0)
    leaf = fitted.tree_.leaf_of(fitted._encode(frame))
    assert shares[0, 1] == np.mean(y[leaf == leaf[0]] == "yes")


def test_a_leaf_without_samples_has_probability_one_for_its_label():
    frame, y = survey()
    classifier = RobustTreeClassifier(1).fit(frame, y)
    classifier.leaf_counts_ = np.zeros_like(classifier.leaf_counts_)
    assert (classifier.classes_[classifier.predict_proba(frame).argmax(axis=1)] == classifier.predict(frame)).all()


def test_unseen_values_are_predicted_or_refused(fitted):
    frame, _ = survey(5)
    frame["party"] = "pirates"
    frame["age"] = [-3, 500, 18, 80, 40]
    frame["income"] = [-1e9, 1e9, 0.0, 1.0, 2.0]
    other = frame.assign(party="none")
    assert (
        fitted.predict(frame) == fitted.predict(other)
    ).all()  # both differ from "left", the only category of a split
    assert fitted.predict_proba(frame).shape == (5, 2)
    with pytest.raises(ValueError, match=r"column \"party\", row 0 is 'pirates', which is not one of its known values"):
        fitted.margins(frame)
    frame["trust"] = "huge"
    with pytest.raises(ValueError, match=r"column \"trust\", row 0 is 'huge'"):
        fitted.predict(frame)


def test_missing_values_are_refused_with_a_remedy_or_become_a_category():
    frame, y = survey()
    frame.loc[3, "party"] = None
    with pytest.raises(ValueError, match=r"column \"party\", row 3 is missing \(NaN\).*missing=\"category\""):
        RobustTreeClassifier(2).fit(frame, y)
    classifier = RobustTreeClassifier(2, missing="category").fit(frame, y)
    assert "(missing)" in classifier.tree_.features[1].categories
    assert classifier.predict(frame)[3] in ("yes", "no")
    frame["age"] = frame["age"].astype(float)
    frame.loc[7, "age"] = math.nan
    with pytest.raises(ValueError, match=r"column \"age\", row 7 is missing \(NaN\), which it never was in training"):
        classifier.margins(frame)
    numbers = RobustTreeClassifier(2, missing="category").fit(frame, y)
    assert numbers.tree_.features[0].missing
    assert numbers.predict(frame)[7] in ("yes", "no")
    with pytest.raises(ValueError, match="missing is 'drop'; expected"):
        RobustTreeClassifier(2, missing="drop").fit(frame, y)


def test_arrays_and_frames_match_by_position():
    frame, y = survey()
    numbers = frame[["age", "income"]]
    from_frame = RobustTreeClassifier(2).fit(numbers, y)
    from_array = RobustTreeClassifier(2).fit(numbers.to_numpy(), y)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        assert (from_frame.predict(numbers.to_numpy()) == from_frame.predict(numbers)).all()
    with pytest.warns(UserWarning, match="has feature names"):
        assert from_array.predict(numbers).shape == y.shape
    as_lists = RobustTreeClassifier(1, feature_kinds="categorical").fit([["a", 1], ["b", 2], ["a", 2]], [0, 1, 0])
    assert as_lists.predict([["b", 1]]) == [1]


def test_verbose_logs_progress(caplog):
    frame, y = survey()
    RobustTreeClassifier(2).fit(frame, y)
    assert not caplog.records
    RobustTreeClassifier(2, verbose=1).fit(frame, y)
    assert "at most" in caplog.text


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"plausibility": 0.0}, r"plausibility is 0.0; it must lie in \(0, 1\]"),
        ({"certainty": {"age": 0.9}}, "certainty is not given for"),
        ({"certainty": 0.1}, r"it must be at least 1/3.*clip=True"),
        ({"budget": -1}, "budget is -1; it must be a finite number >= 0"),
        ({"branch_penalty": "none"}, "branch_penalty is 'none'; expected \"auto\" or a number"),
        ({"max_depth": -1}, "max_depth is -1"),
        ({"time_limit": -1}, "seconds is -1"),
        ({"solver": "cplex"}, "solver is 'cplex'; expected one of"),
        ({"feature_kinds": {"agee": "integer"}}, r'kinds\["agee"\] is .*no such column'),
    ],
)
def test_invalid_parameters_are_refused_in_fit(parameters, message):
    frame, y = survey()
    with pytest.raises(ValueError, match=message):
        RobustTreeClassifier(**{"max_depth": 1} | parameters).fit(frame, y)


def test_certainties_can_be_clipped():
    frame, y = survey()
    assert RobustTreeClassifier(1, certainty=0.1, clip=True).fit(frame, y).certificate_.n_samples == 120


def test_pandas_categories_without_rows_are_not_unseen():
    frame = pd.DataFrame({"answer": pd.Categorical(["a", "b", "a", "b"], categories=["a", "b", "c"])})
    classifier = RobustTreeClassifier(1, plausibility=1.0).fit(frame, [0, 1, 0, 1])
    assert classifier.predict(pd.DataFrame({"answer": ["c"]})).shape == (1,)


def test_values_of_another_type_are_not_unseen_values():
    frame, y = survey()
    classifier = RobustTreeClassifier(2).fit(frame, y)
    with pytest.raises(ValueError, match=r'column "party" holds numbers, but in training its values were text'):
        classifier.predict(frame.assign(party=5))
    codes = RobustTreeClassifier(1, feature_kinds={"q": "categorical"}).fit(pd.DataFrame({"q": [1, 2, 3]}), [0, 1, 0])
    assert codes.predict(pd.DataFrame({"q": [7]})).shape == (1,)
    with pytest.raises(ValueError, match="holds text, but in training its values were numbers"):
        codes.predict(pd.DataFrame({"q": ["x"]}))


def test_worst_case_uses_the_shifts_of_fit():
    frame, y = survey()
    model = RobustTreeClassifier(2).fit(frame, y, certainty=0.6)
    assert model.worst_case(frame, y).worst_case_correct == model.certificate_.worst_case_correct
    model.set_params(certainty=0.99)
    assert model.worst_case(frame, y).worst_case_correct == model.certificate_.worst_case_correct
    cells = np.full(frame.shape, 0.7)
    by_cell = RobustTreeClassifier(2).fit(frame, y, certainty=cells)
    with pytest.raises(ValueError, match="fitted with certainty or costs for single cells; give them for this table"):
        by_cell.margins(frame)
    assert by_cell.worst_case(frame, y, certainty=cells).worst_case_correct == by_cell.certificate_.worst_case_correct
    assert by_cell.margins(frame, certainty=cells).shape == y.shape


def test_certainty_in_worst_case_replaces_costs_in_fit():
    frame, y = survey()
    priced = RobustTreeClassifier(2, costs=50.0, plausibility=0.5).fit(frame, y)
    assert priced.worst_case(frame, y, certainty=0.501).worst_case_correct < priced.certificate_.worst_case_correct
    with pytest.raises(ValueError, match="certainty and costs are both given"):
        priced.worst_case(frame, y, certainty=0.6, costs=1.0)


def test_the_text_missing_is_not_a_missing_value():
    frame = pd.DataFrame({"a": ["missing", "b", "missing", "b"], "c": ["x", "y", "x", "y"]})
    classifier = RobustTreeClassifier(1, plausibility=1.0).fit(frame, [0, 1, 0, 1])
    with pytest.raises(ValueError, match='column "a", row 0 is missing'):
        classifier.predict(pd.DataFrame({"a": [None, "b"], "c": ["x", "y"]}))
    frame.loc[0, "a"] = None
    knows = RobustTreeClassifier(1, missing="category").fit(frame, [0, 1, 0, 1])
    holes = pd.DataFrame({"a": ["b", "b"], "c": [None, "y"]})
    assert knows.predict(holes).shape == (2,)
    with pytest.raises(ValueError, match='column "c", row 0 is missing'):
        hw.encode(holes, features=knows.tree_.features)


def test_a_radius_gives_boxes():
    frame, y = survey()
    radius = {"age": 5, "party": 0, "trust": 1, "asked before": 0, "income": 0}
    found = RobustTreeClassifier(2, radius=radius).fit(frame, y)
    table = hw.encode(frame)
    boxes, labels = hw.UncertaintySet.boxes(table, radius=radius), hw.encode_labels(y, len(y))
    assert found.certificate_.worst_case_correct == hw.attack(found.tree_, labels, boxes).worst_case_correct
    moved = found.worst_case(frame, y).shift
    assert all(change.column in ("age", "trust") for change in moved)


def test_a_large_penalty_is_not_claimed_as_robustness():
    frame, y = survey()
    text = str(RobustTreeClassifier(2, plausibility=1.0, branch_penalty=1000.0).fit(frame, y).certificate_)
    assert "no tree is more robust" not in text
    assert "proved optimal for a penalty of 1000 for each split" in text


def test_stable_is_no_solver_of_the_robust_classifier():
    with pytest.raises(ValueError, match="solver is 'stable'; expected one of"):
        RobustTreeClassifier(1, solver="stable").fit([[0], [1]], [0, 1])


def test_parameters_have_the_order_of_their_documentation():
    documented = RobustTreeClassifier.__doc__.split("Parameters\n")[1].split("Attributes\n")[0]
    names = re.findall(r"^    (\w+) : ", documented, re.MULTILINE)
    assert names == [name for name in inspect.signature(RobustTreeClassifier).parameters if name != "self"]


def test_the_internal_fit_calls_back_with_the_column_summary_then_with_progress():
    frame, y = survey(60)
    events = []
    model = RobustTreeClassifier(2)
    found = model._fit(
        frame,
        y,
        on_columns=lambda problem, lines: events.append((problem, lines)),
        on_progress=lambda problem, event: events.append((problem, event.objective)),
    )
    assert found is model
    (problem, lines), *progress = events
    assert problem.n_samples == 60
    assert [line.split("  ")[0] for line in lines[1:]] == list(frame.columns)
    assert progress
    assert all(given is problem for given, _ in progress)
    assert progress[-1][1] <= model.result_.objective
    assert model.tree_ == RobustTreeClassifier(2).fit(frame, y).tree_
