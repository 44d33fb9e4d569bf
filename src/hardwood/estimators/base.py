"""What all tree classifiers share: reading tables by scikit-learn's rules, and predicting with a tree."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Self

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from hardwood._util.arrays import Array, Scalar
from hardwood._util.errors import ArgumentError, Dialect, PythonDialect, Setting
from hardwood._util.text import printable
from hardwood._util.types import LabelsLike, PerColumn, TableLike, WeightsLike
from hardwood.data.chunks import ChunkedTable, chunked_table
from hardwood.data.columns import Column
from hardwood.data.encode import encode, learn_table
from hardwood.data.feature import Feature, Kind
from hardwood.data.frames import check_labels_not_missing, check_unique_names, n_rows
from hardwood.data.labels import ClassWeight, Labels, encode_labels, without_zero_weights
from hardwood.data.missing_codes import SuspectedCodes, find_suspected_codes, read_coded_columns
from hardwood.data.table import Table
from hardwood.data.unseen import warn_of_unseen_values
from hardwood.trees.sklearn_interop import Counts, design_matrix, to_sklearn
from hardwood.trees.tree import Tree

if TYPE_CHECKING:
    from sklearn.tree import DecisionTreeClassifier


class CodesWarning(UserWarning):
    """A column of text looks like numbers with missing codes.

    Parameters
    ----------
    found : SuspectedCodes
        The column and the codes that are probably missing codes.
    """

    def __init__(self, found: SuspectedCodes) -> None:
        super().__init__(found)
        self.found = found

    def render(self, dialect: Dialect) -> str:
        """Return the warning in the words of an interface.

        Parameters
        ----------
        dialect : Dialect
            How the interface names arguments: those of Python functions, or options of the command line.

        Returns
        -------
        str
        """
        codes = list(self.found.codes)
        listed = " and ".join(f"{count:,} x {printable(code)!r}" for code, count in self.found.codes.items())
        remedy = dialect.setting(Setting("missing_values", codes[0] if len(codes) == 1 else codes))
        return (
            f'column "{printable(self.found.name)}" holds numbers and {listed}, so it is read as unordered text; '
            f"if these are codes for missing values, give {remedy}"
        )

    def __str__(self) -> str:
        return self.render(PythonDialect())


@contextmanager
def restored_on_failure(model: BaseEstimator) -> Iterator[None]:
    """Restore a model if its fit fails: it stays fitted to the previous table, or not fitted."""
    before = dict(vars(model))
    try:
        yield
    except BaseException:
        vars(model).clear()
        vars(model).update(before)
        raise


class TreeClassifier(ClassifierMixin, BaseEstimator):
    """A classifier with a `tree_`.

    Subclasses define `fit` and the parameters `feature_kinds`, `max_bins` and `missing`.
    """

    feature_kinds: PerColumn
    max_bins: int
    missing: str
    missing_values: PerColumn = None
    class_weight: ClassWeight = None

    def predict(self, X: TableLike) -> Array:
        """Predict the class of each row.

        Parameters
        ----------
        X : table
            Rows with the columns that `fit` was given. A chunked table (see `audit`) is predicted chunk by chunk.

        Returns
        -------
        array of shape (n_samples,)
        """
        if (chunks := chunked_table(X)) is not None:
            return self._map_chunks(self.predict, chunks)
        tree, table = self._encode_for_prediction(X)
        return np.asarray(self.classes_[tree.predict(table)])

    def predict_proba(self, X: TableLike) -> NDArray[np.float64]:
        """Return the class frequencies of the training samples in the leaf of each row.

        Parameters
        ----------
        X : table
            Rows with the columns that `fit` was given.

        Returns
        -------
        array of shape (n_samples, n_classes)

        Notes
        -----
        The frequencies describe the training table without a shift. The label of a leaf is chosen for the worst case,
        so it need not be the most frequent class there. A leaf without training samples has probability 1 for its
        label.
        """
        tree, table = self._encode_for_prediction(X)
        counts = self.leaf_counts_.astype(float)
        empty = np.flatnonzero(counts.sum(axis=1) == 0)
        counts[empty, [tree.regions[leaf].label for leaf in empty]] = 1.0
        shares: NDArray[np.float64] = (counts / counts.sum(axis=1, keepdims=True))[tree.leaf_of(table)]
        return shares

    def to_sklearn(self) -> DecisionTreeClassifier:
        """Convert the tree for tools that read scikit-learn's trees, such as `plot_tree` and SHAP.

        Returns
        -------
        DecisionTreeClassifier
            A fitted tree that reads the columns of `design_matrix`.
        """
        check_is_fitted(self)
        return to_sklearn(self.tree_, self.leaf_counts_)

    def design_matrix(self, X: TableLike) -> NDArray[np.float64]:
        """Return the columns that the tree of `to_sklearn` reads.

        Parameters
        ----------
        X : table
            Rows with the columns that `fit` was given.

        Returns
        -------
        array of shape (n_samples, n_columns)
            The values of X if all of them are numbers.
        """
        check_is_fitted(self)
        X = self._with_tree_names(self._validate_table(X, reset=False))
        return design_matrix(self.tree_, X, self.missing_values)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "tree_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = self.missing == "category"
        return tags

    def _training_data(
        self, X: TableLike, y: LabelsLike, sample_weight: WeightsLike | None = None
    ) -> tuple[Table, Labels]:
        """Encode the table and the labels that `fit` learns from, without rows of weight 0; remember the columns."""
        X = self._validate_table(X, reset=True)
        if y is None:
            name = type(self).__name__
            raise ValueError(f"{name} requires y to be passed, but the target y is None; give a label for each row")
        labels: Array = column_or_1d(y, warn=True)
        check_labels_not_missing(labels)  # scikit-learn's check would not name the row
        check_classification_targets(labels)
        if sample_weight is not None and n_rows(X) != len(labels):
            raise ValueError(f"y has {len(labels)} labels but the table has {n_rows(X)} rows; expected as many")
        X, y, weights = without_zero_weights(X, labels, sample_weight)
        columns = read_coded_columns(X, self.missing, self.missing_values)
        try:
            table = learn_table(columns, kinds=self.feature_kinds, max_bins=self.max_bins, weights=weights)
        except ArgumentError as error:
            raise error.renamed("kinds", "feature_kinds") from None
        self._column_notes = list(_column_notes(columns, table))
        return table, encode_labels(y, table.n_samples, weights=weights, class_weight=self.class_weight)

    def _encode(
        self,
        X: TableLike,
        unseen: str = "error",
        features: Sequence[Feature] | None = None,
        missing: str | None = None,
    ) -> Table:
        """Encode a table for the tree, or for finer features; see `data.encode` for `unseen` and `missing`."""
        check_is_fitted(self)
        X = self._with_tree_names(self._validate_table(X, reset=False))
        return encode(
            X,
            features=self.tree_.features if features is None else features,
            unseen=unseen,
            missing=self.missing if missing is None else missing,
            missing_values=self.missing_values,
        )

    def _encode_for_prediction(self, X: TableLike) -> tuple[Tree, Table]:
        """Encode a table for the tree; unseen values get a category that no split of the tree names."""
        table = self._encode(X, unseen="extra")
        warn_of_unseen_values(table, self.tree_.features, stacklevel=3)
        return Tree(table.features, self.tree_.classes, self.tree_.root), table

    def _store_tree(self, tree: Tree, table: Table, labels: Labels) -> None:
        """Store a tree and the weight of the training samples by leaf and class."""
        counts = np.zeros((len(tree.regions), len(tree.classes)))
        np.add.at(counts, (tree.leaf_of(table), labels.codes), labels.sample_weights)
        self._set_tree(tree, counts.astype(np.int64) if labels.has_integer_weights else counts)

    def _set_tree(self, tree: Tree, leaf_counts: Counts) -> None:
        """Set the fitted attributes that follow from a tree."""
        self.tree_ = tree
        self.classes_ = np.array(tree.classes)
        self.leaf_counts_ = leaf_counts
        self.n_features_in_ = len(tree.features)

    def _map_chunks(self, method: Callable[[TableLike], NDArray[Scalar]], chunks: ChunkedTable) -> NDArray[Scalar]:
        """Call a method for each chunk and join its arrays."""
        check_is_fitted(self)
        names = [feature.name for feature in self.tree_.features]
        return np.concatenate(list(chunks.map(partial(_call_on_chunk, method), names)))

    def _with_tree_names(self, X: TableLike) -> TableLike:
        """Name columns as the tree does, where the table or the training table had no names."""
        names = [feature.name for feature in self.tree_.features]
        if isinstance(X, np.ndarray):
            return {name: X[:, j] for j, name in enumerate(names)}
        if isinstance(X, Mapping) or hasattr(self, "feature_names_in_"):
            return X
        return dict(zip(names, nw.from_native(X, eager_only=True).iter_columns(), strict=True))

    def _validate_table(self, X: TableLike, *, reset: bool) -> TableLike:
        """Check a table by scikit-learn's rules; frames keep the types of their columns, other tables become arrays."""
        if isinstance(X, Mapping) and not issparse(X):  # one of scipy's sparse matrices is a mapping
            if reset:
                self.n_features_in_ = len(X)
                self.feature_names_in_ = np.array([str(name) for name in X], dtype=object)
            return X
        if hasattr(X, "columns"):
            check_unique_names(getattr(X, "column_names", X.columns))  # `columns` of an arrow table are not names
            validate_data(self, X, reset=reset, skip_check_array=True)
            return X
        if isinstance(X, list | tuple) and len(X) and all(isinstance(row, list | tuple) for row in X):
            X = np.array(X, dtype=object)  # numpy would turn a row of text and numbers into text
        if isinstance(X, np.ma.MaskedArray):  # scikit-learn would drop the mask
            mask, X = np.ma.getmaskarray(X), np.ma.getdata(X).astype(object)
            X[mask] = None
        # `encode` refuses missing and infinite values; its message names the column and the row.
        return validate_data(self, X, reset=reset, dtype=None, ensure_all_finite=False)


