"""A report that people open and understand: one HTML file, no network, readable without scripts.

    a fitted model, its rivals -> content (numbers) -> drawing (SVG) -> page (HTML) -> file

The report learns nothing: other trees to draw beside the model are handed in. Names, answers and labels are anybody's
text. They are escaped in `markup` and nowhere else, and the script only ever sets them as text.
"""

from hardwood.report.content import About
from hardwood.report.writing import TITLE, check_place, write_report

__all__ = ["TITLE", "About", "check_place", "write_report"]
