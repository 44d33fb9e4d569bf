import csv
import os
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from urllib.error import URLError

import numpy as np
import pytest
import sklearn.datasets

from hardwood.data.datasets import PAPER_DATASETS, RECIPES, load_dataset

TABLE_1 = {  # rows, integer columns, categorical columns: Table 1 of the paper
    "balance-scale": (625, 4, 0),
    "breast-cancer": (277, 0, 9),
    "car-evaluation": (1728, 5, 1),
    "hayes-roth": (132, 4, 0),
    "house-votes-84": (232, 0, 16),
    "kr-vs-kp": (3196, 0, 36),
    "monks-1": (124, 6, 0),
    "monks-2": (169, 6, 0),
    "monks-3": (122, 6, 0),
    "soybean-small": (47, 35, 0),
    "spect": (267, 0, 22),  # the paper counts 23 categorical columns of 22; the table has 22
    "tic-tac-toe": (958, 0, 9),
}
CHECKSUMS = {"balance-scale": "3392deac", "tic-tac-toe": "f37f8a89", "monks-1-sample": "2721eea2"}


@pytest.fixture
def no_folder(monkeypatch):
    monkeypatch.delenv("HARDWOOD_DATA", raising=False)


def write(path, head, rows):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([head, *rows])


def hayes_roth_rows():
    """Made-up rows with the documented number of rows in each class."""
    labels = ["1"] * 51 + ["2"] * 51 + ["3"] * 30
    return [(k % 3 + 1, k % 4 + 1, k % 4 + 1, k % 4 + 1, label) for k, label in enumerate(labels)]


@pytest.mark.parametrize("name", PAPER_DATASETS)
def test_the_paper_s_tables_have_the_rows_and_kinds_of_its_table_1(name, benchmark_dataset):
    dataset = benchmark_dataset(name)
    table, labels = dataset.encoded()
    kinds = Counter(str(feature.kind) for feature in table.features)
    assert (dataset.n_samples, kinds["integer"], kinds["categorical"]) == TABLE_1[name]
    assert len(labels.codes) == table.n_samples == dataset.n_samples


@pytest.mark.parametrize("name", ["balance-scale", "tic-tac-toe"])
def test_generated_tables_are_the_published_ones(name, benchmark_dataset):
    dataset = benchmark_dataset(name)
    with (Path(os.environ["HARDWOOD_DATA"]) / f"{name}.csv").open() as file:
        head, *rows = csv.reader(file)
    ours = zip(*dataset.columns.values(), dataset.target, strict=True)
    assert head[:-1] == list(dataset.columns)
    assert sorted(tuple(map(str, row)) for row in ours) == sorted(map(tuple, rows))


@pytest.mark.usefixtures("no_folder")
@pytest.mark.parametrize("name", CHECKSUMS)
def test_generated_tables_need_no_folder_and_do_not_change(name):
    assert load_dataset(name).n_samples == RECIPES[name].rows
    assert load_dataset(name).checksum == CHECKSUMS[name]


def test_the_monk_s_sample_follows_the_rule_without_repeats():
    columns, target = (dataset := load_dataset("monks-1-sample")).columns, dataset.target
    rows = list(zip(*columns.values(), strict=True))
    assert len(set(rows)) == len(rows) == 124
    assert [label == "1" for label in target] == [row[0] == row[1] or row[4] == 1 for row in rows]


def test_a_table_is_read_from_a_folder_and_rows_with_missing_values_are_left_out(tmp_path):
    rows = hayes_roth_rows()
    rows.insert(5, (1, "?", 1, 1, "1"))
    write(tmp_path / "hayes-roth.csv", ["hobby", "age", "education", "status", "target"], rows)
    dataset = load_dataset("hayes-roth", tmp_path)
    assert dataset.n_samples == 132
    assert dataset.columns["hobby"][:4] == [1, 2, 3, 1]


