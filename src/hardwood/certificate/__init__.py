"""Claims about a tree in a form that others can check.

A certificate holds the tree, the shifts that it hedges against, and two kinds of claims:

* about this tree: how many samples it keeps correct after the worst shift. `check` computes this again from the data
  with the attack alone; it uses no solver.
* about all other trees: that none is better than the bound. This is the claim of the solver, and `check` does not prove
  it again. Solve the problem again, or with another solver, to confirm it.
"""

from __future__ import annotations

from hardwood.certificate.check import Check, check
from hardwood.certificate.fingerprint import data_hash, is_about
from hardwood.certificate.io import FORMAT, OLDEST_VERSION, VERSION
from hardwood.certificate.model import Certificate, Claim
from hardwood.certificate.text import class_text

__all__ = [
    "FORMAT",
    "OLDEST_VERSION",
    "VERSION",
    "Certificate",
    "Check",
    "Claim",
    "check",
    "class_text",
    "data_hash",
    "is_about",
]
