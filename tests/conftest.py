import os

import matplotlib as mpl
import pytest

mpl.use("agg")  # draws without a display


@pytest.fixture
def benchmark_problem(benchmark_dataset):  # noqa: ARG001 - skips without the tables
    """Makes problems from the tables of the paper, where a folder with them is given."""
    import tables

    return tables.problem


@pytest.fixture
def benchmark_dataset():
    """Reads tables of the paper, where a folder with them is given."""
    if "HARDWOOD_DATA" not in os.environ:
        pytest.skip("HARDWOOD_DATA does not name a folder with the tables of the paper")
    from hardwood.datasets import load_dataset

    return load_dataset
