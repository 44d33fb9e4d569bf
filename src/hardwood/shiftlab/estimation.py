"""How certain answers are, from data: the same people asked twice, or self-reports beside records.

Of each column: how many answers stayed the same, the certainty that makes the changes most likely, with its interval,
whether answers move one way, whether the shape of the distribution fits, and the whole table P(later | now).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardwood._support.arguments import numbers_of
from hardwood._support.errors import ArgumentError, Said
from hardwood._support.notebook import InNotebook
from hardwood._support.text import shown
from hardwood.data.columns import n_rows
from hardwood.data.features import NO_ANSWER, Feature, IntArray, Kind, Table
from hardwood.data.pairs import Pair, read_pair
from hardwood.estimators.audit import column_named
from hardwood.shift.account import aligned
from hardwood.shift.calibration import Direction, FloatArray, Reach, reaches
from hardwood.shift.chances import ColumnChances
from hardwood.shiftlab.coverage import people_of
from hardwood.shiftlab.fitting import (
    Fitted,
    answers_test,
    direction_test,
    fit_endless,
    fit_shares,
    grouped_steps,
    same_for_all,
    shape_test,
    smoothed,
    worth_of_one,
)
from hardwood.shiftlab.waves import LeastChange, least_change

MOST_ANSWERS = 60  # of a table P(later | now)
SURE = 0.05  # a p-value below tells something


@dataclass(frozen=True, eq=False)
class ColumnEstimate:
    """What two measurements say about one column.

    people         who gave an answer both times
    unchanged      the share of them whose answer is the same
    certainty      of the highest likelihood, with `low` and `high`: its confidence interval
    up, down       the share of the changes that go so, in columns with an order
    direction      "up" or "down" if all changes go one way and that is no accident, otherwise "both"
    direction_p    p-value of changes that are as one-sided, if both ways were as likely as the scale makes them
    shape_p        p-value of changes that fit the distribution of this certainty as badly; None if too few changed
    missing        the same for whether there is an answer at all, if somebody gave none
    answers        of the table: as they are called
    counts         of people, answers now by answers later
    table          P(later | now), smoothed; None if there are too many answers
    """

    name: str
    kind: str
    people: float
    unchanged: float
    certainty: float
    low: float
    high: float
    up: float | None = None
    down: float | None = None
    direction: str = "both"
    direction_p: float | None = None
    shape_p: float | None = None
    missing: Fitted | None = None
    answers: tuple[Any, ...] = ()
    counts: FloatArray | None = field(default=None, repr=False)
    table: dict[Any, dict[Any, float]] | None = field(default=None, repr=False)
    likelihood: float = field(default=0.0, repr=False)

    @property
    def remarks(self) -> str:
        """What should be known before the certainty is used."""
        words = [f"nothing changed: {self.low:.3f} is the cautious choice"] if self.unchanged == 1.0 else []
        if self.direction != "both":
            words.append(f"all changes go {self.direction}")
        elif self.direction_p is not None and self.direction_p < SURE:
            words.append("mostly up" if (self.up or 0) > 0.5 else "mostly down")
        if self.shape_p is not None and self.shape_p < SURE:
            words.append("shape does not fit: " + ("use the table" if self.table else "certainty is rough"))
        return "; ".join(words)

    def to_dict(self) -> dict[str, Any]:
        """The numbers, ready for JSON; the table as a list of rows."""
        names = ("name", "kind", "people", "unchanged", "certainty", "low", "high", "up", "down", "direction")
        found = {name: getattr(self, name) for name in (*names, "direction_p", "shape_p")}
        found["missing_certainty"] = None if self.missing is None else self.missing.certainty
        found["answers"] = list(self.answers)
        found["table"] = None if self.table is None else [list(row.values()) for row in self.table.values()]
        return found | {"remarks": self.remarks}


@dataclass(frozen=True, eq=False)
class CertaintyEstimate(InNotebook):
    """How certain the answers of two tables are, column by column. Prints as a table.

    `certainty` (or `cautious`), `direction`, `missing_certainty` and `tables` are what `RobustTreeClassifier` and
    others take; `words` has certainty, direction and missing_certainty at once.

    by_column   columns by name
    people      who were asked twice
    confidence  of the intervals
    groups      estimates of each group, by its name
    left_out    columns that nobody answered twice, or that only one of the tables has
    """

    by_column: dict[str, ColumnEstimate]
    people: float
    confidence: float
    groups: dict[str, CertaintyEstimate] = field(default_factory=dict, repr=False)
    left_out: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> ColumnEstimate:
        return self.by_column[name]

    @property
    def certainty(self) -> dict[str, float]:
        """By column name."""
        return {own.name: own.certainty for own in self.by_column.values()}

    @property
    def cautious(self) -> dict[str, float]:
        """By column name, the lower end of each interval: where nothing changed by accident, answers still may."""
        return {own.name: own.low for own in self.by_column.values()}

    @property
    def direction(self) -> dict[str, str]:
        """By column name, of columns that move one way only."""
        return {own.name: own.direction for own in self.by_column.values() if own.direction != "both"}

    @property
    def missing_certainty(self) -> dict[str, float]:
        """By column name, of columns in which somebody gave no answer."""
        return {own.name: own.missing.certainty for own in self.by_column.values() if own.missing is not None}

    @property
    def tables(self) -> dict[str, dict[Any, dict[Any, float]]]:
        """P(later | now) by column name: instead of certainties, for columns with few answers."""
        return {own.name: own.table for own in self.by_column.values() if own.table is not None}

    @property
    def words(self) -> dict[str, Any]:
        """Arguments about shifts."""
        said = {"certainty": self.certainty, "direction": self.direction, "missing_certainty": self.missing_certainty}
        return {name: value for name, value in said.items() if value}

    def differs(self, name: str) -> float | None:
        """The p-value of groups that have one certainty in a column; None if there are no groups."""
        apart = [own[name].likelihood for own in self.groups.values() if name in own.certainty]
        return same_for_all(self[name].likelihood, apart)

    def by_cell(self, groups: Any) -> FloatArray:
        """Rows by columns: the certainty of each row's group, for `fit(X, y, certainty=...)`."""
        names = np.asarray(groups).astype(str)
        unknown = sorted(set(names.tolist()) - set(self.groups))
        if unknown:
            raise ArgumentError("groups", unknown[0], f"the estimate knows the groups {list(self.groups)}")
        return np.array([[self.groups[name].certainty[own.name] for own in self.by_column.values()] for name in names])

    def to_dict(self) -> dict[str, Any]:
        """The numbers, ready for JSON."""
        return {
            "linked": True,
            "people": self.people,
            "confidence": self.confidence,
            "columns": [own.to_dict() for own in self.by_column.values()],
            "groups": {name: own.to_dict() for name, own in self.groups.items()},
            "left_out": list(self.left_out),
        }

    def plot(self, ax: Any = None) -> Any:
        """The certainties with their intervals; returns the axes."""
        from hardwood.plotting import plot_certainty

        return plot_certainty([own.to_dict() for own in self.by_column.values()], ax=ax)

    def plot_table(self, name: str, ax: Any = None) -> Any:
        """How people of each answer answered the second time; returns the axes."""
        from hardwood.plotting import plot_answers

        own = self[name]
        if own.table is None:
            raise ValueError(f'column "{name}" has too many answers for a table; expected at most {MOST_ANSWERS}')
        return plot_answers(own.name, own.table, ax=ax)

    def __str__(self) -> str:
        interval = f"{self.confidence:.0%} interval"
        head = ("column", "kind", "people", "unchanged", "certainty", interval, "up/down", "fits", "")
        rows = [
            (
                shown(own.name),
                own.kind,
                f"{own.people:,.6g}",
                f"{own.unchanged:.1%}",
                f"{own.certainty:.3f}",
                f"{own.low:.3f} to {own.high:.3f}",
                "-" if own.up is None or own.down is None else f"{own.up:.0%}/{own.down:.0%}",
                "-" if own.shape_p is None else "no" if own.shape_p < SURE else "yes",
                own.remarks,
            )
            for own in self.by_column.values()
        ]
        lines = aligned(head, rows, right=(2, 3, 4))
        for own in self.by_column.values():
            if own.missing is not None:
                sure = own.missing
                lines.append(
                    f"{shown(own.name)}: whether there is an answer stays the same with certainty {sure.certainty:.3f} "
                    f"({sure.low:.3f} to {sure.high:.3f})"
                )
        for name in self.certainty if self.groups else ():
            told = ", ".join(f"{shown(g)} {own[name].certainty:.3f}" for g, own in self.groups.items())
            p = self.differs(name)
            verdict = "" if p is None else " (they differ)" if p < SURE else " (no clear difference)"
            lines.append(f"{shown(name)} by group: {told}{verdict}")
        if self.left_out:
            lines.append(f"left out, nobody answered them twice: {', '.join(map(shown, self.left_out))}")
        return "\n".join(line.rstrip() for line in lines)


