"""A small made-up survey with columns of every kind, for tests of everything that people see."""

from __future__ import annotations

import numpy as np
import pandas as pd


def survey(n: int = 120, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Answers and what they lead to; a tenth of noise."""
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
