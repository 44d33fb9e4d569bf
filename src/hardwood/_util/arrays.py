"""Arrays that do not change: value objects hold them, so that what was checked stays true."""

from __future__ import annotations

from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.generic]  # of any dtype
IntArray: TypeAlias = NDArray[np.int32]
FloatArray: TypeAlias = NDArray[np.float64]
BoolArray: TypeAlias = NDArray[np.bool_]
Indices: TypeAlias = NDArray[np.integer]  # positions, as numpy functions return them
Scalar = TypeVar("Scalar", bound=np.generic)


def read_only(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """Make an array read-only in place and return it; for arrays that the caller owns alone."""
    array.flags.writeable = False
    return array


def frozen(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """Return the array itself if no reference can write to its memory, otherwise a read-only copy.

    The memory order and the dtype stay the same.
    """
    owner: object = array
    while isinstance(owner, np.ndarray) and not owner.flags.writeable:
        owner = owner.base
    return array if owner is None else read_only(array.copy(order="K"))


def shape_of(value: object) -> tuple[int, ...]:
    """Return the shape of an array, a frame or a series of any library, or of nested lists; () for a scalar."""
    return tuple(value.shape) if hasattr(value, "shape") else np.asarray(value).shape
