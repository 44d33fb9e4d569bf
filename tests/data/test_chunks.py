"""Chunked tables give the same numbers as tables in memory."""

import json

import numpy as np
import pandas as pd
import pytest

import hardwood as hw
from hardwood.data import chunks as chunks_module
from hardwood.data.labels import Labels
from hardwood.trees.curve import Curve

parquet = pytest.importorskip("pyarrow.parquet")
pa = pytest.importorskip("pyarrow")

CERTAINTY = {"age": 0.8, "rating": 0.7, "region": 0.9, "member": 0.95}


def survey(n, seed=0):
    rng = np.random.default_rng(seed)
    age, rating = rng.integers(18, 91, n), rng.integers(1, 11, n)
    region, member = np.array(list("NESW"))[rng.integers(0, 4, n)], rng.random(n) < 0.4
    score = 0.04 * (age - 50) + 0.3 * (rating - 5) + 0.8 * (region == "N") + rng.normal(0, 1, n)
    X = pd.DataFrame({"age": age, "rating": rating, "region": region, "member": member})
    return X, np.where(score > 0, "yes", "no")


@pytest.fixture(scope="module")
def model():
    X, y = survey(2_000)
    return hw.RobustTreeClassifier(3, certainty=CERTAINTY, plausibility=0.93).fit(X, y)


@pytest.fixture(scope="module")
def table():
    X, y = survey(3_000, seed=1)
    return X, y


@pytest.fixture
def folder(tmp_path, table, monkeypatch):
    """Two files with small row groups, read in chunks of 256 rows."""
    monkeypatch.setattr(chunks_module, "CHUNK_ROWS", 256)
    frame = table[0].assign(vote=table[1], note="not needed")
    for k, part in enumerate((frame[:1_700], frame[1_700:])):
        parquet.write_table(
            pa.Table.from_pandas(part, preserve_index=False), tmp_path / f"{k}.parquet", row_group_size=700
        )
    return tmp_path


def dask_frame(folder, npartitions):
    dd = pytest.importorskip("dask.dataframe")
    files = sorted(folder.glob("*.parquet"))
    frame = pd.concat([pd.read_parquet(file) for file in files], ignore_index=True)
    return dd.from_pandas(frame, npartitions=npartitions)


def sorted_changes(audit):
    """The changes of the worst shift, sorted; without costs, whose sums depend on the order of the rows."""
    return sorted([entry["column"], str(entry["from"]), str(entry["to"]), entry["rows"]] for entry in audit.changes())


def assert_same(found, expected):
    assert (found.n_samples, found.nominal_accuracy) == (expected.n_samples, expected.nominal_accuracy)
    assert found.worst_case_accuracy == expected.worst_case_accuracy
    assert found.curve.margins.tolist() == expected.curve.margins.tolist()
    assert found.curve.counts.tolist() == expected.curve.counts.tolist()
    assert found.n_changed == expected.n_changed
    assert sorted_changes(found) == sorted_changes(expected)
    costs = [sum(entry["cost"] for entry in audit.changes()) for audit in (found, expected)]
    assert costs[0] == pytest.approx(costs[1])


@pytest.mark.parametrize("plausibility", [1.0, 0.97, 0.9, 0.5])
def test_an_audit_of_parquet_files_has_the_numbers_of_the_table_in_memory(model, table, folder, plausibility):
    shifts = {"certainty": CERTAINTY, "plausibility": plausibility}
    expected = hw.audit(model, *table, **shifts)
    assert_same(hw.audit(model, folder, "vote", **shifts), expected)
    assert_same(hw.audit(model.tree_, str(folder), "vote", **shifts), expected)


def test_an_audit_of_a_dask_frame_has_the_numbers_of_the_table_in_memory(model, table, folder):
    expected = hw.audit(model, *table)
    found = hw.audit(model, dask_frame(folder, npartitions=40), "vote")
    assert_same(found, expected)
    assert str(found).splitlines()[:12] == str(expected).splitlines()[:12]
    assert found.to_dict()["n_samples"] == 3_000


