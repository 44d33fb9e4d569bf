"""What a feature is: its kind, its domain, and how a caller's table becomes whole numbers and back.

Every kind ends up as one column of whole numbers ("codes"):

    integer      the number itself
    ordinal      rank of the answer among its ordered categories
    binary       0 or 1, rank of the answer among two
    categorical  position of the answer among its unordered categories
    binned       rank of the bin that holds the number; the unit of shift is one bin

All kinds but the categorical are *ordered*: a shift moves along the codes and is paid by the step. A categorical answer
changes into any other at one price. Names and categories stay with the feature, so that every output can speak them.

In an ordered column, "no answer" is a value off the scale (`NO_ANSWER`), if the feature knows it. In a categorical one
it is a category, `MISSING`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hardwood._support.arguments import by_feature, whole_number
from hardwood._support.errors import ArgumentError, Said, Setting
from hardwood.data.codes import read_coded_columns
from hardwood.data.columns import MISSING, Column, read_column

Category: TypeAlias = str | int | float | bool
IntArray: TypeAlias = NDArray[np.int32]

# Codes are 32-bit; one value is kept free at each end so that `threshold + 1` and open ends of regions need no care.
LARGEST_CODE = 2**31 - 2
NO_ANSWER = LARGEST_CODE + 1  # where an answer is missing; no range of codes includes it
BELOW_ALL = -NO_ANSWER  # a threshold that no answer is below: "at most this, or no answer" asks for no answer alone
ZERO = np.zeros(1, dtype=np.int32)
NO_ANSWER_WORDS = "no answer"
LONGEST_WHOLE_SCALE = 200  # of floats that are whole numbers and read as integers; others are binned
EXTRA = "(another answer)"  # the category of all answers that a feature does not know, where the caller allows them


def sealed(array: NDArray[Any]) -> NDArray[Any]:
    """An array of our own that is not to change any more."""
    array.flags.writeable = False
    return array


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Anybody's array for good: itself if nobody can write to it, otherwise a copy. Order and dtype stay."""
    owner: Any = array
    while isinstance(owner, np.ndarray) and not owner.flags.writeable:
        owner = owner.base
    return array if owner is None else sealed(array.copy(order="K"))


def whole_codes(what: str, values: ArrayLike, order: Literal["C", "F"]) -> IntArray:
    """Whole numbers as 32-bit codes that nobody can change."""
    given = np.asarray(values)
    if given.dtype.kind not in "iu" or (given.size and not -LARGEST_CODE <= given.min() <= given.max() <= NO_ANSWER):
        raise ValueError(f"{what} have dtype {given.dtype}; expected whole numbers within +-{LARGEST_CODE}")
    return frozen(np.asarray(given, dtype=np.int32, order=order))


def plain_classes(classes: Sequence[Any]) -> tuple[Category, ...]:
    """Classes as plain Python values, each once."""
    plain = tuple(entry.item() if isinstance(entry, np.generic) else entry for entry in classes)
    if len(set(plain)) < len(plain) or not all(isinstance(entry, str | int | float) for entry in plain):
        raise ValueError(f"classes are {list(plain)}; expected text, numbers or booleans, each once")
    return plain


class Kind(StrEnum):
    """The kinds of features, see the module's docstring."""

    INTEGER = "integer"
    ORDINAL = "ordinal"
    BINARY = "binary"
    CATEGORICAL = "categorical"
    BINNED = "binned"