class BaselineTreeClassifier(TreeClassifier):
    """A classifier to compare with: it is given a table, labels and weights, and nothing else."""

    def fit(self, X: TableLike, y: LabelsLike, sample_weight: WeightsLike | None = None) -> Self:
        """Learn the tree.

        Parameters
        ----------
        X : table
            Training samples.
        y : array of shape (n_samples,)
            Class labels.
        sample_weight : array of shape (n_samples,), optional
            Weight of each sample; 1 if not given.

        Returns
        -------
        self
        """
        with restored_on_failure(self):
            return self._fit(X, y, sample_weight)

    @abstractmethod
    def _fit(self, X: TableLike, y: LabelsLike, sample_weight: WeightsLike | None) -> Self:
        """Learn the tree; `fit` restores the old state after a failure."""


def _column_notes(columns: Sequence[Column], table: Table) -> Iterator[str]:
    """Yield remarks on how columns were read; warn where a column was probably meant differently."""
    for column, feature in zip(columns, table.features, strict=True):
        found = find_suspected_codes(column) if feature.kind is Kind.CATEGORICAL else None
        if found is not None:  # every number would be a category
            warnings.warn(CodesWarning(found), stacklevel=5)  # the caller of `fit`
        if feature.kind is Kind.INTEGER and column.values.dtype.kind == "f":
            yield f"{printable(feature.name)}: floats that are whole numbers, read as integers"


def _call_on_chunk(method: Callable[[TableLike], NDArray[Scalar]], frame: TableLike, _number: int) -> NDArray[Scalar]:
    """Call a method that does not need the number of a chunk."""
    return method(frame)
