"""Where values go by chance: the distribution that a certainty, or a measured table, stands for.

Each value changes on its own (`calibration` and `tables` have the distributions). Two things are asked about it: in
which of some cells it ends up, for trees, which see nothing else of a value; and what its move costs, for the budget.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardwood._support.arguments import by_feature, numbers_of
from hardwood._support.errors import ArgumentError, Said, Setting
from hardwood.data.columns import MISSING
from hardwood.data.features import NO_ANSWER, Feature, IntArray, Table
from hardwood.shift.calibration import (
    FloatArray,
    Reach,
    below_probability,
    by_feature_and_sample,
    feature_certainty,
    missing_price,
    on_scale,
    reaches,
    step_chances,
)
from hardwood.shift.description import ShiftDescription
from hardwood.shift.tables import chance_table, is_table
from hardwood.shift.totals import Amounts
from hardwood.shift.uncertainty import MoveCosts

NO_CHANCES = "prices alone do not say how likely a change is"
SAY_CERTAINTY = (Setting("certainty", 0.9), " says how certain answers are")


@dataclass(frozen=True, eq=False)
class ColumnChances:
    """Where the values of one column go.

    values     the code of each row
    certainty  and missing_certainty: one number, one for each row, or a table
    usual      codes of answers, and how common each is: whoever gives an answer after all gives one of these
    """

    feature: Feature
    values: IntArray
    reach: Reach
    certainty: Any
    missing_certainty: Any
    clip: bool
    usual: tuple[IntArray, FloatArray]

    def within(self, codes: Sequence[int]) -> FloatArray:
        """Rows by cells: the chance of ending in each of the cells that some codes tell apart.

        codes  of an ordered feature thresholds, ascending; otherwise categories, and all others are the last cell. If
               no answer is one of the values of an ordered feature, one more cell is for that.
        """
        if is_table(self.certainty):
            return self._by_table(codes)
        if self.feature.missing:
            return self._with_none(self._answers(codes), codes)
        if self._none_apart:
            return self._beside_none(codes)
        return self._answers(codes)

    def stays(self) -> FloatArray:
        """How likely each value is to be the same."""
        if is_table(self.certainty):
            table = chance_table(self.feature, self.values, self.certainty)
            place, there = table.places(self.values)
            own = table.numbers[place, place]
            if not self.feature.missing or NO_ANSWER in table.codes:
                return np.asarray(own)
        elif self._none_apart:
            return np.asarray(np.diag(self._category_chances())[self.values])
        else:
            own, there = np.broadcast_to(self._rho(), self.values.shape), self.values != NO_ANSWER
            own = np.where(self._movable(), own, 1.0)
        return np.where(there, own, 1.0) * (self._presence() if self.feature.missing else 1.0)

    def prices(self, costs: MoveCosts, j: int, rows: NDArray[np.intp]) -> Iterator[tuple[FloatArray, FloatArray]]:
        """What the move of a value costs, and how likely: prices and their chances, for each of some rows.

        Chances add up to one, or to less where a move is possible by chance that no price allows.
        """
        if not is_table(self.certainty) and self.feature.ordered:
            return self._step_prices(costs, j, rows)
        return self._code_prices(costs, j, rows)

    def rows(self, chosen: NDArray[np.intp]) -> ColumnChances:
        """The same for some of the rows."""

        def own(entry: Any) -> Any:
            plain = entry is None or is_table(entry) or np.size(entry) == 1
            return entry if plain else np.asarray(entry)[chosen]

        certainty, missing = own(self.certainty), own(self.missing_certainty)
        return replace(self, values=self.values[chosen], certainty=certainty, missing_certainty=missing)

    def alike(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Rows of which each stands for all whose moves have the same prices and chances, and for which of them."""
        keys = [self.values.astype(np.float64)]
        said = [own for own in (self.certainty, self.missing_certainty) if own is not None and not is_table(own)]
        keys += [numbers_of("certainty", own) for own in said if np.size(own) > 1]
        if self.feature.ordered and not is_table(self.certainty):
            # How far a value is from its bounds is all that matters, not on which side.
            below, above = self.reach.distances(self.values)
            gone = self.values == NO_ANSWER
            keys[0] = np.where(gone, -1.0, np.minimum(below, above))
            keys.append(np.where(gone, -1.0, np.maximum(below, above)))
        elif not is_table(self.certainty) and self.missing_certainty is None:
            keys[0] = np.zeros(len(self.values))
        _, first, place = np.unique(np.column_stack(keys), axis=0, return_index=True, return_inverse=True)
        return first, place.ravel()

    @property
    def _none_apart(self) -> bool:
        """Whether no answer is a category with a certainty of its own."""
        feature = self.feature
        return MISSING in feature.categories and self.missing_certainty is not None and feature.n_values > 1

    def _movable(self) -> NDArray[np.bool_]:
        """Which values have somewhere else to go."""
        if not self.feature.ordered:
            return np.full(len(self.values), self.feature.n_values > 1)
        below, above = self.reach.distances(on_scale(self.feature, self.values))
        return np.asarray(below + above > 0)

    def _rho(self) -> FloatArray:
        scale = on_scale(self.feature, self.values)
        return feature_certainty(self.feature, scale, self.reach, self.certainty, clip=self.clip)

    def _presence(self) -> FloatArray:
        """How likely it is, for each row, that whether there is an answer stays the same."""
        known = self.certainty if self.missing_certainty is None else self.missing_certainty
        missing_price(self.feature, known, len(self.values), clip=self.clip)  # says what is wrong with it
        return np.broadcast_to(np.clip(numbers_of("missing_certainty", known), 0.5, 1.0), self.values.shape)

    def _answers(self, codes: Sequence[int]) -> FloatArray:
        """Rows by cells: of answers that stay answers."""
        feature, values = self.feature, on_scale(self.feature, self.values)
        rho = np.broadcast_to(self._rho(), values.shape)
        if feature.ordered:
            below = [below_probability(rho, values, self.reach, code) for code in codes]
            ends = np.column_stack([np.zeros(len(values)), *below, np.ones(len(values))])
            return np.asarray(np.diff(ends, axis=1))
        rho = np.where(self._movable(), rho, 1.0)
        other = (1.0 - rho) / max(feature.n_values - 1, 1)
        own = [np.where(values == code, rho, other) for code in codes]
        return np.column_stack([*own, 1.0 - np.sum(own, axis=0)])

    def _with_none(self, chances: FloatArray, codes: Sequence[int]) -> FloatArray:
        """The same with a cell for no answer."""
        gone = self.values == NO_ANSWER
        cells = np.searchsorted(codes, self.usual[0], side="left")
        usual = np.bincount(cells, weights=self.usual[1], minlength=len(codes) + 1)
        if not self.usual[0].size:  # nobody has an answer
            usual = np.full(len(codes) + 1, 1.0 / (len(codes) + 1))
        stays = self._presence()
        answer = np.where(gone, 1.0 - stays, stays)[:, None]
        return np.column_stack([np.where(gone[:, None], usual, chances) * answer, 1.0 - answer])

    def _beside_none(self, codes: Sequence[int]) -> FloatArray:
        """A categorical feature whose category for no answer has a certainty of its own; the others share the rest."""
        matrix = self._category_chances()
        own = [matrix[self.values, code] for code in codes]
        return np.column_stack([*own, 1.0 - np.sum(own, axis=0)])

    def _category_chances(self) -> FloatArray:
        """Categories by categories, where no answer has a certainty of its own."""
        n, none = self.feature.n_values, self.feature.none
        stays, rho = float(np.clip(self.missing_certainty, 0.5, 1.0)), max(float(self._rho()[0]), 1.0 / (n - 1))
        matrix = np.full((n, n), stays * (1.0 - rho) / max(n - 2, 1))
        np.fill_diagonal(matrix, stays * (rho if n > 2 else 1.0))
        matrix[:, none] = 1.0 - stays
        matrix[none, :] = (1.0 - stays) / (n - 1)
        matrix[none, none] = stays
        return matrix

    def _by_table(self, codes: Sequence[int]) -> FloatArray:
        """As it was measured."""
        table = chance_table(self.feature, self.values, self.certainty)
        listed = table.codes[table.codes != NO_ANSWER]
        place, there = table.places(self.values)
        if self.feature.ordered:
            cell = np.searchsorted(codes, listed, side="left")
        else:
            cell = np.array([codes.index(code) if code in codes else len(codes) for code in listed])
        by_cell = np.zeros((len(table.codes), len(codes) + 1))
        for k, own in enumerate(cell):
            by_cell[:, own] += table.numbers[:, k]
        if not self.feature.missing:
            return np.asarray(by_cell[place])
        if len(listed) < len(table.codes):
            return np.column_stack([by_cell[place], table.numbers[place, -1]])
        return self._with_none(by_cell[np.where(there, place, 0)], codes)

    def _step_prices(self, costs: MoveCosts, j: int, rows: NDArray[np.intp]) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Steps along a scale, and no answer where that is one of the values."""
        price, missing, rho = costs.prices[j][:, 0], costs.missing[j], self._rho()
        below, above = self.reach.distances(on_scale(self.feature, self.values))
        presence = self._presence() if self.feature.missing else None
        for row in rows:
            own = float(price[row] if price.size > 1 else price[0])
            certainty = float(rho[row] if rho.size > 1 else rho[0])
            chances = step_chances(certainty, own, below[row], above[row], self.reach)
            prices = np.arange(len(chances), dtype=np.float64) * (own if math.isfinite(own) else 0.0)
            if presence is None or missing is None:
                yield prices, chances
                continue
            none = float(missing[row] if missing.size > 1 else missing[0])
            stays = float(presence[row])
            if self.values[row] == NO_ANSWER:
                prices, chances = np.zeros(1), np.ones(1)
            if math.isfinite(none):  # otherwise whether there is an answer never changes
                prices, chances = np.append(prices, none), np.append(stays * chances, 1.0 - stays)
            yield prices, chances

    def _code_prices(self, costs: MoveCosts, j: int, rows: NDArray[np.intp]) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Answers that are listed one by one."""
        feature = self.feature
        if is_table(self.certainty):
            codes = chance_table(feature, self.values, self.certainty).codes
            listed = [int(code) for code in codes if code != NO_ANSWER]
        else:
            listed = list(range(feature.n_values))
        reached = np.array([*listed, *([NO_ANSWER] if feature.missing else [])])
        cells = self.rows(rows).within(listed[:-1] if feature.ordered else listed)
        # Beyond the last category there is nothing; the last cell of an ordered feature is its last code.
        chances = cells if feature.ordered else cells[:, : len(listed)]
        for row, own in zip(rows, chances, strict=True):
            prices = costs.move_prices(j, np.full(len(reached), row), reached)
            there = np.isfinite(prices) & (own > 0)
            yield prices[there], own[there]


