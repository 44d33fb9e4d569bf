"""Features: the kind and the domain of a column, and how its values become codes and back.

Every kind becomes one column of integers ("codes"):

    integer      the number itself
    ordinal      rank of the value among its ordered categories
    binary       0 or 1, the rank of the value among two
    categorical  position of the value among its unordered categories
    binned       rank of the bin that holds the number; the unit of a shift is one bin

All kinds but the categorical are *ordered*: a shift moves along the codes and each step has a cost. A categorical value
changes into any other at the same cost. Names and categories stay with the feature, so that all output can use them.

In an ordered column, a missing value has a code of its own (`MISSING_CODE`) if the feature allows it. In a categorical
column, it is the category `MISSING_CATEGORY`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from hardwood._util.arrays import BoolArray, IntArray
from hardwood.data.codes import MAX_CODE, MISSING_CODE, category_codes, column_integers, column_numbers
from hardwood.data.columns import MISSING_CATEGORY, Category, Column

MISSING_TEXT = "missing"  # how a missing value is printed


class Kind(StrEnum):
    """The kinds of features, see the module's docstring."""

    INTEGER = "integer"
    ORDINAL = "ordinal"
    BINARY = "binary"
    CATEGORICAL = "categorical"
    BINNED = "binned"


@dataclass(frozen=True, slots=True)
class Feature:
    """One column of a table: its name, its kind and its domain.

    Parameters
    ----------
    name : str
        Name of the column.
    kind : Kind
        How values are coded.
    low, high : int
        Smallest and largest code in training.
    categories : tuple
        Values in the order of their codes (ordinal, binary, categorical).
    edges : tuple of float
        Upper ends of all bins but the last (binned): a number lies in bin k iff edges[k - 1] < number <= edges[k].
    missing : bool
        Whether values of an ordered column may be missing.
    """

    name: str
    kind: Kind
    low: int
    high: int
    categories: tuple[Category, ...] = ()
    edges: tuple[float, ...] = ()
    missing: bool = False

    def __post_init__(self) -> None:
        if self.missing and not self.ordered:
            raise ValueError(f'column "{self.name}" is categorical: a missing value is a category there')
        if not -MAX_CODE <= self.low <= self.high <= MAX_CODE:
            raise ValueError(
                f'column "{self.name}" runs from {self.low} to {self.high}; it must stay within +-{MAX_CODE} '
                f'and not run backwards (rescale the column, or use the kind "{Kind.BINNED}")'
            )
        width = {Kind.INTEGER: None, Kind.BINNED: len(self.edges) + 1}.get(self.kind, len(self.categories))
        if width is not None and (self.low, self.high) != (0, width - 1):
            raise ValueError(
                f'column "{self.name}" of kind {self.kind} has codes {self.low} to {self.high}; '
                f"expected 0 to {width - 1}, one for each category or bin"
            )
        if self.kind is Kind.BINARY and len(self.categories) > 2:
            raise ValueError(f'column "{self.name}" is binary but has {len(self.categories)} categories; expected 2')
        if len(set(self.categories)) < len(self.categories):
            raise ValueError(f'column "{self.name}" names a category twice: {list(self.categories)}')
        if not all(np.isfinite(self.edges)) or any(np.diff(self.edges) <= 0):
            raise ValueError(f'column "{self.name}" has edges {list(self.edges)}; they must be finite and ascend')

    @property
    def ordered(self) -> bool:
        """Whether splits have the form `value <= threshold`; otherwise `value == category`."""
        return self.kind is not Kind.CATEGORICAL

    @property
    def n_values(self) -> int:
        """Number of codes from `low` to `high`."""
        return self.high - self.low + 1

    @property
    def missing_code(self) -> int | None:
        """Code of a missing value; None if values cannot be missing."""
        if self.ordered:
            return MISSING_CODE if self.missing else None
        return self.categories.index(MISSING_CATEGORY) if MISSING_CATEGORY in self.categories else None

    def decode(self, code: int) -> Category:
        """Return the value that a code stands for; a bin is described by its limits."""
        if code == MISSING_CODE:
            return MISSING_TEXT
        if self.kind is Kind.INTEGER:
            return int(code)
        if self.kind is not Kind.BINNED:
            return self.categories[code]
        if not self.edges:
            return "any number"
        if code == 0:
            return f"<= {self.edges[0]}"
        if code == len(self.edges):
            return f"> {self.edges[-1]}"
        return f"({self.edges[code - 1]}, {self.edges[code]}]"

    def encode(self, column: Column) -> IntArray:
        """Return the codes of a column, which may belong to another table than the one the feature was learnt from."""
        mask = missing_mask(column, self.kind, self.categories)
        if mask is None:
            return self._encode_observed(column)
        if self.ordered and not self.missing:
            raise new_missing_error(column, mask)
        if self.ordered:
            code = MISSING_CODE
        else:  # an error if the category is unknown
            text = Column.from_levels(column.name, (MISSING_CATEGORY,), np.zeros(1, dtype=np.int32))
            code = int(category_codes(text, self.categories)[0])
        codes = np.full(len(mask), code, dtype=np.int32)
        if not mask.all():
            codes[~mask] = self._encode_observed(_fill_category(column, mask))[~mask]
        return codes

    def _encode_observed(self, column: Column) -> IntArray:
        if self.kind is Kind.INTEGER:
            return column_integers(column).astype(np.int32)
        if self.kind is Kind.BINNED:
            return np.searchsorted(np.asarray(self.edges), column_numbers(column), side="left").astype(np.int32)
        return category_codes(column, self.categories)


def missing_mask(column: Column, kind: Kind, categories: Sequence[Category]) -> BoolArray | None:
    """Return where values need the code of a missing value; None if none do.

    In a column of text, `MISSING_CATEGORY` is a value like others if the kind is categorical or `categories` list it.
    """
    is_category = column.level_codes is not None and MISSING_CATEGORY in column.levels
    if is_category and (kind is Kind.CATEGORICAL or MISSING_CATEGORY in categories):
        return None
    return column.is_missing


def new_missing_error(column: Column, mask: BoolArray) -> ValueError:
    """Return the error for a missing value in a column that had none in training."""
    return ValueError(
        f'column "{column.name}", row {int(mask.argmax())} is missing (NaN), which it never was in training'
    )


def _fill_category(column: Column, mask: BoolArray) -> Column:
    """Return the column with some observed value in place of `MISSING_CATEGORY`."""
    if column.level_codes is None or MISSING_CATEGORY not in column.levels:
        return replace(column, is_missing=None)
    substitute = str(column.values[int((~mask).argmax())])
    levels = tuple(substitute if level == MISSING_CATEGORY else level for level in column.levels)
    values = column.values.copy()
    values[mask] = substitute
    return replace(column, values=values, levels=levels, is_missing=None)
