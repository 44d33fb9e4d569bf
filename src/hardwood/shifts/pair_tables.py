"""Tables of measured changes between values, and the costs that they imply.

A table holds P(value later | value now): a row for each value now, adding up to one. Turning x into v then costs

    log(P(x | x) / P(v | x)),   at least 0, and it is impossible where P(v | x) = 0.

This is the likelihood ratio of the calibrated distributions (`calibration`) with the measured one in their place; a
table that is filled in from a certainty has the costs of that certainty.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hardwood._util.arguments import check_numbers
from hardwood._util.arrays import FloatArray, IntArray, read_only, shape_of
from hardwood._util.errors import ArgumentError, Verbatim
from hardwood._util.types import TableLike
from hardwood.data.codes import MAX_CODE, MISSING_CODE
from hardwood.data.columns import MISSING_CATEGORY, Category, is_missing
from hardwood.data.feature import Feature, Kind
from hardwood.shifts.calibration import categorical_cost
from hardwood.shifts.reach import Reach, reach_allows

ROUNDING = 1e-6  # by which the sum of a row may differ from 1
NEVER = {"certainty": "0 for a change that never happens", "costs": "inf for a change that never happens"}


@dataclass(frozen=True, eq=False)
class PairTable:
    """Numbers for pairs of values of one feature: rows for the value now, columns for the value later.

    Parameters
    ----------
    codes : array of int
        Of the values, ascending.
    numbers : array, shape (values, values)
    """

    codes: IntArray
    numbers: FloatArray

    def places(self, codes: NDArray[np.integer]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Return the positions of codes, and whether they are present."""
        at = np.minimum(np.searchsorted(self.codes, codes), len(self.codes) - 1)
        return at, np.asarray(self.codes[at] == codes)

    def at(self, old: NDArray[np.integer], new: NDArray[np.integer]) -> FloatArray:
        """Return the numbers of some pairs; +inf where the new value is not present."""
        row, _ = self.places(old)
        column, there = self.places(new)
        return np.where(there, self.numbers[row, column], np.inf)


def is_table(entry: object) -> bool:
    """Return whether an entry for one column is a table: a mapping of mappings, a frame, or rows of numbers."""
    if isinstance(entry, Mapping):
        return bool(entry) and all(_is_row(row) for row in entry.values())
    if hasattr(entry, "columns"):
        return True
    return not isinstance(entry, str) and len(shape_of(_plain_rows(entry))) == 2


def _is_row(row: object) -> bool:
    """Return whether an entry holds numbers by value: a mapping or a series."""
    if hasattr(row, "columns") or not hasattr(row, "items"):
        return False
    return not any(isinstance(number, Mapping) or shape_of(number) != () for _, number in row.items())


def named_rows(entry: TableLike) -> dict[object, dict[object, object]]:
    """Return a table with names (a frame, or a mapping of mappings or series) as plain mappings; None is missing."""

    def plain(value: object) -> object:
        return None if is_missing(value) else value.item() if isinstance(value, np.generic) else value

    if hasattr(entry, "columns"):
        rows = np.asarray(entry).tolist()
        later = [plain(value) for value in entry.columns]
        return {plain(now): dict(zip(later, row, strict=True)) for now, row in zip(entry.index, rows, strict=True)}
    return {plain(now): {plain(to): number for to, number in row.items()} for now, row in entry.items()}


def probability_table(feature: Feature, values: IntArray, entry: object) -> PairTable:
    """P(value later | value now), checked: every value of the column is listed, and every row adds up to one."""
    table = pair_table("certainty", feature, values, entry)
    bad = ~((table.numbers >= 0) & (table.numbers <= 1))
    if bad.any():
        row, column = np.argwhere(bad)[0]
        old, new = _value_text(feature, table, row), _value_text(feature, table, column)
        raise ArgumentError(
            "certainty",
            Verbatim(f"{table.numbers[row, column]:g} for {old} -> {new}"),
            "probabilities must lie in [0, 1]",
            remedy="divide each row of counts by its sum",
            column=feature.name,
        )
    sums = table.numbers.sum(axis=1)
    off = np.abs(sums - 1.0) > ROUNDING
    if off.any():
        row = int(off.argmax())
        raise ArgumentError(
            "certainty",
            Verbatim(f"a table whose row for {_value_text(feature, table, row)} adds up to {sums[row]:.6g}"),
            "each row holds P(value later | value now) and must add up to 1",
            remedy="divide each row by its sum",
            column=feature.name,
        )
    return table


