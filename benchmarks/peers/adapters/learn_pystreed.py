"""pystreed: ordinary optimal trees by dynamic programming, on 0/1 columns."""

from talk import answer, tests_of


def learn(task, clock):
    import numpy as np
    from pystreed import STreeDClassifier

    tests = np.array(tests_of(task["values"]), dtype=np.int32)
    model = STreeDClassifier("accuracy", max_depth=task["depth"], time_limit=task["seconds"])
    with clock:
        model.fit(tests, np.array(task["labels"], dtype=np.int32))
    return {"predictions": model.predict(tests).tolist(), "proved": bool(model.fit_result.is_optimal())}


if __name__ == "__main__":
    answer(learn)
