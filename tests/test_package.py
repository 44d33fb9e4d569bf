import subprocess
import sys

import hardwood as hw


def test_importing_hardwood_loads_no_heavy_library():
    heavy = {"pandas", "polars", "pyarrow", "matplotlib", "sklearn", "scipy", "gurobipy", "pyscipopt", "dask"}
    code = "import sys, hardwood; print(' '.join({name.split('.')[0] for name in sys.modules}))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "hardwood" in loaded
    assert heavy & set(loaded) == set()


def test_every_public_name_exists_and_is_documented():
    for name in hw.__all__:
        assert getattr(hw, name).__doc__
