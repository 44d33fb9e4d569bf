"""Files, text for terminals, and errors about arguments."""

import os
import pickle
import subprocess
import sys

import pytest

from hardwood._util.errors import ArgumentError, Setting, Verbatim
from hardwood._util.files import open_json, write_text
from hardwood._util.text import printable, printable_lines
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
def test_control_characters_are_escaped(text, expected):
    assert printable(text) == expected


def test_printable_lines_keep_line_feeds_and_tabs():
    assert printable_lines("a\n\tb\x1b") == "a\n\tb\\x1b"


def test_an_error_is_rendered_for_each_interface():
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
    assert error.render(ShellDialect()) == (
        "--certainty income, row 3 is 0.12; with 5 categories it must be at least 0.2 "
        "(--clip uses that limit; or --kind 'income=low<high')"
    )
    assert isinstance(error, ValueError)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    cell = ArgumentError("", Verbatim("missing (NaN)"), "drop such rows", column="age", row=7)
    assert str(cell) == 'column "age", row 7 is missing (NaN); drop such rows'


FULL_DISK = """
import resource, signal, sys
from hardwood._util.files import write_text
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # writing fails, as on a full disk
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    write_text(sys.argv[1], "x" * 5000)
except OSError as error:
    print(error)
"""


@pytest.mark.skipif(os.name != "posix", reason="needs the resource limits of POSIX")
def test_a_full_disk_names_the_file_and_leaves_the_old_one(tmp_path):
    path = tmp_path / "model.json"
    write_text(path, "old")
    done = subprocess.run([sys.executable, "-c", FULL_DISK, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout == f"[Errno 27] File too large: '{path}'\n"
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.json"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")  # noqa: PTH110
def test_a_full_device_is_named():
    with pytest.raises(OSError, match=r"No space left on device: '/dev/full'"):
        write_text("/dev/full", "x")


def test_errors_about_the_content_of_a_file_name_the_file(tmp_path):
    path = tmp_path / "x.json"
    path.write_text("{}")

    def use(error):
        with open_json(path):
            raise error

    for error in (ValueError("no tree"), OverflowError("too large"), RecursionError()):
        with pytest.raises(ValueError, match=r"x\.json"):
            use(error)
    with pytest.raises(KeyError):  # a bug in the package is not an error of the file
        use(KeyError("mine"))
