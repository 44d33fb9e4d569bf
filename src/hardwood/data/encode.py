"""Encoding: a caller's table becomes features and codes, learnt from it or given by an earlier table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hardwood._util.arguments import by_feature, check_integer
from hardwood._util.arrays import BoolArray, FloatArray, read_only
from hardwood._util.errors import ArgumentError, Setting, Verbatim
from hardwood._util.types import PerColumn, TableLike
from hardwood.data.binning import quantile_edges
from hardwood.data.codes import column_integers, column_levels, column_numbers, sorted_levels
from hardwood.data.columns import MISSING_CATEGORY, Category, Column
from hardwood.data.feature import Feature, Kind, missing_mask, new_missing_error
from hardwood.data.frames import read_column
from hardwood.data.missing_codes import read_coded_columns
from hardwood.data.table import Table

MAX_INTEGER_RANGE = 100  # whole numbers with a larger range are binned, unless the caller requests their kind
UNSEEN = "(unseen value)"  # the category of all unseen values, where the caller allows them


def encode(
    X: TableLike,
    *,
    kinds: PerColumn = None,
    max_bins: int = 10,
    features: Sequence[Feature] | None = None,
    unseen: str = "error",
    missing: str = "error",
    weights: FloatArray | None = None,
    missing_values: PerColumn = None,
) -> Table:
    """Encode a table as integers. The caller's data stay unchanged.

    Parameters
    ----------
    X : frame, mapping, array or list of rows
        A pandas, polars or arrow frame, a mapping from names to columns, or rows of values.
    kinds : mapping, sequence or str, optional
        Overrides the kinds that follow from the dtypes: a kind by column name, one for each column, or one for all. A
        list of categories in their order makes a column ordinal. By dtype, whole numbers (floats, too) are integer if
        their range is at most 100, other numbers binned, booleans binary, ordered categories (pandas) and enums
        (polars) ordinal, text categorical.
    max_bins : int, default=10
        Largest number of bins of about equal weight for a binned column.
    features : sequence of Feature, optional
        Features of an earlier table, by which the columns are read. Then `kinds` and `max_bins` have no effect.
    unseen : {"error", "extra"}, default="error"
        What to do with unseen values in categorical columns: refuse them, or give the feature of the returned table one
        more category for all of them. Used with `features` only.
    missing : {"error", "category"}, default="error"
        Whether missing values are refused, or become values of their own: the category "(missing)" in a categorical
        column, otherwise a code outside the range of the others. Columns in which `features` allow missing values may
        always have them.
    weights : ndarray of shape (n_samples,), optional
        Sample weights, by which the bins are balanced; 1 for each sample if not given.
    missing_values : scalar, sequence or mapping, optional
        Missing codes: values that mean missing, such as "?" or -9, for all columns or by column name.

    Returns
    -------
    table : Table
        Features and codes.

    Raises
    ------
    ValueError, TypeError
        If the table cannot be read; the message names the column, the row and a remedy.
    """
    allows_missing = features is not None and any(_allows_missing(feature) for feature in features)
    columns = read_coded_columns(X, "category" if allows_missing else missing, missing_values)
    if unseen not in ("error", "extra"):
        raise ValueError(f'unseen is {unseen!r}; expected "error" or "extra"')
    if features is None:
        return learn_table(columns, kinds=kinds, max_bins=max_bins, weights=weights)
    columns = _match_columns(columns, features)
    if allows_missing and missing == "error":
        _check_no_new_missing(columns, features)
    if unseen == "extra":
        pairs = [_extend_feature(feature, column) for feature, column in zip(features, columns, strict=True)]
        features, columns = [feature for feature, _ in pairs], [column for _, column in pairs]
    return _encode_columns(features, columns)


def learn_table(
    columns: Sequence[Column], *, kinds: PerColumn = None, max_bins: int = 10, weights: FloatArray | None = None
) -> Table:
    """Learn features from columns and encode the columns by them; parameters as in `encode`."""
    requested = by_feature("kinds", kinds, [column.name for column in columns], default=None)
    max_bins = check_integer("max_bins", max_bins, at_least=1)
    features = [learn_feature(column, kind, max_bins, weights) for column, kind in zip(columns, requested, strict=True)]
    return _encode_columns(features, columns)


def learn_feature(column: Column, requested: object, max_bins: int, weights: FloatArray | None = None) -> Feature:
    """Learn the feature of a column.

    Parameters
    ----------
    column : Column
        The column as read.
    requested : Kind, str, sequence or None
        A kind, categories in their order, or None for the kind that follows from the dtype.
    max_bins, weights
        As in `encode`.
    """
    if isinstance(requested, list | tuple | np.ndarray) and len(requested):
        categories = tuple(read_column(f"kinds of {column.name}", requested).values.tolist())
        missing = missing_mask(column, Kind.ORDINAL, categories) is not None
        return Feature(column.name, Kind.ORDINAL, 0, len(categories) - 1, categories, missing=missing)
    kind = _column_kind(column) if requested is None else _requested_kind(column.name, requested)
    mask = missing_mask(column, kind, ())
    if mask is None:
        return _learn_complete(column, kind, max_bins, weights)
    if mask.all() and kind in (Kind.INTEGER, Kind.BINNED):
        return Feature(column.name, kind, 0, 0, missing=True)
    if kind is Kind.CATEGORICAL:
        known = _learn_complete(_observed_rows(column, mask), kind, max_bins, None).categories
        return Feature(column.name, kind, 0, len(known), (*known, MISSING_CATEGORY))
    observed_weights = None if weights is None else weights[~mask]
    return replace(_learn_complete(_observed_rows(column, mask), kind, max_bins, observed_weights), missing=True)


def _encode_columns(features: Sequence[Feature], columns: Sequence[Column]) -> Table:
    values = np.empty((len(columns[0].values), len(columns)), dtype=np.int32, order="F")
    for j, (feature, column) in enumerate(zip(features, columns, strict=True)):
        values[:, j] = feature.encode(column)
    return Table(tuple(features), read_only(values))


def _observed_rows(column: Column, mask: BoolArray) -> Column:
    """Return the rows whose value is observed; the first row if none is, so that a feature can be learnt."""
    observed = ~mask if not mask.all() else np.arange(len(mask)) == 0
    levels = tuple(level for level in column.levels if level != MISSING_CATEGORY)
    values = column.values[observed]
    position = {level: k for k, level in enumerate(levels)}
    level_codes = None if not levels else np.array([position[value] for value in values], dtype=np.int32)
    categories = tuple(category for category in column.categories if category != MISSING_CATEGORY)
    return replace(
        column, values=values, categories=categories, levels=levels, level_codes=level_codes, is_missing=None
    )


def _learn_complete(column: Column, kind: Kind, max_bins: int, weights: FloatArray | None) -> Feature:
    """Learn the feature of a column without missing values."""
    if kind is Kind.INTEGER:
        values = column_integers(column)
        return Feature(column.name, kind, int(values.min()), int(values.max()))
    if kind is Kind.BINNED:
        edges = quantile_edges(column_numbers(column), max_bins, weights)
        return Feature(column.name, kind, 0, len(edges), edges=edges)
    if kind is Kind.ORDINAL and not column.ordered and column.values.dtype.kind in "OUS":
        raise ArgumentError(
            "kinds",
            Verbatim('"ordinal"'),
            "its values are text without an order: list them in their order",
            remedy=("such as ", Setting("kinds", sorted(set(column.values.tolist())), column=column.name)),
            column=column.name,
        )
    categories = column.categories or sorted_levels(column)
    if kind is Kind.BINARY:
        categories = _binary_categories(column.name, categories)
    return Feature(column.name, kind, 0, len(categories) - 1, categories)


def _requested_kind(name: str, requested: object) -> Kind:
    if isinstance(requested, str) and requested in list(Kind):
        return Kind(requested)
    expected = ", ".join(f'"{kind}"' for kind in Kind)
    raise ArgumentError("kinds", requested, f"expected {expected} or a list of categories in their order", column=name)


def _column_kind(column: Column) -> Kind:
    """Return the kind that follows from a column's dtype."""
    if column.categories:
        return Kind.ORDINAL if column.ordered else Kind.CATEGORICAL
    if column.values.dtype.kind in "iuf":
        return Kind.INTEGER if _is_short_scale(column) else Kind.BINNED
    return Kind.BINARY if column.values.dtype.kind == "b" else Kind.CATEGORICAL


