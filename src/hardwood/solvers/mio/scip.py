"""Branch and cut on SCIP through PySCIPOpt: no licence, no size limit. Extra: `pip install "hardwood[scip]"`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from pyscipopt import SCIP_EVENTTYPE, SCIP_HEURTIMING, SCIP_RESULT, Conshdlr, Eventhdlr, Heur, Model, quicksum

from hardwood._util.arrays import FloatArray
from hardwood.solvers.base import Limits, StopReason, threads
from hardwood.solvers.mio.branch_and_cut import CuttingRun, MioSolver, Outcome
from hardwood.solvers.mio.branch_and_cut import Model as CuttingModel
from hardwood.solvers.mio.model import Row
from hardwood.solvers.run import RunOptions

if TYPE_CHECKING:
    from pyscipopt import Constraint, ExprCons, Variable
    from pyscipopt.scip import Event, Solution

# SCIP's reductions assume that all constraints are known. The cuts are added later, so every reduction that relies on
# their absence must be off: with SCIP's defaults, tiny problems ended with wrong optima. (See also `_Cuts.conslock`.)
LAZY_CUT_SETTINGS = {
    "misc/usesymmetry": 0,
    "misc/allowstrongdualreds": False,
    "misc/allowweakdualreds": False,
    "presolving/maxrestarts": 0,
}
STOP_REASONS = {
    "optimal": StopReason.FINISHED,
    "primallimit": StopReason.FINISHED,  # the incumbent reached a bound that the caller knew
    "timelimit": StopReason.TIME_LIMIT,
    "memlimit": StopReason.MEMORY_LIMIT,
    "totalnodelimit": StopReason.WORK_LIMIT,
    "userinterrupt": StopReason.INTERRUPTED,
}
LAST = -2_000_000  # after SCIP's own constraint handlers: integrality and linear constraints then hold


class ScipSolver(MioSolver):
    """The paper's method on SCIP, on one thread; `work` counts its nodes."""

    name = "scip"

    def _optimize(self, run: CuttingRun, options: RunOptions, stop_at: float | None) -> Outcome:
        return optimize(run, options, stop_at)


def optimize(run: CuttingRun, options: RunOptions, stop_at: float | None) -> Outcome:
    """Solve the model of a run with SCIP; `stop_at` is a sufficient objective.

    `n_jobs` is only checked: SCIP cannot share callbacks between threads.
    """
    threads(options.n_jobs)
    model, variables = _built(run.main)
    _limit(model, run.remaining(options.limits.seconds), options.limits, stop_at)
    model.setParam("randomization/randomseedshift", options.seed % 2**31)
    plugins = _Plugins(run, model, variables)
    first = run.new_solution()
    if first is not None:
        plugins.add(first, None)
    model.optimize()
    run.raise_error()
    if model.getStatus() not in STOP_REASONS:
        raise RuntimeError(f"SCIP ended with status {model.getStatus()}; please report this as a bug")
    return Outcome(model.getDualbound(), STOP_REASONS[model.getStatus()], model.getNTotalNodes())


def _built(main: CuttingModel) -> tuple[Model, list[Variable]]:
    model = Model()
    model.hideOutput()
    for name, value in LAZY_CUT_SETTINGS.items():
        model.setParam(name, value)
    variables = []
    for j in range(main.n_variables):
        kind = "I" if main.integer[j] else "C"
        variables.append(model.addVar(vtype=kind, lb=0.0, ub=float(main.upper[j]), obj=float(main.objective[j])))
        if main.priority[j]:
            model.chgVarBranchPriority(variables[j], int(main.priority[j]))
    model.setMaximize()
    for row in main.rows:
        model.addCons(_constraint(row, variables))
    return model, variables


def _limit(model: Model, seconds: float | None, limits: Limits, stop_at: float | None) -> None:
    if seconds is not None:
        model.setParam("limits/time", min(seconds, 1e20))
    if limits.memory_bytes is not None:
        model.setParam("limits/memory", min(limits.memory_bytes / 2**20, 1e12))
    if limits.work is not None:
        model.setParam("limits/totalnodes", int(min(limits.work, 2**62)))
    if stop_at is not None:
        model.setParam("limits/primal", stop_at)


def _constraint(row: Row, variables: list[Variable]) -> ExprCons:
    total = quicksum(float(c) * variables[j] for j, c in zip(row.variables, row.coefficients, strict=True))
    constraint: ExprCons = total == row.upper if row.lower == row.upper else total <= row.upper
    return constraint


