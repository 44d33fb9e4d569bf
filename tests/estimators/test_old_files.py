"""Files that earlier versions wrote, unedited, are still read."""

from pathlib import Path

import numpy as np
import pytest

from hardwood import Certificate, RobustTreeClassifier, Tree, check

FOLDER = Path(__file__).parents[1] / "files"
VERSIONS = ["model1_certificate2_tree1", "model2_certificate3_tree2", "model3_certificate4_tree2"]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("version", VERSIONS)
def test_an_old_model_is_read_with_its_tree_and_its_certificate(version):
    model = RobustTreeClassifier.load(FOLDER / version / "model.json")
    certificate = Certificate.load(FOLDER / version / "model.certificate.json")
    assert model.certificate_ == certificate
    assert model.tree_ == Tree.from_json((FOLDER / version / "tree.json").read_text()) == certificate.tree
    assert [model.predict([[x0, 0, 3]])[0] for x0 in range(4)] == [0, 0, 1, 1]


@pytest.mark.parametrize("version", VERSIONS)
def test_an_old_certificate_keeps_its_claims(version):
    certificate = Certificate.load(FOLDER / version / "model.certificate.json")
    assert (certificate.status, certificate.goal) == ("optimal", "robust")
    assert (certificate.worst_case_correct, certificate.nominal_correct, certificate.total) == (28, 29, 30)
    assert certificate.upper_bound == 28


@pytest.mark.parametrize("version", VERSIONS[:2])
def test_an_old_certificate_is_confirmed_on_its_table(version):
    X = np.random.default_rng(0).integers(0, 4, (30, 3))
    y = (X[:, 0] > 1).astype(int)
    y[3] = 1 - y[3]
    assert check(Certificate.load(FOLDER / version / "model.certificate.json"), X, y).confirmed


def test_an_old_tree_with_missing_values_is_read():
    text = (FOLDER / "model2_certificate3_tree2" / "tree_with_missing_values.json").read_text()
    tree = Tree.from_json(text)
    assert '"no answer"' in text
    assert '"no answer"' not in tree.to_json()
    assert Tree.from_json(tree.to_json()) == tree
    assert "a <= 2 or missing?" in tree.to_text()