def table_costs(probabilities: PairTable) -> FloatArray:
    """Return log(P(x | x) / P(v | x)), at least 0; +inf where P(v | x) = 0, and 0 on the diagonal."""
    with np.errstate(divide="ignore", invalid="ignore"):
        stays = np.log(np.diag(probabilities.numbers))[:, None]
        costs = np.where(probabilities.numbers > 0, stays - np.log(probabilities.numbers), np.inf)
    costs = np.maximum(np.nan_to_num(costs, nan=np.inf, posinf=np.inf, neginf=0.0), 0.0)
    np.fill_diagonal(costs, 0.0)
    return np.asarray(costs)


def cost_table(feature: Feature, reach: Reach, codes: IntArray, costs: FloatArray) -> PairTable:
    """Return the costs of pairs of values; +inf where the reach of the feature does not allow the move."""
    old, new = codes[:, None].astype(np.int64), codes[None, :].astype(np.int64)
    allowed = reach_allows(reach, old, new) if feature.ordered else np.ones(costs.shape, dtype=bool)
    allowed |= (old == MISSING_CODE) | (new == MISSING_CODE)
    return PairTable(codes, read_only(np.where(allowed | (old == new), costs, np.inf)))


def with_missing(table: PairTable, cost: float) -> PairTable:
    """Return the table with missing as a further value, at one cost from and to each value."""
    n = len(table.codes)
    numbers = np.full((n + 1, n + 1), cost)
    numbers[:n, :n] = table.numbers
    numbers[n, n] = 0.0
    return PairTable(np.append(table.codes, np.int32(MISSING_CODE)).astype(np.int32), read_only(numbers))


def categorical_with_missing(feature: Feature, certainty: float, missing_cost: float) -> PairTable:
    """Return the costs of a categorical feature whose category for missing has its own certainty."""
    n = feature.n_values
    numbers = np.full((n, n), float(categorical_cost(certainty, n - 1)))
    missing = feature.categories.index(MISSING_CATEGORY)
    numbers[missing, :] = numbers[:, missing] = missing_cost
    np.fill_diagonal(numbers, 0.0)
    return PairTable(np.arange(n, dtype=np.int32), read_only(numbers))


def pair_table(argument: str, feature: Feature, values: IntArray, entry: object) -> PairTable:
    """Read a square table: a mapping of mappings, a frame with values as index and columns, or an array."""
    if feature.kind is Kind.BINNED:
        raise ArgumentError(
            argument,
            Verbatim("a table"),
            "a column of bins has no values to list",
            remedy="round it to integers, or give it categories",
            column=feature.name,
        )
    now, later, numbers = _read(argument, feature, entry)
    codes, columns = ([_code(argument, feature, value) for value in listed] for listed in (now, later))
    if len(set(codes)) < len(codes) or len(set(columns)) < len(columns):
        raise ArgumentError(
            argument, Verbatim(f"a table with rows {now}"), "expected each value once", column=feature.name
        )
    if sorted(codes) != sorted(columns):
        raise ArgumentError(
            argument,
            Verbatim(f"a table with rows {now} and columns {later}"),
            "it must be square: expected the same values as rows and as columns",
            remedy=NEVER[argument],
            column=feature.name,
        )
    _refuse_missing_values(argument, feature, values, codes)
    order = np.argsort(codes)
    place = {code: k for k, code in enumerate(columns)}
    square = numbers[order][:, [place[codes[k]] for k in order]]
    return PairTable(np.array(codes, dtype=np.int32)[order], square)