@dataclass(frozen=True, slots=True)
class Feature:
    """One column of a table: its name, its kind and the codes that its values may take in training, `low` to `high`.

    `categories` are the answers in the order of their codes (ordinal, binary, categorical). `edges` are the upper ends
    of all bins but the last (binned): a number lies in bin k iff edges[k - 1] < number <= edges[k]. `missing` says
    whether "no answer" is one of the values of an ordered column.
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
            raise ValueError(f'column "{self.name}" is categorical: no answer is a category there')
        if not -LARGEST_CODE <= self.low <= self.high <= LARGEST_CODE:
            raise ValueError(
                f'column "{self.name}" runs from {self.low} to {self.high}; it must stay within +-{LARGEST_CODE} '
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
        """Whether values are tested by `value <= threshold`; otherwise by `value == category`."""
        return self.kind is not Kind.CATEGORICAL

    @property
    def n_values(self) -> int:
        """Number of codes from `low` to `high`."""
        return self.high - self.low + 1

    @property
    def none(self) -> int | None:
        """The code of no answer, if that is one of the values."""
        if self.ordered:
            return NO_ANSWER if self.missing else None
        return self.categories.index(MISSING) if MISSING in self.categories else None

    def decode(self, code: int) -> Category:
        """The value as the caller knows it; a bin is given by its limits as text."""
        if code == NO_ANSWER:
            return NO_ANSWER_WORDS
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
        """The codes of a column's values, learnt from this or from another table."""
        gone = _gone(column, self.kind, self.categories)
        if gone is None:
            return self._encode(column)
        if self.ordered and not self.missing:
            row = int(gone.argmax())
            raise ValueError(f'column "{column.name}", row {row} is missing (NaN), which it never was in training')
        codes = np.full(len(gone), self._code_of_none(column), dtype=np.int32)
        if not gone.all():
            codes[~gone] = self._encode(_without_none(column, gone))[~gone]
        return codes

    def _code_of_none(self, column: Column) -> int:
        if self.ordered:
            return NO_ANSWER
        return int(positions(Column.of_text(column.name, (MISSING,), ZERO), self.categories)[0])

    def _encode(self, column: Column) -> IntArray:
        if self.kind is Kind.INTEGER:
            return _whole_numbers(column).astype(np.int32)
        if self.kind is Kind.BINNED:
            return np.searchsorted(np.asarray(self.edges), _numbers(column), side="left").astype(np.int32)
        return positions(column, self.categories)


@dataclass(frozen=True, slots=True)
class Table:
    """Features and the codes of all samples, one row each. Columns are contiguous because every hot loop walks them."""

    features: tuple[Feature, ...]
    values: IntArray

    def __post_init__(self) -> None:
        if self.values.ndim != 2 or self.values.shape[1] != len(self.features):
            raise ValueError(
                f"values have shape {self.values.shape}; expected samples by {len(self.features)} features"
            )
        object.__setattr__(self, "values", whole_codes("values", self.values, "F"))
        for j, feature in enumerate(self.features):
            column = self.values[:, j]
            last = LARGEST_CODE if feature.kind is Kind.INTEGER else feature.high
            outside = column > last if feature.kind is Kind.INTEGER else (column < 0) | (column > last)
            if feature.missing:
                outside &= column != NO_ANSWER
            if outside.any():
                row = int(outside.argmax())
                raise ValueError(
                    f'column "{feature.name}", row {row} has code {column[row]}; expected 0 to {feature.high}'
                )

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return int(self.values.shape[0])

    @property
    def names(self) -> tuple[str, ...]:
        """Column names."""
        return tuple(feature.name for feature in self.features)

    def rows(self, chosen: NDArray[np.integer[Any]]) -> Table:
        """Some of the samples; the features stay the same."""
        return Table(self.features, self.values[chosen])


def encode(
    X: Any,
    *,
    kinds: Mapping[str, Any] | Sequence[Any] | str | None = None,
    max_bins: int = 10,
    features: Sequence[Feature] | None = None,
    unseen: str = "error",
    missing: str = "error",
    weights: NDArray[np.float64] | None = None,
    missing_values: Any = None,
) -> Table:
    """Read a pandas, polars or arrow frame, a mapping of columns or a numpy array; the caller's data stay untouched.

    kinds     overrides what the dtype says: a kind by column name, one for each column, or one for all. A list of
              categories in their order stands for an ordinal column. By dtype, whole numbers are integer (floats, too,
              if they are whole and at most `LONGEST_WHOLE_SCALE` apart), other floats binned, booleans binary, ordered
              categories (pandas) and enums (polars) ordinal, text categorical.
    max_bins  how many bins of about equal count a column of floats gets at most
    weights   how many people each row stands for, by whom bins are counted; one each if not given
    features  read the columns as an earlier table's features say (then `kinds` and `max_bins` are not asked)
    unseen    what to do with an answer in a categorical column that those features do not know: "error", or "extra" to
              give the table's feature one more category for all such answers
    missing   "error", or "category" to make a missing answer an answer of its own: "(missing)" in a categorical column,
              otherwise a value off the scale; features that know this answer ask for it
    missing_values  answers that mean that there is none, see `read_coded_columns`
    """
    known = features is not None and any(feature.missing or MISSING in feature.categories for feature in features)
    columns = read_coded_columns(X, "category" if known else missing, missing_values)
    if unseen not in ("error", "extra"):
        raise ValueError(f'unseen is {unseen!r}; expected "error" or "extra"')
    if features is not None:
        columns = _matching(columns, features)
        if known and missing == "error":
            _refuse_new_missing(columns, features)
        if unseen == "extra":
            pairs = [_with_extra(feature, column) for feature, column in zip(features, columns, strict=True)]
            features, columns = [feature for feature, _ in pairs], [column for _, column in pairs]
    else:
        return learn_table(columns, kinds=kinds, max_bins=max_bins, weights=weights)
    return _encoded(features, columns)


