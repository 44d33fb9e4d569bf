"""How people of each answer answer the second time, as it was measured: tables, and the prices that they stand for.

A table holds P(answer later | answer now): a row for each answer now, adding up to one. Turning x into v then costs

    log(P(x | x) / P(v | x)),   at least 0, and it is impossible where P(v | x) = 0.

This is the likelihood ratio of the calibrated distributions (`calibration`) with the measured one in their place; a
table that is filled in from a certainty has the prices of that certainty.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardwood._support.arguments import numbers_of
from hardwood._support.errors import ArgumentError, Said
from hardwood.data.columns import MISSING, is_missing
from hardwood.data.features import NO_ANSWER, Category, Feature, IntArray, Kind, sealed
from hardwood.shift.calibration import FloatArray, Reach, categorical_price, reach_allows

ROUNDING = 1e-6  # by which a row may miss one


@dataclass(frozen=True, eq=False)
class AnswerTable:
    """Numbers for pairs of answers of one feature: rows for the answer now, columns for the answer later.

    codes  of the answers, ascending
    """

    codes: IntArray
    numbers: FloatArray

    def places(self, codes: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Where codes stand, and whether they do at all."""
        at = np.minimum(np.searchsorted(self.codes, codes), len(self.codes) - 1)
        return at, np.asarray(self.codes[at] == codes)

    def at(self, old: NDArray[Any], new: NDArray[Any]) -> FloatArray:
        """The numbers of some pairs; +inf where the new answer is not there."""
        row, _ = self.places(old)
        column, there = self.places(new)
        return np.where(there, self.numbers[row, column], np.inf)


def is_table(entry: Any) -> bool:
    """Whether an entry for one column is a table: a mapping of mappings, a frame, or rows of numbers."""
    if isinstance(entry, Mapping):
        return bool(entry) and all(_is_row(row) for row in entry.values())
    if hasattr(entry, "columns"):
        return True
    return not isinstance(entry, str) and np.ndim(_plain_rows(entry)) == 2


def _is_row(row: Any) -> bool:
    """Numbers by answer: a mapping or a series."""
    if hasattr(row, "columns") or not hasattr(row, "items"):
        return False
    return not any(isinstance(number, Mapping) or np.ndim(number) > 0 for _, number in row.items())


def named_rows(entry: Any) -> dict[Any, dict[Any, Any]]:
    """A table with names as plain mappings: a frame, or a mapping of mappings or series; no answer is None."""

    def word(answer: Any) -> Any:
        return None if is_missing(answer) else answer.item() if isinstance(answer, np.generic) else answer

    if hasattr(entry, "columns"):
        rows = np.asarray(entry).tolist()
        later = [word(answer) for answer in entry.columns]
        return {word(now): dict(zip(later, row, strict=True)) for now, row in zip(entry.index, rows, strict=True)}
    return {word(now): {word(to): number for to, number in row.items()} for now, row in entry.items()}


def chance_table(feature: Feature, values: IntArray, entry: Any) -> AnswerTable:
    """P(answer later | answer now), checked: every answer of the column is listed, and every row adds up to one."""
    table = answer_table("certainty", feature, values, entry)
    bad = ~((table.numbers >= 0) & (table.numbers <= 1))
    if bad.any():
        row, column = np.argwhere(bad)[0]
        said = f"{table.numbers[row, column]:g} for {_word(feature, table, row)} -> {_word(feature, table, column)}"
        raise ArgumentError(
            "certainty",
            Said(said),
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
            Said(f"a table whose row for {_word(feature, table, row)} adds up to {sums[row]:.6g}"),
            "each row holds P(answer later | answer now) and must add up to 1",
            remedy="divide each row by its sum",
            column=feature.name,
        )
    return table


def table_prices(chances: AnswerTable) -> FloatArray:
    """log(P(x | x) / P(v | x)), at least 0; +inf where P(v | x) = 0, and 0 on the diagonal."""
    with np.errstate(divide="ignore", invalid="ignore"):
        stays = np.log(np.diag(chances.numbers))[:, None]
        prices = np.where(chances.numbers > 0, stays - np.log(chances.numbers), np.inf)
    prices = np.maximum(np.nan_to_num(prices, nan=np.inf, posinf=np.inf, neginf=0.0), 0.0)
    np.fill_diagonal(prices, 0.0)
    return np.asarray(prices)


def priced_table(feature: Feature, reach: Reach, codes: IntArray, prices: FloatArray) -> AnswerTable:
    """Prices of pairs of answers, impossible where the reach of the feature does not allow the move."""
    old, new = codes[:, None].astype(np.int64), codes[None, :].astype(np.int64)
    allowed = reach_allows(reach, old, new) if feature.ordered else np.ones(prices.shape, dtype=bool)
    allowed |= (old == NO_ANSWER) | (new == NO_ANSWER)
    return AnswerTable(codes, sealed(np.where(allowed | (old == new), prices, np.inf)))


def with_none(table: AnswerTable, price: float) -> AnswerTable:
    """The table with no answer beside the answers, at one price from and to each."""
    n = len(table.codes)
    numbers = np.full((n + 1, n + 1), price)
    numbers[:n, :n] = table.numbers
    numbers[n, n] = 0.0
    return AnswerTable(np.append(table.codes, np.int32(NO_ANSWER)).astype(np.int32), sealed(numbers))


