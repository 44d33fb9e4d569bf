"""Old names of results and parameters still work, with a warning."""

import numpy as np
import pytest

import hardwood as hw
from hardwood import shiftlab
from tests.surveys import survey


@pytest.fixture(scope="module")
def results():
    X, y = survey(60)
    model = hw.RobustTreeClassifier(1, certainty=0.9, plausibility=0.9).fit(X, y)
    later = X.assign(age=X["age"] + (np.arange(60) < 5))
    drift = shiftlab.drift(model, X, later, y)
    estimate = shiftlab.estimate_certainty(X, later)
    coverage = shiftlab.coverage(X, model)
    return {
        "Drift": drift,
        "ColumnDrift": drift.by_column["age"],
        "CertaintyEstimate": estimate,
        "ColumnEstimate": estimate["party"],
        "LeastChange": shiftlab.estimate_certainty(X, later, different_people=True),
        "Coverage": coverage,
        "CostDistribution": coverage.everything,
        "PlausibilityChoice": shiftlab.choose_plausibility(X, y, (1.0,), X_test=X, y_test=y, max_depth=1),
    }


@pytest.mark.parametrize(
    ("owner", "old", "new"),
    [
        ("Drift", "price", "cost"),
        ("Drift", "price_of_all", "cost_of_all"),
        ("Drift", "people", "total_weight"),
        ("Drift", "turned", "flipped"),
        ("Drift", "turned_price", "flipped_cost"),
        ("ColumnDrift", "price", "cost"),
        ("ColumnDrift", "told", "net_cost"),
        ("CertaintyEstimate", "people", "total_weight"),
        ("CertaintyEstimate", "words", "parameters"),
        ("ColumnEstimate", "people", "total_weight"),
        ("ColumnEstimate", "answers", "values"),
        ("LeastChange", "people", "total_weight"),
        ("Coverage", "asked_columns", "used_columns"),
        ("Coverage", "words", "explanation"),
        ("CostDistribution", "people", "total_weight"),
        ("PlausibilityChoice", "most_lost", "max_loss"),
    ],
)
def test_old_attributes_warn_and_give_the_new_ones(results, owner, old, new):
    result = results[owner]
    with pytest.warns(DeprecationWarning, match=rf"{owner}\.{old} was renamed to {owner}\.{new}"):
        assert getattr(result, old) == getattr(result, new)


def test_the_old_parameter_most_lost_warns_and_works():
    X, y = survey(60)
    with pytest.warns(DeprecationWarning, match="most_lost was renamed to max_loss"):
        found = shiftlab.choose_plausibility(X, y, (1.0,), X_test=X, y_test=y, max_depth=1, most_lost=0.2)
    assert found.max_loss == 0.2
