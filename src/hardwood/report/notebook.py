"""Results as notebooks show them: the drawings of the report with a style of their own, and escaped text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hardwood.certificate import Certificate
from hardwood.estimators.alternatives import Alternatives
from hardwood.estimators.audit import Audit
from hardwood.estimators.compare import Comparison
from hardwood.estimators.findings import Findings
from hardwood.estimators.harden import Hardened
from hardwood.estimators.path import RobustnessPath
from hardwood.report.content import Level
from hardwood.report.drawing.shapes import class_legend
from hardwood.report.drawing.tree import tree_svg
from hardwood.report.markup import Markup, element, joined
from hardwood.shifts.models import Calibrated, ShiftModel
from hardwood.trees.attack import Attack

_MAX_CHANGES = 10
_STYLE = """
.hardwood { --ground: #fbfbf9; --ink: #1d2327; --soft: #55606a; --edge: #b9c2c8; --track: #eceff0; --line: #d5dadd;
 --c0: #0072b2; --c1: #d55e00; --c2: #009e73; --c3: #cc79a7; --c4: #e69f00; --c5: #56b4e9; --c6: #555; --c7: #9a8c00;
 background: #fff; color: var(--ink); font: 14px/1.45 system-ui, sans-serif; overflow-x: auto; padding: 0.5rem; }
.hardwood svg text { fill: var(--ink); font: 12px system-ui, sans-serif; }
.hardwood svg .text { height: 100%; display: flex; flex-direction: column; align-items: center;
 justify-content: center; text-align: center; font: 13px/1.35 system-ui, sans-serif; }
.hardwood svg .text bdi { display: block; max-width: 100%; overflow: hidden; text-overflow: ellipsis;
 white-space: nowrap; }
.hardwood svg .condition { font-weight: 650; }
.hardwood .question rect { fill: var(--ground); stroke: var(--soft); }
.hardwood .leaf rect[rx="16"] { fill-opacity: 0.25; stroke: var(--ink); stroke-width: 0.75; }
.hardwood .edge path { fill: none; stroke: var(--edge); }
.hardwood .edge .outcome { fill: var(--soft); text-anchor: end; font-size: 11px; }
.hardwood .counts { fill: var(--soft); font-size: 11.5px; }
.hardwood .empty { fill: var(--track); }
.hardwood .hit { fill: none; }
.hardwood .legend { display: flex; flex-wrap: wrap; gap: 1rem; list-style: none; padding: 0; }
.hardwood table { border-collapse: collapse; }
.hardwood th, .hardwood td { padding: 0.2rem 0.8rem 0.2rem 0; border-bottom: 1px solid var(--line); text-align: left; }
""" + "\n".join(f".hardwood .class-{k} {{ fill: var(--c{k}); }}" for k in range(8))


def html_of(result: object) -> str:
    """Return a result as HTML for a notebook.

    Parameters
    ----------
    result : object
        An attack, audit, path, comparison or certificate is shown with drawings and tables; any other object as text.
    """
    return element("div", Markup(f"<style>{_STYLE}</style>"), *_parts(result), class_="hardwood")


def _parts(result: object) -> list[Markup]:
    """Return the elements that show a result."""
    if isinstance(result, Attack):
        return _attack(result, Calibrated())
    if isinstance(result, Audit):
        return [*_attack(result.found, result.shifts), _class_table(result)]
    if isinstance(result, Hardened):
        return [_paragraphs(str(result).split("\n\n")[0]), *_attack(result.after.found, result.after.shifts)]
    if isinstance(result, RobustnessPath | Comparison):
        return [_table(result.to_dict())]
    if isinstance(result, Alternatives):
        drawings = [part for attack in result for part in _tree(attack, Calibrated())]
        return [_paragraphs(result.summary), _table(result.to_dict()), *drawings]
    if isinstance(result, Certificate | Findings):
        return [_paragraphs(str(result))]
    return [element("pre", str(result))]


def _attack(attack: Attack, shifts: ShiftModel) -> list[Markup]:
    """Return the summary of an attack, its tree, and its most frequent changes."""
    summary, *changes = str(attack).split("\n")
    groups = attack.shift.grouped()[:_MAX_CHANGES]
    table = _table({name: [group[name] for group in groups] for name in ("column", "from", "to", "rows", "cost")})
    return [element("p", summary), *_tree(attack, shifts), table if changes else joined()]


def _tree(attack: Attack, shifts: ShiftModel) -> list[Markup]:
    """Return the drawing of a tree, and its legend."""
    return [tree_svg(Level(attack, shifts, None), 0), class_legend(attack.tree.classes)]


def _class_table(audit: Audit) -> Markup:
    """Return the accuracy of each class."""
    shares = audit.by_class
    return _table(
        {
            "class": [share.label for share in shares],
            "weight": [share.weight for share in shares],
            "without a shift": [f"{share.nominal:.1%}" for share in shares],
            "worst shift": [f"{share.worst_case:.1%}" for share in shares],
        }
    )


def _paragraphs(text: str) -> Markup:
    """Return a paragraph for each line that is not blank."""
    return joined(*(element("p", line) for line in text.split("\n") if line.strip()))


def _table(columns: Mapping[str, Sequence[object]]) -> Markup:
    """Return columns, given by name, as a table."""
    head = element("tr", *(element("th", name.replace("_", " ")) for name in columns))
    rows = [
        element("tr", *(element("td", _cell(name, value)) for name, value in zip(columns, row, strict=True)))
        for row in zip(*columns.values(), strict=True)
    ]
    return element("table", element("thead", head), element("tbody", *rows))


def _cell(name: str, value: object) -> str:
    """Return the text of a cell of a column."""
    if value is None:
        return "not available"
    if isinstance(value, float):
        return f"{value:.1%}" if name.endswith("accuracy") or name == "gap" else f"{value:.4g}"
    return str(value)
