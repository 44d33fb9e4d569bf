import os

import matplotlib as mpl
import pytest
from matplotlib import pyplot

from tests.surveys import survey

mpl.use("agg")  # draws without a display
SLOW_FIXTURES = {"browser", "cluster", "opened"}


def pytest_collection_modifyitems(items):
    """Whatever needs a browser or a cluster is slow."""
    for item in items:
        if SLOW_FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(autouse=True)
def _closed_figures():
    """Closes figures: matplotlib warns from the 21st open one on, whichever test of a process draws it."""
    yield
    pyplot.close("all")


@pytest.fixture
def benchmark_problem(benchmark_dataset):
    """Makes problems from the tables of the paper, where a folder with them is given."""
    from hardwood.experiments.instances import problem_of

    return lambda name, *where: problem_of(benchmark_dataset(name), *where)


@pytest.fixture
def benchmark_dataset():
    """Reads tables of the paper, where a folder with them is given."""
    if "HARDWOOD_DATA" not in os.environ:
        pytest.skip("HARDWOOD_DATA does not name a folder with the tables of the paper")
    from hardwood.data.datasets import load_dataset

    return load_dataset


@pytest.fixture
def folder(tmp_path):
    frame, y = survey()
    frame.assign(vote=y).to_csv(tmp_path / "survey.csv", index=False)
    return tmp_path
