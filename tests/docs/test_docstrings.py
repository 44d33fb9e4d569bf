"""Examples in docstrings show what the package prints."""

import doctest
import importlib
import re

import pytest

from tests.docs.test_language import ROOT

SOURCES = ROOT / "src"
EXAMPLES = [
    path for path in sorted(SOURCES.rglob("*.py")) if re.search("^ *>>> ", path.read_text("utf-8"), re.MULTILINE)
]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_in_docstrings_hold(path):
    name = ".".join(path.relative_to(SOURCES).with_suffix("").parts)
    outcome = doctest.testmod(importlib.import_module(name))
    assert outcome.failed == 0
    assert outcome.attempted > 0
