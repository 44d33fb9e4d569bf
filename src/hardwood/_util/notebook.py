"""Results in notebooks: shown as drawings or tables by `hardwood.report.notebook`.

The report depends on the classes that use this mixin. So the module is imported by name when a result is shown.
"""

from __future__ import annotations

from importlib import import_module


class NotebookMixin:
    """A result that notebooks show as a drawing or a table; elsewhere it is printed as text."""

    def _repr_html_(self) -> str:
        return str(import_module("hardwood.report.notebook").html_of(self))
