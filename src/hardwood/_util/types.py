"""Names for values that no static type describes: callers bring tables and models of many libraries.

A name for `object` is of a value that is checked before it is used. A name for `Any` is of a value whose methods belong
to another library, or of a dictionary whose values have several types.
"""

from __future__ import annotations

from typing import Any, TypeAlias

TableLike: TypeAlias = Any
"""A table as callers have it: a pandas, polars or arrow frame, a mapping of columns, an array, or a list of rows."""

ColumnLike: TypeAlias = Any
"""One column of such a table: a series or an array of any library, a categorical, or a list."""

FittedModel: TypeAlias = Any
"""A fitted classifier of any library, a pipeline, a `Tree`, or the path of a JSON file that holds one."""

LabelsLike: TypeAlias = object
"""One label for each row: an array, a series or a list; for a chunked table the name of the target column."""

WeightsLike: TypeAlias = object
"""One weight for each row: an array, a series or a list; for a chunked table the name of a column."""

PerColumn: TypeAlias = object
"""A setting for the columns of a table: one value for all, a mapping by column name, or one entry for each column."""

PerCell: TypeAlias = object
"""A setting for single cells: an array or a frame of shape (samples, columns), or a `PerColumn` setting."""

JsonObject: TypeAlias = dict[str, Any]
"""A JSON object: values of several types by name, such as the numbers of a result."""

FrameColumns: TypeAlias = dict[str, list[Any]]
"""Columns of results by name, each with one entry for each row, ready for a frame of any library."""

Arguments: TypeAlias = dict[str, Any]
"""Arguments by name, to be passed on with `**`: each has the type of a parameter, which only the call knows."""
