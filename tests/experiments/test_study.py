"""Grid, tasks, and the numbers computed from their rows."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import hardwood as hw
from hardwood.data.datasets import Dataset, load_dataset
from hardwood.evaluation import expected_accuracy, simulate_shifts
from hardwood.experiments import analysis, tasks
from hardwood.experiments.backends import run_in_process
from hardwood.experiments.figures import figures
from hardwood.experiments.grid import Instance, Settings, built_in, load_study
from hardwood.experiments.instances import certainty_of, problem_of, split_of
from hardwood.experiments.store import read_results
from hardwood.experiments.summary import proved_within, summary
from hardwood.experiments.tasks import (
    FAMILIES,
    Task,
    ordinary_columns,
    random_for,
    run_task,
    tree_of,
)
from hardwood.solvers import ordinary
from hardwood.solvers.base import StopReason
from hardwood.solvers.search import SearchSolver
from hardwood.trees.attack import attack
from hardwood.trees.tree import Branch, Leaf
from tests.studies import random_rows, tiny_study

SETTINGS = Settings(("robust", "ordinary"), 10.0, 200, 1)
TOML = """
name = "own"
datasets = ["balance-scale"]
mean_certainties = [0.8]
plausibilities = [0.9]
depths = [2]
methods = ["robust"]
time_limit = 1
n_tables = 10
seed = 1
"""


def test_the_paper_s_grid_has_its_1536_instances():
    study = load_study("paper")
    assert len({instance.id for instance in study.instances}) == 1536
    assert sum(instance.dataset == "spect" for instance in study.instances) == 128
    assert sum(instance.plausibility == 0.85 for instance in study.instances) == 192
    assert study.settings.n_tables == 5000


def test_the_smoke_study_uses_only_generated_tables(monkeypatch):
    monkeypatch.delenv("HARDWOOD_DATA", raising=False)
    for name in load_study("smoke").datasets:
        assert load_dataset(name).n_samples > 100
    assert {"ablation", "paper", "smoke"} <= set(built_in())


def test_instances_are_found_by_id_and_shuffled_by_the_seed():
    study = tiny_study()
    close = tiny_study(plausibilities=(0.9999999, 1)).instances
    assert len({instance.id for instance in close}) == len(close)
    instance = Instance("balance-scale", 0.7, 0.85, 2)
    assert study.instance("balance-scale/c0.7/p0.85/d2") == instance
    assert set(study.instances) == set(tiny_study(seed=4).instances)
    assert study.instances != tiny_study(seed=4).instances
    with pytest.raises(ValueError, match='no instance "nothing"; an id looks like'):
        study.instance("nothing")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"balance-scale"', '"iris"', "datasets name 'iris'; expected some of"),
        ('["balance-scale"]', '[["x"]]', r"datasets name \['x'\]; expected some of"),
        ('name = "own"', "name = 5", "name is 5; expected letters"),
        ('name = "own"', 'name = "../own"', "name is '../own'; expected letters"),
        ("[2]", "[13]", "depths name 13; expected at most 12"),
        ("[2]", "[[2]]", r"depths is \[2\]; it must be a whole number"),
        ("mean_certainties = [0.8]\n", "mean_certainties = [0.5]\n", None),
        ("[0.8]", "[]", r"mean_certainties are \[\]; expected at least one"),
        ("[0.8]", "0.8", "mean_certainties is 0.8; expected a list"),
        ("[0.9]", "[1.5]", r"plausibilities are \[1.5\]; expected numbers in"),
        ("[0.9]", "[0.9, 0.9]", "each once"),
        ("[2]", "[2.5]", "depths is 2.5; it must be a whole number"),
        ('["robust"]', '["ordinary"]', 'methods are .* expected "robust" and others'),
        ("time_limit = 1", "time_limit = 0", "time_limit is 0; expected a number of seconds"),
        ("n_tables = 10", "n_tables = 0", "n_tables is 0; it must be a whole number >= 1"),
        ("seed = 1", "sed = 1", "has the entries .*'sed'.*; expected exactly"),
        ("name =", "name", "is not a TOML file"),
    ],
)
def test_an_invalid_grid_is_refused(tmp_path, old, new, message):
    path = tmp_path / "own.toml"
    path.write_text(TOML)
    assert len(load_study(path).instances) == 1
    path.write_text(TOML.replace(old, new))
    if message is None:
        path.write_text(path.read_text().replace('["robust"]', '["robust", "stable"]'))
        message = "expected more than 0.5 for the method stable"
    with pytest.raises(ValueError, match=message):
        load_study(path)


def test_an_unknown_study_is_refused_with_a_list_of_studies(tmp_path):
    with pytest.raises(ValueError, match=r"there is no study big; expected one of .*'paper'"):
        load_study("big")
    (tmp_path / "bad.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match="is not a TOML file"):
        load_study(tmp_path / "bad.toml")


def test_train_test_split_keeps_every_row_once_and_is_deterministic():
    dataset = load_dataset("balance-scale")
    split = split_of(dataset)
    assert (split.table.n_samples, split.test_table.n_samples) == (500, 125)
    table, labels = dataset.encoded()
    together = np.vstack([split.table.values, split.test_table.values])
    assert sorted(map(tuple, together)) == sorted(map(tuple, table.values))
    assert np.array_equal(split_of(dataset).test_table.values, split.test_table.values)
    by_row = {tuple(row): code for row, code in zip(table.values, labels.codes, strict=True)}
    assert [by_row[tuple(row)] for row in split.test_table.values] == list(split.test_labels.codes)


def test_certainties_follow_the_mean_and_depend_on_the_seed_only():
    numbers, texts = (hw.encode({f"c{j}": column for j in range(3000)}) for column in ([1, 2, 3], ["a", "b", "c"]))
    drawn = certainty_of(0.7, numbers, 1)
    assert abs(drawn.mean() - 0.69) < 0.02  # clipping at 1 lowers the mean slightly
    assert drawn.max() == 1.0
    assert 0.0 <= drawn.min() < 0.2
    assert certainty_of(0.7, texts, 1).min() == pytest.approx(1 / 3)  # no value is more likely than the recorded one
    assert np.array_equal(drawn, certainty_of(0.7, numbers))
    assert not np.array_equal(drawn, certainty_of(0.7, numbers, 2))


def test_a_value_that_only_test_rows_have_is_an_additional_category():
    columns = {"a": ["x", "y"] * 5, "b": list(range(10))}
    columns["a"][int(np.random.default_rng(0).permutation(10)[9])] = "z"
    split = split_of(Dataset("made up", columns, ["no", "yes"] * 5))
    assert split.table.features[0].categories == ("x", "y")
    assert "z" not in split.test_table.features[0].categories
    assert split.test_table.features[0].n_values == 3
    tree = hw.Tree(split.table.features, split.labels.classes, Branch(0, 0, Leaf(0), Leaf(1)))
    assert split.tree_for_test(tree).predict(split.test_table).tolist().count(1) >= 1


def test_the_instances_of_benchmarks_are_those_of_the_study(benchmark_dataset):
    """The optima at depth 2 equal the recorded ones, so earlier results stay comparable."""
    file = Path(__file__).parents[2] / "docs" / "study" / "paper" / "results.parquet"
    small = ("balance-scale", "breast-cancer", "monks-3", "house-votes-84")
    known = [row for row in read_results(file) if row["depth"] == 2 and row["dataset"] in small]
    assert len(known) == 128
    for row in known[::3]:
        problem = problem_of(benchmark_dataset(row["dataset"]), row["mean_certainty"], row["plausibility"], 2)
        assert (problem.n_samples, hw.solve(problem).worst_case_correct) == (row["n_train"], row["robust_correct"])


def test_the_families_of_shifts_are_those_of_the_paper():
    certainty = np.full(1000, 0.6)
    moved = {name: shifted(certainty, np.random.default_rng(0)) - certainty for name, shifted in FAMILIES.items()}
    assert len(FAMILIES) == 8
    assert (moved["expected"] == 0).all()
    for name, step in (("minus_0.2", -0.2), ("minus_0.1", -0.1), ("plus_0.1", 0.1)):
        assert np.allclose(moved[name], step)
    for radius in (0.05, 0.1, 0.15, 0.2):
        change = moved[f"within_{radius:g}"]
        assert 0.95 * radius < change.max() <= radius
        assert -radius <= change.min() < -0.95 * radius


def test_the_numbers_of_a_row_match_independent_computations():
    dataset = load_dataset("monks-1-sample")
    instance = Instance("monks-1-sample", 0.7, 0.9, 2)
    ordinary = run_task(Task(dataset, 2, SETTINGS))
    row = run_task(Task(dataset, 2, SETTINGS, instance, ordinary))
    split = split_of(dataset)
    certainty = np.array(json.loads(row["certainty"]))
    shifts = hw.Calibrated(certainty, 0.9, clip=True)
    trees = {method: tree_of(row[f"{method}_tree"], split) for method in ("robust", "ordinary")}
    problem = hw.Problem(split.labels, shifts.uncertainty(split.table), 2)
    best = hw.solve(problem)
    assert row["robust_status"] == "optimal"
    assert row["robust_correct"] == row["robust_upper_bound"] == best.worst_case_correct
    assert attack(trees["robust"], split.labels, problem.uncertainty).worst_case_correct == best.worst_case_correct
    assert attack(trees["ordinary"], split.labels, problem.uncertainty).worst_case_correct <= best.worst_case_correct
    for method, tree in trees.items():
        right = tree.predict(split.test_table) == split.test_labels.codes
        assert row[f"{method}_nominal"] == right.mean()
        assert row[f"{method}_branching_nodes"] == tree.n_branching_nodes
        expected = expected_accuracy(tree, split.test_table, split.test_labels, shifts)
        assert abs(row[f"{method}_mean_expected"] - expected) < 0.03
        lower = hw.Calibrated(certainty - 0.2, clip=True)
        expected = expected_accuracy(tree, split.test_table, split.test_labels, lower)
        assert abs(row[f"{method}_mean_minus_0.2"] - expected) < 0.03
        for family in FAMILIES:
            assert row[f"{method}_worst_{family}"] <= row[f"{method}_mean_{family}"]
        lowest = simulate_shifts([tree], split.test_table, split.test_labels, shifts, n_tables=200, seed=9).min()
        assert abs(row[f"{method}_worst_expected"] - lowest) < 0.15
    assert (row["n_train"], row["n_test"]) == (99, 25)


def test_the_ordinary_tree_of_a_study_equals_that_of_the_classifier():
    dataset = load_dataset("balance-scale")
    split = split_of(dataset)
    columns = ordinary_columns(Task(dataset, 3, SETTINGS), split)
    order = random_for(1, "balance-scale", "held out").permutation(split.table.n_samples)
    held_out, kept = np.sort(order[:100]), np.sort(order[100:])
    values = {name: split.table.values[:, j] for j, name in enumerate(split.table.names)}
    labels = np.array(split.labels.classes)[split.labels.codes]

    def fitted(strength, rows):
        model = hw.OrdinaryTreeClassifier(3, strengths=[strength])
        return model.fit({name: column[rows] for name, column in values.items()}, labels[rows])

    scores = {
        strength: fitted(strength, kept).score({n: c[held_out] for n, c in values.items()}, labels[held_out])
        for strength in (0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
    }
    best = max(scores, key=scores.get)  # the first among equals
    assert columns["ordinary_strength"] == best
    assert columns["ordinary_correct"] == fitted(best, np.arange(500)).score(values, labels) * 500


def test_an_interrupted_tree_is_no_result(monkeypatch):
    class Interrupted(SearchSolver):
        def solve(self, problem, **options):
            return replace(super().solve(problem, **options), stop_reason=StopReason.INTERRUPTED)

    monkeypatch.setattr(tasks, "SearchSolver", Interrupted)
    monkeypatch.setattr(ordinary, "SearchSolver", Interrupted)
    dataset = load_dataset("monks-1-sample")
    with pytest.raises(KeyboardInterrupt):
        run_in_process(Task(dataset, 1, SETTINGS, Instance("monks-1-sample", 0.7, 0.9, 1)))
    with pytest.raises(KeyboardInterrupt):
        run_in_process(Task(dataset, 1, SETTINGS))


def test_a_task_is_read_back_from_its_text():
    dataset = load_dataset("monks-1-sample")
    task = Task(dataset, 2, SETTINGS, Instance("monks-1-sample", 0.7, 0.9, 2), {"ordinary_tree": "{}"}, {"robust": 5})
    assert Task.from_json(task.to_json()) == task
    assert Task.from_json(Task(dataset, 2, SETTINGS).to_json()).instance is None


def test_the_mixed_integer_methods_agree_with_the_search():
    settings = replace(SETTINGS, methods=("robust", "paper", "paper_without_sample_cuts"), time_limit=60.0, n_tables=5)
    row = run_task(Task(load_dataset("monks-1-sample"), 1, settings, Instance("monks-1-sample", 0.7, 0.9, 1)))
    for method in ("paper", "paper_without_sample_cuts"):
        assert (row[f"{method}_status"], row[f"{method}_correct"]) == ("optimal", row["robust_correct"])


def test_stable_trees_are_compared_on_tables_with_two_values_only(benchmark_dataset):
    settings = replace(SETTINGS, methods=("robust", "stable"), n_tables=5)
    spect = run_task(Task(benchmark_dataset("spect"), 1, settings, Instance("spect", 0.7, 0.9, 1)))
    assert (spect["stable_radius"], spect["stable_status"]) == (0, "optimal")
    other = run_task(Task(load_dataset("tic-tac-toe"), 1, settings, Instance("tic-tac-toe", 0.7, 0.9, 1)))
    assert "stable_tree" not in other


def test_gains_and_prices_are_differences_of_the_right_columns():
    rows = random_rows(levels=(0.9,))
    assert analysis.gains(rows, "worst")[2] == rows[2]["robust_worst_expected"] - rows[2]["ordinary_worst_expected"]
    unexpected = analysis.gains(rows, "mean", analysis.UNEXPECTED)
    assert len(unexpected) == 7 * len(rows)
    assert unexpected[7] == rows[1]["robust_mean_minus_0.2"] - rows[1]["ordinary_mean_minus_0.2"]
    assert analysis.prices_of_robustness(rows, "stable")[0] == rows[0]["ordinary_nominal"] - rows[0]["stable_nominal"]
    rows[0]["robust_status"], rows[1]["robust_status"] = "feasible", "optimal"
    gap = rows[0]["robust_upper_bound"] / rows[0]["robust_correct"] - 1
    assert analysis.solver_gaps(rows)[:2] == pytest.approx([gap, 0.0])


def test_the_speed_up_compares_equal_numbers_of_solved_instances():
    rows = random_rows(levels=(0.9,), paper_status="optimal", paper_without_sample_cuts_status="feasible")
    assert analysis.speed_up(rows, "paper", "paper_without_sample_cuts") is None
    for k, row in enumerate(rows):
        row["paper_seconds"] = 1.0 + k
        row["paper_without_sample_cuts_status"] = "optimal" if k < 2 else "feasible"
    assert analysis.speed_up(rows, "paper", "paper_without_sample_cuts") == (2, 2.0)


def test_proofs_are_counted_by_depth_and_processor_time():
    rows = [
        {"robust_status": status, "robust_seconds": wall, "depth": depth, "time_limit": 60.0} | cpu
        for status, wall, depth, cpu in (
            ("optimal", 20.0, 2, {"robust_cpu_seconds": 0.5}),  # wall-clock time is longer, as on a shared core
            ("most_robust", 5.0, 2, {}),
            ("feasible", 0.1, 3, {}),
            ("optimal", 59.0, 3, {"robust_cpu_seconds": 58.0}),
        )
    ]
    assert list(proved_within(rows))[2:] == [
        "| 2 | 2 | 1 | 2 | 2 |",
        "| 3 | 2 | 0 | 0 | 1 |",
        "| all | 4 | 1 | 2 | 3 |",
    ]


def test_the_summary_compares_numbers_with_the_paper():
    rows = random_rows()
    rows.append({**rows[0], "id": "lost", "outcome": "crashed", "message": "ended by SIGKILL"})
    text = summary(rows)
    means = {
        level: np.mean(
            [r["robust_worst_expected"] - r["ordinary_worst_expected"] for r in rows[:-1] if r["plausibility"] == level]
        )
        for level in (0.5, 0.9)
    }
    best = max(means, key=means.get)
    assert f"| +12.48 | {100 * means[best]:+.2f} at {best:g} |" in text
    median = np.median([row["robust_branching_nodes"] for row in rows[:-1] if row["plausibility"] == 0.9])
    assert f"| median number of splits at 0.9 | 3 | {median:g} |" in text
    assert "* lost crashed: ended by SIGKILL" in text
    assert "a factor of 225" in text


@pytest.mark.parametrize(
    ("levels", "missing", "expected"),
    [
        ((0.5, 0.9, 1.0), (), {"gain", "price-and-size", "solved", "stable", "stable-solved", "ablation"}),
        ((0.5, 0.9), ("stable", "paper"), {"gain", "price-and-size", "solved"}),
        ((1.0,), ("paper",), {"solved"}),
    ],
)
def test_figures_are_drawn_for_the_available_methods(levels, missing, expected):
    rows = random_rows(levels=levels)
    for row in rows:
        for method in missing:
            del row[f"{method}_tree"]
    drawn = figures(rows)
    assert set(drawn) == expected
    if "gain" in drawn:
        worst = drawn["gain"].axes[0]
        assert [label.get_text() for label in worst.get_xticklabels()] == [
            f"{level:g}" for level in levels if level < 1
        ]
        assert len(worst.patches) == 2 * sum(level < 1 for level in levels)
