"""Tables: features and the codes of all samples."""

from __future__ import annotations

from dataclasses import dataclass

from hardwood._util.arrays import Indices, IntArray
from hardwood.data.codes import MAX_CODE, MISSING_CODE, as_codes
from hardwood.data.feature import Feature, Kind


@dataclass(frozen=True, slots=True)
class Table:
    """Features and the codes of all samples.

    Parameters
    ----------
    features : tuple of Feature
        One for each column.
    values : ndarray of int32, shape (n_samples, n_features)
        Codes; read-only. Columns are contiguous, because inner loops run along them.
    """

    features: tuple[Feature, ...]
    values: IntArray

    def __post_init__(self) -> None:
        if self.values.ndim != 2 or self.values.shape[1] != len(self.features):
            raise ValueError(
                f"values have shape {self.values.shape}; expected samples by {len(self.features)} features"
            )
        object.__setattr__(self, "values", as_codes("values", self.values, "F"))
        for j, feature in enumerate(self.features):
            column = self.values[:, j]
            last = MAX_CODE if feature.kind is Kind.INTEGER else feature.high
            outside = column > last if feature.kind is Kind.INTEGER else (column < 0) | (column > last)
            if feature.missing:
                outside &= column != MISSING_CODE
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

    def rows(self, chosen: Indices) -> Table:
        """Return the table of some samples, given by their positions; the features stay the same."""
        return Table(self.features, self.values[chosen])
