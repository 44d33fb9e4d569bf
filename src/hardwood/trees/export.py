"""Trees as text: drawn with lines, and as Graphviz, Python and SQL.

Names, categories and labels may be any text; every format quotes them by its own rules.
"""

from __future__ import annotations

from collections.abc import Callable

from hardwood.data.codes import BELOW_ALL
from hardwood.data.columns import MISSING_CATEGORY, Category
from hardwood.data.feature import Feature, Kind
from hardwood.trees.tree import Branch, Leaf, Node, Tree


def to_text(tree: Tree) -> str:
    """Draw a tree with lines; the same as `Tree.to_text`."""
    return tree.to_text()


def to_dot(tree: Tree) -> str:
    """Write a tree in the language of Graphviz.

    Parameters
    ----------
    tree : Tree

    Returns
    -------
    text : str
    """
    lines = ["digraph tree {", '  node [shape=box, style=rounded, fontname="sans-serif"];']

    def draw(node: Node, name: str) -> None:
        if isinstance(node, Leaf):
            lines.append(f"  {name} [label={_dot_text(str(tree.classes[node.label]))}, style=filled];")
            return
        lines.append(f"  {name} [label={_dot_text(tree.condition(node) + '?')}];")
        for outcome, child, suffix in (("yes", node.left, "y"), ("no", node.right, "n")):
            draw(child, name + suffix)
            lines.append(f'  {name} -> {name}{suffix} [label="{outcome}"];')

    draw(tree.root, "t")
    return "\n".join([*lines, "}"]) + "\n"


def to_python(tree: Tree, name: str = "predict") -> str:
    """Write a tree as a Python function that needs no package.

    Parameters
    ----------
    tree : Tree
    name : str, default="predict"
        Name of the function.

    Returns
    -------
    text : str
        Source of a function that takes a row as a mapping from column names to values and returns the class.

    Raises
    ------
    ValueError
        If the name is not an identifier.
    """
    if not name.isidentifier():
        raise ValueError(f"name is {name!r}; expected a Python identifier")
    lines = [f"def {name}(row):"]

    def write(node: Node, indent: str) -> None:
        if isinstance(node, Leaf):
            lines.append(f"{indent}return {tree.classes[node.label]!r}")
            return
        lines.append(f"{indent}if {_python_split(tree.features[node.feature], node)}:")
        write(node.left, indent + "    ")
        write(node.right, indent)

    write(tree.root, "    ")
    return "\n".join(lines) + "\n"


def to_sql(tree: Tree, column: str = "prediction") -> str:
    """Write a tree as a CASE expression in standard SQL.

    A NULL follows the splits on missing values; where a column had none in training, it goes to the right.

    Parameters
    ----------
    tree : Tree
    column : str, default="prediction"
        Name of the resulting column.

    Returns
    -------
    text : str

    Raises
    ------
    ValueError
        If a name or a category holds a NUL character.
    """
    lines: list[str] = []

    def write(node: Node, before: str, indent: str) -> None:
        if isinstance(node, Leaf):
            lines.append(f"{indent}{before}{_sql_value(tree.classes[node.label])}")
            return
        lines.append(f"{indent}{before}CASE WHEN {_sql_split(tree.features[node.feature], node)}")
        write(node.left, "THEN ", indent + "  ")
        write(node.right, "ELSE ", indent + "  ")
        lines.append(f"{indent}END")

    write(tree.root, "", "")
    return "\n".join(lines) + f" AS {_sql_name(column)}\n"


def _python_split(feature: Feature, node: Branch) -> str:
    value = f"row[{feature.name!r}]"
    is_missing = f"({value} is None or {value} != {value})"
    if node.code == BELOW_ALL:
        return is_missing
    if MISSING_CATEGORY in feature.categories:
        value = f"({MISSING_CATEGORY!r} if {is_missing[1:-1]} else {value})"
    condition = _condition(feature, node.code, value, repr, "==", "in")
    if not feature.missing:
        return condition
    return f"{is_missing} or {condition}" if node.missing_left else f"not {is_missing} and {condition}"


def _sql_split(feature: Feature, node: Branch) -> str:
    value = _sql_name(feature.name)
    if node.code == BELOW_ALL or (
        _has_missing_among_numbers(feature) and feature.categories[node.code] == MISSING_CATEGORY
    ):
        return f"{value} IS NULL"
    if MISSING_CATEGORY in feature.categories and not _has_missing_among_numbers(feature):
        value = f"COALESCE({value}, {_sql_value(MISSING_CATEGORY)})"
    condition = _condition(feature, node.code, value, _sql_value, "=", "IN")
    # A comparison with NULL is neither true nor false, so such a sample goes to the right.
    return f"{value} IS NULL OR {condition}" if node.missing_left else condition


def _has_missing_among_numbers(feature: Feature) -> bool:
    """Whether "missing" is a category among numbers, which a numeric column of a database cannot hold."""
    return MISSING_CATEGORY in feature.categories and not all(
        isinstance(category, str) for category in feature.categories
    )


def _condition(
    feature: Feature, code: int, value: str, quote: Callable[[Category], str], equal: str, among: str
) -> str:
    """Condition of a split, in a language with its own literals (`quote`) and signs (`equal`, `among`)."""
    if feature.kind in (Kind.INTEGER, Kind.BINNED):
        return f"{value} <= {quote(code if feature.kind is Kind.INTEGER else feature.edges[code])}"
    categories = feature.categories[: code + 1] if feature.ordered else feature.categories[code : code + 1]
    if len(categories) == 1:
        return f"{value} {equal} {quote(categories[0])}"
    return f"{value} {among} ({', '.join(quote(category) for category in categories)})"


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


def _dot_text(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