def estimate_certainty(
    then: Any,
    now: Any,
    sample_weight: Any = None,
    *,
    on: str | None = None,
    different_people: bool = False,
    groups: Any = None,
    feature_kinds: Any = None,
    max_bins: int = 10,
    bounds: Any = None,
    missing_values: Any = None,
    confidence: float = 0.95,
) -> CertaintyEstimate | LeastChange:
    """How certain answers are, from two measurements.

    then, now      two tables with the same questions: a test and a re-test, self-reports and records, two waves
    sample_weight  how many people each row of `then` stands for; whole numbers count as repeated rows, others are
                   scaled to what they are worth to an estimate (Kish's effective number)
    on             the column that says who is who; otherwise row i of both is the same person
    different_people  nobody is in both tables: then only the least change that explains the answers can be told, a
                   `LeastChange`
    groups         an entry for each row of `then`, or the name of one of its columns: estimates for each group, too
    feature_kinds  and max_bins, bounds, missing_values: how columns are read, as in `RobustTreeClassifier`
    confidence     of the intervals
    """
    level = numbers_of("confidence", confidence)
    if level.ndim != 0 or not 0 < level < 1:
        raise ArgumentError("confidence", confidence, "it must lie between 0 and 1", remedy="such as 0.95")
    reading = {"kinds": feature_kinds, "max_bins": max_bins, "missing_values": missing_values}
    who = _groups(then, groups)
    pair = read_pair(then, now, on=on, linked=not different_people, **reading)
    if different_people:
        if sample_weight is not None or groups is not None:
            raise ValueError("sample_weight and groups belong to linked rows; give separate tables instead")
        return least_change(pair, bounds)
    people, whole = people_of(sample_weight, n_rows(then))
    people = people[pair.rows[0]]
    scale = 1.0 if whole else worth_of_one(people)  # the same for groups, which are compared with the whole
    estimate = partial(_estimate, pair, scale=scale, bounds=bounds, confidence=float(level))
    whole_table = estimate(people)
    if who is None:
        return whole_table
    if who.shape != (n_rows(then),):
        said = Said(f"of shape {who.shape}")
        raise ArgumentError("groups", said, f"expected an entry for each of {n_rows(then)} rows of the first table")
    own = who[pair.rows[0]]
    apart = {str(name): estimate(np.where(own == name, people, 0.0)) for name in np.unique(own)}
    return replace(whole_table, groups=apart)


