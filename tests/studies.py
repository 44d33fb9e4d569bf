"""Small studies for tests."""

import numpy as np

from hardwood.experiments.grid import Settings, Study


def tiny_study(**changes):
    """A study of eight instances of two generated tables, each solved within a second."""
    settings = {"methods": ("robust", "ordinary"), "time_limit": 5.0, "n_tables": 40, "seed": 3, "patience": 60.0}
    grid = {
        "name": "tiny",
        "datasets": ("balance-scale", "monks-1-sample"),
        "mean_certainties": (0.7,),
        "plausibilities": (0.85, 1.0),
        "depths": (1, 2),
    }
    changed_settings = {name: changes.pop(name) for name in list(changes) if name in settings}
    return Study(**(grid | changes), settings=Settings(**(settings | changed_settings)))


def without_times(rows):
    """Columns by id that are the same in every run of a study."""
    varying = ("seconds", "seconds_with_choice", "work")
    return {row["id"]: {name: value for name, value in row.items() if not name.endswith(varying)} for row in rows}


def random_rows(seed=0, levels=(0.5, 0.9, 1.0), **fixed):
    """Rows with random numbers in the columns of a study with all methods."""
    rng = np.random.default_rng(seed)
    return [_row(rng, level, k, fixed) for level in levels for k in range(6)]


def _row(rng, level, k, fixed):
    from hardwood.experiments.tasks import FAMILIES

    row = {
        "id": f"spect/c0.{k}/p{level:g}/d2",
        "dataset": "spect",
        "mean_certainty": k / 10,
        "plausibility": level,
        "depth": 2,
        "outcome": "finished",
        "message": "",
        "time_limit": 20.0,
        "seconds": 1.0,
        "version": "0",
        "stable_radius": int(k == 0),
    }
    for method in ("robust", "ordinary", "stable", "paper", "paper_without_sample_cuts"):
        correct = int(rng.integers(50, 90))
        row |= {
            f"{method}_tree": "{}",
            f"{method}_status": str(rng.choice(["optimal", "most_robust", "feasible"])),
            f"{method}_seconds": float(rng.uniform(0.01, 20)),
            f"{method}_correct": correct,
            f"{method}_upper_bound": correct + int(rng.integers(0, 60)),
            f"{method}_branching_nodes": int(rng.integers(0, 8)),
            f"{method}_nominal": float(rng.uniform()),
        }
        for family in FAMILIES:
            row[f"{method}_worst_{family}"] = float(rng.uniform())
            row[f"{method}_mean_{family}"] = float(rng.uniform())
    return row | fixed
