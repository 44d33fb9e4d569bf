"""pycontree: ordinary optimal trees on continuous columns."""

from protocol import serve


def learn(task, clock):
    import numpy as np
    from pycontree import ConTree

    values, labels = np.array(task["values"], dtype=np.float64), np.array(task["labels"])
    model = ConTree(max_depth=task["depth"], time_limit=task["seconds"])
    with clock:
        model.fit(values, labels)
    proved = clock.seconds < task["seconds"]  # it does not report whether it was stopped
    return {"predictions": np.asarray(model.predict(values)).tolist(), "proved": proved}


if __name__ == "__main__":
    serve(learn)
