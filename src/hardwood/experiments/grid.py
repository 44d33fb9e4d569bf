"""What to run: a grid of instances, read from a TOML file."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from importlib import resources
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from hardwood._support.arguments import numbers_of, whole_number
from hardwood.data.datasets import RECIPES
from hardwood.solvers.search import DEEPEST

METHODS = ("robust", "ordinary", "stable", "paper", "paper_without_sample_cuts")


@dataclass(frozen=True, order=True)
class Instance:
    """A table, the mean of the certainties of its columns, a plausibility and a depth."""

    dataset: str
    mean_certainty: float
    plausibility: float
    depth: int

    @property
    def id(self) -> str:
        """The name of the instance in results and on the command line."""
        return f"{self.dataset}/c{_short(self.mean_certainty)}/p{_short(self.plausibility)}/d{self.depth}"


@dataclass(frozen=True)
class Settings:
    """What all instances of a study share: a row of results depends on its instance, on these, and on nothing else.

    methods     which trees to learn: robust (ours), ordinary (regularised), stable (RCT-B; only on tables with two
                answers in each column), paper and paper_without_sample_cuts (mixed-integer, SCIP)
    time_limit  seconds for each tree
    n_tables    shifted test tables in each family
    seed        of the split into training and test rows, of the certainties, of the shifts
    patience    seconds beyond its time limits after which an instance counts as hung
    """

    methods: tuple[str, ...]
    time_limit: float
    n_tables: int
    seed: int
    patience: float = 300.0

    def __post_init__(self) -> None:
        unknown = [method for method in self.methods if method not in METHODS]
        if unknown or "robust" not in self.methods or len(set(self.methods)) < len(self.methods):
            raise ValueError(
                f'methods are {list(self.methods)}; expected "robust" and others of {list(METHODS)}, each once'
            )
        for name in ("time_limit", "patience"):
            number = numbers_of(name, getattr(self, name))
            if number.ndim != 0 or not 0 < number < 1e9:
                raise ValueError(f"{name} is {getattr(self, name)!r}; expected a number of seconds > 0")
            object.__setattr__(self, name, float(number))
        whole_number("n_tables", self.n_tables, at_least=1)
        whole_number("seed", self.seed, at_least=0)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for tasks that travel."""
        return asdict(self) | {"methods": list(self.methods)}

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> Settings:
        """Read what `to_dict` gave."""
        return cls(**(dict(entry) | {"methods": tuple(entry["methods"])}))


@dataclass(frozen=True)
class Study:
    """A grid: every table with every certainty, plausibility and depth."""

    name: str
    datasets: tuple[str, ...]
    mean_certainties: tuple[float, ...]
    plausibilities: tuple[float, ...]
    depths: tuple[int, ...]
    settings: Settings

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not re.fullmatch(r"[\w.-]+", self.name) or set(self.name) == {"."}:
            raise ValueError(f"name is {self.name!r}; expected letters, digits, '-', '_' and '.', for a folder")
        self._check_datasets_and_depths()
        for name in ("mean_certainties", "plausibilities"):
            numbers = numbers_of(name, list(getattr(self, name)))
            if numbers.ndim != 1 or not ((numbers > 0) & (numbers <= 1)).all():
                raise ValueError(f"{name} are {list(getattr(self, name))}; expected numbers in (0, 1]")
            object.__setattr__(self, name, tuple(numbers.tolist()))
        if "stable" in self.settings.methods and min(self.mean_certainties, default=1.0) <= 0.5:
            raise ValueError(
                f"mean_certainties are {list(self.mean_certainties)}; expected more than 0.5 for the method stable, "
                f"since otherwise a row may change in all answers"
            )
        for name in ("datasets", "mean_certainties", "plausibilities", "depths"):
            entries = getattr(self, name)
            if not entries or len(set(entries)) < len(entries):
                raise ValueError(f"{name} are {list(entries)}; expected at least one, each once")

    def _check_datasets_and_depths(self) -> None:
        for dataset in self.datasets:
            if dataset not in list(RECIPES):
                raise ValueError(f"datasets name {dataset!r}; expected some of {sorted(RECIPES)}")
        for depth in self.depths:
            if whole_number("depths", depth, at_least=0) > DEEPEST:
                raise ValueError(f"depths name {depth}; expected at most {DEEPEST}")

    @property
    def instances(self) -> tuple[Instance, ...]:
        """All instances, shuffled: whatever part is done stands for the whole, and so does the time it took."""
        grid = [
            Instance(*entry)
            for entry in product(self.datasets, self.mean_certainties, self.plausibilities, self.depths)
        ]
        order = np.random.default_rng(self.settings.seed).permutation(len(grid))
        return tuple(grid[k] for k in order)

    def instance(self, name: str) -> Instance:
        """The instance with an id."""
        for instance in self.instances:
            if instance.id == name:
                return instance
        raise ValueError(f'the study "{self.name}" has no instance "{name}"; an id looks like {self.instances[0].id}')


def _short(number: float) -> str:
    """A number in as few digits as tell it from all others: 1, not 1.0."""
    return repr(float(number)).removesuffix(".0")


def built_in() -> list[str]:
    """Names of the studies that come with hardwood."""
    return sorted(Path(entry.name).stem for entry in _folder().iterdir() if entry.name.endswith(".toml"))


def load_study(name: str | Path) -> Study:
    """A study by the name of one that comes with hardwood, or from a TOML file."""
    if str(name) in built_in():
        return _study(_folder().joinpath(f"{name}.toml").read_text(encoding="utf-8"), str(name))
    if not Path(name).is_file():
        raise ValueError(f"there is no study {name}; expected one of {built_in()}, or a TOML file with a grid")
    try:
        text = Path(name).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{name} is not a TOML file: {error}") from None
    return _study(text, str(name))


def _folder() -> Any:
    return resources.files("hardwood.experiments") / "studies"


def _study(text: str, source: str) -> Study:
    try:
        entry = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{source} is not a TOML file: {error}") from None
    of_settings = {field.name for field in fields(Settings)}
    needed = ({field.name for field in fields(Study)} | of_settings) - {"settings", "patience"}
    if not needed <= set(entry) <= needed | {"patience"}:
        raise ValueError(
            f"{source} has the entries {sorted(entry)}; expected exactly {sorted(needed)} (and patience, if you like)"
        )
    plain: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in entry.items()}
    for name in ("datasets", "mean_certainties", "plausibilities", "depths", "methods"):
        if not isinstance(plain[name], tuple):
            raise ValueError(f"{source}: {name} is {plain[name]!r}; expected a list")
    settings = Settings(**{name: value for name, value in plain.items() if name in of_settings})
    return Study(**{name: value for name, value in plain.items() if name not in of_settings}, settings=settings)
