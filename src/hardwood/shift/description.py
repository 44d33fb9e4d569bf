"""What a user says about shifts, apart from any table: words that fit every table with the same columns.

The same description makes the uncertainty set of the training table, of a test table, and of the table that someone
checks a certificate with.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from hardwood._support.arguments import OTHERS, numbers_of
from hardwood._support.errors import ArgumentError
from hardwood._support.text import shown
from hardwood.data.features import Table
from hardwood.shift.calibration import budget_of
from hardwood.shift.tables import is_table, named_rows
from hardwood.shift.uncertainty import UncertaintySet

PLAUSIBILITIES = (1.0, 0.99, 0.97, 0.95, 0.9, 0.85, 0.75, 0.5)  # the levels that people look at if they name none
PAIRS = "pairs"  # how a mapping whose keys are not text is written


@dataclass(frozen=True)
class ShiftDescription:
    """How values may shift and how much of it to hedge against.

    certainty     see `UncertaintySet.calibrated`; not asked if `costs` are given
    plausibility  see `calibration.budget_of`; not asked if a `budget` is given
    direction     see `calibration.reaches`
    bounds        see `calibration.reaches`
    clip          certainties outside what makes sense count as the nearest one that does
    costs         prices instead of certainties, see `UncertaintySet.priced`
    budget        the total price instead of a plausibility
    budget_rows   the number of rows (people, where rows stand for several) that the budget is for; on another table it
                  counts in proportion
    missing_certainty  that whether there is an answer at all will be the same, see `UncertaintySet.calibrated`
    radius        instead of all prices and the budget: every sample may move freely within a box of so many steps, see
                  `UncertaintySet.boxes`
    """

    certainty: Any = 0.9
    plausibility: float = 0.9
    direction: Any = None
    bounds: Any = None
    clip: bool = False
    costs: Any = None
    budget: float | None = None
    budget_rows: float | None = None
    radius: Any = None
    missing_certainty: Any = None

    def __post_init__(self) -> None:
        budget_of(self.plausibility, 1)
        if not isinstance(self.clip, bool | np.bool_):
            raise ArgumentError("clip", self.clip, "expected true or false")
        if self.budget_rows is not None:
            rows = numbers_of("budget_rows", self.budget_rows)
            if rows.ndim != 0 or not 0 < rows < math.inf:
                raise ArgumentError("budget_rows", self.budget_rows, "it must be a number > 0")
        if self.budget is not None:
            budget = numbers_of("budget", self.budget)
            if budget.ndim != 0 or not 0 <= budget < math.inf:
                raise ArgumentError(
                    "budget", self.budget, "it must be a finite number >= 0", remedy="0 for an ordinary tree"
                )

    def budget_for(self, n_samples: float) -> float:
        """What the adversary may pay on a table with so many rows, or people."""
        if self.radius is not None:
            return 0.0
        if self.budget is None:
            return budget_of(self.plausibility, n_samples)
        return float(self.budget) * (n_samples / self.budget_rows if self.budget_rows else 1.0)

    def uncertainty(self, table: Table, *, people: float | None = None, budget: float | None = None) -> UncertaintySet:
        """The set of shifts of a table.

        people  how many its rows stand for; one each if not given
        budget  overrides what the description says
        """
        if budget is None:
            budget = self.budget_for(table.n_samples if people is None else people)
        places: dict[str, Any] = {"direction": self.direction, "bounds": self.bounds}
        if self.radius is not None:
            return UncertaintySet.boxes(table, radius=self.radius, **places)
        if self.costs is not None:
            places["missing_certainty"] = self.missing_certainty
            return UncertaintySet.priced(table, costs=self.costs, budget=budget, **places)
        # At plausibility 1 nothing is rounded yet, so the prices can be used with any budget.
        unrounded = UncertaintySet.calibrated(
            table,
            certainty=self.certainty,
            plausibility=1.0,
            clip=self.clip,
            missing_certainty=self.missing_certainty,
            **places,
        )
        return UncertaintySet(unrounded.costs, budget)

    def at(self, plausibility: float) -> ShiftDescription:
        """The same shifts at another plausibility."""
        return replace(self, plausibility=plausibility, budget=None, budget_rows=None)

    def with_prices(self, *, certainty: Any = None, costs: Any = None) -> ShiftDescription:
        """The same with other certainties, or with other prices: whichever is given replaces both."""
        if certainty is not None and costs is not None:
            raise ValueError("certainty and costs are both given; one of them sets the prices")
        if certainty is None and costs is None:
            return self
        return replace(self, certainty=certainty, costs=costs, radius=None)

    def with_named_tables(self, table: Table) -> ShiftDescription:
        """The same with names in tables of prices that came as arrays.

        An array of answers by answers looks like one of samples by answers where a table has as many rows; later tables
        may be so short.
        """
        if not isinstance(self.costs, Mapping):
            return self
        named: dict[Any, Any] = dict(self.costs)
        for feature in table.features:
            entry = named.get(feature.name)
            n = feature.n_values
            if isinstance(entry, list | np.ndarray) and np.shape(entry) == (n, n) and table.n_samples not in (1, n):
                answers = [feature.decode(code) for code in range(feature.low, feature.high + 1)]
                rows = np.asarray(entry, dtype=np.float64).tolist()
                named[feature.name] = {
                    now: dict(zip(answers, row, strict=True)) for now, row in zip(answers, rows, strict=True)
                }
        return replace(self, costs=named)

    @classmethod
    def said(cls, shifts: ShiftDescription | None, words: Mapping[str, Any]) -> ShiftDescription | None:
        """A description given whole, or in single words (None: not said); None if nothing is said at all."""
        given = {name: value for name, value in words.items() if value is not None}
        unknown = [name for name in given if name not in FIELDS]
        if unknown:
            raise TypeError(f"there is no argument {unknown[0]!r} about shifts; expected some of {list(FIELDS)}")
        if shifts is None:
            return cls(**given) if given else None
        if not isinstance(shifts, cls):
            raise ArgumentError("shifts", shifts, "expected a ShiftDescription")
        if given:
            raise ArgumentError(
                "shifts", shifts, f"{sorted(given)} are given, too: say everything in the description, or nothing"
            )
        return shifts

    @property
    def by_cell(self) -> bool:
        """Whether prices are given for single cells, so that they belong to one table."""
        return any(_has_cells(value) for value in (self.certainty, self.costs))

    def __str__(self) -> str:
        words = [f"radius {shown(plain(self.radius))}"] if self.radius is not None else []
        if not words:
            prices = self.certainty if self.costs is None else self.costs
            name = "certainty" if self.costs is None else "costs"
            words.append(f"{name} by cell" if _has_cells(prices) else f"{name} {_told(prices)}")
            words.append(f"plausibility {self.plausibility:g}" if self.budget is None else f"budget {self.budget:g}")
        places = {name: getattr(self, name) for name in ("direction", "bounds", "missing_certainty")}
        words += [f"{name} {shown(plain(value))}" for name, value in places.items() if value]
        return ", ".join(words)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; infinite prices are written as text."""
        return {name: plain(getattr(self, name)) for name in FIELDS}

    @classmethod
    def from_dict(cls, entry: Any) -> ShiftDescription:
        """Read what `to_dict` wrote."""
        if isinstance(entry, Mapping) and set(entry) == set(FIELDS) - {"missing_certainty"}:  # as it was before
            entry = {**entry, "missing_certainty": None}
        if not isinstance(entry, Mapping) or set(entry) != set(FIELDS):
            received = sorted(entry) if isinstance(entry, Mapping) else repr(entry)
            raise ValueError(
                f"the description of shifts has {received}; expected an object with exactly {list(FIELDS)}"
            )
        return cls(**{name: read_plain(value) for name, value in entry.items()})


