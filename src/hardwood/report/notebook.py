"""Results as notebooks show them: the report's drawings, with a style of their own; everybody's words are escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hardwood.certificate import Certificate
from hardwood.estimators.alternatives import Alternatives
from hardwood.estimators.audit import Audit
from hardwood.estimators.compare import Comparison
from hardwood.estimators.findings import Findings
from hardwood.estimators.harden import Hardened
from hardwood.estimators.path import RobustnessPath
from hardwood.report.content import Level
from hardwood.report.drawing import legend, tree_svg
from hardwood.report.markup import Markup, element, joined
from hardwood.shift.description import ShiftDescription
from hardwood.trees.adversary import Attack

MOST_CHANGES = 10
STYLE = """
.hardwood { --ground: #fbfbf9; --ink: #1d2327; --soft: #55606a; --edge: #b9c2c8; --track: #eceff0; --line: #d5dadd;
 --c0: #0072b2; --c1: #d55e00; --c2: #009e73; --c3: #cc79a7; --c4: #e69f00; --c5: #56b4e9; --c6: #555; --c7: #9a8c00;
 background: #fff; color: var(--ink); font: 14px/1.45 system-ui, sans-serif; overflow-x: auto; padding: 0.5rem; }
.hardwood svg text { fill: var(--ink); font: 12px system-ui, sans-serif; }
.hardwood svg .words { height: 100%; display: flex; flex-direction: column; align-items: center;
 justify-content: center; text-align: center; font: 13px/1.35 system-ui, sans-serif; }
.hardwood svg .words bdi { display: block; max-width: 100%; overflow: hidden; text-overflow: ellipsis;
 white-space: nowrap; }
.hardwood svg .test { font-weight: 650; }
.hardwood .question rect { fill: var(--ground); stroke: var(--soft); }
.hardwood .leaf rect[rx="16"] { fill-opacity: 0.25; stroke: var(--ink); stroke-width: 0.75; }
.hardwood .edge path { fill: none; stroke: var(--edge); }
.hardwood .edge .answer { fill: var(--soft); text-anchor: end; font-size: 11px; }
.hardwood .told { fill: var(--soft); font-size: 11.5px; }
.hardwood .empty { fill: var(--track); }
.hardwood .hit { fill: none; }
.hardwood .legend { display: flex; flex-wrap: wrap; gap: 1rem; list-style: none; padding: 0; }
.hardwood table { border-collapse: collapse; }
.hardwood th, .hardwood td { padding: 0.2rem 0.8rem 0.2rem 0; border-bottom: 1px solid var(--line); text-align: left; }
""" + "\n".join(f".hardwood .class-{k} {{ fill: var(--c{k}); }}" for k in range(8))


def html_of(thing: Any) -> str:
    """A result as a piece of HTML."""
    return element("div", Markup(f"<style>{STYLE}</style>"), *_pieces(thing), class_="hardwood")


def _pieces(thing: Any) -> list[Markup]:
    if isinstance(thing, Attack):
        return _of_attack(thing, ShiftDescription())
    if isinstance(thing, Audit):
        return [*_of_attack(thing.found, thing.shifts), _classes(thing)]
    if isinstance(thing, Hardened):
        return [_lines(str(thing).split("\n\n")[0]), *_of_attack(thing.after.found, thing.after.shifts)]
    if isinstance(thing, RobustnessPath | Comparison):
        return [_table(thing.to_dict())]
    if isinstance(thing, Alternatives):
        pieces = [_lines(thing.said), _table(thing.to_dict())]
        return [*pieces, *(drawn for found in thing for drawn in _drawn(found, ShiftDescription()))]
    if isinstance(thing, Certificate | Findings):
        return [_lines(str(thing))]
    return [element("pre", str(thing))]


def _of_attack(found: Attack, shifts: ShiftDescription) -> list[Markup]:
    first, *changes = str(found).split("\n")
    entries = found.shift.grouped()[:MOST_CHANGES]
    table = _table({name: [entry[name] for entry in entries] for name in ("column", "from", "to", "rows", "price")})
    return [element("p", first), *_drawn(found, shifts), table if changes else joined()]


def _drawn(found: Attack, shifts: ShiftDescription) -> list[Markup]:
    level = Level(found, shifts, None)
    return [tree_svg(level, 0), legend(level)]


def _classes(found: Audit) -> Markup:
    own = found.by_class
    return _table(
        {
            "class": [share.label for share in own],
            "people": [share.people for share in own],
            "as they stand": [f"{share.nominal:.1%}" for share in own],
            "worst shift": [f"{share.worst_case:.1%}" for share in own],
        }
    )


def _lines(text: str) -> Markup:
    return joined(*(element("p", line) for line in text.split("\n") if line.strip()))


def _table(columns: Mapping[str, Sequence[Any]]) -> Markup:
    head = element("tr", *(element("th", name.replace("_", " ")) for name in columns))
    rows = [
        element("tr", *(element("td", _cell(name, value)) for name, value in zip(columns, row, strict=True)))
        for row in zip(*columns.values(), strict=True)
    ]
    return element("table", element("thead", head), element("tbody", *rows))


def _cell(name: str, value: Any) -> str:
    if value is None:
        return "not available"
    if isinstance(value, float):
        return f"{value:.1%}" if name.endswith("accuracy") or name == "gap" else f"{value:.4g}"
    return str(value)
