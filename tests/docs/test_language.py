"""Prose is plain technical English, without the idioms and metaphors below (docs/glossary.md)."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CHECKED = [
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "pyproject.toml",
    "docs/*.md",
    "docs/decisions/*.md",
    "src/**/*.py",
    "cpp/**/*",
    "tests/**/*",
    "benchmarks/**/*.py",
    "examples/**/*.py",
]
SUFFIXES = {".md", ".py", ".h", ".cpp", ".txt", ".toml"}

# Regular expressions; a space stands for any white space and for the marks of comments between two lines.
BANNED = [
    # vague amounts and persons
    r"so many",
    r"so much",
    r"whoever",
    r"whatever comes",
    r"nobody",
    r"anybody",
    r'(?<![."])everybody(?!=)',  # Findings.everybody is a deprecated attribute
    r"somebody",
    r"strangers?",
    # idioms
    r"as (?:it|they) stands?",
    r"as the (?:table|data) stands?",
    r"is none of",
    r"in vain",
    r"the like of",
    r"will do",
    r"comes? up",
    r"came up",
    r"what becomes of",
    r"(?:has|have) to say",
    r"has anything to say",
    r"is good for",
    r"for nothing",
    r"once more",
    r"next to nothing",
    r"without a word",
    r"so to speak",
    r"goes on where",
    # speech of things that do not speak
    r"(?:is|are|was|were) said",
    r"(?:is|are|was|were) told",
    r"tells? apart",
    r"told apart",
    # metaphors of structure
    r"corridor",
    r"upstairs",
    r"downstairs",
    r"front door",
    r"(?:a|the|its|each|every) rooms?",
    r"rooms of",
    r"the house",
    r"ladder",
    # words with another meaning in the field, or none
    r"foretold",
    r"dearer",
    r"head start",
    r"rivals?",
    r'(?<![#"])kinks?',  # old anchors of docs/theory.md may keep the word
]
BETWEEN_WORDS = r"[\s#/*>]+"
PATTERNS = {phrase: re.compile(rf"\b(?:{phrase.replace(' ', BETWEEN_WORDS)})\b", re.IGNORECASE) for phrase in BANNED}


def checked_files():
    found = sorted({path for pattern in CHECKED for path in ROOT.glob(pattern) if path.suffix in SUFFIXES})
    return [path for path in found if path != Path(__file__).resolve()]


def idioms_of(text):
    """Line and phrase of every banned idiom."""
    return [
        (text.count("\n", 0, match.start()) + 1, phrase)
        for phrase, pattern in PATTERNS.items()
        for match in pattern.finditer(text)
    ]


@pytest.mark.parametrize("path", checked_files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_has_no_idioms(path):
    found = [f"{path.relative_to(ROOT)}:{line}: {phrase}" for line, phrase in idioms_of(path.read_text("utf-8"))]
    assert not found, "reword, see docs/glossary.md:\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("Rows count so many times.", "so many"),
        ("# Nobody\n# moves.", "nobody"),
        ("// values as\n// they stand", "as (?:it|they) stands?"),
        ("It is\nsaid.", "(?:is|are|was|were) said"),
    ],
)
def test_an_idiom_is_found_also_across_lines(text, phrase):
    assert phrase in [found for _, found in idioms_of(text)]


def test_plain_prose_passes():
    assert idioms_of("The search prunes every node whose bound does not exceed the cutoff.") == []


def test_all_pages_and_all_code_are_checked():
    names = {str(path.relative_to(ROOT)) for path in checked_files()}
    pages = {
        "README.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "pyproject.toml",
        "docs/theory.md",
        "docs/decisions/README.md",
        "cpp/README.md",
    }
    assert pages <= names
    assert {"src/hardwood/__init__.py", "cpp/search/search.h", "tests/oracle.py", "benchmarks/pages.py"} <= names
