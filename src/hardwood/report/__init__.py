"""A report that people open and understand: one HTML file, no network, readable without scripts.

    content (numbers) -> drawing (SVG) -> page (HTML) -> file

Names, answers and labels are anybody's text. They are escaped in `markup` and nowhere else, and the script only ever
sets them as text.
"""

from hardwood.report.content import Content, Model, content_of
from hardwood.report.page import page

__all__ = ["Content", "Model", "content_of", "page"]
