"""How results show in a notebook: one door to the report's drawings, opened when somebody looks.

The drawings are upstairs, so this door names the room by text: nothing is imported before it is asked for.
"""

from __future__ import annotations

from importlib import import_module


class InNotebook:
    """Something that notebooks show as a drawing or a table; elsewhere it prints as text."""

    def _repr_html_(self) -> str:
        return str(import_module("hardwood.report.notebook").html_of(self))
