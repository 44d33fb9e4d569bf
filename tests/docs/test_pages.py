"""Every code block and command of the README and of the docs runs."""

import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import hardwood as hw

ROOT = Path(__file__).parents[2]
PAGES = ["README.md", *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md")))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^(?:    )?(hardwood (?!study)[a-z]+ .*)$", re.MULTILINE)
OPTIONAL = ("duckdb", "gurobipy")


def survey(n, seed):
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, n)
    frame = pd.DataFrame(
        {
            "age": age,
            "rating": rng.integers(1, 6, n),
            "region": rng.choice(["north", "south", "west"], n),
            "asked": rng.integers(0, 2, n),
            "smokes": rng.choice(["no", "yes"], n, p=[0.7, 0.3]),
        }
    )
    return frame, pd.Series(np.where((age > 45) ^ (rng.random(n) < 0.2), "right", "left"), name="vote")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the files that the pages mention."""
    path = tmp_path_factory.mktemp("pages")
    frame, y = survey(150, 1)
    rng = np.random.default_rng(3)
    ill = np.where(rng.random(150) < 0.3, "yes", "no")
    whole = frame.assign(ill=ill, w=rng.integers(1, 5, 150), vote=y)
    whole.to_csv(path / "survey.csv", index=False)
    survey(40, 2)[0].assign(ill="no", w=1).to_csv(path / "new.csv", index=False)
    (path / "smokes.csv").write_text("smokes,no,yes\nno,0.96,0.04\nyes,0.15,0.85\n")
    again = whole.assign(id=np.arange(150))
    again.to_csv(path / "first.csv", index=False)
    again.assign(age=frame["age"] + (np.arange(150) % 40 == 0)).sample(140, random_state=1).to_csv(
        path / "second.csv", index=False
    )
    (path / "survey").mkdir()
    frame.assign(vote=y).to_parquet(path / "survey" / "part.parquet")
    model = hw.RobustTreeClassifier(2).fit(frame[["age", "rating", "asked"]], y)
    model.save(path / "model.json")
    return path


def predefined_names():
    """Names that the code blocks use without defining them."""
    frame, y = survey(150, 1)
    numbers = ["age", "rating", "asked"]
    X, table = frame[numbers], hw.encode(frame[numbers])
    X_test, y_test = survey(60, 2)
    labels = hw.encode_labels(y, len(y))
    shifts = hw.UncertaintySet.calibrated(table, certainty=0.9, plausibility=0.97)
    return {
        "X": X,
        "y": y,
        "X_test": X_test[numbers],
        "y_test": y_test,
        "X_new": X_test[numbers],
        "y_new": y_test,
        "weights": np.random.default_rng(4).integers(1, 4, len(y)),
        "methods": {"robust": hw.RobustTreeClassifier(2)},
        "model": hw.RobustTreeClassifier(2).fit(X, y),
        "ordinary": hw.RobustTreeClassifier(2, plausibility=1.0).fit(X, y),
        "problem": hw.Problem(labels, shifts, 1),
        "hw": hw,
        "np": np,
        "pd": pd,
        "RobustTreeClassifier": hw.RobustTreeClassifier,
    }


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_every_python_block_runs(page, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("MPLBACKEND", "agg")
    blocks = BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))
    space, ran = predefined_names(), []
    certificate = (folder / "model.certificate.json").read_text()
    for block in blocks:
        missing = [name for name in OPTIONAL if f"import {name}" in block]
        if any(not _is_installed(name) for name in missing):
            continue  # an optional dependency that tests do not install
        if "model.certificate.json" in block:  # the block needs a certificate with weights
            space["model"].fit(space["X"], space["y"], sample_weight=space["weights"]).save("model.json")
        exec(compile(block, page, "exec"), space)
        ran.append(block)
    (folder / "model.certificate.json").write_text(certificate)
    capsys.readouterr()
    assert [block for block in blocks if not any(f"import {name}" in block for name in OPTIONAL)] == [
        block for block in ran if not any(f"import {name}" in block for name in OPTIONAL)
    ]


@pytest.mark.parametrize("page", PAGES)
def test_every_command_runs(page, folder, monkeypatch):
    from typer.testing import CliRunner

    from hardwood.cli.app import app

    monkeypatch.chdir(folder)
    for line in COMMAND.findall((ROOT / page).read_text(encoding="utf-8")):
        arguments = shlex.split(line.split("#")[0])[1:]
        done = CliRunner().invoke(app, arguments)
        assert done.exit_code == 0, f"{page}: {line}\n{done.output}"


def _is_installed(name):
    try:
        __import__(name)
    except ModuleNotFoundError:
        return False
    return True


def test_the_pages_have_blocks_and_commands():
    texts = [(ROOT / page).read_text(encoding="utf-8") for page in PAGES]
    assert sum(len(BLOCK.findall(text)) for text in texts) >= 12
    assert sum(len(COMMAND.findall(text)) for text in texts) >= 6


def test_the_example_of_a_shift_model_takes_columns_of_all_kinds():
    block = next(own for own in BLOCK.findall((ROOT / "docs/extending.md").read_text("utf-8")) if "Heaping" in own)
    space = predefined_names()
    exec(compile(block, "docs/extending.md", "exec"), space)
    frame, y = survey(60, 3)
    rating = frame["rating"].astype(float).where(np.arange(60) % 7 > 0)
    frame = frame.assign(rating=rating, income=np.linspace(0.5, 9.5, 60))
    model = hw.RobustTreeClassifier(2, shifts=space["Heaping"](), missing="category").fit(frame, y)
    assert model.certificate_.status == "optimal"
