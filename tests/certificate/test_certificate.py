import dataclasses
import json
import subprocess
import sys

import numpy as np
import pytest

import hardwood as hw
from hardwood import Certificate, RobustTreeClassifier, check
from hardwood.certificate import data_hash
from hardwood.trees.attack import Attack
from tests.surveys import survey


@pytest.fixture(scope="module")
def certificate():
    return RobustTreeClassifier(2).fit(*survey()).certificate_


def test_a_certificate_is_confirmed_from_the_data_alone(certificate):
    outcome = check(certificate, *survey())
    assert outcome.confirmed
    assert outcome.worst_case_correct == certificate.worst_case_correct
    text = str(outcome)
    assert "CONFIRMED from the data alone" in text
    assert "CLAIMED by the solver (search, optimal), not proved again here" in text


def test_checking_imports_no_solver():
    code = "import sys, hardwood.certificate; print([m for m in sys.modules if m.startswith('hardwood.solvers.')])"
    source = (
        "import sys; sys.modules['hardwood.solvers.search'] = None; import hardwood.certificate as c; print(c.check)"
    )
    assert subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=False).returncode == 0
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "hardwood.solvers.search" not in found


def test_json_and_file_round_trips(certificate, tmp_path):
    assert Certificate.from_json(certificate.to_json()) == certificate
    certificate.save(tmp_path / "c.json")
    assert Certificate.load(tmp_path / "c.json") == certificate
    assert [path.name for path in tmp_path.iterdir()] == ["c.json"]


def test_a_fit_attacks_its_final_tree_once(monkeypatch):
    attacked = []
    construct = Attack.__init__

    def count(self, tree, *arguments):
        attacked.append(tree)
        construct(self, tree, *arguments)

    monkeypatch.setattr(Attack, "__init__", count)
    frame, y = survey()
    weights = np.arange(len(y)) % 3 + 1
    for solver, sample_weight in (("search", None), ("search", weights), ("leaf", weights), ("groot", None)):
        attacked.clear()
        model = RobustTreeClassifier(2, solver=solver).fit(frame, y, sample_weight)
        assert [tree == model.tree_ for tree in attacked] == [True]
    attacked.clear()
    model = RobustTreeClassifier(2, solver="groot").fit(frame, y, weights)  # on repeated rows, then on the table itself
    assert [tree == model.tree_ for tree in attacked] == [True, True]
    assert model.distributional_value_ == model.certificate_.distributional_value


def test_a_claim_with_the_attack_of_another_tree_or_problem_is_refused(certificate):
    frame, y = survey()
    table, labels = hw.encode(frame), hw.encode_labels(y, len(y))
    shifts = hw.Calibrated()
    problem = hw.Problem(labels, shifts.uncertainty(table), 1)
    other = hw.Problem(labels, hw.Calibrated(0.8).uncertainty(table), 1)
    result = hw.solve(problem)
    assert Certificate.of(problem, shifts, result, "test").worst_case_correct == result.worst_case_correct
    for attack in (other.attack(result.tree), problem.attack(certificate.tree)):
        claim = dataclasses.replace(result, attack=attack)
        with pytest.raises(ValueError, match="the attack of the claim is about another tree or problem"):
            Certificate.of(problem, shifts, claim, "test")


