"""Our own engines: the search, SCIP or Gurobi (`task["solver"]`); boxes if there is a radius."""

from talk import answer


def learn(task, clock):
    import numpy as np

    import hardwood as hw
    from hardwood.solvers import solve
    from hardwood.solvers.base import Limits, Status
    from hardwood.trees.tree import Leaf

    values, answers = np.array(task["values"]), np.array(task["labels"])
    with clock:
        table = hw.encode(values, kinds="integer")
        labels = hw.encode_labels(answers, table.n_samples)
        if task.get("radius") is not None:
            shifts = hw.UncertaintySet.boxes(table, radius=task["radius"])
        else:
            costs = [float("inf") if price is None else price for price in task["prices"]]
            shifts = hw.UncertaintySet.priced(table, costs=costs, budget=task["budget"])
        # As ODTLearn: robustness first, then the fewest tests. Ordinary peers do not ask for the fewest.
        penalty = 0.0 if task["budget"] == 0 and task.get("radius") is None else None
        problem = hw.Problem(labels, shifts, task["depth"], penalty)
        result = solve(problem, task["solver"], limits=Limits(seconds=task["seconds"]), n_jobs=1)

    def grown(node):
        if isinstance(node, Leaf):
            return ["leaf", int(result.tree.classes[node.label])]
        return ["<=", node.feature, node.code, grown(node.left), grown(node.right)]

    return {"tree": grown(result.tree.root), "proved": result.status is Status.OPTIMAL}


if __name__ == "__main__":
    answer(learn)
