"""Links, images and citations of the pages resolve; generated files are up to date."""

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path
    for folder in (".", "docs", "docs/decisions", "docs/study/*", "benchmarks", "benchmarks/results")
    for path in ROOT.glob(f"{folder}/*.md")
)
LINK = re.compile(r"\]\(([^)\s]+)\)|<img[^>]* src=\"([^\"]+)\"|^\[[^\]]+\]: (\S+)", re.MULTILINE)
SOURCES = [path for folder in ("cpp", "src", "tests", "benchmarks") for path in (ROOT / folder).rglob("*.*")]
CITATION = re.compile(r"(docs/[\w/.-]+\.md)(?:#([\w-]+))?")


@cache
def files_in_git():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        pytest.skip("this is not a git checkout")
    files = {Path(name) for name in listed.stdout.split("\0") if name}
    return files | {folder for file in files for folder in file.parents}


def anchors_of(page):
    """Anchors of a page: headings as GitHub names them, and explicit `<a id>` anchors."""
    text = page.read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    named = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return named | set(re.findall(r'<a id="([\w-]+)">', text))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_and_image_of_a_page_is_in_git(page):
    found = ["".join(groups) for groups in LINK.findall(page.read_text(encoding="utf-8"))]
    links = [link for link in found if "://" not in link]
    for link in links:
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.relative_to(ROOT) in files_in_git(), f"{page.name} links to {link}, which is not in git"
        if anchor and target.suffix == ".md":
            assert anchor in anchors_of(target), f"{page.name} links to {link}, but the target has no such anchor"


def test_every_proof_that_the_code_cites_exists():
    cited = set()
    for source in SOURCES:
        if source.suffix in (".h", ".cpp", ".py"):
            cited |= {(name, anchor) for name, anchor in CITATION.findall(source.read_text(encoding="utf-8"))}
    assert len([name for name, anchor in cited if anchor]) > 10
    for name, anchor in cited:
        if "docs/study/" in name:  # results; their own tests check them
            continue
        assert (ROOT / name).exists(), f"{name} is cited"
        assert not anchor or anchor in anchors_of(ROOT / name), f"{name}#{anchor} is cited"


def test_pages_are_found_and_have_links():
    assert {"README.md", "CONTRIBUTING.md", "guide.md", "study.md"} <= {page.name for page in PAGES}
    assert sum(len(LINK.findall(page.read_text(encoding="utf-8"))) for page in PAGES) > 20


def test_results_of_studies_can_be_committed():
    """A pattern in .gitignore once excluded a whole study."""
    for name in ("docs/study/paper/results.parquet", "docs/study/paper/summary.md", "docs/study/paper/gain.svg"):
        command = ["git", "check-ignore", "--quiet", "--no-index", name]
        ignored = subprocess.run(command, cwd=ROOT, capture_output=True, check=False).returncode
        if ignored == 128:
            pytest.skip("this is not a git checkout")
        assert ignored == 1, f"{name} is ignored"


def test_the_stub_matches_the_compiled_module(tmp_path):
    pytest.importorskip("nanobind")
    from hardwood import _core

    command = [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "_core", "-o", str(tmp_path / "_core.pyi")]
    subprocess.run(command, cwd=Path(_core.__file__).parent, check=True, timeout=120)
    assert (tmp_path / "_core.pyi").read_text() == (ROOT / "src" / "hardwood" / "_core.pyi").read_text()


def test_pages_contain_no_paths_of_a_machine():
    for page in PAGES:
        assert not re.search(r"(/root/|/work/|/tmp/|/home/)", page.read_text(encoding="utf-8")), page.name
