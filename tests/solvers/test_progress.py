"""Progress and stop reasons of the search."""

import json

import pytest
from sklearn.exceptions import ConvergenceWarning

from hardwood import RobustTreeClassifier
from tests.problems import hard_problem, small_table


def test_a_stopped_search_warns_and_its_certificate_gives_the_reason():
    values, y, _ = small_table(1, n=400, n_values=6, n_columns=10, n_classes=3)
    with pytest.warns(ConvergenceWarning, match="stopped after .* s; try a longer time limit"):
        model = RobustTreeClassifier(5, certainty=0.8, time_limit=0.3).fit(values, y)
    assert "stopped after" in str(model.certificate_)
    document = json.loads(model.certificate_.to_json())
    assert document["stop_reason"] == "time_limit"
    finished = RobustTreeClassifier(1).fit(values, y)
    assert "stopped" not in str(finished.certificate_)


def test_progress_is_reported_in_rows():
    from hardwood.solvers.base import Progress, progress_text, time_text

    problem = hard_problem(2)
    assert progress_text(problem, Progress(1.0, 211.75, 301.5, 5)) == (
        "keeps 212 of 400 rows (53.0%), at most 302 possible, gap 22.4%"
    )
    assert time_text(2.04, 60) == "2.0 s, 58 s left"
    assert time_text(2.04, None) == "2.0 s"