def categorical_with_none(feature: Feature, certainty: float, missing_price: float) -> AnswerTable:
    """Prices of a categorical feature whose category for no answer has a certainty of its own."""
    n = feature.n_values
    numbers = np.full((n, n), float(categorical_price(certainty, n - 1)))
    none = feature.categories.index(MISSING)
    numbers[none, :] = numbers[:, none] = missing_price
    np.fill_diagonal(numbers, 0.0)
    return AnswerTable(np.arange(n, dtype=np.int32), sealed(numbers))


def answer_table(argument: str, feature: Feature, values: IntArray, entry: Any) -> AnswerTable:
    """A caller's square table: a mapping of mappings, a frame with answers as its index and columns, or an array."""
    if feature.kind is Kind.BINNED:
        raise ArgumentError(
            argument,
            Said("a table"),
            "a column of bins has no answers to list",
            remedy="round it to whole numbers, or give it categories",
            column=feature.name,
        )
    now, later, numbers = _read(argument, feature, entry)
    codes, columns = ([_code(argument, feature, answer) for answer in answers] for answers in (now, later))
    if len(set(codes)) < len(codes) or len(set(columns)) < len(columns):
        raise ArgumentError(argument, Said(f"a table with rows {now}"), "each answer once", column=feature.name)
    if sorted(codes) != sorted(columns):
        raise ArgumentError(
            argument,
            Said(f"a table with rows {now} and columns {later}"),
            "expected the same answers",
            column=feature.name,
        )
    _refuse_missing_answers(argument, feature, values, codes)
    order = np.argsort(codes)
    place = {code: k for k, code in enumerate(columns)}
    square = numbers[order][:, [place[codes[k]] for k in order]]
    return AnswerTable(np.array(codes, dtype=np.int32)[order], square)


def _read(argument: str, feature: Feature, entry: Any) -> tuple[list[Any], list[Any], FloatArray]:
    """Answers now, answers later, and numbers."""
    if hasattr(entry, "columns"):
        if not hasattr(entry, "index"):
            raise ArgumentError(
                argument,
                Said(f"a {type(entry).__name__}"),
                "a table needs names for its rows: give a pandas frame, or a mapping of mappings",
                column=feature.name,
            )
        return list(entry.index), list(entry.columns), numbers_of(argument, np.asarray(entry), feature.name)
    if isinstance(entry, Mapping):
        now = list(entry)
        later = list(dict(entry[now[0]].items()))
        rows = [dict(entry[answer].items()) for answer in now]
        if any(set(row) != set(later) for row in rows):
            raise ArgumentError(
                argument, Said("a table with rows of different answers"), f"expected {later}", column=feature.name
            )
        return now, later, numbers_of(argument, [[row[answer] for answer in later] for row in rows], feature.name)
    numbers = numbers_of(argument, _plain_rows(entry), feature.name)
    answers: list[Any] = list(feature.categories) or list(range(feature.low, feature.high + 1))
    if feature.missing and numbers.shape == (len(answers) + 1,) * 2:
        answers.append(MISSING)
    if numbers.shape != (len(answers), len(answers)):
        raise ArgumentError(
            argument,
            Said(f"an array of shape {numbers.shape}"),
            f"expected {len(answers)} by {len(answers)}, for the answers {answers[:12]}",
            remedy="a frame or a mapping of mappings may name its answers",
            column=feature.name,
        )
    return answers, answers, numbers


def _plain_rows(entry: Any) -> Any:
    if isinstance(entry, Sequence) and entry and all(hasattr(row, "__len__") for row in entry):
        return np.array([list(row) for row in entry]) if len({len(row) for row in entry}) == 1 else np.zeros(0)
    return entry


def _code(argument: str, feature: Feature, answer: Any) -> int:
    """The code of an answer in a table; of no answer, if the feature has a place for it."""
    plain = answer.item() if isinstance(answer, np.generic) else answer
    is_none = is_missing(plain) or plain == MISSING
    if is_none and feature.missing:
        return NO_ANSWER
    if is_none and MISSING in feature.categories:
        return feature.categories.index(MISSING)
    if feature.kind is Kind.INTEGER and isinstance(plain, int | float) and plain % 1 == 0:
        return int(plain)
    known: tuple[Category, ...] = feature.categories
    for k, category in enumerate(known):
        if category == plain and isinstance(category, bool) == isinstance(plain, bool):
            return k
    raise ArgumentError(
        argument,
        Said(f"a table with the answer {plain!r}"),
        f"the column has {list(known[:12])}" if known else "the column holds whole numbers",
        column=feature.name,
    )


def _refuse_missing_answers(argument: str, feature: Feature, values: IntArray, codes: list[int]) -> None:
    wanted = np.unique(values) if feature.kind is Kind.INTEGER else np.arange(feature.n_values)
    lacking = [int(code) for code in wanted if code not in codes and code != NO_ANSWER]
    if lacking:
        raise ArgumentError(
            argument,
            Said(f"a table without {[feature.decode(code) for code in lacking[:6]]}"),
            "it must list every answer of the column",
            column=feature.name,
        )


def _word(feature: Feature, table: AnswerTable, place: int) -> str:
    return repr(feature.decode(int(table.codes[place])))
