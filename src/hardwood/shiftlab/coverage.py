"""Coverage: the probability that a random shift stays within the budget, and the plausibility that reaches a coverage.

A plausibility is not a probability: it states how much less likely than "no change" a shift may be, per row. Coverage
is the probability that a shift drawn from the calibrated distribution costs no more than the budget. A tree reads only
the columns of its splits, so its guarantee holds if the changes in these columns stay within the budget.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np

from hardwood._util.arguments import check_numbers
from hardwood._util.arrays import FloatArray
from hardwood._util.deprecation import renamed_attributes
from hardwood._util.errors import ArgumentError
from hardwood._util.text import printable
from hardwood._util.types import FittedModel, JsonObject, PerColumn, TableLike, WeightsLike
from hardwood.data.encode import encode
from hardwood.data.labels import check_weights
from hardwood.data.table import Table
from hardwood.estimators.any_model import shifts_for, tree_and_table, unwrap_pipeline
from hardwood.shifts.calibration import budget_of
from hardwood.shifts.models import Calibrated, ShiftModel, resolve_shifts
from hardwood.shifts.probabilities import cost_amounts
from hardwood.shifts.sums import Draws, Probability, Total, distribution_of_sum
from hardwood.shifts.uncertainty_set import allowance
from hardwood.trees.tree import Branch, Tree


@renamed_attributes(people="total_weight")
@dataclass(frozen=True, eq=False)
class CostDistribution:
    """Distribution of the cost of a random shift of some columns.

    Parameters
    ----------
    columns : tuple of str
        Names of the columns that shift.
    total_weight : float
        Total weight of the rows; the budget of a plausibility is proportional to it.
    cost : Total or Draws
        Distribution of the total cost.
    """

    columns: tuple[str, ...]
    total_weight: float
    cost: Total | Draws

    def within(self, budget: float) -> Probability:
        """Probability that the shift costs at most `budget`."""
        if not budget >= 0:
            raise ArgumentError("budget", budget, "it must be a number >= 0")
        return self.cost.at_most(allowance(budget))

    def at(self, plausibility: float) -> Probability:
        """Probability that the shift stays within the budget of a plausibility."""
        return self.within(budget_of(plausibility, self.total_weight))

    def plausibility_for(self, coverage: float) -> float:
        """Highest plausibility whose budget covers the shift with probability `coverage`; 0 if there is none."""
        budget, increase = max(self.cost.quantile(coverage), 0.0), 1e-12
        while math.isfinite(budget) and (level := math.exp(-budget / self.total_weight)) > 0:
            if self.at(level).value >= coverage - 1e-9 or increase > 1.0:
                return level
            # exp and log round, so the budget of `level` may fall just below the quantile.
            budget, increase = budget * (1.0 + increase), 4.0 * increase
        return 0.0


@renamed_attributes(asked_columns="used_columns", words="explanation")
@dataclass(frozen=True, eq=False)
class Coverage:
    """Probability that a random shift stays within the budget.

    Parameters
    ----------
    budget : float
        Budget that the cost of the shift is compared with.
    plausibility : float
        Plausibility of this budget.
    everything : CostDistribution
        Cost of the changes in all columns.
    asked : CostDistribution or None
        Cost of the changes in the columns that the tree uses, which decide about its guarantee; None without a tree.
    """

    budget: float
    plausibility: float
    everything: CostDistribution
    asked: CostDistribution | None = None

    @property
    def all_columns(self) -> Probability:
        """Probability that the changes in all columns stay within the budget."""
        return self.everything.within(self.budget)

    @property
    def used_columns(self) -> Probability | None:
        """Probability that the changes in the columns that the tree uses stay within the budget."""
        return None if self.asked is None else self.asked.within(self.budget)

    def to_dict(self) -> JsonObject:
        """Return the numbers as a dictionary that JSON can hold."""
        entries: JsonObject = {"plausibility": self.plausibility, "budget": self.budget}
        for name, distribution in (("all_columns", self.everything), ("used_columns", self.asked)):
            if distribution is not None:
                probability = distribution.within(self.budget)
                mean = distribution.cost.mean
                entries[name] = {
                    "columns": list(distribution.columns),
                    "coverage": probability.value,
                    "low": probability.low,
                    "high": probability.high,
                    "draws": probability.draws,
                    "expected_cost": mean if math.isfinite(mean) else "inf",
                    "plausibility_for_95": distribution.plausibility_for(0.95),
                }
        return entries

    @property
    def explanation(self) -> str:
        """Explanation in plain words, for users who choose a plausibility."""
        distribution = self.everything
        text = (
            f"If certainties are right, a random shift of all columns costs {distribution.cost.mean:,.4g} on average; "
            f"with probability {distribution.within(self.budget)} it stays within the budget of {self.budget:,.4g}."
        )
        level = distribution.plausibility_for(0.95)
        if level:
            text += f" To cover 95 in 100 random shifts, plausibility would have to be {level:.3g}."
        if self.all_columns.value < 0.5:
            text += (
                " A guarantee needs less: only the columns that the tree uses have to stay within the budget, and most "
                "random changes do no harm (hardwood.shiftlab.choose_plausibility shows both)."
            )
        return text

    def __str__(self) -> str:
        lines = [f"budget {self.budget:.4g} (plausibility {self.plausibility:.6g})"]
        parts = (("all columns", self.everything), ("the columns that the tree uses", self.asked))
        for title, part in parts:
            if part is not None:
                names = ", ".join(printable(name) for name in part.columns[:6]) + (
                    ", ..." if len(part.columns) > 6 else ""
                )
                level = part.plausibility_for(0.95)
                lines.append(
                    f"{title} ({names}): a random shift costs {part.cost.mean:.4g} on average, and is within the "
                    f"budget with probability {part.within(self.budget)}; "
                    f"{f'plausibility {level:.4g}' if level else 'no plausibility'} would cover 95 in 100"
                )
        return "\n".join(lines)


def coverage(
    X: TableLike,
    model: FittedModel | None = None,
    *,
    sample_weight: WeightsLike | None = None,
    shifts: ShiftModel | None = None,
    feature_kinds: PerColumn = None,
    max_bins: int = 10,
    missing: str = "error",
    missing_values: PerColumn = None,
    **shift_parameters: object,
) -> Coverage:
    """Compute the probability that a shift drawn from the calibrated distribution stays within the budget.

    Parameters
    ----------
    X : table
        The table that shifts.
    model : tree or None
        Anything that `audit` accepts. Coverage is then also computed for the columns that the tree uses, and the shifts
        that the model was fitted for are the default.
    sample_weight : array-like or None
        Weight of each row.
    shifts : ShiftModel or None
        The shifts.
    feature_kinds, max_bins, missing, missing_values
        How to read the table if there is no model, as in `RobustTreeClassifier`.
    **shift_parameters
        The shifts as separate arguments instead of `shifts`: certainty, plausibility, direction, bounds, ... With a
        model, a plausibility alone changes only the budget of the shifts that it was fitted for.

    Returns
    -------
    coverage : Coverage
        Coverage of all columns and, with a model, of the columns that it uses.

    Notes
    -----
    Coverage is computed by convolution, with bounds on its error. It is simulated only if the values have very many
    different certainties; the probability then states its number of draws.
    """
    reading: _Reading = {
        "kinds": feature_kinds,
        "max_bins": max_bins,
        "missing": missing,
        "missing_values": missing_values,
    }
    tree, table, shifts = _table_and_shifts(X, model, shifts, shift_parameters, reading)
    weights, has_integer_weights = weights_of(sample_weight, table.n_samples)
    total_weight = float(weights.sum())
    budget = shifts.budget_for(total_weight)
    columns = [range(len(table.features)), *([] if tree is None else [used_features(tree)])]
    everything, *used = cost_distributions(table, weights, shifts, columns, has_integer_weights=has_integer_weights)
    return Coverage(budget, math.exp(-budget / total_weight), everything, used[0] if used else None)


def plausibility_for_coverage(
    target: float, X: TableLike, model: FittedModel | None = None, **parameters: Any
) -> float:
    """Compute the highest plausibility whose budget covers a random shift with probability `target`.

    Parameters
    ----------
    target : float
        Probability, between 0 and 1.
    X : table
        The table that shifts.
    model : tree or None
        With a model, only the columns that it uses count, which is sufficient for its guarantee. Without one, all
        columns count.
    **parameters
        Further parameters of `coverage`. A plausibility among them has no effect.

    Returns
    -------
    plausibility : float

    Raises
    ------
    ValueError
        If no plausibility reaches the target.
    """
    level = check_numbers("target", target)
    if level.ndim != 0 or not 0 < level < 1:
        raise ArgumentError("target", target, "it must lie between 0 and 1", remedy="such as 0.95")
    found = coverage(X, model, **parameters)
    distribution = found.everything if found.asked is None else found.asked
    plausibility = distribution.plausibility_for(float(level))
    if plausibility == 0.0:
        raise ValueError(
            f"no plausibility covers a random shift with probability {float(level):g}: some changes that the "
            f"certainties allow have no finite cost, or the cost exceeds every budget"
        )
    return plausibility


def cost_distributions(
    table: Table,
    weights: FloatArray,
    shifts: ShiftModel,
    column_sets: Iterable[Iterable[int]],
    *,
    has_integer_weights: bool = True,
) -> list[CostDistribution]:
    """Compute the cost of a random shift for several sets of columns; equal sets are computed once.

    Parameters
    ----------
    table : Table
    weights : array of shape (n_samples,)
    shifts : ShiftModel
    column_sets : iterable of iterables of int
        Indices of the columns that shift.
    has_integer_weights : bool
        Whether a row of weight w counts as w rows that shift independently, see `cost_amounts`.

    Returns
    -------
    distributions : list of CostDistribution
        One for each set of columns.
    """
    wanted = [tuple(columns) for columns in column_sets]
    known: dict[tuple[int, ...], CostDistribution] = {}
    probabilities, costs = shifts.required_probabilities(table, weights), shifts.move_costs(table)
    for columns in wanted:
        if columns not in known:
            amounts = cost_amounts(costs, probabilities, weights, columns, integer_weights=has_integer_weights)
            cost = distribution_of_sum(amounts)
            names = tuple(table.names[j] for j in columns)
            known[columns] = CostDistribution(names, float(weights.sum()), cost)
    return [known[columns] for columns in wanted]


def used_features(tree: Tree) -> Sequence[int]:
    """Indices of the features that the splits of a tree use, ascending."""
    return sorted({node.feature for node in tree.nodes if isinstance(node, Branch)})


def weights_of(sample_weight: WeightsLike | None, n_samples: int) -> tuple[FloatArray, bool]:
    """Weight of each row, and whether all weights are integers."""
    if sample_weight is None:
        return np.ones(n_samples), True
    weights = check_weights(sample_weight, n_samples)
    return weights, bool((weights == np.floor(weights)).all())


class _Reading(TypedDict):
    """How to read a table, as arguments of `encode`."""

    kinds: PerColumn
    max_bins: int
    missing: str
    missing_values: PerColumn


def _table_and_shifts(
    X: TableLike,
    model: FittedModel | None,
    shifts: ShiftModel | None,
    shift_parameters: Mapping[str, object],
    reading: _Reading,
) -> tuple[Tree | None, Table, ShiftModel]:
    """The tree of the model, if there is one, the table as the model reads it, and the shifts."""
    if model is None:
        table = X if isinstance(X, Table) else encode(X, **reading)
        return None, table, resolve_shifts(shifts, shift_parameters) or Calibrated()
    model, shifts, _ = shifts_for(model, shifts, shift_parameters, None)
    model, X = unwrap_pipeline(model, X)
    if isinstance(X, Table) and isinstance(model, Tree):
        return model, X, shifts
    return *tree_and_table(model, X, reading["kinds"], reading["max_bins"], reading["missing_values"]), shifts
