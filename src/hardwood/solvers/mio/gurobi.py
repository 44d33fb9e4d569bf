"""Branch and cut on Gurobi. Extra: `pip install "hardwood[gurobi]"`; its free licence is limited to small problems."""

from __future__ import annotations

import gurobipy
import numpy as np
from gurobipy import GRB

from hardwood.solvers.base import Limits, StopReason, threads
from hardwood.solvers.mio.branch_and_cut import CuttingRun, MioSolver, Outcome
from hardwood.solvers.mio.model import Row
from hardwood.solvers.run import RunOptions

SETTINGS = {
    "OutputFlag": 0,
    "LazyConstraints": 1,
    "MIPGap": 0.0,  # by default, Gurobi calls a tree optimal that is one sample in 10,000 below the optimum
    "MIPGapAbs": 0.0,
    "IntFeasTol": 1e-9,
}
STOP_REASONS = {
    GRB.OPTIMAL: StopReason.FINISHED,
    GRB.USER_OBJ_LIMIT: StopReason.FINISHED,  # the incumbent reached a bound that the caller knew
    GRB.TIME_LIMIT: StopReason.TIME_LIMIT,
    GRB.MEM_LIMIT: StopReason.MEMORY_LIMIT,
    GRB.NODE_LIMIT: StopReason.WORK_LIMIT,
    GRB.INTERRUPTED: StopReason.INTERRUPTED,
}


class GurobiSolver(MioSolver):
    """The paper's method on Gurobi; `work` counts its nodes."""

    name = "gurobi"

    def _optimize(self, run: CuttingRun, options: RunOptions, stop_at: float | None) -> Outcome:
        return optimize(run, options, stop_at)


def optimize(run: CuttingRun, options: RunOptions, stop_at: float | None) -> Outcome:
    """Solve the model of a run with Gurobi; `stop_at` is a sufficient objective."""
    settings = SETTINGS | {"Threads": min(threads(options.n_jobs), 1024), "Seed": options.seed % 2_000_000_000}
    with gurobipy.Env(params=settings) as environment, gurobipy.Model(env=environment) as model:
        variables = _build(model, run)
        _limit(model, run.remaining(options.limits.seconds), options.limits, stop_at)
        _optimize(model, run, variables)
        run.raise_error()
        if model.Status not in STOP_REASONS:
            raise RuntimeError(f"Gurobi ended with status {model.Status}; please report this as a bug")
        return Outcome(model.ObjBound, STOP_REASONS[model.Status], int(model.NodeCount))


def _build(model: gurobipy.Model, run: CuttingRun) -> list[gurobipy.Var]:
    main = run.main
    kinds = np.where(main.integer, GRB.INTEGER, GRB.CONTINUOUS)
    variables = model.addMVar(main.n_variables, ub=main.upper, obj=main.objective, vtype=kinds)
    variables.setAttr("BranchPriority", main.priority)
    model.ModelSense = GRB.MAXIMIZE
    model.update()
    columns = variables.tolist()
    for row in main.rows:
        model.addConstr(_constraint(row, columns))
    first = run.new_solution()
    if first is not None:
        variables.setAttr("Start", first)
    return columns


def _limit(model: gurobipy.Model, seconds: float | None, limits: Limits, stop_at: float | None) -> None:
    if seconds is not None:
        model.Params.TimeLimit = seconds
    if limits.memory_bytes is not None:
        model.Params.SoftMemLimit = limits.memory_bytes / 1e9
    if limits.work is not None:
        model.Params.NodeLimit = limits.work
    if stop_at is not None:
        model.Params.BestObjStop = stop_at


def _constraint(row: Row, variables: list[gurobipy.Var]) -> gurobipy.TempLConstr:
    total = gurobipy.LinExpr(row.coefficients.tolist(), [variables[j] for j in row.variables])
    return total == row.upper if row.lower == row.upper else total <= row.upper


def _optimize(model: gurobipy.Model, run: CuttingRun, variables: list[gurobipy.Var]) -> None:
    def callback(model: gurobipy.Model, where: int) -> None:
        with run.guarded(model.terminate):
            if where == GRB.Callback.MIPSOL:
                for cut in run.cuts(np.array(model.cbGetSolution(variables))):
                    model.cbLazy(_constraint(cut, variables))
            elif where == GRB.Callback.MIPNODE:
                better = run.new_solution()
                if better is not None:
                    model.cbSetSolution(variables, better.tolist())
            elif where == GRB.Callback.MIP:
                nodes = model.cbGet(GRB.Callback.MIP_NODCNT)
                run.report(model.cbGet(GRB.Callback.MIP_OBJBND), int(nodes))

    try:
        model.optimize(callback)
    except gurobipy.GurobiError as error:
        if error.errno != GRB.Error.SIZE_LIMIT_EXCEEDED:
            raise
        raise ValueError(
            f"the model has {model.NumVars} variables and {model.NumConstrs} constraints; the free licence of Gurobi "
            f'takes 2,000 of each. Use a full licence, solver="scip" or solver="search"'
        ) from error
