"""Sections of a report: one module for each, and the header above them.

Each section is a function of the `Content` that returns the elements below its heading; `page` lists them.
"""