def learn_table(
    columns: Sequence[Column],
    *,
    kinds: Any = None,
    max_bins: int = 10,
    weights: NDArray[np.float64] | None = None,
) -> Table:
    """The table that columns become by their dtypes, or by the caller's wishes; see `encode`."""
    wishes = by_feature("kinds", kinds, [column.name for column in columns], default=None)
    max_bins = whole_number("max_bins", max_bins, at_least=1)
    features = [learn_feature(column, wish, max_bins, weights) for column, wish in zip(columns, wishes, strict=True)]
    return _encoded(features, columns)


def _encoded(features: Sequence[Feature], columns: Sequence[Column]) -> Table:
    values = np.empty((len(columns[0].values), len(columns)), dtype=np.int32, order="F")
    for j, (feature, column) in enumerate(zip(features, columns, strict=True)):
        values[:, j] = feature.encode(column)
    return Table(tuple(features), sealed(values))


def learn_feature(column: Column, wish: Any, max_bins: int, weights: NDArray[np.float64] | None = None) -> Feature:
    """The feature that a column becomes by its dtype, or by the caller's wish: a kind, or categories in their order."""
    if isinstance(wish, list | tuple | np.ndarray) and len(wish):
        categories = tuple(read_column(f"kinds of {column.name}", wish).values.tolist())
        missing = _gone(column, Kind.ORDINAL, categories) is not None
        return Feature(column.name, Kind.ORDINAL, 0, len(categories) - 1, categories, missing=missing)
    kind = _kind(column, wish)
    gone = _gone(column, kind, ())
    if gone is None:
        return _learnt(column, kind, max_bins, weights)
    if gone.all() and kind in (Kind.INTEGER, Kind.BINNED):
        return Feature(column.name, kind, 0, 0, missing=True)
    if kind is Kind.CATEGORICAL:
        known = _learnt(_answered(column, gone), kind, max_bins, None).categories
        return Feature(column.name, kind, 0, len(known), (*known, MISSING))
    own = None if weights is None else weights[~gone]
    return replace(_learnt(_answered(column, gone), kind, max_bins, own), missing=True)


def _gone(column: Column, kind: Kind, categories: tuple[Category, ...]) -> NDArray[np.bool_] | None:
    """Where a column has no answer, if some rows have none. In text without an order, that is an answer."""
    is_answer = column.numbers is not None and MISSING in column.distinct
    return None if is_answer and (kind is Kind.CATEGORICAL or MISSING in categories) else column.gone


def _answered(column: Column, gone: NDArray[np.bool_]) -> Column:
    """The rows that have an answer; one row that stands for any if there are none."""
    there = ~gone if not gone.all() else np.arange(len(gone)) == 0
    distinct = tuple(answer for answer in column.distinct if answer != MISSING) if column.numbers is not None else ()
    values = column.values[there]
    place = {answer: k for k, answer in enumerate(distinct)}
    numbers = None if not distinct else np.array([place[answer] for answer in values], dtype=np.int32)
    categories = tuple(answer for answer in column.categories if answer != MISSING)
    return replace(column, values=values, categories=categories, distinct=distinct, numbers=numbers, gone=None)


def _without_none(column: Column, gone: NDArray[np.bool_]) -> Column:
    """The column with some answer in place of none."""
    if column.numbers is None or MISSING not in column.distinct:
        return replace(column, gone=None)
    some = str(column.values[int((~gone).argmax())])
    distinct = tuple(some if answer == MISSING else answer for answer in column.distinct)
    values = column.values.copy()
    values[gone] = some
    return replace(column, values=values, distinct=distinct, gone=None)


def _learnt(column: Column, kind: Kind, max_bins: int, weights: NDArray[np.float64] | None) -> Feature:
    if kind is Kind.INTEGER:
        values = _whole_numbers(column)
        return Feature(column.name, kind, int(values.min()), int(values.max()))
    if kind is Kind.BINNED:
        edges = _quantile_edges(_numbers(column), max_bins, weights)
        return Feature(column.name, kind, 0, len(edges), edges=edges)
    if kind is Kind.ORDINAL and not column.ordered and column.values.dtype.kind in "OUS":
        answers = sorted(set(column.values.tolist()))
        raise ArgumentError(
            "kinds",
            Said('"ordinal"'),
            "its answers are text without an order: list them in their order",
            remedy=("such as ", Setting("kinds", answers, column=column.name)),
            column=column.name,
        )
    categories = column.categories or sorted_distinct(column)
    if kind is Kind.BINARY:
        categories = _two_answers(column.name, categories)
    return Feature(column.name, kind, 0, len(categories) - 1, categories)


