"""GOSDT: sparse optimal trees; a leaf costs next to nothing here, so that what is optimal is the accuracy."""

import warnings

from talk import answer, tests_of

warnings.filterwarnings("ignore")


def learn(task, clock):
    import numpy as np
    from gosdt import GOSDTClassifier, Status

    tests, labels = np.array(tests_of(task["values"])), np.array(task["labels"])
    leaf = 0.5 / len(labels) / 2 ** task["depth"]  # all leaves together cost less than one sample
    limits = {"depth_budget": task["depth"], "time_limit": int(task["seconds"])}
    model = GOSDTClassifier(regularization=leaf, allow_small_reg=True, **limits)
    with clock:
        model.fit(tests, labels)
    return {"predictions": model.predict(tests).tolist(), "proved": model.result_.status == Status.CONVERGED}


if __name__ == "__main__":
    answer(learn)
