from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

class Tree:
    def __init__(
        self,
        feature: NDArray[np.int32],
        code: NDArray[np.int32],
        left: NDArray[np.int32],
        right: NDArray[np.int32],
        ordered: NDArray[np.int32],
        n_features: int,
    ) -> None: ...
    def leaf_of(self, values: NDArray[np.int32]) -> NDArray[np.int32]: ...

class Limit:
    def __init__(self, feature: int, low: int, high: int, allowed: Sequence[int]) -> None: ...

class Region:
    def __init__(self, label: int, limits: Sequence[Limit]) -> None: ...

class FeaturePrices:
    def __init__(
        self,
        prices: NDArray[np.float64],
        ordered: bool,
        may_rise: bool,
        may_fall: bool,
        lower: int,
        upper: int,
        steps: int,
    ) -> None: ...

class SearchOptions:
    child_bounds: bool
    right_discard: bool
    nesting: bool
    inherit_shares: bool
    pool: bool
    skip_twins: bool
    surrogate: bool
    def __init__(self) -> None: ...

def search(
    values: NDArray[np.int32],
    prices: Sequence[FeaturePrices],
    labels: NDArray[np.int32],
    n_classes: int,
    tests: Sequence[tuple[int, int]],
    budget: float,
    depth: int,
    penalty: float,
    seconds: float,
    work: int,
    memory: float,
    n_jobs: int,
    upper_bound: float,
    start: Sequence[tuple[int, int]],
    options: SearchOptions,
    on_progress: Callable[[float, float, int, float, int], None],
) -> dict[str, Any]: ...
def margins(
    values: NDArray[np.int32],
    prices: Sequence[FeaturePrices],
    labels: NDArray[np.int32],
    regions: Sequence[Region],
) -> tuple[NDArray[np.float64], NDArray[np.int32]]: ...
