"""CART of scikit-learn, the baseline: greedy, and without a model of shifts."""

from protocol import serve


def learn(task, clock):
    import math

    import numpy as np
    from sklearn.tree import DecisionTreeClassifier

    values, labels = np.array(task["values"]), np.array(task["labels"])
    model = DecisionTreeClassifier(max_depth=task["depth"], random_state=0)
    with clock:
        model.fit(values, labels)
    nodes = model.tree_

    def node_list(k):
        if nodes.children_left[k] < 0:
            return ["leaf", int(model.classes_[nodes.value[k].argmax()])]
        children = nodes.children_left[k], nodes.children_right[k]
        return ["<=", int(nodes.feature[k]), math.floor(nodes.threshold[k]), *map(node_list, children)]

    return {"tree": node_list(0), "proved": False}


if __name__ == "__main__":
    serve(learn)
