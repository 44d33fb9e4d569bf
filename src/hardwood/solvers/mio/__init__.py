"""The paper's method: branch and cut on a mixed-integer solver; cuts are separated when a tree is proposed."""

from hardwood.solvers.mio.model import IMPROVED, PAPER, Form

__all__ = ["IMPROVED", "PAPER", "Form"]