def _groups(table: Any, groups: Any) -> NDArray[Any] | None:
    if groups is None:
        return None
    if isinstance(groups, str):
        groups = column_named(table, groups)
    return np.asarray(groups).astype(str)


def _estimate(pair: Pair, people: FloatArray, *, scale: float, bounds: Any, confidence: float) -> CertaintyEstimate:
    there = np.flatnonzero(people > 0)
    first, second = pair.first.rows(there), pair.second.rows(there)
    weights = people[there] * scale
    reaches(second, None, bounds)  # says which answer of the second table is out of bounds
    both_ways = reaches(first, None, bounds)
    columns = {
        own.name: own
        for j in range(len(first.features))
        if (own := _column(first, second, j, both_ways[j], weights, confidence)) is not None
    }
    silent = [name for name in first.names if name not in columns]
    return CertaintyEstimate(columns, float(people.sum()), confidence, left_out=(*pair.left_out, *silent))


def _column(
    first: Table, second: Table, j: int, reach: Reach, people: FloatArray, confidence: float
) -> ColumnEstimate | None:
    """One column; None if nobody answered twice."""
    feature = first.features[j]
    then, now = first.values[:, j], second.values[:, j]
    none = NO_ANSWER if feature.none is None else feature.none
    gone_then, gone_now = then == none, now == none
    missing = None
    if gone_then.any() or gone_now.any():
        same = float(people[gone_then == gone_now].sum())
        missing = fit_shares(same, float(people.sum()), confidence)
    both = ~gone_then & ~gone_now
    if not people[both].any():
        return None
    then, now, people = then[both], now[both], people[both]
    n, unchanged = float(people.sum()), float(people[then == now].sum())
    counts, codes = _counts(feature, then, now, people)
    own = ColumnEstimate(feature.name, str(feature.kind), n, unchanged / n, unchanged / n, 0.0, 1.0, missing=missing)
    if feature.ordered and (feature.n_values > 2 or feature.kind is Kind.INTEGER):
        own = _on_a_scale(own, then, now, people, reach, confidence)
    else:
        n_answers = len(answers_of(feature))
        fitted = fit_shares(unchanged, n, confidence, n_answers)
        shape = answers_test(counts, fitted.certainty) if counts is not None and n_answers > 1 else None
        own = _with_fit(own, fitted, shape_p=shape)
    if counts is None or codes is None:
        return own
    answers = tuple(feature.decode(int(code)) for code in codes)
    model = _model_rows(feature, codes, reach, min(own.certainty, (unchanged + 0.5) / (n + 1.0)))
    shares = smoothed(counts, model)
    table = {x: dict(zip(answers, row.tolist(), strict=True)) for x, row in zip(answers, shares, strict=True)}
    if missing is not None and not feature.ordered:  # there no answer is an answer, which a table must list
        table = _beside_none(table, counts.sum(axis=0), missing.certainty)
    return replace(own, answers=answers, counts=counts, table=table)


