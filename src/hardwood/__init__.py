"""hardwood: decision trees that stay right when the data shift."""

from hardwood.adversary import Attack, attack
from hardwood.features import encode, encode_labels
from hardwood.problem import Problem
from hardwood.solvers import solve
from hardwood.tree import Tree
from hardwood.uncertainty import UncertaintySet

__version__ = "0.1.0"

__all__ = ["Attack", "Problem", "Tree", "UncertaintySet", "attack", "encode", "encode_labels", "solve"]
