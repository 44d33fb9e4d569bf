"""The compiled part, by one door: it has no source that tools for imports could read."""

from hardwood._core import (
    FeaturePrices,
    Limit,
    Region,
    SearchProblem,
    SearchResult,
    Tree,
    margins,
    search,
    search_switches,
)

__all__ = [
    "FeaturePrices",
    "Limit",
    "Region",
    "SearchProblem",
    "SearchResult",
    "Tree",
    "margins",
    "search",
    "search_switches",
]
