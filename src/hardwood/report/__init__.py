"""A report as one HTML file that needs no network and is readable without scripts.

    fitted model, baselines -> content (numbers) -> drawing (SVG), sections -> page (HTML) -> file

The report runs no solver: the trees to compare with are arguments. Names, values and labels come from the user's table
and may be any text. They are escaped in `markup` and nowhere else, and the script inserts them as text only.
"""

from hardwood.report.content import About
from hardwood.report.writing import TITLE, check_place, write_report

__all__ = ["TITLE", "About", "check_place", "write_report"]