class _Plugins:
    """The three plugins of a run and what they share."""

    def __init__(self, run: CuttingRun, model: Model, variables: list[Variable]) -> None:
        self.run, self.model, self.variables = run, model, variables
        model.includeConshdlr(
            _Cuts(self), "cuts", "worst shifts", enfopriority=LAST, chckpriority=LAST, needscons=False
        )
        timing = SCIP_HEURTIMING.BEFORENODE | SCIP_HEURTIMING.AFTERLPNODE
        model.includeHeur(_BestTree(self), "best_tree", "trees with their true worst case", "!", timingmask=timing)
        model.includeEventhdlr(_Progress(self), "progress", "progress")

    def values(self, solution: Solution | None) -> FloatArray:
        return np.array([self.model.getSolVal(solution, variable) for variable in self.variables])

    def add(self, values: FloatArray, heuristic: Heur | None) -> bool:
        """Pass a solution to SCIP, which checks it like any other; return whether it was accepted."""
        solution = self.model.createSol(heuristic)
        for variable, value in zip(self.variables, values, strict=True):
            self.model.setSolVal(solution, variable, float(value))
        return bool(self.model.addSol(solution))


class _Cuts(Conshdlr):
    """Checks proposals and adds the cuts that they violate."""

    def __init__(self, plugins: _Plugins) -> None:
        self._plugins = plugins

    def consenfolp(self, constraints: list[Constraint], nusefulconss: int, solinfeasible: bool) -> dict[str, int]:  # noqa: ARG002
        return {"result": self._enforced(solinfeasible)}

    def consenfops(
        self,
        constraints: list[Constraint],  # noqa: ARG002
        nusefulconss: int,  # noqa: ARG002
        solinfeasible: bool,
        objinfeasible: bool,
    ) -> dict[str, int]:
        return {"result": self._enforced(solinfeasible or objinfeasible)}

    def conscheck(
        self,
        constraints: list[Constraint],  # noqa: ARG002
        solution: Solution,
        checkintegrality: bool,  # noqa: ARG002
        checklprows: bool,  # noqa: ARG002
        printreason: bool,  # noqa: ARG002
        completely: bool,  # noqa: ARG002
    ) -> dict[str, int]:
        plugins = self._plugins
        with plugins.run.guarded(plugins.model.interruptSolve):
            if not plugins.run.cuts(plugins.values(solution)):
                return {"result": SCIP_RESULT.FEASIBLE}
        return {"result": SCIP_RESULT.INFEASIBLE}

    def conslock(self, constraint: Constraint, locktype: int, nlockspos: int, nlocksneg: int) -> None:  # noqa: ARG002
        """A cut may bound any variable from either side."""
        locks = nlockspos + nlocksneg
        for variable in self._plugins.variables:
            self.model.addVarLocks(variable, locks, locks)

    def _enforced(self, already_infeasible: bool) -> int:
        if already_infeasible:
            return SCIP_RESULT.FEASIBLE  # another handler resolves it
        plugins = self._plugins
        with plugins.run.guarded(plugins.model.interruptSolve):
            cuts = plugins.run.cuts(plugins.values(None))
            for cut in cuts:
                plugins.model.addCons(_constraint(cut, plugins.variables), removable=True)
            return SCIP_RESULT.CONSADDED if cuts else SCIP_RESULT.FEASIBLE
        return SCIP_RESULT.INFEASIBLE


class _BestTree(Heur):
    """Passes the incumbent with its true worst case to SCIP, whose own solution claims more."""

    def __init__(self, plugins: _Plugins) -> None:
        self._plugins = plugins

    def heurexec(self, heurtiming: int, nodeinfeasible: bool) -> dict[str, int]:  # noqa: ARG002
        plugins = self._plugins
        accepted = False
        with plugins.run.guarded(plugins.model.interruptSolve):
            values = plugins.run.new_solution()
            if values is None:
                return {"result": SCIP_RESULT.DIDNOTRUN}
            accepted = plugins.add(values, self)
        return {"result": SCIP_RESULT.FOUNDSOL if accepted else SCIP_RESULT.DIDNOTFIND}


class _Progress(Eventhdlr):
    """Reports after every node."""

    def __init__(self, plugins: _Plugins) -> None:
        self._plugins = plugins

    def eventinit(self) -> None:
        self.model.catchEvent(SCIP_EVENTTYPE.NODESOLVED, self)

    def eventexit(self) -> None:
        self.model.dropEvent(SCIP_EVENTTYPE.NODESOLVED, self)

    def eventexec(self, event: Event) -> None:  # noqa: ARG002
        plugins = self._plugins
        with plugins.run.guarded(plugins.model.interruptSolve):
            plugins.run.report(plugins.model.getDualbound(), plugins.model.getNTotalNodes())
