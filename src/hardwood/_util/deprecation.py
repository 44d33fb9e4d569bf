"""Old names of attributes, kept for one version with a warning."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TypeVar

Class = TypeVar("Class", bound=type)


def warn_renamed(old: str, new: str, *, stacklevel: int = 3) -> None:
    """Warn that a name was renamed and will disappear.

    Parameters
    ----------
    old, new : str
        The name that was used, and the one to use.
    stacklevel : int, default=3
        As in `warnings.warn`; 3 points to the caller of the caller.
    """
    message = f"{old} was renamed to {new}; the old name will be removed in the next version"
    warnings.warn(message, DeprecationWarning, stacklevel=stacklevel)


def renamed_attributes(**new_names: str) -> Callable[[Class], Class]:
    """Decorate a class so that old attribute names still work, with a `DeprecationWarning`.

    Parameters
    ----------
    **new_names : str
        Current name by old name. Values are names, so that renamed methods and properties work alike.

    Returns
    -------
    decorator : callable
        Adds one read-only property for each old name.
    """

    def decorate(cls: Class) -> Class:
        for old, new in new_names.items():
            setattr(cls, old, _alias(cls.__name__, old, new))
        return cls

    return decorate


def _alias(class_name: str, old: str, new: str) -> property:
    def read(self: object) -> object:
        warn_renamed(f"{class_name}.{old}", f"{class_name}.{new}")
        return getattr(self, new)

    return property(read, doc=f"Deprecated: use `{new}`.")
