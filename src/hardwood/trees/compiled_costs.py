"""Costs and regions as the compiled module takes them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hardwood._util import compiled
from hardwood._util.arrays import FloatArray
from hardwood.data.codes import BELOW_ALL
from hardwood.data.feature import Feature
from hardwood.shifts.pair_tables import PairTable
from hardwood.shifts.reach import Direction, Reach
from hardwood.shifts.uncertainty_set import UncertaintySet
from hardwood.trees.nodes import Region

LOWEST, HIGHEST = np.iinfo(np.int32).min, np.iinfo(np.int32).max


def compiled_costs(uncertainty: UncertaintySet) -> list[compiled.FeatureCosts]:
    """Translate the costs of an uncertainty set; contiguous arrays are not copied.

    Parameters
    ----------
    uncertainty : UncertaintySet

    Returns
    -------
    costs : list of compiled.FeatureCosts
        One entry for each feature.
    """
    costs = uncertainty.costs
    return [
        _feature_costs(
            costs.unit_costs[j], feature.ordered, costs.reach[j], costs.missing_costs[j], costs.pair_costs[j]
        )
        for j, feature in enumerate(costs.table.features)
    ]


def _feature_costs(
    costs: FloatArray, ordered: bool, reach: Reach, missing: FloatArray | None, table: PairTable | None
) -> compiled.FeatureCosts:
    return compiled.FeatureCosts(
        np.ascontiguousarray(costs),
        ordered,
        may_increase=reach.direction is not Direction.DOWN,
        may_decrease=reach.direction is not Direction.UP,
        lower=LOWEST if reach.lower is None else max(reach.lower, LOWEST),
        upper=HIGHEST if reach.upper is None else min(reach.upper, HIGHEST),
        max_steps=HIGHEST if reach.steps is None else min(reach.steps, HIGHEST),
        missing=None if missing is None else np.ascontiguousarray(missing),
        codes=None if table is None else table.codes,
        table=None if table is None else np.ascontiguousarray(table.numbers),
    )


def compiled_region(features: Sequence[Feature], region: Region) -> compiled.Region:
    """Translate a region.

    Parameters
    ----------
    features : sequence of Feature
        Features that the limits of the region refer to.
    region : Region

    Returns
    -------
    region : compiled.Region
    """
    limits = []
    for limit in region.limits:
        n_values = 0 if limit.allowed is None else features[limit.feature].n_values
        limits.append(
            compiled.Limit(
                limit.feature,
                1 if limit.high == BELOW_ALL else LOWEST if limit.low is None else limit.low,
                0 if limit.high == BELOW_ALL else HIGHEST if limit.high is None else limit.high,
                [int(k in (limit.allowed or ())) for k in range(n_values)],
                limit.missing,
            )
        )
    return compiled.Region(region.label, limits)
