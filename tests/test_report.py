"""The report: its numbers, and how it behaves in a real browser."""

import math
import re
import shutil
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import hardwood as hw
from hardwood import RobustTreeClassifier, robustness_path
from hardwood.estimators.rivals import cart, rivals
from hardwood.report.content import Model, content_of
from hardwood.report.markup import element, escaped, fingerprint, inline_json
from hardwood.trees.anatomy import anatomy, rule_of
from hardwood.trees.tree import Branch
from problems import posed, small_table
from surveys import survey

HOSTILE = [
    "<script>document.title='broken'</script>",
    "\"'><img src=x onerror=document.title='broken'>",
    "\u202etfel ot thgir\u202c",
    "עברית ועוד",
    "😀👩‍👩‍👧",
    "x" * 200,
    "</title></style></script><!--",
    "a & b; -- DROP TABLE",
]


@pytest.fixture(scope="session")
def browser():
    """Debian's Chromium, or any other that is there."""
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
    """Opens a file and fails the test if the page complains or asks for anything from outside."""
    troubles, contexts = [], []

    def open_file(path, **options):
        context = browser.new_context(**({"viewport": {"width": 1200, "height": 900}} | options))
        contexts.append(context)
        tab = context.new_page()
        tab.on("console", lambda message: troubles.append(message.text))
        tab.on("pageerror", lambda error: troubles.append(str(error)))
        tab.on("dialog", lambda dialog: (troubles.append(dialog.message), dialog.dismiss()))
        tab.on("request", lambda request: troubles.append(request.url) if request.url != path.as_uri() else None)
        tab.goto(path.as_uri())
        return tab

    yield open_file
    for context in contexts:
        context.close()
    assert troubles == []


@pytest.fixture(scope="module")
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


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A table whose names, answers and labels are attacks, and its report."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.choice(HOSTILE, 200) for name in HOSTILE[:3]})
    for name in HOSTILE[3:]:
        frame[name] = rng.integers(0, 5, 200)
    answers = np.where(
        frame[HOSTILE[0]] == HOSTILE[1], HOSTILE[0], np.where(frame[HOSTILE[5]] > 2, HOSTILE[2], HOSTILE[4])
    )
    model = RobustTreeClassifier(3, certainty=0.9, plausibility=0.97).fit(frame, answers)
    path = tmp_path_factory.mktemp("hostile") / "report.html"
    model.report(path, title=HOSTILE[0], show_rows=True)
    return model, frame, answers, path


def test_the_parts_of_a_tree_add_up():
    values, y, costs = small_table(3, n=60)
    problem = posed(values, y, costs, 4.0, depth=3)
    found = hw.attack(hw.solve(problem).tree, problem.labels, problem.uncertainty)
    parts = anatomy(found)
    leaves = [part for part in parts if part.leaf is not None]
    assert [part.leaf for part in leaves] == list(range(len(found.tree.regions)))
    assert parts[0].n_samples == sum(part.n_samples for part in leaves) == 60
    assert sum(part.wrong for part in leaves) == 60 - found.nominal_correct
    assert sum(part.lost for part in leaves) == found.nominal_correct - found.worst_case_correct
    assert all(part.lost <= part.within <= part.n_samples - part.wrong for part in leaves)
    assert np.array_equal(parts[0].counts, np.bincount(problem.labels.codes))
    for part in parts:
        if part.leaf is None:
            children = [other for other in parts if other.way[:-1] == part.way and other.way]
            assert sum(child.n_samples for child in children) == part.n_samples


def test_a_rule_says_what_the_samples_of_a_leaf_have_in_common(voters):
    model, _, frame, _, _ = voters
    tree = model.tree_
    leaf_of = tree.leaf_of(model.encoded(frame))
    for leaf, region in enumerate(tree.regions):
        here = frame[leaf_of == leaf]
        for column, words in rule_of(tree, region):
            values = here[column]
            if found := re.fullmatch(r"is at least (\S+)( and at most (\S+))?", words):
                assert (values >= float(found[1])).all()
            elif found := re.fullmatch(r"is (more than (\S+) and )?at most (\S+)", words):
                assert (values <= float(found[3])).all()
                assert found[2] is None or (values > float(found[2])).all()
            elif words.startswith("is not "):
                assert not set(map(str, values)) & set(re.split(", | or ", words.removeprefix("is not ")))
            elif found := re.fullmatch(r"is more than (\S+)", words):
                assert (values > float(found[1])).all()
            else:
                assert set(map(str, values)) <= set(re.split(", | or ", words.removeprefix("is ")))


