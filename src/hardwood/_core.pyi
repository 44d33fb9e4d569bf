"""The compiled part of hardwood."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated

import numpy
from numpy.typing import NDArray


class Tree:
    def __init__(self, feature: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], code: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], left: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], right: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], ordered: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], missing_left: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_features: int) -> None: ...

    def leaf_of(self, values: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='F', device='cpu', writable=False)]) -> NDArray[numpy.int32]: ...

MISSING_CODE: int = 2147483647

class Limit:
    def __init__(self, feature: int, low: int, high: int, allowed: Sequence[int], missing: bool = False) -> None: ...

class Region:
    def __init__(self, label: int, limits: Sequence[Limit]) -> None: ...

class FeatureCosts:
    def __init__(self, costs: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], ordered: bool, may_increase: bool, may_decrease: bool, lower: int, upper: int, max_steps: int, missing: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, table: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None) -> None: ...

def margins(values: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='F', device='cpu', writable=False)], costs: Sequence[FeatureCosts], labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], regions: Sequence[Region]) -> tuple[NDArray[numpy.float64], NDArray[numpy.int32]]: ...

MAX_DEPTH: int = 12

MAX_CANDIDATE_SPLITS: int = 32767

BYTES_PER_PAIR: float = 8.0

FRACTIONAL_COST_FACTOR: float = 16.0

FRACTIONAL_ZERO_MULTIPLIER: float = 0.25

class TreeConstraint:
    pass

class MinLeafSize(TreeConstraint):
    def __init__(self, min_size: float) -> None: ...

class SearchProblem:
    def __init__(self, values: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='F', device='cpu', writable=False)], costs: Sequence[object], labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_classes: int, splits: Sequence[tuple[int, int, bool]], budget: float, depth: int, penalty: float, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, class_weights: Sequence[float] = [], fractional: bool = False, constraints: Sequence[TreeConstraint] = [], sample_sizes: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None: ...

class BoundStatistics:
    @property
    def calls(self) -> int: ...

    @property
    def steps(self) -> int: ...

    @property
    def branchings(self) -> int: ...

    @property
    def closed(self) -> int: ...

    @property
    def seconds(self) -> float: ...

class SearchResult:
    @property
    def tree(self) -> list[tuple[int, int]]: ...

    @property
    def value(self) -> float: ...

    @property
    def n_splits(self) -> int: ...

    @property
    def upper_bound(self) -> float: ...

    @property
    def any_model_bound(self) -> float: ...

    @property
    def zero_slack(self) -> float: ...

    @property
    def proved(self) -> bool: ...

    @property
    def work(self) -> int: ...

    @property
    def nodes(self) -> int: ...

    @property
    def bounds(self) -> list[tuple[str, BoundStatistics]]: ...

    @property
    def pool(self) -> list[tuple[list[tuple[int, int]], float]]: ...

    @property
    def pool_complete(self) -> bool: ...

    @property
    def stop_reason(self) -> str: ...

    @property
    def memory_needed(self) -> float: ...

    @property
    def n_rows(self) -> int: ...

def search(problem: SearchProblem, seconds: float, work: int, memory: float, n_jobs: int, upper_bound: float, start: Sequence[tuple[int, int]], switches: Mapping[str, bool], on_progress: Callable[[float, float, int, float, int], None], fixed_splits: Sequence[tuple[int, int]] = [], pool_size: int = 0, pool_gap: float = 0.0) -> SearchResult: ...

def search_switches() -> list[str]: ...
