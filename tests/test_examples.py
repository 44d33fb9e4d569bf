"""The examples run as they are, and the README says what they print."""

import runpy
import sys
from pathlib import Path

import pytest

from hardwood import Certificate

EXAMPLES = Path(__file__).parent.parent / "examples"


def test_the_balance_scale(capsys):
    runpy.run_path(str(EXAMPLES / "balance_scale.py"), run_name="__main__")
    assert "robust at plausibility 0.85 tree (optimal" in capsys.readouterr().out


def test_the_election(capsys, tmp_path, monkeypatch):
    pytest.importorskip("statsmodels")
    monkeypatch.setattr(sys, "argv", ["election.py", str(tmp_path / "made")])
    sys.path.insert(0, str(EXAMPLES))
    import election

    full = election.learner
    monkeypatch.setattr(election, "learner", lambda level: full(level).set_params(max_depth=1))
    election.main()
    printed = capsys.readouterr().out
    assert "CONFIRMED from the data alone" in printed
    assert Certificate.load(tmp_path / "made" / "robust.certificate.json").n_samples == 944