def test_old_names_of_attributes_warn(certificate):
    with pytest.warns(DeprecationWarning, match=r"Certificate.people was renamed to Certificate.total_weight"):
        assert certificate.people == certificate.total_weight
    with pytest.warns(DeprecationWarning, match=r"Certificate.counted was renamed to Certificate.integral"):
        assert certificate.counted is certificate.integral


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"worst_case_correct": 110, "upper_bound": 110}, "worst_case_correct is .*, the certificate says 110"),
        ({"nominal_correct": 120}, "nominal_correct is"),
        ({"budget": 1.0}, "budget is .*, the certificate says 1.0"),
        ({"data_hash": "0" * 64}, "data_hash is"),
        ({"upper_bound": 5}, "the bound 5 does not lie between"),
        ({"upper_bound": 500}, "the bound 500 does not lie between"),
        ({"objective_bound": 0.0}, "is below the tree's own objective"),
        ({"objective_bound": 119.0}, 'the status is "optimal", which the bound on the objective does not imply'),
        ({"status": "feasible"}, 'the status is "feasible", which the bound'),
        ({"status": "most_robust", "objective_bound": 118.0, "upper_bound": 118}, "the bound allows more"),
        ({"max_depth": 1}, "the tree has depth 2; max_depth is 1"),
        ({"branching_nodes": 9}, "branching_nodes is 2, the certificate says 9"),
    ],
)
def test_every_false_claim_is_found(certificate, changes, message):
    outcome = check(dataclasses.replace(certificate, **changes), *survey())
    assert not outcome.confirmed
    assert any(__import__("re").search(message, entry) for entry in outcome.contradictions)
    assert str(outcome).startswith("NOT CONFIRMED")


def test_other_data_are_detected(certificate):
    frame, y = survey()
    y = y.copy()
    y[0] = "yes" if y[0] == "no" else "no"
    assert "data_hash" in check(certificate, frame, y).contradictions[0]
    assert not check(certificate, frame[:-1], y[:-1]).confirmed


def test_the_hash_depends_on_values_labels_and_names():
    frame, y = survey()

    def hash_of(frame, y):
        table = hw.encode(frame)
        return data_hash(table, hw.encode_labels(y, len(y)))

    same = hash_of(frame.copy(), y.copy())
    assert same == hash_of(frame, y)
    others = [
        hash_of(frame.rename(columns={"age": "years"}), y),
        hash_of(frame.assign(age=frame["age"] + 1), y),
        hash_of(frame[::-1], y[::-1]),
        hash_of(frame, np.where(y == "yes", "oui", "non")),
    ]
    assert len({same, *others}) == 5


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda c: c.update(format="x"), "is not a certificate"),
        (lambda c: c.update(format_version=7), "the certificate has version 7"),
        (lambda c: c.pop("upper_bound"), "the certificate has upper_bound None; expected a number"),
        (lambda c: c.update(status=1), "status 1; expected text"),
        (lambda c: c.update(n_samples=0), "n_samples 0; expected at least 1"),
        (lambda c: c.update(worst_case_correct=True), "worst_case_correct True"),
        (lambda c: c.update(seconds="1"), "seconds '1'; expected a number"),
        (lambda c: c["tree"].pop("root"), "the tree has"),
        (lambda c: c.update(shifts=[]), "the description of shifts has"),
    ],
)
def test_an_edited_certificate_gets_an_error_that_names_the_fault(certificate, edit, message):
    document = json.loads(certificate.to_json())
    edit(document)
    with pytest.raises(ValueError, match=message):
        Certificate.from_json(json.dumps(document))


def test_text_that_is_not_json_is_refused():
    with pytest.raises(ValueError, match="the text is not JSON"):
        Certificate.from_json("{")


def test_the_text_states_worst_case_and_proof(certificate):
    text = str(certificate)
    assert "stay correct under the worst shift" in text
    assert "proved optimal" in text
    stopped = dataclasses.replace(certificate, status="feasible", upper_bound=118)
    assert "at most 118 are possible" in str(stopped)
    late = dataclasses.replace(stopped, stop_reason="time_limit", seconds=60.0)
    assert "stopped after 60 s; try a longer time limit, a smaller depth, fewer columns" in str(late)


def test_the_text_of_integer_weights_states_weights():
    frame, y = survey()
    weights = np.arange(len(y)) % 3 + 1
    certificate = RobustTreeClassifier(2).fit(frame, y, weights).certificate_
    kept, total = certificate.worst_case_correct, weights.sum()
    assert str(certificate).startswith(f"samples with a weight of {kept} of {total} ({kept / total:.1%}) stay correct")
    assert " with a weight of at least 5 in each leaf" in dataclasses.replace(certificate, min_samples_leaf=5).proved
    outcome = check(certificate, frame, y, sample_weight=weights)
    assert f"keeps samples with a weight of {kept} of {total} correct" in str(outcome)


