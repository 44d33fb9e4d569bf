import pytest

from hardwood.experiments.backends import in_this_process
from hardwood.experiments.runner import run_study
from tests.studies import tiny_study


@pytest.fixture(scope="package")
def finished(tmp_path_factory):
    """A folder with the results of the tiny study, and its rows."""
    folder = tmp_path_factory.mktemp("finished")
    return folder, run_study(tiny_study(), folder, in_this_process())
