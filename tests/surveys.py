"""Small made-up surveys, for tests of files and of printed and drawn results."""

from __future__ import annotations

import numpy as np
import pandas as pd


def survey(n: int = 120, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """A table and its labels; a tenth of the labels is noise."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "party": rng.choice(["left", "right", "none"], n),
            "trust": pd.Categorical(rng.choice(["low", "middle", "high"], n), ["low", "middle", "high"], ordered=True),
            "asked before": rng.random(n) < 0.5,
            "income": rng.normal(30, 9, n).round(1),
        }
    )
    wants = (frame["party"] == "left") | (frame["trust"] == "high")
    wants = np.where(rng.random(n) < 0.1, ~wants, wants)
    return frame, np.where(wants, "yes", "no")


def coded_survey(n: int = 60, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """A table as a file gives it, with codes for missing values, and its labels."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, n)
    frame = pd.DataFrame(
        {
            "age": [str(value) for value in age],
            "education": rng.choice(["low", "middle", "high"], n),
            "children": rng.integers(0, 4, n).astype(float),
            "trust": rng.integers(1, 6, n),
        }
    )
    frame.loc[[3, 17, 40], "age"] = "?"
    frame.loc[[5, 6], "education"] = "?"
    frame.loc[8, "trust"] = -9
    return frame, np.where(age > 45, "right", "left")
