"""hardwood: decision trees that stay correct when the data shift."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hardwood._version import __version__ as __version__

# Public names by module. They are loaded on first access: scikit-learn takes a second to import, and the command line
# must react to Ctrl-C before that. The imports below are for type checkers; a test keeps them equal to this table.
_EXPORTS = {
    "certificate": ("Certificate", "Check", "check"),
    "data.encode": ("encode",),
    "data.labels": ("encode_labels",),
    "estimators.alternatives": ("Alternatives",),
    "estimators.audit": ("Audit", "audit"),
    "estimators.chunked": ("ChunkedAudit",),
    "estimators.compare": ("Comparison", "compare"),
    "estimators.harden": ("Hardened", "harden"),
    "estimators.ordinary": ("OrdinaryTreeClassifier",),
    "estimators.path": ("RobustnessPath", "robustness_path"),
    "estimators.robust": ("RobustTreeClassifier",),
    "estimators.scoring": ("SCORERS", "expected_accuracy", "worst_case_accuracy"),
    "estimators.stable": ("StableTreeClassifier",),
    "problem": ("Problem",),
    "shifts.models": ("Boxes", "Calibrated", "Priced", "ShiftModel"),
    "shifts.uncertainty_set": ("UncertaintySet",),
    "solvers": ("solve",),
    "trees.attack": ("Attack", "attack"),
    "trees.tree": ("Tree",),
}
_MODULE_OF = {name: module for module, names in _EXPORTS.items() for name in names}
_SUBPACKAGES = (
    "certificate",
    "datasets",
    "evaluation",
    "interop",
    "plotting",
    "problem",
    "report",
    "shiftlab",
    "solvers",
)

__all__ = sorted([*_MODULE_OF, "__version__"])

if TYPE_CHECKING:
    from hardwood.certificate import Certificate as Certificate
    from hardwood.certificate import Check as Check
    from hardwood.certificate import check as check
    from hardwood.data.encode import encode as encode
    from hardwood.data.labels import encode_labels as encode_labels
    from hardwood.estimators.alternatives import Alternatives as Alternatives
    from hardwood.estimators.audit import Audit as Audit
    from hardwood.estimators.audit import audit as audit
    from hardwood.estimators.chunked import ChunkedAudit as ChunkedAudit
    from hardwood.estimators.compare import Comparison as Comparison
    from hardwood.estimators.compare import compare as compare
    from hardwood.estimators.harden import Hardened as Hardened
    from hardwood.estimators.harden import harden as harden
    from hardwood.estimators.ordinary import OrdinaryTreeClassifier as OrdinaryTreeClassifier
    from hardwood.estimators.path import RobustnessPath as RobustnessPath
    from hardwood.estimators.path import robustness_path as robustness_path
    from hardwood.estimators.robust import RobustTreeClassifier as RobustTreeClassifier
    from hardwood.estimators.scoring import SCORERS as SCORERS
    from hardwood.estimators.scoring import expected_accuracy as expected_accuracy
    from hardwood.estimators.scoring import worst_case_accuracy as worst_case_accuracy
    from hardwood.estimators.stable import StableTreeClassifier as StableTreeClassifier
    from hardwood.problem import Problem as Problem
    from hardwood.shifts.models import Boxes as Boxes
    from hardwood.shifts.models import Calibrated as Calibrated
    from hardwood.shifts.models import Priced as Priced
    from hardwood.shifts.models import ShiftModel as ShiftModel
    from hardwood.shifts.uncertainty_set import UncertaintySet as UncertaintySet
    from hardwood.solvers import solve as solve
    from hardwood.trees.attack import Attack as Attack
    from hardwood.trees.attack import attack as attack
    from hardwood.trees.tree import Tree as Tree


def __getattr__(name: str) -> Any:
    if name == "ShiftDescription":
        from hardwood._util.deprecation import warn_renamed
        from hardwood.shifts.models import shift_model

        warn_renamed("hardwood.ShiftDescription", "hardwood.Calibrated, Priced or Boxes")
        return shift_model
    if name in _MODULE_OF:
        value = getattr(import_module(f"hardwood.{_MODULE_OF[name]}"), name)
        globals()[name] = value
        return value
    if name in _SUBPACKAGES:
        return import_module(f"hardwood.{name}")
    raise AttributeError(f"module 'hardwood' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
