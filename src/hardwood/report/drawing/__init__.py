"""Drawings of a report as SVG, made in Python so that the page shows them without a script."""
