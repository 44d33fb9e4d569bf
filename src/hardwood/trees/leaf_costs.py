"""Smallest costs at which samples reach a leaf or meet a limit."""

from __future__ import annotations

import numpy as np

from hardwood._util import compiled
from hardwood._util.arrays import FloatArray
from hardwood.shifts.uncertainty_set import UncertaintySet
from hardwood.trees.compiled_costs import compiled_costs, compiled_region
from hardwood.trees.nodes import Limit, Region
from hardwood.trees.tree import Tree


def leaf_costs(tree: Tree, uncertainty: UncertaintySet) -> FloatArray:
    """Compute the smallest cost at which each sample reaches each leaf.

    Parameters
    ----------
    tree : Tree
    uncertainty : UncertaintySet

    Returns
    -------
    costs : ndarray of float
        Samples by leaves, which are counted from left to right; +inf where a sample cannot reach a leaf.
    """
    tree.check_table(uncertainty.costs.table)
    costs = compiled_costs(uncertainty)
    return np.column_stack([_region_costs(uncertainty, costs, region.limits) for region in tree.regions])


def limit_costs(uncertainty: UncertaintySet, limit: Limit) -> FloatArray:
    """Compute the smallest cost at which each sample meets a limit; +inf where it cannot.

    Parameters
    ----------
    uncertainty : UncertaintySet
    limit : Limit

    Returns
    -------
    costs : ndarray of float
    """
    return _region_costs(uncertainty, compiled_costs(uncertainty), (limit,))


def _region_costs(
    uncertainty: UncertaintySet, costs: list[compiled.FeatureCosts], limits: tuple[Limit, ...]
) -> FloatArray:
    # With a single region whose label no sample has, the margin is the cost of reaching the region.
    table = uncertainty.costs.table
    labels = np.zeros(table.n_samples, dtype=np.int32)
    region = compiled_region(table.features, Region(1, limits))
    return compiled.margins(table.values, costs, labels, [region])[0]
