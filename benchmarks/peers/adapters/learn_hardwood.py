"""The solvers of this package: search, SCIP, Gurobi or GROOT (`task["solver"]`); boxes if there is a radius."""

from protocol import serve


def learn(task, clock):
    import numpy as np

    import hardwood as hw
    from hardwood.solvers import solve
    from hardwood.solvers.base import Limits, Status
    from hardwood.trees.tree import Leaf

    values, y = np.array(task["values"]), np.array(task["labels"])
    with clock:
        table = hw.encode(values, kinds="integer")
        labels = hw.encode_labels(y, table.n_samples)
        if task.get("radius") is not None:
            uncertainty = hw.UncertaintySet.boxes(table, radius=task["radius"])
        else:
            costs = [float("inf") if cost is None else cost for cost in task["costs"]]
            uncertainty = hw.UncertaintySet.priced(table, costs=costs, budget=task["budget"])
        # As in ODTLearn: robustness first, then the fewest splits. Packages for ordinary trees do not minimise size.
        penalty = 0.0 if task["budget"] == 0 and task.get("radius") is None else None
        problem = hw.Problem(labels, uncertainty, task["depth"], penalty)
        result = solve(problem, task["solver"], limits=Limits(seconds=task["seconds"]), n_jobs=1)

    def node_list(node):
        if isinstance(node, Leaf):
            return ["leaf", int(result.tree.classes[node.label])]
        return ["<=", node.feature, node.code, node_list(node.left), node_list(node.right)]

    return {"tree": node_list(result.tree.root), "proved": result.status is Status.OPTIMAL}


if __name__ == "__main__":
    serve(learn)