def _kind(column: Column, wish: Any) -> Kind:
    if wish is not None:
        if isinstance(wish, str) and wish in list(Kind):
            return Kind(wish)
        expected = ", ".join(f'"{kind}"' for kind in Kind)
        raise ArgumentError(
            "kinds", wish, f"expected {expected} or a list of categories in their order", column=column.name
        )
    if column.categories:
        return Kind.ORDINAL if column.ordered else Kind.CATEGORICAL
    if _are_whole_floats(column):
        return Kind.INTEGER
    by_dtype = {"i": Kind.INTEGER, "u": Kind.INTEGER, "f": Kind.BINNED, "b": Kind.BINARY}
    return by_dtype.get(column.values.dtype.kind, Kind.CATEGORICAL)


def _are_whole_floats(column: Column) -> bool:
    """Whether floats are whole numbers on a short scale, such as ages or ratings: a step is one then, not a bin."""
    values = column.values
    if values.dtype.kind != "f" or not values.size or np.ptp(values) > LONGEST_WHOLE_SCALE:
        return False
    return bool((values == np.floor(values)).all())


def _two_answers(name: str, categories: tuple[Category, ...]) -> tuple[Category, ...]:
    if len(categories) > 2:
        raise ArgumentError(
            "kinds",
            Said('"binary"'),
            f"the column has {len(categories)} answers, not two: {list(categories[:6])}",
            remedy='use "ordinal" or "categorical"',
            column=name,
        )
    # A column of zeros alone still has the answer one; text has only the answers that were seen.
    if all(isinstance(category, bool) for category in categories) or categories == (MISSING,):
        return (False, True)
    if set(categories) <= {0, 1}:
        return (0, 1)
    return categories


def _numbers(column: Column) -> NDArray[np.float64]:
    """The values as finite floats."""
    if column.values.dtype.kind not in "iufb":
        row = next(i for i, value in enumerate(column.values) if isinstance(value, str))
        raise ValueError(f'column "{column.name}", row {row} is {column.values[row]!r}; expected a number')
    return column.values.astype(np.float64)


def _whole_numbers(column: Column) -> NDArray[np.int64]:
    """The values as whole numbers that fit a code."""
    numbers = column.values if column.values.dtype.kind in "iu" else _numbers(column)
    fractional = numbers != np.round(numbers) if numbers.dtype.kind == "f" else np.zeros(0, dtype=bool)
    if fractional.any():
        row = int(fractional.argmax())
        raise ValueError(
            f'column "{column.name}", row {row} is {numbers[row]}; an integer column needs whole numbers '
            f'(round it, or use the kind "{Kind.BINNED}")'
        )
    for row in (int(numbers.argmin()), int(numbers.argmax())):
        if not -LARGEST_CODE <= numbers[row] <= LARGEST_CODE:
            raise ValueError(
                f'column "{column.name}", row {row} is {numbers[row]}; an integer column must stay within '
                f'+-{LARGEST_CODE} (rescale it, or use the kind "{Kind.BINNED}")'
            )
    return numbers.astype(np.int64)


def _quantile_edges(
    numbers: NDArray[np.float64], max_bins: int, weights: NDArray[np.float64] | None
) -> tuple[float, ...]:
    """Upper ends of all bins but the last, at observed numbers: one bin for each number if there are few enough."""
    distinct = np.unique(numbers)
    if len(distinct) <= max_bins:
        return tuple(distinct[:-1].tolist())
    edges = np.unique(_quantiles(numbers, np.arange(1, max_bins), max_bins, weights))
    # An edge at the largest number would leave the last bin empty.
    return tuple(edges[edges < distinct[-1]].tolist())


