"""The compiled extension, imported in one place: tools that check imports cannot read its source."""

from hardwood._core import (
    BYTES_PER_PAIR,
    FRACTIONAL_COST_FACTOR,
    FRACTIONAL_ZERO_MULTIPLIER,
    MAX_CANDIDATE_SPLITS,
    MAX_DEPTH,
    FeatureCosts,
    Limit,
    MinLeafSize,
    Region,
    SearchProblem,
    SearchResult,
    Tree,
    TreeConstraint,
    margins,
    search,
    search_switches,
)

__all__ = [
    "BYTES_PER_PAIR",
    "FRACTIONAL_COST_FACTOR",
    "FRACTIONAL_ZERO_MULTIPLIER",
    "MAX_CANDIDATE_SPLITS",
    "MAX_DEPTH",
    "FeatureCosts",
    "Limit",
    "MinLeafSize",
    "Region",
    "SearchProblem",
    "SearchResult",
    "Tree",
    "TreeConstraint",
    "margins",
    "search",
    "search_switches",
]