def chances_of(table: Table, people: FloatArray, shifts: ShiftDescription) -> list[ColumnChances]:
    """The columns of a table whose values shift at random; `people` says how many each row stands for."""
    if shifts.costs is not None or shifts.radius is not None or shifts.certainty is None:
        name = "costs" if shifts.costs is not None else "radius" if shifts.radius is not None else "certainty"
        said = Said("not said" if name == "certainty" else "given")
        raise ArgumentError(name, said, NO_CHANCES, remedy=SAY_CERTAINTY)
    reach = reaches(table, shifts.direction, shifts.bounds)
    entries = by_feature_and_sample("certainty", shifts.certainty, table)
    known = by_feature("missing_certainty", shifts.missing_certainty, table.names, default=None)
    return [
        ColumnChances(
            feature, table.values[:, j], reach[j], entries[j], known[j], shifts.clip, _usual(table, j, people)
        )
        for j, feature in enumerate(table.features)
    ]


def price_amounts(
    table: Table, people: FloatArray, shifts: ShiftDescription, columns: Iterable[int], *, whole: bool = True
) -> Iterator[Amounts]:
    """What a random shift of some columns costs: independent amounts, those that are alike together.

    whole  whether rows stand for so many people, each of whom shifts alone; otherwise a row shifts as one, and pays for
           all of its people
    """
    costs = shifts.uncertainty(table, budget=0.0).costs
    found = chances_of(table, people, shifts)
    for j in columns:
        rows, place = found[j].alike()
        counts = np.bincount(place, weights=people, minlength=len(rows)).round().astype(np.int64)
        for k, (prices, chances) in enumerate(found[j].prices(costs, j, rows)):
            if whole:
                yield Amounts(prices, chances, int(counts[k]))
                continue
            weights, times = np.unique(people[place == k], return_counts=True)
            for weight, count in zip(weights, times, strict=True):
                yield Amounts(prices * weight, chances, int(count))


def _usual(table: Table, j: int, people: FloatArray) -> tuple[IntArray, FloatArray]:
    """The answers of a column, and the share of people who give each."""
    values = table.values[:, j]
    there = values != NO_ANSWER
    codes, place = np.unique(values[there], return_inverse=True)
    counts = np.bincount(place.ravel(), weights=people[there], minlength=len(codes))
    return codes, counts / counts.sum() if counts.any() else np.full(len(codes), 1.0 / max(len(codes), 1))
