"""Model files that commands read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardwood.data.columns import Category
    from hardwood.data.feature import Feature
    from hardwood.estimators.robust import RobustTreeClassifier
    from hardwood.trees.tree import Tree


def load_classifier(path: Path) -> RobustTreeClassifier:
    """Load a model that `fit` wrote."""
    from hardwood.estimators.robust import RobustTreeClassifier

    return RobustTreeClassifier.load(path)


def features_of(model: Tree | RobustTreeClassifier) -> Sequence[Feature]:
    """Return the features that a model reads."""
    features: Sequence[Feature] = getattr(model, "tree_", model).features
    return features


def missing_codes_of(model: Tree | RobustTreeClassifier) -> list[Category]:
    """Return the missing codes that a model applies to all columns."""
    codes = getattr(model, "missing_values", None)
    return list(codes) if isinstance(codes, list | tuple) else [] if codes is None else [codes]
