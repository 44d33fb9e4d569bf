"""GOSDT: sparse optimal trees; the penalty for a leaf is tiny here, so that accuracy alone decides."""

import warnings

from protocol import serve, threshold_columns

warnings.filterwarnings("ignore")


def learn(task, clock):
    import numpy as np
    from gosdt import GOSDTClassifier, Status

    columns, labels = np.array(threshold_columns(task["values"])), np.array(task["labels"])
    leaf = 0.5 / len(labels) / 2 ** task["depth"]  # the penalty of all leaves is less than one sample
    limits = {"depth_budget": task["depth"], "time_limit": int(task["seconds"])}
    model = GOSDTClassifier(regularization=leaf, allow_small_reg=True, **limits)
    with clock:
        model.fit(columns, labels)
    return {"predictions": model.predict(columns).tolist(), "proved": model.result_.status == Status.CONVERGED}


if __name__ == "__main__":
    serve(learn)
