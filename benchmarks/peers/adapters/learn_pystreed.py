"""pystreed: ordinary optimal trees by dynamic programming, on 0/1 columns."""

from protocol import serve, threshold_columns


def learn(task, clock):
    import numpy as np
    from pystreed import STreeDClassifier

    columns = np.array(threshold_columns(task["values"]), dtype=np.int32)
    model = STreeDClassifier("accuracy", max_depth=task["depth"], time_limit=task["seconds"])
    with clock:
        model.fit(columns, np.array(task["labels"], dtype=np.int32))
    return {"predictions": model.predict(columns).tolist(), "proved": bool(model.fit_result.is_optimal())}


if __name__ == "__main__":
    serve(learn)
