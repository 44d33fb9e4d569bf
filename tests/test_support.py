"""What every room uses: files, texts, errors."""

import os
import pickle
import subprocess
import sys

import pytest

from hardwood._support.errors import ArgumentError, Said, Setting
from hardwood._support.files import reading, write_text
from hardwood._support.text import harmless, shown
from hardwood.cli.console import ShellDialect


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("age", "age"),
        ("Größe 年齢 👩\u200d👧", "Größe 年齢 👩\u200d👧"),
        ("\x1b[2J", "\\x1b[2J"),
        ("a\nb\tc\r", "a\\nb\\tc\\r"),
        ("\x9b31m\x7f", "\\x9b31m\\x7f"),
        ("\u202eabc\u2066", "\\u202eabc\\u2066"),
        ("\u2028\ud800\U000e0001", "\\u2028\\ud800\\U000e0001"),
        (3.5, "3.5"),
    ],
)
def test_what_steers_a_terminal_is_shown_as_its_code(text, expected):
    assert shown(text) == expected


def test_a_page_keeps_its_lines():
    assert harmless("a\n\tb\x1b") == "a\n\tb\\x1b"


def test_an_error_is_worded_by_each_interface():
    error = ArgumentError(
        "certainty",
        0.12,
        "with 5 categories it must be at least 0.2",
        remedy=(Setting("clip", True), " uses that limit; or ", Setting("kinds", ["low", "high"], column="income")),
        column="income",
        row=3,
    )
    assert str(error) == (
        'certainty["income"], row 3 is 0.12; with 5 categories it must be at least 0.2 '
        '(clip=True uses that limit; or kinds={"income": ["low", "high"]})'
    )
    assert error.worded(ShellDialect()) == (
        "--certainty income, row 3 is 0.12; with 5 categories it must be at least 0.2 "
        "(--clip uses that limit; or --kind 'income=low<high')"
    )
    assert isinstance(error, ValueError)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    cell = ArgumentError("", Said("missing (NaN)"), "drop such rows", column="age", row=7)
    assert str(cell) == 'column "age", row 7 is missing (NaN); drop such rows'


FULL_DISK = """
import resource, signal, sys
from hardwood._support.files import write_text
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # as on a full disk, writing fails
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    write_text(sys.argv[1], "x" * 5000)
except OSError as error:
    print(error)
"""


@pytest.mark.skipif(os.name != "posix", reason="limits of POSIX")
def test_a_full_disk_names_the_file_and_leaves_the_old_one(tmp_path):
    path = tmp_path / "model.json"
    write_text(path, "old")
    done = subprocess.run([sys.executable, "-c", FULL_DISK, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout == f"[Errno 27] File too large: '{path}'\n"
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.json"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device that is always full")  # noqa: PTH110
def test_a_full_device_is_named():
    with pytest.raises(OSError, match=r"No space left on device: '/dev/full'"):
        write_text("/dev/full", "x")


def test_whatever_is_wrong_with_a_file_is_one_error_with_its_name(tmp_path):
    path = tmp_path / "x.json"
    path.write_text("{}")

    def use(error):
        with reading(path):
            raise error

    for error in (ValueError("no tree"), OverflowError("too large"), RecursionError()):
        with pytest.raises(ValueError, match=r"x\.json"):
            use(error)
    with pytest.raises(KeyError):  # a bug of ours stays one
        use(KeyError("mine"))
