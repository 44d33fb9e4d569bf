"""Grids of instances, read from TOML files."""

from __future__ import annotations

import re
import tomllib
from dataclasses import asdict, dataclass, fields
from importlib import resources
from importlib.resources.abc import Traversable
from itertools import product
from pathlib import Path

import numpy as np

from hardwood._util.arguments import check_integer, check_numbers
from hardwood._util.compiled import MAX_DEPTH
from hardwood._util.types import Arguments, JsonObject
from hardwood.data.datasets import RECIPES

METHODS = ("robust", "ordinary", "stable", "paper", "paper_without_sample_cuts")


@dataclass(frozen=True, order=True)
class Instance:
    """One cell of the grid.

    Parameters
    ----------
    dataset : str
        Name of the table.
    mean_certainty : float
        Mean of the distribution that the certainties of the columns are drawn from.
    plausibility : float
    depth : int
    """

    dataset: str
    mean_certainty: float
    plausibility: float
    depth: int

    @property
    def id(self) -> str:
        """The name of the instance in results and on the command line."""
        return (
            f"{self.dataset}/c{_shortest_text(self.mean_certainty)}/p{_shortest_text(self.plausibility)}/d{self.depth}"
        )


@dataclass(frozen=True)
class Settings:
    """Settings that all instances of a study share; a row of results depends only on these and on its instance.

    Parameters
    ----------
    methods : tuple of str
        Trees to learn: robust (ours), ordinary (regularised), stable (RCT-B; only on tables whose columns have two
        values each), paper and paper_without_sample_cuts (mixed-integer, SCIP).
    time_limit : float
        Seconds for each tree.
    n_tables : int
        Number of shifted test tables in each family.
    seed : int
        Seed of the held-out rows, the certainties and the shifts.
    patience : float
        Seconds beyond its time limits after which an instance counts as hung.
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
            number = check_numbers(name, getattr(self, name))
            if number.ndim != 0 or not 0 < number < 1e9:
                raise ValueError(f"{name} is {getattr(self, name)!r}; expected a number of seconds > 0")
            object.__setattr__(self, name, float(number))
        check_integer("n_tables", self.n_tables, at_least=1)
        check_integer("seed", self.seed, at_least=0)

    def to_dict(self) -> JsonObject:
        """Return plain values that JSON can hold."""
        return asdict(self) | {"methods": list(self.methods)}

    @classmethod
    def from_dict(cls, entry: JsonObject) -> Settings:
        """Read the output of `to_dict`."""
        return cls(**(dict(entry) | {"methods": tuple(entry["methods"])}))


@dataclass(frozen=True)
class Study:
    """A grid: every table with every certainty, plausibility and depth.

    Parameters
    ----------
    name : str
        Name of the study and of its folder.
    datasets : tuple of str
    mean_certainties, plausibilities : tuple of float
    depths : tuple of int
    settings : Settings
    """

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
            numbers = check_numbers(name, list(getattr(self, name)))
            if numbers.ndim != 1 or not ((numbers > 0) & (numbers <= 1)).all():
                raise ValueError(f"{name} are {list(getattr(self, name))}; expected numbers in (0, 1]")
            object.__setattr__(self, name, tuple(numbers.tolist()))
        if "stable" in self.settings.methods and min(self.mean_certainties, default=1.0) <= 0.5:
            raise ValueError(
                f"mean_certainties are {list(self.mean_certainties)}; expected more than 0.5 for the method stable, "
                f"since otherwise all values of a row may change"
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
            if check_integer("depths", depth, at_least=0) > MAX_DEPTH:
                raise ValueError(f"depths name {depth}; expected at most {MAX_DEPTH}")

    @property
    def instances(self) -> tuple[Instance, ...]:
        """All instances in random order, so that a finished part represents the whole and its time."""
        grid = [
            Instance(*entry)
            for entry in product(self.datasets, self.mean_certainties, self.plausibilities, self.depths)
        ]
        order = np.random.default_rng(self.settings.seed).permutation(len(grid))
        return tuple(grid[k] for k in order)

    def instance(self, name: str) -> Instance:
        """The instance with the given id."""
        for instance in self.instances:
            if instance.id == name:
                return instance
        raise ValueError(f'the study "{self.name}" has no instance "{name}"; an id looks like {self.instances[0].id}')


def _shortest_text(number: float) -> str:
    """The shortest text that identifies a float: 1, not 1.0."""
    return repr(float(number)).removesuffix(".0")


def built_in() -> list[str]:
    """Names of the studies that are part of hardwood."""
    return sorted(Path(entry.name).stem for entry in _folder().iterdir() if entry.name.endswith(".toml"))


def load_study(name: str | Path) -> Study:
    """Load a study.

    Parameters
    ----------
    name : str or Path
        Name of a study that is part of hardwood, or a TOML file.

    Returns
    -------
    study : Study
    """
    if str(name) in built_in():
        return _study(_folder().joinpath(f"{name}.toml").read_text(encoding="utf-8"), str(name))
    if not Path(name).is_file():
        raise ValueError(f"there is no study {name}; expected one of {built_in()}, or a TOML file with a grid")
    try:
        text = Path(name).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{name} is not a TOML file: {error}") from None
    return _study(text, str(name))


def _folder() -> Traversable:
    """The folder of the studies that are part of hardwood."""
    return resources.files("hardwood.experiments") / "studies"


def _study(text: str, source: str) -> Study:
    """Read the text of a TOML file."""
    try:
        entry = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{source} is not a TOML file: {error}") from None
    of_settings = {field.name for field in fields(Settings)}
    needed = ({field.name for field in fields(Study)} | of_settings) - {"settings", "patience"}
    if not needed <= set(entry) <= needed | {"patience"}:
        raise ValueError(
            f"{source} has the entries {sorted(entry)}; expected exactly {sorted(needed)} (patience is optional)"
        )
    plain: Arguments = {name: tuple(value) if isinstance(value, list) else value for name, value in entry.items()}
    for name in ("datasets", "mean_certainties", "plausibilities", "depths", "methods"):
        if not isinstance(plain[name], tuple):
            raise ValueError(f"{source}: {name} is {plain[name]!r}; expected a list")
    settings = Settings(**{name: value for name, value in plain.items() if name in of_settings})
    return Study(**{name: value for name, value in plain.items() if name not in of_settings}, settings=settings)