@pytest.mark.slow
def test_workers_of_a_cluster_give_the_same_curve(model, table, folder):
    distributed = pytest.importorskip("distributed")
    # Any free port: by default, Dask takes 8787 even without a dashboard, and warns if it is in use.
    with distributed.Client(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as client:
        assert len(client.scheduler_info()["workers"]) == 2
        assert_same(hw.audit(model, dask_frame(folder, npartitions=6), "vote"), hw.audit(model, *table))


def test_predictions_and_margins_of_chunks_are_in_the_order_of_the_rows(model, table, folder):
    X, _ = table
    for source in (folder, dask_frame(folder, npartitions=5), pytest.importorskip("pyarrow.dataset").dataset(folder)):
        assert model.predict(source).tolist() == model.predict(X).tolist()
        assert model.margins(source).tolist() == model.margins(X).tolist()


def test_a_certificate_is_checked_against_a_chunked_table(model, folder, tmp_path_factory):
    X, y = survey(2_000)
    path = tmp_path_factory.mktemp("trained") / "survey.parquet"
    parquet.write_table(pa.Table.from_pandas(X.assign(vote=y), preserve_index=False), path)
    assert hw.check(model.certificate_, path, "vote").confirmed
    assert not hw.check(model.certificate_, folder, "vote").confirmed


def test_errors_name_the_column_or_the_file(model, folder):
    with pytest.raises(ValueError, match=r"lacks the columns \['choice'\]"):
        hw.audit(model, folder, "choice")
    with pytest.raises(ValueError, match="give the name of its target column"):
        hw.audit(model, folder, np.zeros(3_000))
    with pytest.raises(ValueError, match="there is no such file or folder"):
        hw.audit(model, folder / "nothing.parquet", "vote")
    (folder / "x.parquet").write_text("no table")
    with pytest.raises(ValueError, match="cannot be read as Parquet"):
        hw.audit(model, folder / "x.parquet", "vote")
    with pytest.raises(ValueError, match="costs of single cells"):
        hw.audit(model, folder / "0.parquet", "vote", certainty=np.full((1_700, 4), 0.9))


def test_errors_name_the_chunk_of_an_unknown_value(model, table, tmp_path, monkeypatch):
    monkeypatch.setattr(chunks_module, "CHUNK_ROWS", 256)
    X, y = table
    X = X.assign(vote=y, region=np.where(np.arange(3_000) == 1_000, "Q", X["region"]))
    parquet.write_table(pa.Table.from_pandas(X, preserve_index=False), tmp_path / "bad.parquet")
    with pytest.raises(ValueError, match=r"rows 768 to 1023 .*row 232"):
        hw.audit(model, tmp_path / "bad.parquet", "vote")


def test_a_table_without_rows_and_a_target_that_is_a_feature_are_refused(model, folder, tmp_path_factory):
    empty = tmp_path_factory.mktemp("empty") / "empty.parquet"
    parquet.write_table(parquet.read_table(folder / "0.parquet").slice(0, 0), empty)
    for call in (lambda: hw.audit(model, empty, "vote"), lambda: model.predict(empty)):
        with pytest.raises(ValueError, match="the table has no rows"):
            call()
    for call in (lambda: hw.audit(model, folder, "age"), lambda: hw.check(model.certificate_, folder, "age")):
        with pytest.raises(ValueError, match="the tree has this column as a feature"):
            call()


def test_boxes_are_audited_in_chunks(model, table, folder):
    radius = {"age": 2, "rating": 1, "region": 0, "member": 0}
    assert_same(hw.audit(model, folder, "vote", radius=radius), hw.audit(model, *table, radius=radius))


def test_a_scikit_learn_tree_needs_a_table_in_memory(folder, table):
    tree = pytest.importorskip("sklearn.tree").DecisionTreeClassifier(max_depth=2)
    tree.fit(table[0][["age", "rating"]], table[1])
    with pytest.raises(TypeError, match="from_sklearn"):
        hw.audit(tree, folder, "vote")


def test_curves_of_chunks_add_up(model, table):
    X, y = table
    whole = model.worst_case(X, y).curve
    rng = np.random.default_rng(5)
    margins = model.worst_case(X, y).margins
    cuts = np.sort(rng.integers(0, 3_000, 6))
    parts = [
        Curve.of(part, Labels(np.zeros(len(part), dtype=np.int32), ("anything",))) for part in np.split(margins, cuts)
    ]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    budgets = np.linspace(0, 2 * whole.budgets[-1], 200)
    assert total.correct_at(budgets).tolist() == whole.correct_at(budgets).tolist()
    one_by_one = [3_000 - int((whole.budgets <= budget * (1 + 2.0**-32)).sum()) for budget in budgets]
    assert whole.correct_at(budgets).tolist() == one_by_one


def test_findings_can_be_written_as_json(model, folder):
    assert json.loads(json.dumps(hw.audit(model, folder, "vote").to_dict()))["n_samples"] == 3_000