def _beside_none(table: dict[Any, dict[Any, float]], later: FloatArray, stays: float) -> dict[Any, dict[Any, float]]:
    """The table with no answer in it; whoever answers after all answers as the others did."""
    shares = (later + 0.5) / (later + 0.5).sum()
    wider: dict[Any, dict[Any, float]] = {
        now: {to: stays * chance for to, chance in row.items()} | {None: 1.0 - stays} for now, row in table.items()
    }
    none = {to: (1.0 - stays) * share for to, share in zip(table, shares.tolist(), strict=True)}
    return wider | {None: none | {None: stays}}


def _with_fit(own: ColumnEstimate, fitted: Fitted, **more: Any) -> ColumnEstimate:
    likelihood = fitted.likelihood
    return replace(own, certainty=fitted.certainty, low=fitted.low, high=fitted.high, likelihood=likelihood, **more)


def _on_a_scale(
    own: ColumnEstimate, then: IntArray, now: IntArray, people: FloatArray, reach: Reach, confidence: float
) -> ColumnEstimate:
    """Certainty, direction and shape of a column with an order."""
    steps = now.astype(np.int64) - then
    below, above = reach.distances(then)
    total = float(people.sum())
    by_steps = np.bincount(np.abs(steps), weights=people).astype(np.float64)
    fitted, expected, chance_up = _scale_fit(reach, below, above, steps, people, confidence)
    shape = shape_test(by_steps, expected, total)
    up, down = float(people[steps > 0].sum()), float(people[steps < 0].sum())
    if up + down == 0:
        return _with_fit(own, fitted, shape_p=shape)
    kinds, place = np.unique(chance_up, return_inverse=True)
    ups, downs = (np.bincount(place.ravel(), people * way, len(kinds)).astype(float) for way in (steps > 0, steps < 0))
    p = direction_test(ups, downs, kinds)
    both_ways = fitted.likelihood  # by which groups are compared, whichever way they go
    way = "up" if down == 0 else "down" if up == 0 else "both"
    if way != "both" and p is not None and p < SURE:
        one_way = replace(reach, direction=Direction(way))
        ends = np.zeros_like(below) if way == "up" else below, np.zeros_like(above) if way == "down" else above
        fitted, expected, _ = _scale_fit(one_way, *ends, steps, people, confidence)
        shape = shape_test(by_steps, expected, total)
    else:
        way = "both"
    shares = {"up": up / (up + down), "down": down / (up + down)}
    own = _with_fit(own, fitted, shape_p=shape, direction=way, direction_p=p, **shares)
    return replace(own, likelihood=both_ways)


