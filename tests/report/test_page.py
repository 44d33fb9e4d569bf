"""How a report behaves in a real browser."""

import math

import pandas as pd
import pytest

from hardwood import RobustTreeClassifier
from hardwood.trees.tree import Branch
from tests.report.records import HOSTILE, check_record


@pytest.mark.parametrize("depth", [0, 1])
def test_a_tree_without_splits_has_a_report(tmp_path, depth, opened):
    frame = pd.DataFrame({"a": [1, 2, 3, 4]})
    RobustTreeClassifier(depth, plausibility=0.01).fit(frame, ["x", "x", "x", "y"]).report(tmp_path / "leaf.html")
    tab = opened(tmp_path / "leaf.html")
    assert "This tree asks no questions" in tab.inner_text("#record")
    assert tab.locator("svg.tree .leaf").count() == 1


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
        assert f"{worst:.1f}\N{NO-BREAK SPACE}% correct after the worst shift" in tab.inner_text("#slider-text")


def test_the_cards_on_top_follow_the_slider(voters, opened):
    _, along, _, _, page = voters
    tab = opened(page)
    for number, classifier in enumerate(along.classifiers):
        tab.locator("#slider").fill(str(number))
        share = f"{100 * classifier.certificate_.worst_case_accuracy:.1f}"
        assert share in tab.inner_text("dl.facts:not([hidden])")


def test_the_tree_is_traced_by_pointer_and_by_keyboard(voters, opened):
    tab = opened(voters[4])
    level = "details.level:visible"
    tab.locator(f"{level} .leaf").first.hover()
    path = tab.locator(f"{level} .leaf").first.get_attribute("data-path")
    assert tab.locator(f"{level} .edge.on").count() == len(path) - 1
    assert tab.locator(f"{level} .cards > li.on").get_attribute("data-card") == "0"
    tab.locator(f"{level} .question").first.focus()
    paths = []
    for key in ("ArrowRight", "ArrowDown", "ArrowLeft", "ArrowLeft"):
        tab.keyboard.press(key)
        paths.append(tab.evaluate("document.activeElement.dataset.path"))
    assert paths == (
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
        focused = tab.evaluate("document.activeElement.id || document.activeElement.getAttribute('class')")
        reached.add(str(focused).removesuffix(" on"))
    assert {"slider", "question", "curve-slider", "rules-text"} <= reached  # leaves by the arrow keys
    assert any(str(name).startswith("field-") for name in reached)


def test_the_curves_are_read_out(voters, opened):
    model, _, frame, y, path = voters
    tab = opened(path)
    tab.locator("#curve-slider").fill("50")
    text = tab.inner_text("#curve-text")
    budget = 0.5 * max(len(y) * math.log(2), 2 * model.certificate_.budget)
    accuracy = 100 * float(model.worst_case(frame, y).curve.accuracy_at(budget))
    assert f"this tree {accuracy:.1f} %" in text
    assert f"At plausibility {math.exp(-budget / len(y)):.3f}" in text


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
    model, frame, y, path = hostile
    tab = opened(path)
    assert tab.title() == HOSTILE[0]
    assert tab.inner_text("h1") == HOSTILE[0]
    assert tab.locator("img").count() == 0
    assert tab.locator("script").count() == 2
    names = tab.locator("#costs tbody th").all_text_contents()
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
    assert set(y) == set(model.classes_)


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
    too_large = """[...document.querySelectorAll('svg .text')].filter(
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


def test_narrow_screens_have_the_tree_as_a_list(voters, opened):
    *_, page = voters
    tab = opened(page, viewport={"width": 390, "height": 800})
    assert tab.locator("details.level:not([hidden]) > .outline").is_visible()
    assert not tab.locator("details.level:not([hidden]) svg.tree").is_visible()
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    wide = opened(page)
    assert not wide.locator("details.level:not([hidden]) > .outline").is_visible()
    assert wide.locator("details.level:not([hidden]) svg.tree").is_visible()