def _is_short_scale(column: Column) -> bool:
    """Return whether numbers are whole and of a small range, such as ages: a step is 1 then, rather than a bin.

    On a long scale, such as an income, one unit is no more than rounding, and its cost says little about a shift;
    every threshold within reach of a value would be a candidate split of its own.
    """
    values = column.values
    if not values.size:
        return values.dtype.kind != "f"
    if int(values.max()) - int(values.min()) > MAX_INTEGER_RANGE:
        return False
    return values.dtype.kind != "f" or bool((values == np.floor(values)).all())


def _binary_categories(name: str, categories: tuple[Category, ...]) -> tuple[Category, ...]:
    if len(categories) > 2:
        raise ArgumentError(
            "kinds",
            Verbatim('"binary"'),
            f"the column has {len(categories)} values, not two: {list(categories[:6])}",
            remedy='use "ordinal" or "categorical"',
            column=name,
        )
    # A column of zeros can still become one; text has only the values that occur.
    if all(isinstance(category, bool) for category in categories) or categories == (MISSING_CATEGORY,):
        return (False, True)
    if set(categories) <= {0, 1}:
        return (0, 1)
    return categories


def _allows_missing(feature: Feature) -> bool:
    return feature.missing or MISSING_CATEGORY in feature.categories


def _check_no_new_missing(columns: Sequence[Column], features: Sequence[Feature]) -> None:
    """Refuse missing values where the features do not allow them; other columns of the same table may allow them."""
    for feature, column in zip(features, columns, strict=True):
        mask = missing_mask(column, Kind.ORDINAL, feature.categories)
        if mask is not None and not _allows_missing(feature):
            raise new_missing_error(column, mask)