def _scale_fit(
    reach: Reach,
    below: FloatArray,
    above: FloatArray,
    steps: NDArray[np.int64],
    people: FloatArray,
    confidence: float,
) -> tuple[Fitted, FloatArray, FloatArray]:
    """The certainty, how many should have moved by 0, 1, ... steps, and for each value the chance that a move is up."""
    longest = int(np.abs(steps).max(initial=0))
    counts, place = grouped_steps(below, above, steps, people)
    if reach.lower is None and reach.upper is None:
        total = float(people.sum())
        fitted = fit_endless(total, float(np.abs(steps) @ people), confidence)
        rho = fitted.certainty
        expected = total * rho * (1.0 - rho) ** np.arange(longest + 1)
        return fitted, np.asarray(expected), np.full(len(steps), 0.5)
    fitted = counts.fit(confidence)
    price = counts.prices(min(fitted.certainty, 1.0 - 1e-12))[place]
    rise, fall = (_reached(price, distance) for distance in (above, below))
    with np.errstate(invalid="ignore"):
        chance_up: FloatArray = np.where(rise + fall > 0, rise / (rise + fall), 0.0).round(12)
    return fitted, np.asarray(counts.expected(fitted.certainty).sum(axis=0)), chance_up


def _reached(price: FloatArray, distance: FloatArray) -> FloatArray:
    """sum over k = 1 .. distance of e^(-k price)."""
    price = np.clip(price, 1e-12, 700.0)  # where nothing can move, the price is infinite
    return np.asarray(-np.expm1(-distance * price) / np.expm1(price))


def _counts(
    feature: Feature, then: IntArray, now: IntArray, people: FloatArray
) -> tuple[FloatArray | None, IntArray | None]:
    """People by answer now and later, and the codes of these answers; None if there are too many to list."""
    codes = answers_of(feature)
    if len(codes) > MOST_ANSWERS or feature.kind is Kind.BINNED:
        return None, None
    counts = np.zeros((len(codes), len(codes)))
    np.add.at(counts, (np.searchsorted(codes, then), np.searchsorted(codes, now)), people)
    return counts, codes


def answers_of(feature: Feature) -> IntArray:
    """The codes of all answers that are one."""
    codes = np.arange(feature.low, feature.high + 1, dtype=np.int32)
    return codes if feature.none is None else codes[codes != feature.none]


def _model_rows(feature: Feature, codes: IntArray, reach: Reach, certainty: float) -> FloatArray:
    """P(later | now) of a certainty, for answers that are listed; what lies beyond them counts as the last."""
    n = len(codes)
    if not feature.ordered:
        rows = np.full((n, n), (1.0 - certainty) / max(n - 1, 1))
        np.fill_diagonal(rows, certainty if n > 1 else 1.0)
        return rows
    plain = replace(feature, missing=False)
    return ColumnChances(plain, codes, reach, certainty, None, True, (codes, np.ones(n))).within(codes[:-1].tolist())