def test_cart_is_scikit_learn_s_tree():
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"number": rng.integers(0, 9, 150), "colour": rng.choice(["red", "green", "blue"], 150)})
    y = (frame["number"] > 4) ^ (frame["colour"] == "red") ^ (rng.random(150) < 0.1)
    table = hw.encode(frame)
    labels = hw.encode_labels(y, 150)
    problem = hw.Problem(labels, hw.UncertaintySet.boxes(table, radius=0), 3)
    ours = cart(problem).predict(table)
    design = np.column_stack([frame["number"], pd.get_dummies(frame["colour"])])
    theirs = DecisionTreeClassifier(max_depth=3, random_state=0).fit(design, labels.codes).predict(design)
    assert (ours == theirs).mean() > 0.97  # ties between equal splits may fall differently
    assert (ours == labels.codes).mean() == pytest.approx((theirs == labels.codes).mean(), abs=0.02)


def test_the_report_says_what_the_classifier_says(voters):
    model, _, _, y, path = voters
    text = path.read_text(encoding="utf-8")
    certificate = model.certificate_
    for share in (certificate.nominal_accuracy, certificate.worst_case_accuracy):
        assert f"<dd>{100 * share:.1f}\N{NO-BREAK SPACE}%" in text
    assert f"{certificate.worst_case_correct} of {len(y)} rows" in text
    assert certificate.data_hash in text
    assert path.stat().st_size < 1_000_000


def test_curves_and_rivals_are_the_adversary_s(voters):
    model, _, frame, y, _ = voters
    table, labels, shifts = model.subject(frame, y)
    others = rivals(hw.Problem(labels, shifts.uncertainty(table), 3), model.certificate_)
    content = content_of([Model(model.tree_, shifts, None)], 0, table, labels, rivals=others, title="")
    own = model.worst_case(frame, y).curve
    budgets = np.linspace(0, content.largest_budget, 201)
    assert content.curves["this tree"] == pytest.approx(own.accuracy_at(budgets), abs=1e-5)
    assert set(content.curves) == {"this tree", "ordinary optimal tree", "CART", "majority answer"}
    ordinary = RobustTreeClassifier(3, plausibility=1.0, feature_kinds={"trust": ["low", "middle", "high"]}).fit(
        frame, y
    )
    assert content.curves["ordinary optimal tree"][0] == pytest.approx(ordinary.score(frame, y), abs=1e-5)
    assert len(set(content.curves["majority answer"])) == 1
    for curve in content.curves.values():
        assert all(curve[k] >= curve[k + 1] for k in range(200))


def test_a_report_on_another_table_says_so(voters, tmp_path):
    model, _, frame, y, _ = voters
    model.report(tmp_path / "other.html", frame[:50], y[:50])
    text = (tmp_path / "other.html").read_text(encoding="utf-8")
    assert "what is proved is about the table that it was learnt from" in text
    assert "All numbers are about 50 rows that are not the table the tree was learnt from" in text
    assert "rows at most" not in text
    assert "CART" not in text  # a tree learnt from this table would have an advantage


def test_levels_that_share_a_tree_are_told_apart(tmp_path):
    """A path may have one tree at several levels; the report is about the level asked for."""
    frame = pd.DataFrame({"a": [0, 1, 2, 3] * 25})
    found = robustness_path(frame, frame["a"] > 1, (1.0, 0.99, 0.98, 0.9), max_depth=1, certainty=0.7)
    first = found.classifiers[0]
    for classifier in found.classifiers:
        classifier.tree_ = first.tree_
    for level, classifier in zip(found.plausibilities, found.classifiers, strict=True):
        classifier.report(tmp_path / "report.html", along=found)
        text = (tmp_path / "report.html").read_text(encoding="utf-8")
        assert f"Plausibility {level:g}: " in text.split("</header>")[0]
        assert f"<small>{classifier.certificate_.worst_case_correct} of 100 rows" in text


