"""ODTLearn's RobustOCT: the paper's method by its authors, with Gurobi or with CBC (`task["solver"]`)."""

import warnings

from protocol import serve

warnings.filterwarnings("ignore")


def learn(task, clock):
    import numpy as np
    import pandas as pd
    from odtlearn.robust_oct import RobustOCT

    names = [f"x{j}" for j in range(len(task["values"][0]))]
    X = pd.DataFrame(np.array(task["values"]), columns=names)
    never = task["budget"] + 1.0
    unit_costs = [never if cost is None else cost for cost in task["costs"]]
    costs = pd.DataFrame(np.tile(unit_costs, (len(X), 1)), columns=names)
    model = RobustOCT(task["solver"], depth=task["depth"], time_limit=int(task["seconds"]), num_threads=1)
    with clock:
        model.fit(X, np.array(task["labels"]), costs=costs, budget=task["budget"])

    def node_list(node):
        for label in model._labels:
            if model.w_value[node, label] > 0.5:
                return ["leaf", int(label)]
        for name, threshold in model._f_theta_indices:
            if model.b_value[node, name, threshold] > 0.5:
                children = model._tree.get_left_children(node), model._tree.get_right_children(node)
                return ["<=", names.index(name), int(threshold), *map(node_list, children)]
        raise ValueError(f"node {node} has no decision")

    # The solver calls a gap of 1e-4 optimal, which is less than a row or the penalty for a split here.
    status = model._solver.model
    proved = status.Status == 2 if task["solver"] == "gurobi" else status.status.name == "OPTIMAL"
    return {"tree": node_list(1), "proved": bool(proved)}


if __name__ == "__main__":
    serve(learn)
