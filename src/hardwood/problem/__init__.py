"""The problem that a solver is given: labels, uncertainty set, depth, objective and constraints."""

from hardwood.problem.candidate_splits import Split
from hardwood.problem.constraints import MinLeafSize, TreeConstraint
from hardwood.problem.heap import HeapNode, heap_form
from hardwood.problem.objective import DISTRIBUTIONAL_FINENESS, MAX_REPEATED_ROWS, NEAR_ZERO, Goal
from hardwood.problem.problem import Problem

__all__ = [
    "DISTRIBUTIONAL_FINENESS",
    "MAX_REPEATED_ROWS",
    "NEAR_ZERO",
    "Goal",
    "HeapNode",
    "MinLeafSize",
    "Problem",
    "Split",
    "TreeConstraint",
    "heap_form",
]
