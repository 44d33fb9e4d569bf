import ast
import subprocess
import sys
from pathlib import Path

import hardwood as hw

HEAVY = {"pandas", "polars", "pyarrow", "matplotlib", "sklearn", "scipy", "gurobipy", "pyscipopt", "dask"}
USER_TIER = {
    "Alternatives",
    "Attack",
    "Audit",
    "Certificate",
    "Check",
    "ChunkedAudit",
    "Comparison",
    "Hardened",
    "OrdinaryTreeClassifier",
    "RobustTreeClassifier",
    "RobustnessPath",
    "StableTreeClassifier",
    "Tree",
    "audit",
    "check",
    "compare",
    "harden",
    "robustness_path",
}
EXPERT_TIER = {"Problem", "UncertaintySet", "attack", "encode", "encode_labels", "solve"}


def test_importing_hardwood_loads_no_heavy_library():
    code = "import sys, hardwood; print(' '.join({name.split('.')[0] for name in sys.modules}))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "hardwood" in loaded
    assert HEAVY & set(loaded) == set()


def test_every_public_name_exists_and_is_documented():
    for name in hw.__all__:
        assert getattr(hw, name).__doc__


def test_users_and_experts_find_functions_and_result_types_in_one_place():
    assert set(hw.__all__) >= USER_TIER | EXPERT_TIER
    assert dir(hw) == hw.__all__


def test_imports_for_type_checkers_equal_the_table_of_public_names():
    blocks = [
        node for node in ast.parse(Path(hw.__file__).read_text(encoding="utf-8")).body if isinstance(node, ast.If)
    ]
    imported = [
        (f"{statement.module}".removeprefix("hardwood."), entry.name, entry.asname)
        for block in blocks
        for statement in block.body
        if isinstance(statement, ast.ImportFrom)
        for entry in statement.names
    ]
    listed = [(module, name, name) for module, names in hw._EXPORTS.items() for name in names]
    assert sorted(imported) == sorted(listed)


def test_an_edit_of_any_compiled_source_renews_the_installation():
    root = Path(__file__).parents[1]
    listed = subprocess.run(["make", "-pn", ".venv/installed"], cwd=root, capture_output=True, text=True, check=False)
    sources = next(line for line in listed.stdout.splitlines() if line.startswith("SOURCES := ")).split()
    compiled = {str(path.relative_to(root)) for path in (root / "cpp").rglob("*.*") if path.suffix in (".cpp", ".h")}
    assert compiled <= set(sources)
