import dataclasses
import json
import subprocess
import sys

import numpy as np
import pytest

import hardwood as hw
from hardwood import Certificate, RobustTreeClassifier, check
from hardwood.certificate import data_hash
from surveys import survey


@pytest.fixture(scope="module")
def certificate():
    return RobustTreeClassifier(2).fit(*survey()).certificate_


def test_the_data_alone_confirm_a_certificate(certificate):
    outcome = check(certificate, *survey())
    assert outcome.confirmed
    assert outcome.worst_case_correct == certificate.worst_case_correct
    text = str(outcome)
    assert "CONFIRMED from the data alone" in text
    assert "CLAIMED by the engine (search, optimal), not proved again here" in text


def test_checking_imports_no_solver():
    code = "import sys, hardwood.certificate; print([m for m in sys.modules if m.startswith('hardwood.solvers.')])"
    source = (
        "import sys; sys.modules['hardwood.solvers.search'] = None; import hardwood.certificate as c; print(c.check)"
    )
    assert subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=False).returncode == 0
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "hardwood.solvers.search" not in found


def test_it_comes_back_from_json_and_from_a_file(certificate, tmp_path):
    assert Certificate.from_json(certificate.to_json()) == certificate
    certificate.save(tmp_path / "c.json")
    assert Certificate.load(tmp_path / "c.json") == certificate
    assert [path.name for path in tmp_path.iterdir()] == ["c.json"]


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
        ({"objective_bound": 119.0}, 'the status is "optimal", which the bound on the objective does not say'),
        ({"status": "feasible"}, 'the status is "feasible", which the bound'),
        ({"status": "most_robust", "objective_bound": 118.0, "upper_bound": 118}, "the bound allows more"),
        ({"max_depth": 1}, "the tree has depth 2, allowed are 1"),
        ({"branching_nodes": 9}, "branching_nodes is 2, the certificate says 9"),
    ],
)
def test_every_false_claim_is_found(certificate, changes, message):
    outcome = check(dataclasses.replace(certificate, **changes), *survey())
    assert not outcome.confirmed
    assert any(__import__("re").search(message, entry) for entry in outcome.contradictions)
    assert str(outcome).startswith("NOT CONFIRMED")


def test_other_data_are_told_apart(certificate):
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
def test_a_certificate_edited_by_hand_says_what_is_wrong(certificate, edit, message):
    document = json.loads(certificate.to_json())
    edit(document)
    with pytest.raises(ValueError, match=message):
        Certificate.from_json(json.dumps(document))


def test_text_that_is_no_json_is_refused():
    with pytest.raises(ValueError, match="the text is not JSON"):
        Certificate.from_json("{")


def test_it_reads_like_a_sentence(certificate):
    text = str(certificate)
    assert "stay correct under the worst shift" in text
    assert "proved optimal" in text
    stopped = dataclasses.replace(certificate, status="feasible", upper_bound=118)
    assert "at most 118 are possible" in str(stopped)


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


def test_what_cannot_be_a_certificate_is_refused(certificate):
    with pytest.raises(TypeError, match="expected a Certificate"):
        check(RobustTreeClassifier(), *survey())
    document = json.loads(certificate.to_json())
    document["objective_bound"] = float("inf")
    with pytest.raises(ValueError, match="objective_bound inf; expected a number that can be reckoned with"):
        Certificate.from_json(json.dumps(document))
    odd = dataclasses.replace(certificate, status="proved by all engines")
    assert any("expected one of" in entry for entry in check(odd, *survey()).contradictions)


def test_the_check_names_the_shifts(certificate):
    assert "The shifts: certainty 0.9, plausibility 0.9." in str(check(certificate, *survey()))


def test_links_stay_links_and_pipes_stay_pipes(certificate, tmp_path):
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