def _match_columns(columns: list[Column], features: Sequence[Feature]) -> list[Column]:
    """Return the columns of the features, by name, in the order of the features."""
    by_name = {column.name: column for column in columns}
    absent = [feature.name for feature in features if feature.name not in by_name]
    if absent:
        raise ValueError(f"the table lacks the columns {absent}; it has {list(by_name)}: rename or add columns")
    return [by_name[feature.name] for feature in features]


def _extend_feature(feature: Feature, column: Column) -> tuple[Feature, Column]:
    """Return the feature with one more category if the column has unseen values, and the column with that category."""
    if feature.kind is Kind.INTEGER and column.values.dtype.kind == "f":
        column = replace(column, values=np.ceil(column.values))  # 2.5 <= 3 and not 2.5 <= 2, and the same is true of 3
    if feature.kind is not Kind.CATEGORICAL:
        # A missing value goes right at every split, as an unseen category does.
        is_missing = missing_mask(column, feature.kind, feature.categories) is not None
        return replace(feature, missing=feature.missing or is_missing), column
    _check_same_type(feature, column)
    known = set(feature.categories)
    levels, level_codes = column_levels(column)
    if column.is_missing is not None and MISSING_CATEGORY not in known:  # missing is an unseen value, too
        levels, level_codes = [*levels, MISSING_CATEGORY], np.where(column.is_missing, len(levels), level_codes)
        column = replace(column, is_missing=None)
    if known.issuperset(levels):
        return feature, column
    extra = UNSEEN
    while extra in known:
        extra += "'"
    wider = replace(feature, high=feature.high + 1, categories=(*feature.categories, extra))
    extended = tuple(level if level in known else extra for level in levels)
    return wider, replace(column, levels=extended, level_codes=level_codes.astype(np.int32))


def _check_same_type(feature: Feature, column: Column) -> None:
    """Refuse text where training had numbers, and the other way round; a column without values fits both."""
    had_text = all(isinstance(category, str) for category in feature.categories)
    has_text = column.values.dtype.kind == "O"
    is_empty = column.is_missing is not None and column.is_missing.all()
    if had_text != has_text and not is_empty:
        before, now = ("text", "numbers") if had_text else ("numbers", "text")
        raise ValueError(
            f'column "{column.name}" holds {now}, but in training its values were {before} such as '
            f"{feature.categories[0]!r}; convert the column"
        )
