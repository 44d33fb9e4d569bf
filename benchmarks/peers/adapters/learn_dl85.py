"""pydl8.5: ordinary optimal trees by dynamic programming over itemsets, on 0/1 columns."""

from protocol import serve, threshold_columns


def learn(task, clock):
    import numpy as np
    from pydl85 import DL85Classifier

    columns, labels = np.array(threshold_columns(task["values"])), np.array(task["labels"])
    model = DL85Classifier(max_depth=task["depth"], time_limit=int(task["seconds"]))
    with clock:
        model.fit(columns, labels)
    return {"predictions": np.asarray(model.predict(columns)).tolist(), "proved": not model.timeout_}


if __name__ == "__main__":
    serve(learn)
