"""Trees for boxes, where every value moves freely within a radius: ROCT (optimal, by Gurobi) and GROOT (greedy)."""

import warnings

from protocol import serve

warnings.filterwarnings("ignore")


def learn(task, clock):
    import numpy as np

    values, labels = np.array(task["values"], dtype=np.float64), np.array(task["labels"])
    # ROCT needs numbers from 0 to 1; slightly more than a step keeps rounding from deciding its comparisons.
    scale = max(float(values.max()), 1.0)
    step = [task["radius"] * (1 + 1e-3) / scale] * values.shape[1]
    if task["solver"] == "groot":
        from groot.model import GrootTreeClassifier

        model = GrootTreeClassifier(max_depth=task["depth"], attack_model=step, random_state=0)
    else:
        from roct import OptimalRobustTree

        model = OptimalRobustTree(max_depth=task["depth"], attack_model=step, time_limit=int(task["seconds"]))
    with clock:
        model.fit(values / scale, labels)
    # ROCT does not expose its tree: every corner of every box is predicted.
    moves = np.stack(np.meshgrid(*[[-task["radius"], 0, task["radius"]]] * values.shape[1]), -1).reshape(-1, len(step))
    correct = np.ones(len(labels), dtype=bool)
    for move in moves:
        correct &= np.asarray(model.predict((values + move) / scale)) == labels
    return {
        "correct": int(correct.sum()),
        "proved": task["solver"] == "roct" and bool(getattr(model, "optimal_", False)),
    }


if __name__ == "__main__":
    serve(learn)