def test_the_claims_in_words_depend_on_status_gap_and_penalty(certificate):
    def proved(**changes):
        return dataclasses.replace(certificate, **changes).proved

    kept = certificate.worst_case_correct
    assert proved() == "proved optimal: no tree is more robust, none as robust is smaller"
    assert "a smaller tree that is as robust may exist" in proved(branch_penalty=0.0)
    assert "smaller" not in proved(upper_bound=kept + 1)
    assert proved(upper_bound=kept + 1).endswith("for each split; other trees may be more robust")
    assert proved(status="most_robust") == "proved most robust; a smaller tree that is as robust may exist"
    assert "proved" not in proved(status="feasible", upper_bound=kept + 1)
    assert "no tree with at least 5 samples in each leaf is more robust" in proved(min_samples_leaf=5)


@pytest.mark.parametrize(
    "parameters",
    [
        {"certainty": {"age": 0.7, "party": 0.8, "trust": 0.9, "asked before": 0.6, "income": 1.0}},
        {"direction": {"age": "up"}, "bounds": {"age": (0, None)}},
        {"costs": [1.0, 2.0, float("inf"), 0.0, 0.5], "budget": 7.5},
        {"plausibility": 1.0},
        {"certainty": 0.01, "clip": True},
    ],
)
def test_all_ways_to_describe_shifts_survive_the_file(parameters, tmp_path):
    frame, y = survey(50)
    RobustTreeClassifier(1, **parameters).fit(frame, y).save(tmp_path / "m.json")
    assert check(Certificate.load(tmp_path / "m.certificate.json"), frame, y).confirmed


def test_certainties_of_single_cells_survive_the_file(tmp_path):
    frame, y = survey(30)
    certainty = np.random.default_rng(0).uniform(0.6, 0.9, frame.shape)
    RobustTreeClassifier(1).fit(frame, y, certainty=certainty).save(tmp_path / "m.json")
    assert check(Certificate.load(tmp_path / "m.certificate.json"), frame, y).confirmed


def test_other_objects_and_infinite_numbers_are_refused(certificate):
    with pytest.raises(TypeError, match="expected a Certificate"):
        check(RobustTreeClassifier(), *survey())
    document = json.loads(certificate.to_json())
    document["objective_bound"] = float("inf")
    with pytest.raises(ValueError, match=r"objective_bound inf; expected a number up to 1e\+300"):
        Certificate.from_json(json.dumps(document))
    odd = dataclasses.replace(certificate, status="proved by all solvers")
    assert any("expected one of" in entry for entry in check(odd, *survey()).contradictions)


def test_the_check_names_the_shifts(certificate):
    assert "The shifts: certainty 0.9, plausibility 0.9." in str(check(certificate, *survey()))


def test_saving_writes_through_links_and_pipes(certificate, tmp_path):
    import os
    import threading

    target = tmp_path / "target.json"
    target.write_text("old")
    (tmp_path / "link.json").symlink_to(target)
    certificate.save(tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert Certificate.load(target) == certificate
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    certificate.save(pipe)
    reader.join()
    assert pipe.is_fifo()
    assert Certificate.from_json(read[0]) == certificate
    with pytest.raises(ValueError, match="its folder does not exist"):
        certificate.save(tmp_path / "nowhere" / "c.json")


def test_an_entry_that_is_not_known_is_refused(certificate):
    """It could state a constraint, and claims about some trees would be read as claims about all."""
    document = json.loads(certificate.to_json())
    document["max_leaves"] = 4
    with pytest.raises(ValueError, match="the entry 'max_leaves', which this hardwood does not know"):
        hw.Certificate.from_json(json.dumps(document))
