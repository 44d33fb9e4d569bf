"""The problem that a solver is given: labels, uncertainty set, depth, objective and constraints."""

from hardwood.problem.candidate_splits import Split
from hardwood.problem.constraints import (
    CONSTRAINTS,
    UNCONSTRAINED,
    MinLeafSize,
    TreeConstraint,
    constraint_parameters,
    tree_constraints,
)
from hardwood.problem.heap import HeapNode, heap_form
from hardwood.problem.objective import DISTRIBUTIONAL_FINENESS, MAX_REPEATED_ROWS, NEAR_ZERO, Goal
from hardwood.problem.problem import Problem

__all__ = [
    "CONSTRAINTS",
    "DISTRIBUTIONAL_FINENESS",
    "MAX_REPEATED_ROWS",
    "NEAR_ZERO",
    "UNCONSTRAINED",
    "Goal",
    "HeapNode",
    "MinLeafSize",
    "Problem",
    "Split",
    "TreeConstraint",
    "constraint_parameters",
    "heap_form",
    "tree_constraints",
]
