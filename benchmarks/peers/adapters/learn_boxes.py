"""Trees for boxes, every sample moving freely within a radius: ROCT (optimal, by Gurobi) and GROOT (greedy)."""

import warnings

from talk import answer

warnings.filterwarnings("ignore")


def learn(task, clock):
    import numpy as np

    values, labels = np.array(task["values"], dtype=np.float64), np.array(task["labels"])
    # ROCT wants numbers from 0 to 1; a hair more than a step keeps its comparisons from being decided by rounding.
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
    # It keeps its tree to itself: every corner of every box is asked for.
    moves = np.stack(np.meshgrid(*[[-task["radius"], 0, task["radius"]]] * values.shape[1]), -1).reshape(-1, len(step))
    right = np.ones(len(labels), dtype=bool)
    for move in moves:
        right &= np.asarray(model.predict((values + move) / scale)) == labels
    return {"correct": int(right.sum()), "proved": task["solver"] == "roct" and bool(getattr(model, "optimal_", False))}


if __name__ == "__main__":
    answer(learn)
