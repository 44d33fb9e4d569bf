"""A browser, and two reports that many tests share."""

import shutil

import numpy as np
import pandas as pd
import pytest

from hardwood import RobustTreeClassifier, robustness_path
from tests.report.records import HOSTILE
from tests.surveys import survey


@pytest.fixture(scope="session")
def browser():
    """Debian's Chromium, or another one that is installed."""
    sync_api = pytest.importorskip("playwright.sync_api")
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        pytest.skip("no Chromium is installed: apt-get install chromium")
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def opened(browser):
    """Opens a file; the test fails if the page logs anything or requests another file."""
    complaints, contexts = [], []

    def open_file(path, **options):
        context = browser.new_context(**({"viewport": {"width": 1200, "height": 900}} | options))
        contexts.append(context)
        tab = context.new_page()
        tab.on("console", lambda message: complaints.append(message.text))
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        tab.on("dialog", lambda dialog: (complaints.append(dialog.message), dialog.dismiss()))
        tab.on("request", lambda request: complaints.append(request.url) if request.url != path.as_uri() else None)
        tab.goto(path.as_uri())
        return tab

    yield open_file
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture(scope="session")
def voters(tmp_path_factory):
    """A survey with all kinds of columns, a path of trees, and the report of one of them."""
    frame, y = survey()
    kinds = {"trust": ["low", "middle", "high"]}
    bounds = {"age": (18, 90)}
    found = robustness_path(
        frame, y, (1.0, 0.95, 0.85, 0.6), max_depth=3, certainty=0.8, bounds=bounds, feature_kinds=kinds, time_limit=5
    )
    path = tmp_path_factory.mktemp("report") / "report.html"
    model = found.classifiers[2]
    model.report(path, along=found, title="Voters")
    return model, found, frame, y, path


@pytest.fixture(scope="session")
def hostile(tmp_path_factory):
    """A table whose names, values and labels are injection attempts, and its report."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.choice(HOSTILE, 200) for name in HOSTILE[:3]})
    for name in HOSTILE[3:]:
        frame[name] = rng.integers(0, 5, 200)
    y = np.where(frame[HOSTILE[0]] == HOSTILE[1], HOSTILE[0], np.where(frame[HOSTILE[5]] > 2, HOSTILE[2], HOSTILE[4]))
    model = RobustTreeClassifier(3, certainty=0.9, plausibility=0.97).fit(frame, y)
    path = tmp_path_factory.mktemp("hostile") / "report.html"
    model.report(path, title=HOSTILE[0], show_rows=True)
    return model, frame, y, path