def _read(argument: str, feature: Feature, entry: object) -> tuple[list[object], list[object], FloatArray]:
    """Return the values now, the values later, and the numbers."""
    if hasattr(entry, "columns"):
        if not hasattr(entry, "index"):
            raise ArgumentError(
                argument,
                Verbatim(f"a {type(entry).__name__}"),
                "a table needs names for its rows: give a pandas frame, or a mapping of mappings",
                column=feature.name,
            )
        return list(entry.index), list(entry.columns), check_numbers(argument, np.asarray(entry), feature.name)
    if isinstance(entry, Mapping):
        now = list(entry)
        later = list(dict(entry[now[0]].items()))
        rows = [dict(entry[value].items()) for value in now]
        if any(set(row) != set(later) for row in rows):
            raise ArgumentError(
                argument,
                Verbatim("a table with rows of different values"),
                f"it must be square: every row lists every value, {list(dict.fromkeys([*now, *later]))}",
                remedy=NEVER[argument],
                column=feature.name,
            )
        return now, later, check_numbers(argument, [[row[value] for value in later] for row in rows], feature.name)
    numbers = check_numbers(argument, _plain_rows(entry), feature.name)
    values: list[object] = list(feature.categories) or list(range(feature.low, feature.high + 1))
    if feature.missing and numbers.shape == (len(values) + 1,) * 2:
        values.append(MISSING_CATEGORY)
    if numbers.shape != (len(values), len(values)):
        raise ArgumentError(
            argument,
            Verbatim(f"an array of shape {numbers.shape}"),
            f"expected {len(values)} by {len(values)}, for the values {values[:12]}",
            remedy="a frame or a mapping of mappings may name its values",
            column=feature.name,
        )
    return values, values, numbers


def _plain_rows(entry: object) -> object:
    if isinstance(entry, Sequence) and entry and all(hasattr(row, "__len__") for row in entry):
        return np.array([list(row) for row in entry]) if len({len(row) for row in entry}) == 1 else np.zeros(0)
    return entry


def _code(argument: str, feature: Feature, value: object) -> int:
    """Return the code of a value in a table, or that of missing if the feature has one."""
    plain = value.item() if isinstance(value, np.generic) else value
    means_missing = is_missing(plain) or plain == MISSING_CATEGORY
    if means_missing and feature.missing:
        return MISSING_CODE
    if means_missing and MISSING_CATEGORY in feature.categories:
        return feature.categories.index(MISSING_CATEGORY)
    if feature.kind is Kind.INTEGER and isinstance(plain, int | float) and plain % 1 == 0:
        return _integer_code(argument, feature, int(plain))
    known: tuple[Category, ...] = feature.categories
    for k, category in enumerate(known):
        if category == plain and isinstance(category, bool) == isinstance(plain, bool):
            return k
    raise ArgumentError(
        argument,
        Verbatim(f"a table with the value {plain!r}"),
        f"the column has {list(known[:12])}" if known else "the column holds integers",
        column=feature.name,
    )


def _integer_code(argument: str, feature: Feature, value: int) -> int:
    if not -MAX_CODE <= value <= MAX_CODE:
        raise ArgumentError(
            argument,
            Verbatim(f"a table with the value {value}"),
            f"the values of an integer column must stay within +-{MAX_CODE}",
            remedy="leave the value out, or rescale the column",
            column=feature.name,
        )
    return value


def _refuse_missing_values(argument: str, feature: Feature, values: IntArray, codes: list[int]) -> None:
    wanted = np.unique(values) if feature.kind is Kind.INTEGER else np.arange(feature.n_values)
    lacking = [int(code) for code in wanted if code not in codes and code != MISSING_CODE]
    if lacking:
        raise ArgumentError(
            argument,
            Verbatim(f"a table without {[feature.decode(code) for code in lacking[:6]]}"),
            "it must list every value of the column",
            column=feature.name,
        )


def _value_text(feature: Feature, table: PairTable, place: int) -> str:
    return repr(feature.decode(int(table.codes[place])))
