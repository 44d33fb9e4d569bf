"""Result of `estimate_certainty`: certainties of the columns of two linked tables."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from hardwood._util.arrays import FloatArray
from hardwood._util.deprecation import renamed_attributes
from hardwood._util.errors import ArgumentError
from hardwood._util.notebook import NotebookMixin
from hardwood._util.text import printable
from hardwood._util.types import Arguments, ColumnLike, JsonObject
from hardwood.data.columns import Category
from hardwood.shiftlab.fitting import Fitted, homogeneity_test
from hardwood.shifts.column_summary import aligned

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_VALUES = 60  # columns with more values get no table P(later | now)
SIGNIFICANCE = 0.05

# P(later | now) by value now and value later; None is "missing".
TransitionTable: TypeAlias = dict[Category | None, dict[Category | None, float]]


@renamed_attributes(people="total_weight", answers="values")
@dataclass(frozen=True, eq=False)
class ColumnEstimate:
    """Estimate for one column from two measurements.

    Parameters
    ----------
    name, kind : str
        The column and its kind.
    total_weight : float
        Total weight of the rows whose value was recorded both times.
    unchanged : float
        Share of them whose value did not change.
    certainty : float
        The certainty of the highest likelihood.
    low, high : float
        Its confidence interval.
    up, down : float or None
        Shares of the changes in each direction, for columns with an order.
    direction : str
        "up" or "down" if all changes go one way and this is significant, otherwise "both".
    direction_p : float or None
        The p-value of the hypothesis that both directions are as likely as the ends of the scale make them.
    shape_p : float or None
        The p-value of the hypothesis that the changes follow the distribution of this certainty; None if too few values
        changed.
    missing : Fitted or None
        Certainty of the missingness status, if some values are missing.
    values : tuple
        The values of the table, as the caller knows them.
    counts : array or None
        Weight by value now (rows) and value later (columns).
    table : dict or None
        P(later | now), smoothed; None if there are too many values.
    likelihood : float
        Logarithm of the likelihood, which compares groups.
    """

    name: str
    kind: str
    total_weight: float
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
    values: tuple[Category, ...] = ()
    counts: FloatArray | None = field(default=None, repr=False)
    table: TransitionTable | None = field(default=None, repr=False)
    likelihood: float = field(default=0.0, repr=False)

    @property
    def remarks(self) -> str:
        """What to know before the certainty is used, in plain words."""
        remarks = [f"nothing changed: {self.low:.3f} is the cautious choice"] if self.unchanged == 1.0 else []
        if self.direction != "both":
            remarks.append(f"all changes go {self.direction}")
        elif self.direction_p is not None and self.direction_p < SIGNIFICANCE:
            remarks.append("mostly up" if (self.up or 0) > 0.5 else "mostly down")
        if self.shape_p is not None and self.shape_p < SIGNIFICANCE:
            remarks.append("shape does not fit: " + ("use the table" if self.table else "certainty is rough"))
        return "; ".join(remarks)

    def to_dict(self) -> JsonObject:
        """Return the numbers as a dictionary that JSON can hold; the table is a list of rows."""
        names = ("name", "kind", "total_weight", "unchanged", "certainty", "low", "high", "up", "down", "direction")
        entries = {name: getattr(self, name) for name in (*names, "direction_p", "shape_p")}
        entries["missing_certainty"] = None if self.missing is None else self.missing.certainty
        entries["values"] = list(self.values)
        entries["table"] = None if self.table is None else [list(row.values()) for row in self.table.values()]
        return entries | {"remarks": self.remarks}


@renamed_attributes(people="total_weight", words="parameters")
@dataclass(frozen=True, eq=False)
class CertaintyEstimate(NotebookMixin):
    """Certainties of the columns of two linked tables. Prints as a table.

    `certainty` (or `cautious`), `direction`, `missing_certainty` and `tables` are arguments of `RobustTreeClassifier`
    and similar functions. `parameters` holds certainty, direction and missing_certainty together.

    Parameters
    ----------
    by_column : dict of str to ColumnEstimate
        The columns by name.
    total_weight : float
        Total weight of the rows that are in both tables.
    confidence : float
        Confidence of the intervals.
    groups : dict of str to CertaintyEstimate
        Estimates of each group, by its name.
    left_out : tuple of str
        Columns without a value that was recorded twice, or that only one of the tables has.
    """

    by_column: dict[str, ColumnEstimate]
    total_weight: float
    confidence: float
    groups: dict[str, CertaintyEstimate] = field(default_factory=dict, repr=False)
    left_out: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> ColumnEstimate:
        return self.by_column[name]

    @property
    def certainty(self) -> dict[str, float]:
        """Certainty by column name."""
        return {column.name: column.certainty for column in self.by_column.values()}

    @property
    def cautious(self) -> dict[str, float]:
        """Lower end of each interval, by column name; it is below 1 even where no value happened to change."""
        return {column.name: column.low for column in self.by_column.values()}

    @property
    def direction(self) -> dict[str, str]:
        """Direction by column name, for columns that move one way only."""
        return {column.name: column.direction for column in self.by_column.values() if column.direction != "both"}

    @property
    def missing_certainty(self) -> dict[str, float]:
        """Certainty of the missingness status by column name, for columns with missing values."""
        columns = self.by_column.values()
        return {column.name: column.missing.certainty for column in columns if column.missing is not None}

    @property
    def tables(self) -> dict[str, TransitionTable]:
        """P(later | now) by column name, for columns with few values; it can replace the certainty of a column."""
        return {column.name: column.table for column in self.by_column.values() if column.table is not None}

    @property
    def parameters(self) -> Arguments:
        """Arguments about shifts: certainty, direction and missing_certainty, as far as there are any."""
        stated = {
            "certainty": self.certainty,
            "direction": self.direction,
            "missing_certainty": self.missing_certainty,
        }
        return {name: value for name, value in stated.items() if value}

    def differs(self, name: str) -> float | None:
        """The p-value of the hypothesis that all groups have the same certainty in a column; None without groups."""
        separate = [estimate[name].likelihood for estimate in self.groups.values() if name in estimate.certainty]
        return homogeneity_test(self[name].likelihood, separate)

    def by_cell(self, groups: ColumnLike) -> FloatArray:
        """Return the certainty of each cell by the group of its row.

        Parameters
        ----------
        groups : array-like of shape (n_samples,)
            Group of each row.

        Returns
        -------
        certainty : array of shape (n_samples, n_columns)
            For `fit(X, y, certainty=...)`.
        """
        names = np.asarray(groups).astype(str)
        unknown = sorted(set(names.tolist()) - set(self.groups))
        if unknown:
            raise ArgumentError("groups", unknown[0], f"the estimate knows the groups {list(self.groups)}")
        return np.array([[self.groups[name].certainty[column] for column in self.by_column] for name in names])

    def to_dict(self) -> JsonObject:
        """Return the numbers as a dictionary that JSON can hold."""
        return {
            "linked": True,
            "total_weight": self.total_weight,
            "confidence": self.confidence,
            "columns": [column.to_dict() for column in self.by_column.values()],
            "groups": {name: estimate.to_dict() for name, estimate in self.groups.items()},
            "left_out": list(self.left_out),
        }

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the certainties with their intervals; returns the matplotlib axes."""
        from hardwood.plotting import plot_certainty

        return plot_certainty([column.to_dict() for column in self.by_column.values()], ax=ax)

    def plot_table(self, name: str, ax: Axes | None = None) -> Axes:
        """Plot P(later | now) of a column; returns the matplotlib axes."""
        from hardwood.plotting import plot_transitions

        column = self[name]
        if column.table is None:
            raise ValueError(f'column "{name}" has too many values for a table; expected at most {MAX_VALUES}')
        return plot_transitions(column.name, column.table, ax=ax)

    def __str__(self) -> str:
        head = ("column", "kind", "people", "unchanged", "certainty", f"{self.confidence:.0%} interval", "up/down")
        rows = [
            (
                printable(column.name),
                column.kind,
                f"{column.total_weight:,.6g}",
                f"{column.unchanged:.1%}",
                f"{column.certainty:.3f}",
                f"{column.low:.3f} to {column.high:.3f}",
                "-" if column.up is None or column.down is None else f"{column.up:.0%}/{column.down:.0%}",
                "-" if column.shape_p is None else "no" if column.shape_p < SIGNIFICANCE else "yes",
                column.remarks,
            )
            for column in self.by_column.values()
        ]
        lines = [*aligned((*head, "fits", ""), rows, right=(2, 3, 4)), *self._missing_lines(), *self._group_lines()]
        if self.left_out:
            lines.append(f"left out, because no answers can be compared: {', '.join(map(printable, self.left_out))}")
        return "\n".join(line.rstrip() for line in lines)

    def _missing_lines(self) -> list[str]:
        """One line for each column with missing values."""
        return [
            f"{printable(column.name)}: whether there is an answer stays the same with certainty "
            f"{column.missing.certainty:.3f} ({column.missing.low:.3f} to {column.missing.high:.3f})"
            for column in self.by_column.values()
            if column.missing is not None
        ]

    def _group_lines(self) -> list[str]:
        """One line for each column if there are groups."""
        lines = []
        for name in self.by_column if self.groups else ():
            certainties = ", ".join(
                f"{printable(group)} {estimate[name].certainty:.3f}"
                for group, estimate in self.groups.items()
                if name in estimate.by_column
            )
            p = self.differs(name)
            verdict = "" if p is None else " (they differ)" if p < SIGNIFICANCE else " (no clear difference)"
            lines.append(f"{printable(name)} by group: {certainties}{verdict}")
        return lines
