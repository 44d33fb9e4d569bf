"""hardwood: decision trees that stay right when the data shift."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hardwood._version import __version__

if TYPE_CHECKING:
    from hardwood.certificate import Certificate, check
    from hardwood.data.features import encode
    from hardwood.data.labels import encode_labels
    from hardwood.estimators.audit import Audit, audit
    from hardwood.estimators.compare import Comparison, compare
    from hardwood.estimators.harden import Hardened, harden
    from hardwood.estimators.others import OrdinaryTreeClassifier, StableTreeClassifier
    from hardwood.estimators.path import RobustnessPath, robustness_path
    from hardwood.estimators.robust import RobustTreeClassifier
    from hardwood.estimators.scoring import SCORERS, expected_accuracy, worst_case_accuracy
    from hardwood.problem import Problem
    from hardwood.shift.description import ShiftDescription
    from hardwood.shift.uncertainty import UncertaintySet
    from hardwood.solvers import solve
    from hardwood.trees.adversary import Attack, attack
    from hardwood.trees.tree import Tree

__all__ = [
    "SCORERS",
    "Attack",
    "Audit",
    "Certificate",
    "Comparison",
    "Hardened",
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
    "expected_accuracy",
    "harden",
    "robustness_path",
    "solve",
    "worst_case_accuracy",
]

# A name is loaded when it is asked for: scikit-learn takes a second, and the command line must hear Ctrl-C before that.
_ROOMS = {
    "SCORERS": "estimators.scoring",
    "Attack": "trees.adversary",
    "Audit": "estimators.audit",
    "Certificate": "certificate",
    "Comparison": "estimators.compare",
    "Hardened": "estimators.harden",
    "OrdinaryTreeClassifier": "estimators.others",
    "Problem": "problem",
    "RobustTreeClassifier": "estimators.robust",
    "RobustnessPath": "estimators.path",
    "ShiftDescription": "shift.description",
    "StableTreeClassifier": "estimators.others",
    "Tree": "trees.tree",
    "UncertaintySet": "shift.uncertainty",
    "attack": "trees.adversary",
    "audit": "estimators.audit",
    "check": "certificate",
    "compare": "estimators.compare",
    "encode": "data.features",
    "encode_labels": "data.labels",
    "expected_accuracy": "estimators.scoring",
    "harden": "estimators.harden",
    "robustness_path": "estimators.path",
    "solve": "solvers",
    "worst_case_accuracy": "estimators.scoring",
}

_MODULES = ("certificate", "datasets", "evaluation", "interop", "plotting", "problem", "report", "shiftlab", "solvers")


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        value = getattr(import_module(f"hardwood.{_ROOMS[name]}"), name)
        globals()[name] = value
        return value
    if name in _MODULES:
        return import_module(f"hardwood.{name}")
    raise AttributeError(f"module 'hardwood' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