def _quantiles(
    numbers: NDArray[np.float64], parts: NDArray[np.int64], of: int, weights: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """The smallest numbers up to which so many parts of all people are; w rows count as a row of weight w."""
    order = np.argsort(numbers, kind="stable")
    people = np.cumsum(np.ones(len(numbers)) if weights is None else weights[order])
    at = np.searchsorted(people * of, parts * people[-1], side="left")
    return np.asarray(numbers[order][np.minimum(at, len(numbers) - 1)])


def _distinct(column: Column) -> tuple[list[Category], NDArray[np.integer[Any]]]:
    """The different values of a column, and which of them each row has."""
    if column.numbers is not None:
        return list(column.distinct), column.numbers
    values = column.values
    if values.dtype.kind in "biu" and values.size:
        least, most = int(values.min()), int(values.max())
        if most - least < 1 << 16:  # a table is faster than sorting
            numbers = values.astype(np.int8) if values.dtype.kind == "b" else values
            offsets = (numbers - numbers.min()).astype(np.int64)
            seen = np.flatnonzero(np.bincount(offsets))
            place = np.empty(most - least + 1, dtype=np.int32)
            place[seen] = np.arange(len(seen))
            return (numbers.min() + seen.astype(numbers.dtype)).astype(values.dtype).tolist(), place[offsets]
    found, inverse = np.unique(values, return_inverse=True)
    return found.tolist(), inverse


def sorted_distinct(column: Column) -> tuple[Category, ...]:
    """The different values of a column, in order."""
    answers: list[Any] = _distinct(column)[0]
    return tuple(sorted(answers))


def positions(column: Column, categories: tuple[Category, ...]) -> IntArray:
    """The position of each value among the categories."""
    position = {category: k for k, category in enumerate(categories)}
    answers, numbers = _distinct(column)
    codes: IntArray = np.array([position.get(answer, -1) for answer in answers], dtype=np.int32)[numbers]
    if (codes < 0).any():
        row, count = int((codes < 0).argmax()), int(np.count_nonzero(codes < 0))
        others = "" if count == 1 else f" ({count:,} rows have such answers)"
        raise ValueError(
            f'column "{column.name}", row {row} is {column.values[row : row + 1].tolist()[0]!r}, which is none of its '
            f"known answers {list(categories[:12])}{others}; map it to one of them or drop the row"
        )
    return codes


def _refuse_new_missing(columns: Sequence[Column], features: Sequence[Feature]) -> None:
    """One column that knows missing answers does not let all others have them."""
    for feature, column in zip(features, columns, strict=True):
        gone = _gone(column, Kind.ORDINAL, feature.categories)
        if gone is not None and not feature.missing and MISSING not in feature.categories:
            row = int(gone.argmax())
            raise ValueError(f'column "{column.name}", row {row} is missing (NaN), which it never was in training')


def _with_extra(feature: Feature, column: Column) -> tuple[Feature, Column]:
    """The feature with one more category if the column has answers that it does not know, and the column with them."""
    if feature.kind is Kind.INTEGER and column.values.dtype.kind == "f":
        column = replace(column, values=np.ceil(column.values))  # 2.5 is at most 3 and not at most 2, and so is 3
    if feature.kind is not Kind.CATEGORICAL:
        none = (
            _gone(column, feature.kind, feature.categories) is not None
        )  # it takes the way of a "no", as any new answer
        return replace(feature, missing=feature.missing or none), column
    texts = all(isinstance(category, str) for category in feature.categories)
    if texts != (column.values.dtype.kind == "O") and not (column.gone is not None and column.gone.all()):
        had, has = ("text", "numbers") if texts else ("numbers", "text")
        raise ValueError(
            f'column "{column.name}" holds {has}, but in training its answers were {had} such as '
            f"{feature.categories[0]!r}; convert the column"
        )
    known = set(feature.categories)
    answers, numbers = _distinct(column)
    if column.gone is not None and MISSING not in known:  # no answer is another answer, then
        answers, numbers = [*answers, MISSING], np.where(column.gone, len(answers), numbers)
        column = replace(column, gone=None)
    if known.issuperset(answers):
        return feature, column
    extra = EXTRA
    while extra in known:
        extra += "'"
    wider = replace(feature, high=feature.high + 1, categories=(*feature.categories, extra))
    distinct = tuple(answer if answer in known else extra for answer in answers)
    return wider, replace(column, distinct=distinct, numbers=numbers.astype(np.int32))


def _matching(columns: list[Column], features: Sequence[Feature]) -> list[Column]:
    """The columns that the features ask for, by name, in the features' order."""
    by_name = {column.name: column for column in columns}
    missing = [feature.name for feature in features if feature.name not in by_name]
    if missing:
        raise ValueError(f"the table lacks the columns {missing}; it has {list(by_name)}: rename or add columns")
    return [by_name[feature.name] for feature in features]