def test_ordered_words_become_integers(tmp_path):
    labels = ["unacc"] * 1210 + ["acc"] * 384 + ["good"] * 69 + ["vgood"] * 65
    row = ("vhigh", "low", "5more", "more", "med", "high")
    head = ["buying", "maint", "doors", "persons", "lug_boot", "safety", "target"]
    write(tmp_path / "car-evaluation.csv", head, [(*row, label) for label in labels])
    columns = load_dataset("car-evaluation", tmp_path).columns
    assert [columns[name][0] for name in head[:-1]] == [3, 0, 3, "more", 1, 2]
    write(tmp_path / "car-evaluation.csv", head, [("cheap", *row[1:], label) for label in labels])
    with pytest.raises(ValueError, match='the column "buying" cannot be read'):
        load_dataset("car-evaluation", tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows[1:], r"131 complete rows .*; expected 4 columns and 132 rows"),
        (lambda rows: [(*row[:-1], str(int(row[-1]) % 3 + 1)) for row in rows], "'1': 30, '2': 51, '3': 51"),
        (lambda rows: [(*row[:-1], "1") for row in rows], "132 rows with"),
        (lambda rows: [rows[0][:3], *rows[1:]], "line 2, has 3 cells; expected 5"),
        (lambda rows: [("x", *rows[0][1:]), *rows[1:]], 'the column "hobby" cannot be read'),
    ],
)
def test_a_file_that_is_another_table_is_refused(tmp_path, change, message):
    write(tmp_path / "hayes-roth.csv", ["hobby", "age", "education", "status", "target"], change(hayes_roth_rows()))
    with pytest.raises(ValueError, match=message):
        load_dataset("hayes-roth", tmp_path)


def test_repeated_column_names_are_refused(tmp_path):
    write(tmp_path / "hayes-roth.csv", ["a", "a", "a", "a", "target"], hayes_roth_rows())
    with pytest.raises(ValueError, match="it has 1 columns of different names"):
        load_dataset("hayes-roth", tmp_path)


def test_an_empty_environment_variable_is_no_folder(monkeypatch):
    monkeypatch.setenv("HARDWOOD_DATA", "")
    with pytest.raises(ValueError, match="no data folder is given"):
        load_dataset("soybean-small")


@pytest.mark.usefixtures("no_folder")
def test_bad_names_folders_and_files_get_clear_errors(tmp_path):
    with pytest.raises(ValueError, match='there is no dataset "iris"; expected one of'):
        load_dataset("iris")
    with pytest.raises(ValueError, match=r"the data folder .* does not exist"):
        load_dataset("spect", tmp_path / "nowhere")
    (tmp_path / "spect.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="is not a table in CSV"):
        load_dataset("spect", tmp_path)


@pytest.mark.usefixtures("no_folder")
def test_the_error_for_a_table_that_openml_lacks_has_a_remedy(tmp_path):
    with pytest.raises(
        ValueError, match=r"no data folder is given, and OpenML has no copy of it; put soybean-small.csv"
    ):
        load_dataset("soybean-small")
    with pytest.raises(ValueError, match=r"soybean-small.csv does not exist"):
        load_dataset("soybean-small", tmp_path)


@pytest.mark.usefixtures("no_folder")
def test_without_a_network_the_error_says_where_to_put_the_file(monkeypatch):
    def offline(**_):
        raise URLError("no route to host")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", offline)
    with pytest.raises(
        ValueError, match=r"fetching it from OpenML failed .*no route to host.*; put spect.csv .*HARDWOOD_DATA"
    ):
        load_dataset("spect")


@pytest.mark.usefixtures("no_folder")
@pytest.mark.parametrize("coded", [False, True])
def test_a_table_from_openml_is_read_as_the_files_are(monkeypatch, tmp_path, coded):
    """scikit-learn returns text or positions in the categories; test rows follow the training rows."""
    rows = hayes_roth_rows()
    names = ["hobby", "age", "education", "status"]
    values = [[str(value) for value in row[:-1]] for row in rows] + [["1", "1", "1", "1"]] * 28
    categories = {name: ["1", "2", "3", "4"] for name in names}
    if coded:
        values = [[float(int(value) - 1) for value in row] for row in values]

    def fetch(*, data_id, **_):
        assert data_id == 329
        target = [row[-1] for row in rows] + ["1"] * 28
        data = np.array(values, dtype=float if coded else object)
        return SimpleNamespace(data=data, target=np.array(target), feature_names=names, categories=categories)

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    write(tmp_path / "hayes-roth.csv", [*names, "target"], rows)
    assert load_dataset("hayes-roth") == load_dataset("hayes-roth", tmp_path)
