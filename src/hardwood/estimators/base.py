"""What all tree classifiers share: reading tables by scikit-learn's rules, and predicting with a tree."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from hardwood._support.errors import Dialect, PythonDialect, Setting
from hardwood._support.text import shown
from hardwood.data.codes import Oddity, oddity_of, read_coded_columns
from hardwood.data.columns import Column, n_rows, refuse_missing_labels, refuse_repeated
from hardwood.data.features import Feature, Kind, Table, encode, learn_table
from hardwood.data.labels import Labels, encode_labels, with_weight
from hardwood.data.pieces import Pieces, pieces_of
from hardwood.data.strangers import warn_of_strangers
from hardwood.trees.scikit import design_matrix, to_sklearn
from hardwood.trees.tree import Tree


class CodesWarning(UserWarning):
    """A column of text looks like numbers with codes for no answer."""

    def __init__(self, found: Oddity) -> None:
        super().__init__(found)
        self.found = found

    def worded(self, dialect: Dialect) -> str:
        """The warning as an interface says it."""
        codes = list(self.found.codes)
        said = " and ".join(f"{count:,} x {shown(code)!r}" for code, count in self.found.codes.items())
        remedy = dialect.setting(Setting("missing_values", codes[0] if len(codes) == 1 else codes))
        return (
            f'column "{shown(self.found.name)}" holds numbers and {said}, so it is read as text without an order; '
            f"if that means no answer, give {remedy}"
        )

    def __str__(self) -> str:
        return self.worded(PythonDialect())


@contextmanager
def kept_if_it_fails(model: BaseEstimator) -> Iterator[None]:
    """A fit that fails leaves the model as it was: fitted to what it was fitted to, or not fitted."""
    before = dict(vars(model))
    try:
        yield
    except BaseException:
        vars(model).clear()
        vars(model).update(before)
        raise


class TreeClassifier(ClassifierMixin, BaseEstimator):
    """A classifier with a `tree_`. Subclasses have the parameters feature_kinds, max_bins and missing, and a `fit`."""

    feature_kinds: Any
    max_bins: int
    missing: str
    missing_values: Any = None

    def training_data(
        self, X: Any, y: Any, sample_weight: Any = None, class_weight: Any = None
    ) -> tuple[Table, Labels]:
        """The table and the labels that `fit` learns from; remembers the columns. Rows of weight 0 are left out."""
        X = self._validated(X, reset=True)
        if y is None:
            name = type(self).__name__
            raise ValueError(f"{name} requires y to be passed, but the target y is None; give a label for each row")
        y = column_or_1d(y, warn=True)
        refuse_missing_labels(y)  # with the row, before scikit-learn does without it
        check_classification_targets(y)
        if sample_weight is not None and n_rows(X) != len(y):
            raise ValueError(f"y has {len(y)} labels but the table has {n_rows(X)} rows; expected as many")
        X, y, weights = with_weight(X, y, sample_weight)
        columns = read_coded_columns(X, self.missing, self.missing_values)
        table = learn_table(columns, kinds=self.feature_kinds, max_bins=self.max_bins, weights=weights)
        self._reading_notes = list(_notes(columns, table))
        return table, encode_labels(y, table.n_samples, weights=weights, class_weight=class_weight)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row. A table in pieces (see `audit`) is predicted piece by piece."""
        if (pieces := pieces_of(X)) is not None:
            return self._piece_by_piece(self.predict, pieces)
        tree, table = self.at_use(X)
        return np.asarray(self.classes_[tree.predict(table)])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The shares of the classes among the training samples in the leaf of each row.

        They describe the training table as it stands. The label of a leaf is chosen for the worst case, so it need not
        be the most frequent class there. A leaf without training samples is sure of its label.
        """
        tree, table = self.at_use(X)
        counts = self.leaf_counts_.astype(float)
        empty = np.flatnonzero(counts.sum(axis=1) == 0)
        counts[empty, [tree.regions[leaf].label for leaf in empty]] = 1.0
        shares: NDArray[np.float64] = (counts / counts.sum(axis=1, keepdims=True))[tree.leaf_of(table)]
        return shares

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "tree_")

    def to_sklearn(self) -> Any:
        """The tree as a fitted `DecisionTreeClassifier`, for `plot_tree`, SHAP and others; see `design_matrix`."""
        check_is_fitted(self)
        return to_sklearn(self.tree_, self.leaf_counts_)

    def design_matrix(self, X: Any) -> NDArray[np.float64]:
        """The columns that the tree of `to_sklearn` reads: X itself if it holds numbers alone."""
        check_is_fitted(self)
        return design_matrix(self.tree_, self._named(self._validated(X, reset=False)), self.missing_values)

    def encoded(
        self, X: Any, unseen: str = "error", features: Sequence[Feature] | None = None, missing: str | None = None
    ) -> Table:
        """The table as the tree reads it, or as finer features do; see `features.encode` for `unseen` and `missing`."""
        check_is_fitted(self)
        X = self._named(self._validated(X, reset=False))
        own = self.tree_.features if features is None else features
        none = self.missing if missing is None else missing
        return encode(X, features=own, unseen=unseen, missing=none, missing_values=self.missing_values)

    def set_tree(self, tree: Tree, table: Table, labels: Labels) -> None:
        """Become the classifier of a tree, with the training samples (or people) counted by leaf and class."""
        counts = np.zeros((len(tree.regions), len(tree.classes)))
        np.add.at(counts, (tree.leaf_of(table), labels.codes), labels.row_people)
        self._set_tree(tree, counts.astype(np.int64) if labels.whole else counts)

    def _set_tree(self, tree: Tree, counts: NDArray[Any]) -> None:
        self.tree_ = tree
        self.classes_ = np.array(tree.classes)
        self.leaf_counts_ = counts
        self.n_features_in_ = len(tree.features)

    def _piece_by_piece(self, method: Callable[[Any], NDArray[Any]], pieces: Pieces) -> NDArray[Any]:
        """What a method says about each row of a table in pieces, as one array."""
        check_is_fitted(self)
        names = [feature.name for feature in self.tree_.features]
        return np.concatenate(list(pieces.map(partial(_without_number, method), names)))

    def at_use(self, X: Any) -> tuple[Tree, Table]:
        """The table as the tree reads it. Answers that are new get a category that no test of the tree asks for."""
        table = self.encoded(X, unseen="extra")
        warn_of_strangers(table, self.tree_.features, stacklevel=3)
        return Tree(table.features, self.tree_.classes, self.tree_.root), table

    def _named(self, X: Any) -> Any:
        """Columns under the names that the tree knows, where either side has no names of its own."""
        names = [feature.name for feature in self.tree_.features]
        if isinstance(X, np.ndarray):
            return {name: X[:, j] for j, name in enumerate(names)}
        if isinstance(X, Mapping) or hasattr(self, "feature_names_in_"):
            return X
        return dict(zip(names, nw.from_native(X, eager_only=True).iter_columns(), strict=True))

    def _validated(self, X: Any, *, reset: bool) -> Any:
        """Frames keep their columns' own types; anything else becomes an array, by scikit-learn's rules."""
        if isinstance(X, Mapping) and not issparse(X):  # one of scipy's sparse matrices is a mapping
            if reset:
                self.n_features_in_ = len(X)
                self.feature_names_in_ = np.array([str(name) for name in X], dtype=object)
            return X
        if hasattr(X, "columns"):
            refuse_repeated(getattr(X, "column_names", X.columns))  # arrow's columns are no names
            validate_data(self, X, reset=reset, skip_check_array=True)
            return X
        if isinstance(X, list | tuple) and len(X) and all(isinstance(row, list | tuple) for row in X):
            X = np.array(X, dtype=object)  # numpy would turn a row of text and numbers into text
        if isinstance(X, np.ma.MaskedArray):  # scikit-learn would forget the mask
            mask, X = np.ma.getmaskarray(X), np.ma.getdata(X).astype(object)
            X[mask] = None
        # Whether values are missing or infinite is left to `encode`, which names the column and the row.
        return validate_data(self, X, reset=reset, dtype=None, ensure_all_finite=False)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = self.missing == "category"
        return tags


def _notes(columns: Sequence[Column], table: Table) -> Iterator[str]:
    """What a user should know about how columns were read; a warning where it is probably not what is wanted."""
    for column, feature in zip(columns, table.features, strict=True):
        found = oddity_of(column) if feature.kind is Kind.CATEGORICAL else None
        if found is not None:  # each number would be an answer like any other
            warnings.warn(CodesWarning(found), stacklevel=5)
        if feature.kind is Kind.INTEGER and column.values.dtype.kind == "f":
            yield f"{shown(feature.name)}: floats that are whole numbers, read as integers"


def _without_number(method: Callable[[Any], NDArray[Any]], frame: Any, _number: int) -> NDArray[Any]:
    return method(frame)