def _told(prices: Any) -> str:
    """Numbers by column in words; a table of answers is only mentioned."""
    if not isinstance(prices, Mapping) or not any(_is_table(entry) for entry in prices.values()):
        return shown(plain(prices))
    entries = (f"{shown(name)}: {'a table' if _is_table(own) else shown(plain(own))}" for name, own in prices.items())
    return "{" + ", ".join(entries) + "}"


FIELDS = tuple(field.name for field in fields(ShiftDescription))


def plain(value: Any) -> Any:
    """Anybody's numbers, names and mappings of them as JSON can hold them."""
    if hasattr(value, "columns"):
        return _plain_frame(value)
    if isinstance(value, Mapping):
        value = named_rows(value) if is_table(value) else {OTHERS if k is ... else k: v for k, v in value.items()}
        if all(isinstance(name, str) for name in value):
            return {name: plain(entry) for name, entry in value.items()}
        return {PAIRS: [[plain(name), plain(entry)] for name, entry in value.items()]}
    if hasattr(value, "items") and list(getattr(value, "index", ())) not in ([], list(range(len(value)))):
        return {str(name): plain(entry) for name, entry in value.items()}  # a series by column name
    if hasattr(value, "tolist"):
        value = value.tolist()
    elif hasattr(value, "to_list"):
        value = value.to_list()
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(entry) for entry in value]
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return value


def _has_cells(value: Any) -> bool:
    """Whether an entry holds one number for each sample, not only one for each column."""
    if hasattr(value, "columns"):
        return True
    if isinstance(value, Mapping | list | tuple):
        entries = value.values() if isinstance(value, Mapping) else value
        return any(hasattr(own, "__len__") and not isinstance(own, str) and not _is_square(own) for own in entries)
    return np.ndim(value) > 1


def _is_square(entry: Any) -> bool:
    """Whether an entry for a column is a table of answers by answers, or prices by category."""
    return isinstance(entry, Mapping) or _is_table(entry)


def _is_table(entry: Any) -> bool:
    return is_table(entry) and (not isinstance(entry, list | np.ndarray) or len({*np.shape(entry)}) == 1)


def _plain_frame(frame: Any) -> Any:
    """A table of answers by answers, or a value for each cell."""
    if sorted(map(str, getattr(frame, "index", ()))) == sorted(map(str, frame.columns)):
        return plain(named_rows(frame))
    return {str(name): plain(np.asarray(frame[name])) for name in frame.columns}


def read_plain(value: Any) -> Any:
    """What `plain` wrote."""
    if isinstance(value, Mapping):
        if set(value) == {PAIRS}:
            return _read_pairs(value[PAIRS])
        return {name: read_plain(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [read_plain(entry) for entry in value]
    return float(value) if value in ("inf", "-inf") else value


def _read_pairs(pairs: Any) -> dict[Any, Any]:
    fit = isinstance(pairs, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in pairs)
    if not fit or any(isinstance(name, list | dict) for name, _ in pairs):
        raise ValueError(f'the description of shifts has "{PAIRS}": {pairs!r}; expected a list of [name, value]')
    return {read_plain(name): read_plain(entry) for name, entry in pairs}
