"""Certainty from published figures."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hardwood import shiftlab

ROOT = Path(__file__).parents[2]


def test_kappa_is_converted_to_agreement():
    assert shiftlab.certainty_from_kappa(1.0, [0.3, 0.7]) == 1.0
    assert shiftlab.certainty_from_kappa(0.0, [0.5, 0.5]) == pytest.approx(0.5)
    assert shiftlab.certainty_from_kappa(0.61, [0.8, 0.2]) == pytest.approx(0.61 * (1 - 0.68) + 0.68)
    assert shiftlab.certainty_from_kappa(0.61, {"no": 80, "yes": 20}) == pytest.approx(0.8752)
    joint = np.array([[50, 8, 2], [5, 20, 5], [1, 2, 7]]) / 100
    by_chance = joint.sum(axis=1) @ joint.sum(axis=0)
    kappa = (np.trace(joint) - by_chance) / (1 - by_chance)
    found = shiftlab.certainty_from_kappa(kappa, joint.sum(axis=1), joint.sum(axis=0))
    assert found == pytest.approx(np.trace(joint))
    for kappa, shares, message in (
        (2, [0.5, 0.5], "kappa is 2"),
        (0.5, [1.0], "expected a share"),
        (0.5, [-1, 2], "expected a share"),
        (-1.0, [0.9, 0.1], "agreement would be"),
    ):
        with pytest.raises(ValueError, match=message):
            shiftlab.certainty_from_kappa(kappa, shares)
    named = {"a": 0.8, "b": 0.2}, {"b": 0.3, "a": 0.7}
    assert shiftlab.certainty_from_kappa(0.6, *named) == shiftlab.certainty_from_kappa(0.6, [0.8, 0.2], [0.7, 0.3])
    series = pd.Series([0.7, 0.3], ["a", "b"]), pd.Series([0.6, 0.4], ["b", "a"])
    assert shiftlab.certainty_from_kappa(0.2, *series) == shiftlab.certainty_from_kappa(0.2, [0.7, 0.3], [0.4, 0.6])
    with pytest.raises(ValueError, match="expected the answers"):
        shiftlab.certainty_from_kappa(0.5, {"a": 1, "b": 1}, {"a": 1, "c": 1})
    with pytest.raises(ValueError, match="expected 2 as in shares"):
        shiftlab.certainty_from_kappa(0.5, [0.5, 0.5], [0.2, 0.3, 0.5])


def test_published_figures_have_sources_and_are_valid():
    assert len(shiftlab.RELIABILITIES) >= 10
    for figure in shiftlab.RELIABILITIES:
        assert (figure.low is None) == (figure.high is None) == (figure.changed is not None)
        if figure.low is not None:
            assert 0 <= figure.low <= figure.high <= 1
            assert 0 < shiftlab.certainty_from_kappa(figure.low, [0.7, 0.3]) <= 1
        assert any(year in figure.source for year in ("1994", "2002", "2004", "2009", "2011", "2012", "2017", "2024"))


def markdown_row(figure):
    """A published figure as a line of docs/shifts.md."""
    low, high = figure.low, figure.high
    kappa = "" if low is None else f"{low:g}" if low == high else f"{low:g} to {high:g}"
    changed = "" if figure.changed is None else f"{100 * figure.changed:g} %"
    return f"| {figure.kind} | {figure.measure}; {figure.about} | {kappa} | {changed} | {figure.source} |"


def test_the_docs_show_all_published_figures():
    page = (ROOT / "docs" / "shifts.md").read_text(encoding="utf-8")
    shown = page[page.index("<!-- reliabilities -->") : page.index("Each figure was found")].strip().splitlines()[3:]
    assert shown == [markdown_row(figure) for figure in shiftlab.RELIABILITIES]
