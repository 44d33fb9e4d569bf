"""hardwood: decision trees that stay right when the data shift."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hardwood._version import __version__
from hardwood.adversary import Attack, attack
from hardwood.certificate import Certificate, check
from hardwood.features import encode, encode_labels
from hardwood.problem import Problem
from hardwood.shifts import ShiftDescription
from hardwood.solvers import solve
from hardwood.tree import Tree
from hardwood.uncertainty import UncertaintySet

if TYPE_CHECKING:
    from hardwood.auditing import Audit, audit
    from hardwood.classifier import RobustTreeClassifier
    from hardwood.comparison import Comparison, compare
    from hardwood.methods import OrdinaryTreeClassifier, StableTreeClassifier
    from hardwood.path import RobustnessPath, robustness_path

__all__ = [
    "Attack",
    "Audit",
    "Certificate",
    "Comparison",
    "OrdinaryTreeClassifier",
    "Problem",
    "RobustTreeClassifier",
    "RobustnessPath",
    "ShiftDescription",
    "StableTreeClassifier",
    "Tree",
    "UncertaintySet",
    "__version__",
    "attack",
    "audit",
    "check",
    "compare",
    "encode",
    "encode_labels",
    "robustness_path",
    "solve",
]

# These load scikit-learn, which takes a second: only when they are asked for.
_LAZY = {
    "Audit": "hardwood.auditing",
    "audit": "hardwood.auditing",
    "RobustTreeClassifier": "hardwood.classifier",
    "Comparison": "hardwood.comparison",
    "compare": "hardwood.comparison",
    "OrdinaryTreeClassifier": "hardwood.methods",
    "StableTreeClassifier": "hardwood.methods",
    "RobustnessPath": "hardwood.path",
    "robustness_path": "hardwood.path",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'hardwood' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