def test_a_path_for_other_shifts_is_refused(tmp_path):
    frame = pd.DataFrame({"a": [0, 1, 2, 3] * 25})
    found = robustness_path(frame, frame["a"] > 1, (1.0, 0.9), max_depth=1, certainty=0.7)
    model = RobustTreeClassifier(1, certainty=0.9).fit(frame, frame["a"] > 1)
    with pytest.raises(ValueError, match="along was learnt for other shifts"):
        model.report(tmp_path / "report.html", along=found)


def test_numbers_are_told_exactly_and_wide_columns_have_a_report(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"day": rng.integers(20200101, 20251231, 60)})
    model = RobustTreeClassifier(1, plausibility=1.0).fit(frame, frame["day"] > 20230405)
    model.report(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    threshold = model.tree_.root.code
    assert f"is at most {threshold}<" in text
    assert f"is at least {threshold + 1}<" in text
    assert "e+07" not in text


def test_values_that_no_row_has_may_be_less_certain_than_allowed(tmp_path):
    frame = pd.DataFrame({"a": [0, 1, 2, 3, 4, 5, 6, 7, 8, 10] * 5})
    model = RobustTreeClassifier(1, certainty=0.4, direction="up", bounds=(0, 10)).fit(frame, frame["a"] > 4)
    model.report(tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size > 10_000


def test_no_single_value_is_told_unless_asked(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"income": rng.integers(30_000, 30_600, 150)})
    y = frame["income"] > 30_300
    model = RobustTreeClassifier(1, certainty=0.1, plausibility=0.95).fit(frame, y)
    assert len(model.worst_case(frame, y).shift) > 3
    model.report(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    told = {int(word) for word in re.findall(r"\d{5}", text)} & set(frame["income"])
    assert told <= {model.tree_.root.code}
    model.report(tmp_path / "rows.html", show_rows=True)
    text = (tmp_path / "rows.html").read_text(encoding="utf-8")
    assert len({int(word) for word in re.findall(r"\d{5}", text)} & set(frame["income"])) > 3


def test_prices_by_category_are_told_as_changes(tmp_path):
    frame = pd.DataFrame({"c": ["u", "v", "w"] * 20})
    costs = {"c": {"u": 1.0, "v": 2.0, "w": 3.0}}
    RobustTreeClassifier(1, costs=costs, budget=6.0).fit(frame, frame["c"] == "u").report(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<td>3 to 5</td><td>not said</td><td>not said</td><td>2</td><td>among its answers</td>" in text
    assert "as likely as no shift" not in text


def test_a_penalised_optimum_does_not_claim_that_none_is_more_robust(tmp_path):
    frame, y = survey()
    model = RobustTreeClassifier(3, branch_penalty=6.0, feature_kinds={"trust": ["low", "middle", "high"]}).fit(
        frame, y
    )
    assert model.certificate_.gap > 0
    model.report(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    most = model.certificate_.upper_bound / model.certificate_.total
    assert f"up to {100 * most:.1f}\N{NO-BREAK SPACE}%" in text
    assert "proved optimal" not in text


def test_a_place_that_cannot_be_written_is_named_first(tmp_path):
    model = RobustTreeClassifier(1).fit({"a": [1, 2]}, [0, 1])
    for path in (tmp_path, tmp_path / "missing" / "report.html"):
        with pytest.raises(ValueError, match="cannot be written: expected a file in a folder that exists"):
            model.report(path)


def test_a_model_with_certainty_by_cell_has_a_report(tmp_path, opened):
    frame = pd.DataFrame({"a": [0, 1, 2, 3] * 10})
    cells = np.full((40, 1), 0.8)
    model = RobustTreeClassifier(1).fit(frame, frame["a"] > 1, certainty=cells)
    model.report(tmp_path / "report.html", frame[:20], frame["a"][:20] > 1, certainty=cells[:20])
    model.report(tmp_path / "report.html")
    tab = opened(tmp_path / "report.html")
    tab.locator("#field-0").fill("2")
    assert "there is no margin here" in tab.inner_text("#result")


def test_sql_that_some_database_would_read_otherwise_is_not_written(tmp_path):
    frame = pd.DataFrame({"a": [0, 1] * 10})
    model = RobustTreeClassifier(1, plausibility=1.0).fit(frame, np.where(frame["a"], "\\'; DROP TABLE x; --", "b"))
    model.report(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Not written: a name has a backslash" in text
    assert 'id="rules-sql"' not in text


def test_single_rows_are_shown_only_when_asked(voters, tmp_path):
    model, _, _, _, path = voters
    assert "Row by row" not in path.read_text(encoding="utf-8")
    model.report(tmp_path / "rows.html", show_rows=True)
    assert "Row by row, counted from 0" in (tmp_path / "rows.html").read_text(encoding="utf-8")


def test_a_loaded_model_needs_its_table(voters, tmp_path):
    model, _, frame, y, _ = voters
    model.save(tmp_path / "model.json")
    loaded = RobustTreeClassifier.load(tmp_path / "model.json")
    with pytest.raises(ValueError, match="does not hold its training table; give X and y"):
        loaded.report(tmp_path / "report.html")
    with pytest.raises(ValueError, match="X and y belong together"):
        loaded.report(tmp_path / "report.html", frame)
    loaded.report(tmp_path / "report.html", frame, y)
    assert model.certificate_.data_hash in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_markup_escapes_everything_and_json_cannot_leave_its_element():
    for text in HOSTILE:
        assert not set("<>\"'") & set(escaped(text))
        document = inline_json({text: [text]})
        assert not set("<>&") & set(document)
    assert escaped("a\x00b\x85c\ud800") == "a\ufffdb\ufffdc\ufffd"
    assert element("p", "<", data_x='"', hidden=None, open=True) == '<p data-x="&quot;" open>&lt;</p>'
    assert fingerprint("") == "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"


def test_a_page_has_a_strict_policy_and_no_inline_styles_or_handlers(voters):
    text = voters[4].read_text(encoding="utf-8")
    assert "default-src &#x27;none&#x27;" in text
    assert "unsafe" not in text
    assert not re.search(r"<[^>]* (style|on\w+)=", text)
    assert not re.search(r"(src|href)=\"(?!#)", text)
    assert "http://" not in text.replace("http://www.w3.org/", "")
    assert "https://" not in text


@pytest.mark.parametrize("depth", [0, 1])
def test_a_tree_that_asks_nothing_has_a_report(tmp_path, depth, opened):
    frame = pd.DataFrame({"a": [1, 2, 3, 4]})
    RobustTreeClassifier(depth, plausibility=0.01).fit(frame, ["x", "x", "x", "y"]).report(tmp_path / "leaf.html")
    tab = opened(tmp_path / "leaf.html")
    assert "This tree asks nothing" in tab.inner_text("#record")
    assert tab.locator("svg.tree .leaf").count() == 1


@pytest.mark.parametrize(
    "parameters",
    [{"radius": 1}, {"costs": 1.0, "budget": 3.0}, {"direction": {"a": "up"}}, {"objective": "distributional"}],
)
def test_every_way_to_say_shifts_has_a_report(tmp_path, parameters, opened):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"a": rng.integers(0, 6, 80), "b": rng.choice(["u", "v"], 80)})
    y = (frame["a"] > 2).astype(int)
    model = RobustTreeClassifier(2, **parameters).fit(frame, y)
    model.report(tmp_path / "report.html")
    tab = opened(tmp_path / "report.html")
    for k in range(0, 80, 9):
        check_record(tab, model, frame.iloc[[k]])


def test_the_slider_swaps_the_tree(voters, opened):
    _, found, _, _, path = voters
    tab = opened(path)
    slider = tab.locator("#slider")
    assert tab.locator("details.level:visible").count() == 1
    for number, classifier in enumerate(found.classifiers):
        slider.fill(str(number))
        assert tab.locator(f"#level-{number}").is_visible()
        assert tab.locator("details.level:visible").count() == 1
        assert tab.locator("details.level:visible .leaf").count() == len(classifier.tree_.regions)
        worst = 100 * classifier.certificate_.worst_case_accuracy
        assert f"{worst:.1f}\N{NO-BREAK SPACE}% correct after the worst shift" in tab.inner_text("#slider-words")


def fill(tab, model, row):
    for j, feature in enumerate(model.tree_.features):
        field = tab.locator(f"#field-{j}")
        if not field.count() or field.is_disabled():  # the tree does not ask for it
            continue
        value = row[feature.name].iloc[0]
        if feature.missing and pd.isna(value):
            field.select_option("") if feature.categories else field.fill("")
        elif feature.categories:
            field.select_option(str([str(answer) for answer in feature.categories].index(str(value))))
        else:
            field.fill(str(value))


def check_record(tab, model, row):
    """The page's prediction and margin of a record are the classifier's."""
    fill(tab, model, row)
    result = tab.locator("#result")
    assert result.get_attribute("data-prediction") == str(model.predict(row)[0])
    margin = float(result.get_attribute("data-margin").replace("Infinity", "inf"))
    assert margin == pytest.approx(model.margins(row)[0], rel=1e-9, abs=1e-12)
    leaf = int(model.tree_.leaf_of(model.encoded(row))[0])
    assert result.get_attribute("data-leaf") == str(leaf)
    assert tab.locator("details.level:visible .leaf.on").get_attribute("data-leaf") == str(leaf)
    assert tab.locator("details.level:visible .question.on").count() == len(model.tree_.paths[leaf])


def test_the_form_traces_the_way_of_many_records(voters, opened):
    _, found, frame, _, path = voters
    tab = opened(path)
    for number, classifier in enumerate(found.classifiers):
        tab.locator("#slider").fill(str(number))
        for k in range(number, len(frame), 7):
            check_record(tab, classifier, frame.iloc[[k]])


def test_the_form_waits_for_an_answer_that_fits(tmp_path, opened):
    frame = pd.DataFrame({"age": [20, 30, 40, 50] * 10, "unasked": [1] * 40})
    model = RobustTreeClassifier(1, bounds={"age": (0, 65)}).fit(frame, frame["age"] > 35)
    model.report(tmp_path / "report.html")
    tab = opened(tmp_path / "report.html")
    assert "Waiting for an answer that fits: age" in tab.inner_text("#result")
    age = tab.locator("#field-0")
    for wrong in ("30.5", "-1", "70"):
        age.fill(wrong)
        assert "Waiting for an answer that fits: age" in tab.inner_text("#result")
        assert age.get_attribute("aria-invalid") == "true"
    for value in (0, 31, 62, 65):  # within the bounds, also where no row was
        check_record(tab, model, pd.DataFrame({"age": [value], "unasked": [1]}))


def test_the_tree_is_traced_by_pointer_and_by_keyboard(voters, opened):
    tab = opened(voters[4])
    level = "details.level:visible"
    tab.locator(f"{level} .leaf").first.hover()
    way = tab.locator(f"{level} .leaf").first.get_attribute("data-way")
    assert tab.locator(f"{level} .edge.on").count() == len(way) - 1
    assert tab.locator(f"{level} .cards > li.on").get_attribute("data-card") == "0"
    tab.locator(f"{level} .question").first.focus()
    places = []
    for key in ("ArrowRight", "ArrowDown", "ArrowLeft", "ArrowLeft"):
        tab.keyboard.press(key)
        places.append(tab.evaluate("document.activeElement.dataset.way"))
    assert places == (
        ["ty", "tyn", "ty", "t"] if isinstance(voters[0].tree_.root.left, Branch) else ["ty", "ty", "t", "t"]
    )
    tab.locator("#slider").focus()
    before = tab.input_value("#slider")
    tab.keyboard.press("ArrowLeft")
    assert int(tab.input_value("#slider")) == int(before) - 1
    assert tab.locator(f"#level-{int(before) - 1}").is_visible()


def test_everything_can_be_reached_with_the_tab_key(voters, opened):
    tab = opened(voters[4])
    reached = set()
    for _ in range(120):
        tab.keyboard.press("Tab")
        place = tab.evaluate("document.activeElement.id || document.activeElement.getAttribute('class')")
        reached.add(str(place).removesuffix(" on"))
    assert {"slider", "question", "curve-place", "rules-text"} <= reached  # leaves by the arrow keys
    assert any(str(name).startswith("field-") for name in reached)


def test_the_curves_are_read_out(voters, opened):
    model, _, frame, y, path = voters
    tab = opened(path)
    tab.locator("#curve-place").fill("50")
    told = tab.inner_text("#curve-words")
    budget = 0.5 * max(len(y) * math.log(2), 2 * model.certificate_.budget)
    own = 100 * float(model.worst_case(frame, y).curve.accuracy_at(budget))
    assert f"this tree {own:.1f} %" in told
    assert f"At plausibility {math.exp(-budget / len(y)):.3f}" in told


def test_rules_are_copied(voters, opened):
    from hardwood.trees.export import to_sql

    tab = opened(voters[4])
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab.locator("summary", has_text="SQL").click()
    tab.locator("[data-copy=rules-sql]").click()
    tab.wait_for_function("document.querySelector('[data-copy=rules-sql]').textContent === 'Copied'")
    assert tab.evaluate("navigator.clipboard.readText()") == to_sql(voters[0].tree_)


def test_the_page_reads_without_scripts(voters, opened):
    tab = opened(voters[4], java_script_enabled=False)
    assert tab.locator("details.level[open] svg.tree").count() == 1
    assert tab.locator("#level-0 > summary").is_visible()
    assert tab.locator("#slider").is_hidden()
    assert tab.locator("form").is_hidden()
    tab.locator("#level-0 > summary").click()
    assert tab.locator("#tree-0").is_visible()
    assert tab.locator("#curve polyline").count() == 4


def test_hostile_names_are_shown_as_text(hostile, opened):
    model, frame, answers, path = hostile
    tab = opened(path)
    assert tab.title() == HOSTILE[0]
    assert tab.inner_text("h1") == HOSTILE[0]
    assert tab.locator("img").count() == 0
    assert tab.locator("script").count() == 2
    names = tab.locator("#prices tbody th").all_text_contents()
    assert names == list(frame.columns)
    assert tab.locator(".legend").first.locator("bdi").all_text_contents() == [str(name) for name in model.classes_]
    for k in range(0, 200, 23):
        check_record(tab, model, frame.iloc[[k]])
    assert "Not written: a name has invisible characters" in tab.locator("#rules").text_content()
    shown = tab.evaluate("document.querySelector('#rules-text').textContent")
    assert "\u202e" not in shown
    tab.locator("summary", has_text="Python").click()
    rules = tab.locator("#rules-python").text_content()
    scope = {}
    exec(rules, scope)
    for k in range(0, 200, 23):
        row = {name: frame[name].iloc[k] for name in frame}
        assert scope["predict"](row) == model.predict(frame.iloc[[k]])[0]
    assert set(answers) == set(model.classes_)


@pytest.mark.parametrize("width", [360, 768, 1400])
def test_nothing_sticks_out_at_any_width(voters, hostile, opened, width):
    for path in (voters[4], hostile[3]):
        tab = opened(path, viewport={"width": width, "height": 800})
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        inside = (
            "[...document.querySelectorAll('.scroll')].every(box => box.getBoundingClientRect().right <= innerWidth)"
        )
        assert tab.evaluate(inside)


def test_text_in_the_tree_stays_in_its_box(hostile, opened):
    tab = opened(hostile[3])
    too_large = """[...document.querySelectorAll('svg .words')].filter(
        box => box.getBoundingClientRect().height > box.parentElement.getBoundingClientRect().height + 1).length"""
    assert tab.evaluate(too_large) == 0
    beyond = """[...document.querySelectorAll('svg.tree')].every(svg => {
        const right = svg.getBoundingClientRect().right;
        return [...svg.querySelectorAll('text')].every(text => text.getBoundingClientRect().right <= right);
    })"""
    assert tab.evaluate(beyond)


def test_dark_and_print_look_different(voters, opened, tmp_path):
    shade = "getComputedStyle(document.documentElement).backgroundColor"
    light = opened(voters[4])
    dark = opened(voters[4], color_scheme="dark")
    assert light.evaluate(shade) != dark.evaluate(shade)
    for name, tab in (("light", light), ("dark", dark)):
        tab.screenshot(path=tmp_path / f"{name}.png")
    assert (tmp_path / "light.png").read_bytes() != (tmp_path / "dark.png").read_bytes()
    dark.emulate_media(media="print")
    assert dark.evaluate(shade) == "rgb(255, 255, 255)"
    assert dark.locator("nav").is_hidden()
    assert dark.locator("form").is_hidden()
    assert dark.locator("svg.tree:visible").count() == 1
    assert len(dark.pdf()) > 20_000


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_serious_findings_about_accessibility(voters, hostile, opened, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    for path in (voters[4], hostile[3]):
        tab = opened(path, color_scheme=scheme, bypass_csp=True)
        found = axe.run(tab).response["violations"]
        assert [(entry["id"], entry["impact"], entry["nodes"][0]["html"][:120]) for entry in found] == []


def test_the_same_model_gives_the_same_page(voters, tmp_path):
    model, _, frame, y, _ = voters
    for name in ("one.html", "two.html"):
        model.report(tmp_path / name, frame, y)
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()


def test_estimators_load_no_html_until_a_report_is_asked_for():
    code = "import sys, hardwood.estimators.path, hardwood.estimators.audit; print('hardwood.report' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


@pytest.mark.parametrize("seed", range(6))
def test_the_form_agrees_with_the_classifier_on_random_models(tmp_path, opened, seed):
    """All kinds of columns, bounds, directions and prices; records also from outside the training table."""
    rng = np.random.default_rng(seed)
    frame, y = survey(seed=seed)
    frame["visits"] = rng.integers(-2, 7, len(frame))
    options = [
        {"certainty": 0.75},
        {"certainty": {name: float(rng.uniform(0.6, 1.0)) for name in frame}, "bounds": {"age": (10, 90)}},
        {"certainty": 0.8, "direction": {"age": "up", "visits": "down"}, "bounds": {"visits": (None, 9)}},
        {"costs": {"age": 0.3, "party": {"left": 1.0, "right": 0.5, "none": 2.0}}, "budget": 20.0},
        {"radius": {"age": 2, "party": 0, "trust": 1, "asked before": 1, "income": 0, "visits": 3}},
        {"certainty": 0.7, "bounds": {"visits": (-2, 6), "age": (0, None)}, "direction": {"visits": "up"}},
    ][seed]
    if "costs" in options:
        options["costs"] |= {name: float(rng.uniform(0.2, 2)) for name in ("trust", "asked before", "income", "visits")}
    kinds = {"trust": ["low", "middle", "high"]}
    labels = np.where((frame["visits"] > 2) & (frame["age"] > 40), "often", y)
    model = RobustTreeClassifier(3, **options, feature_kinds=kinds, time_limit=3).fit(frame, labels)
    model.report(tmp_path / "report.html")
    tab = opened(tmp_path / "report.html")
    for k in range(0, 120, 8):
        row = frame.iloc[[k]].copy()
        row["income"] += float(rng.normal(0, 20))
        row["age"] = int(rng.integers(10, 90))
        check_record(tab, model, row)


@pytest.mark.parametrize("seed", range(3))
def test_the_form_knows_missing_answers_tables_and_weights(tmp_path, opened, seed):
    rng = np.random.default_rng([9, seed])
    frame, y = survey(seed=seed)
    frame = frame.astype({"age": float})
    for name in ("age", "income", "trust"):
        frame.loc[rng.random(len(frame)) < 0.2, name] = None
    frame["visits"] = rng.integers(0, 4, len(frame))
    parties = sorted(frame["party"].unique())
    chances = pd.DataFrame(rng.dirichlet(np.ones(len(parties)), len(parties)), index=parties, columns=parties)
    visits = [0, 1, 2, 3]
    listed = pd.DataFrame(rng.dirichlet(np.ones(4), 4), index=visits, columns=visits)
    certainty = dict.fromkeys(frame, 0.8) | {"party": chances, "visits": listed}
    labels = np.where((frame["visits"] > 1) & ~(frame["age"] < 40), "often", y)
    model = RobustTreeClassifier(
        3,
        certainty=certainty,
        plausibility=0.98,
        missing="category",
        missing_certainty={"age": 0.7},
        feature_kinds={"trust": ["low", "middle", "high"]},
        class_weight="balanced" if seed else None,
        clip=True,
        bounds={"age": (0, 99)} if seed == 2 else None,
    ).fit(frame, labels, rng.lognormal(size=len(frame)))
    model.report(tmp_path / "report.html")
    tab = opened(tmp_path / "report.html")
    for k in range(0, len(frame), 9):
        check_record(tab, model, frame.iloc[[k]])
    words = tab.inner_text("body")
    assert "The rows stand for" in words
    assert ("balanced accuracy" in words) == bool(seed)
    assert "measured" in words
    for own in model.certificate_.by_class:
        assert f"{100 * own.guaranteed:.1f}" in tab.inner_text("#curve")


def test_the_opening_says_what_the_numbers_are_about(tmp_path):
    frame, y = survey()
    unseen, y_unseen = survey(seed=9)
    model = RobustTreeClassifier(2, feature_kinds={"trust": ["low", "middle", "high"]})
    model.fit(frame, pd.Series(y, name="vote <1996>"))
    model.report(
        tmp_path / "report.html",
        X_test=unseen,
        y_test=y_unseen,
        author="The team",
        source="Panel",
        intended_use="Planning, not for decisions about persons",
    )
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Predicting vote &lt;1996&gt;: a tree that stays right" in text
    assert f"All numbers are about {len(frame)} rows the tree was learnt from" in text
    found = model.worst_case(unseen, y_unseen)
    assert f"on {len(unseen)} rows that it has not seen" in text
    assert f"{100 * found.worst_case_accuracy:.1f}\N{NO-BREAK SPACE}% after the worst shift of these rows" in text
    for words in ("The team", "Panel", "Planning, not for decisions about persons", "What this does not promise"):
        assert words in text
    assert "changes expected by chance" in text


def test_the_cards_on_top_follow_the_slider(voters, opened):
    _, along, _, _, page = voters
    tab = opened(page)
    for number, classifier in enumerate(along.classifiers):
        tab.locator("#slider").fill(str(number))
        share = f"{100 * classifier.certificate_.worst_case_accuracy:.1f}"
        assert share in tab.inner_text("dl.facts:not([hidden])")


def test_narrow_screens_have_the_tree_as_a_list(voters, opened):
    *_, page = voters
    tab = opened(page, viewport={"width": 390, "height": 800})
    assert tab.locator("details.level:not([hidden]) > .outline").is_visible()
    assert not tab.locator("details.level:not([hidden]) svg.tree").is_visible()
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    wide = opened(page)
    assert not wide.locator("details.level:not([hidden]) > .outline").is_visible()
    assert wide.locator("details.level:not([hidden]) svg.tree").is_visible()


def test_answers_that_the_adversary_might_give_as_well_are_not_invented(tmp_path):
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"town": rng.choice(["a", "b", "c", "d"], 1000)})
    y = np.where(frame["town"] == "a", "yes", "no")
    model = RobustTreeClassifier(1, certainty=0.6, plausibility=0.9).fit(frame, y)
    model.report(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<bdi>any other answer</bdi>" in text
