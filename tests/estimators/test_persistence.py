"""Copies, pickles and files of models, with their certificates."""

import copy
import json
import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import hardwood as hw
from hardwood import RobustTreeClassifier
from tests.surveys import survey


@pytest.fixture(scope="module")
def fitted():
    return RobustTreeClassifier(2).fit(*survey())


def test_a_model_is_restored_from_its_file(fitted, tmp_path):
    frame, y = survey()
    fitted.save(tmp_path / "model.json")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.certificate.json", "model.json"]
    back = RobustTreeClassifier.load(tmp_path / "model.json")
    assert (back.predict_proba(frame) == fitted.predict_proba(frame)).all()
    assert (back.margins(frame) == fitted.margins(frame)).all()
    assert back.worst_case(frame, y).worst_case_correct == fitted.certificate_.worst_case_correct
    assert back.certificate_ == fitted.certificate_
    (tmp_path / "model.certificate.json").unlink()
    assert not hasattr(RobustTreeClassifier.load(tmp_path / "model.json"), "certificate_")


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda model: model.update(format="else"), "is not a model"),
        (lambda model: model.update(leaf_counts=[[1, 2]]), "leaf_counts do not fit the tree"),
        (lambda model: model["shifts"].pop("budget"), "the description of shifts has"),
        (lambda model: model["tree"]["root"].update(feature="unknown"), "the feature at root is 'unknown'"),
        (lambda model: model["tree"]["root"].update(value="pirates"), "the value at root is 'pirates'"),
    ],
)
def test_invalid_model_files_are_refused_with_a_reason(fitted, tmp_path, edit, message):
    path = tmp_path / "model.json"
    fitted.save(path)
    model = json.loads(path.read_text())
    edit(model)
    path.write_text(json.dumps(model))
    with pytest.raises(ValueError, match=message):
        RobustTreeClassifier.load(path)
    path.write_text("{")
    with pytest.raises(ValueError, match="is not a JSON file"):
        RobustTreeClassifier.load(path)


def test_saved_models_without_column_names_have_none_after_loading(tmp_path):
    rng = np.random.default_rng(0)
    values, y = rng.integers(0, 4, (40, 2)), rng.integers(0, 2, 40)
    RobustTreeClassifier(2, branch_penalty=0.25, max_bins=5).fit(values, y).save(tmp_path / "m.json")
    back = RobustTreeClassifier.load(tmp_path / "m.json")
    assert not hasattr(back, "feature_names_in_")
    assert back.predict(values).shape == y.shape
    assert (back.max_depth, back.branch_penalty, back.max_bins) == (2, 0.25, 5)


def test_a_certificate_of_another_tree_is_ignored_with_a_warning(tmp_path):
    frame, y = survey()
    RobustTreeClassifier(2).fit(frame, y).save(tmp_path / "m.json")
    RobustTreeClassifier(1).fit(frame, y).save(tmp_path / "n.json")
    (tmp_path / "n.certificate.json").replace(tmp_path / "m.certificate.json")
    with pytest.warns(UserWarning, match="is about another tree"):
        assert not hasattr(RobustTreeClassifier.load(tmp_path / "m.json"), "certificate_")


def test_neither_file_is_written_if_the_certificate_cannot_be(tmp_path):
    frame, y = survey()
    classifier = RobustTreeClassifier(2).fit(frame, y)
    object.__setattr__(classifier.certificate_, "seconds", math.nan)  # JSON cannot represent it
    with pytest.raises(ValueError, match="JSON"):
        classifier.save(tmp_path / "m.json")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "parameters",
    [
        {"certainty": pd.Series([0.9, 0.8, 0.7, 0.6, 0.9])},
        {"certainty": pl.Series([0.9, 0.8, 0.7, 0.6, 0.9])},
        {"certainty": pd.Series([0.9, 0.8, 0.7, 0.6, 0.9], index=["income", "age", "party", "trust", "asked before"])},
        {"radius": {"age": 3, "party": 0, "trust": 1, "asked before": 0, "income": 1}},
        {
            "costs": {
                "age": np.float32(1),
                "party": {"left": 1, "right": 2, "none": 3},
                "trust": 1,
                "asked before": 2,
                "income": math.inf,
            },
            "budget": 3,
        },
    ],
)
def test_shift_parameters_of_all_types_are_restored_from_the_file(parameters, tmp_path):
    frame, y = survey(40)
    RobustTreeClassifier(1, **parameters).fit(frame, y).save(tmp_path / "m.json")
    assert hw.check(tmp_path / "m.certificate.json", frame, y).confirmed
    assert RobustTreeClassifier.load(tmp_path / "m.json").worst_case(frame, y).n_samples == 40


def test_costs_by_numeric_category_are_restored_from_the_file(tmp_path):
    frame = pd.DataFrame({"d": [1, 2, 3, 1, 2, 3]})
    model = RobustTreeClassifier(1, feature_kinds="categorical", costs={"d": {1: 1.0, 2: 2.0, 3: 0.5}}, budget=2.0)
    model.fit(frame, [0, 1, 0, 0, 1, 1]).save(tmp_path / "m.json")
    assert hw.check(tmp_path / "m.certificate.json", frame, [0, 1, 0, 0, 1, 1]).confirmed


def test_numpy_parameters_are_saved_as_plain_numbers(tmp_path):
    frame, y = survey(30)
    RobustTreeClassifier(np.int64(1), branch_penalty=np.float64(0.5)).fit(frame, y).save(tmp_path / "m.json")
    assert RobustTreeClassifier.load(tmp_path / "m.json").branch_penalty == 0.5


def test_copies_pickles_and_clones(fitted):
    frame, _ = survey()
    for twin in (copy.deepcopy(fitted), pickle.loads(pickle.dumps(fitted))):
        assert (twin.predict(frame) == fitted.predict(frame)).all()
        assert twin.certificate_ == fitted.certificate_
    with pytest.raises(NotFittedError):
        clone(fitted).predict(frame)


def test_mappings_may_have_an_entry_for_all_other_columns(tmp_path):
    frame, y = survey()
    parameters = {
        "certainty": {"age": 0.7, ...: 0.8},
        "direction": {"income": "down", ...: "up"},
        "bounds": {...: (0, 120)},
        "feature_kinds": {"trust": ["low", "middle", "high"]},
    }
    model = RobustTreeClassifier(2, **parameters).fit(frame, y)
    explicit = {
        "certainty": {"age": 0.7} | dict.fromkeys(frame.columns.drop("age"), 0.8),
        "direction": {"income": "down", "age": "up", "trust": "up", "asked before": "up"},
        "bounds": {"age": (0, 120)},
    }
    other = RobustTreeClassifier(2, **(parameters | explicit)).fit(frame, y)
    assert (model.margins(frame) == other.margins(frame)).all()
    model.save(tmp_path / "model.json")
    assert (RobustTreeClassifier.load(tmp_path / "model.json").margins(frame) == model.margins(frame)).all()
    assert clone(model).get_params()["certainty"] == parameters["certainty"]
    renamed = frame.rename(columns={"age": "..."})
    named = RobustTreeClassifier(1, certainty={"...": 0.7} | dict.fromkeys(frame.columns.drop("age"), 0.8), clip=True)
    assert named.fit(renamed, y).shifts_.certainty["..."] == 0.7
    with pytest.raises(ValueError, match=r'certainty is not given for .*an entry for "\.\.\." is for all others'):
        RobustTreeClassifier(1, certainty={"age": 0.7}).fit(frame, y)
