"""Trees as text for others: drawn with lines, Graphviz, Python and SQL.

Names, categories and labels are anybody's text; every format quotes them by its own rules.
"""

from __future__ import annotations

from collections.abc import Callable

from hardwood.data.columns import MISSING
from hardwood.data.features import BELOW_ALL, Category, Feature, Kind
from hardwood.trees.tree import Branch, Leaf, Node, Tree


def to_text(tree: Tree) -> str:
    """The tree drawn with lines."""
    return tree.to_text()


def to_dot(tree: Tree) -> str:
    """The tree in Graphviz's language."""
    lines = ["digraph tree {", '  node [shape=box, style=rounded, fontname="sans-serif"];']

    def draw(node: Node, name: str) -> None:
        if isinstance(node, Leaf):
            lines.append(f"  {name} [label={_dot(str(tree.classes[node.label]))}, style=filled];")
            return
        lines.append(f"  {name} [label={_dot(tree.condition(node) + '?')}];")
        for answer, child, suffix in (("yes", node.left, "y"), ("no", node.right, "n")):
            draw(child, name + suffix)
            lines.append(f'  {name} -> {name}{suffix} [label="{answer}"];')

    draw(tree.root, "t")
    return "\n".join([*lines, "}"]) + "\n"


def to_python(tree: Tree, name: str = "predict") -> str:
    """A Python function that needs no package: it takes a row as a mapping from column names to values."""
    if not name.isidentifier():
        raise ValueError(f"name is {name!r}; expected a Python identifier")
    lines = [f"def {name}(row):"]

    def write(node: Node, indent: str) -> None:
        if isinstance(node, Leaf):
            lines.append(f"{indent}return {tree.classes[node.label]!r}")
            return
        lines.append(f"{indent}if {_python_test(tree.features[node.feature], node)}:")
        write(node.left, indent + "    ")
        write(node.right, indent)

    write(tree.root, "    ")
    return "\n".join(lines) + "\n"


def to_sql(tree: Tree, column: str = "prediction") -> str:
    """A CASE expression in standard SQL; a missing value is an answer if the tree knows it, otherwise a "no"."""
    lines: list[str] = []

    def write(node: Node, before: str, indent: str) -> None:
        if isinstance(node, Leaf):
            lines.append(f"{indent}{before}{_sql_value(tree.classes[node.label])}")
            return
        lines.append(f"{indent}{before}CASE WHEN {_sql_test(tree.features[node.feature], node)}")
        write(node.left, "THEN ", indent + "  ")
        write(node.right, "ELSE ", indent + "  ")
        lines.append(f"{indent}END")

    write(tree.root, "", "")
    return "\n".join(lines) + f" AS {_sql_name(column)}\n"


def _python_test(feature: Feature, node: Branch) -> str:
    value = f"row[{feature.name!r}]"
    is_none = f"({value} is None or {value} != {value})"
    if node.code == BELOW_ALL:
        return is_none
    if MISSING in feature.categories:
        value = f"({MISSING!r} if {is_none[1:-1]} else {value})"
    rule = _rule(feature, node.code, value, repr, "==", "in")
    if not feature.missing:
        return rule
    return f"{is_none} or {rule}" if node.missing_left else f"not {is_none} and {rule}"


def _sql_test(feature: Feature, node: Branch) -> str:
    value = _sql_name(feature.name)
    if node.code == BELOW_ALL or (_is_none_of_numbers(feature) and feature.categories[node.code] == MISSING):
        return f"{value} IS NULL"
    if MISSING in feature.categories and not _is_none_of_numbers(feature):
        value = f"COALESCE({value}, {_sql_value(MISSING)})"
    rule = _rule(feature, node.code, value, _sql_value, "=", "IN")
    # Without an answer a comparison is neither true nor false, and the sample goes to the right.
    return f"{value} IS NULL OR {rule}" if node.missing_left else rule


def _is_none_of_numbers(feature: Feature) -> bool:
    """Whether no answer is a category among numbers, which a column of numbers in a database cannot hold."""
    return MISSING in feature.categories and not all(isinstance(answer, str) for answer in feature.categories)


def _rule(feature: Feature, code: int, value: str, quote: Callable[[Category], str], equal: str, among: str) -> str:
    """A test in a language that writes answers, equality and membership in its own way."""
    if feature.kind in (Kind.INTEGER, Kind.BINNED):
        return f"{value} <= {quote(code if feature.kind is Kind.INTEGER else feature.edges[code])}"
    answers = feature.categories[: code + 1] if feature.ordered else feature.categories[code : code + 1]
    if len(answers) == 1:
        return f"{value} {equal} {quote(answers[0])}"
    return f"{value} {among} ({', '.join(quote(answer) for answer in answers)})"


def _sql_name(name: str) -> str:
    _refuse_nul(name)
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def _sql_value(value: Category) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float):
        return repr(value)
    _refuse_nul(value)
    doubled = value.replace("'", "''")
    return f"'{doubled}'"


def _refuse_nul(text: str) -> None:
    if "\0" in text:
        raise ValueError(f"{text!r} holds a NUL character, which SQL cannot express; rename it")


def _dot(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
