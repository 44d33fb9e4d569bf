"""Shift models: one class each, chosen by flat parameters, and kept as they are by `fit`."""

from pathlib import Path

import pytest

import hardwood as hw
from hardwood import Boxes, Calibrated, Priced, RobustTreeClassifier
from hardwood.shifts.models import read_shift_model, shift_model, without_cells
from tests.shifts.models_of_users import DoubledCosts, RandomSteps, ScaledCosts, Steps, Undecorated, numbers

X, y = numbers()


def test_flat_parameters_choose_the_model():
    assert shift_model(certainty=0.8) == Calibrated(0.8)
    assert shift_model(costs=1.0, certainty=0.8, budget=3.0) == Priced(1.0, budget=3.0)
    assert shift_model(radius=1, costs=1.0) == Boxes(1)
    with pytest.raises(TypeError, match="no shift parameter 'price'"):
        shift_model(price=1.0)


@pytest.mark.parametrize(
    "model", [Calibrated({"x0": 0.8}, 0.95, clip=True), Priced(1.0, budget=2.0), Boxes(1)], ids=str
)
def test_a_model_comes_back_from_its_dictionary(model):
    assert read_shift_model(model.to_dict()) == model


def test_the_classifier_takes_a_model_instead_of_parameters():
    flat = RobustTreeClassifier(1, certainty=0.8, plausibility=0.9).fit(X, y)
    whole = RobustTreeClassifier(1, shifts=Calibrated(0.8, 0.9)).fit(X, y)
    assert whole.tree_ == flat.tree_
    assert whole.certificate_.worst_case_correct == flat.certificate_.worst_case_correct
    with pytest.raises(ValueError, match=r"\['certainty'\] are given, too"):
        RobustTreeClassifier(1, certainty=0.7, shifts=Calibrated(0.8)).fit(X, y)
    with pytest.raises(ValueError, match="expected a shift model"):
        RobustTreeClassifier(1, shifts="certain").fit(X, y)


def test_a_budget_counts_in_proportion_to_the_training_table():
    model = RobustTreeClassifier(1, shifts=Priced(1.0, budget=6.0)).fit(X, y)
    assert model.shifts_.budget_for(24) == 12.0


def test_a_model_of_a_user_is_kept_and_its_costs_count(tmp_path):
    usual = RobustTreeClassifier(1, shifts=Priced(1.0, budget=6.0)).fit(X, y)
    doubled = RobustTreeClassifier(1, shifts=DoubledCosts(1.0, budget=6.0)).fit(X, y)
    assert type(doubled.shifts_) is DoubledCosts
    same = RobustTreeClassifier(1, shifts=Priced(2.0, budget=6.0)).fit(X, y)
    assert doubled.certificate_.worst_case_correct == same.certificate_.worst_case_correct
    assert doubled.certificate_.worst_case_correct > usual.certificate_.worst_case_correct
    with pytest.raises(ValueError, match="DoubledCosts cannot be saved"):
        doubled.save(tmp_path / "model.json")
    assert not list(tmp_path.iterdir())


def test_the_old_name_of_shift_models_works_and_warns():
    with pytest.warns(DeprecationWarning, match="ShiftDescription was renamed"):
        assert hw.ShiftDescription(certainty=0.8, plausibility=0.7) == Calibrated(0.8, 0.7)


@pytest.mark.parametrize("shifts", [Steps(), Boxes(1)], ids=str)
def test_a_model_without_a_plausibility_refuses_one(shifts):
    model = RobustTreeClassifier(1, shifts=shifts).fit(X, y)
    with pytest.raises(ValueError, match=rf"plausibility is 0.5; the shift model {type(shifts).__name__} has no plaus"):
        model.worst_case(X, y, plausibility=0.5)


@pytest.mark.parametrize(
    "shifts",
    [ScaledCosts(0.8), ScaledCosts([[0.8]] * 12), DoubledCosts([[1.0]] * 12), Steps()],
    ids=str,
)
def test_a_file_never_holds_a_model_that_is_read_as_another_one(shifts, tmp_path):
    assert not shifts.can_be_saved
    with pytest.raises(ValueError, match=r"cannot be saved; expected Calibrated, Priced or Boxes \(state it as"):
        shifts.to_dict()
    assert without_cells(shifts) is shifts
    with pytest.raises(ValueError, match="cannot be saved"):
        RobustTreeClassifier(1, shifts=shifts).fit(X, y).save(tmp_path / "model.json")
    assert not list(tmp_path.iterdir())


def test_a_subclass_that_claims_to_be_saved_is_refused_too():
    class Claims(ScaledCosts):
        can_be_saved = True

    with pytest.raises(ValueError, match="Claims cannot be saved"):
        Claims(0.8).to_dict()


def test_a_model_states_probabilities_iff_it_defines_them():
    table = hw.encode(X)
    assert (Steps().has_probabilities, RandomSteps().has_probabilities) == (False, True)
    assert (Steps().certainty_texts(table), RandomSteps().certainty_texts(table)) == (
        ["not given"],
        ["stated by the shift model"],
    )
    assert "expected" in str(hw.compare([RobustTreeClassifier(1)], X, y, shifts=RandomSteps(), n_tables=5))


def test_a_model_without_probabilities_names_the_method_that_it_lacks():
    message = r"the shift model Steps states no probabilities \(define its method `probabilities`"
    with pytest.raises(ValueError, match=message):
        hw.shiftlab.coverage(X, shifts=Steps())
    with pytest.raises(ValueError, match="certainty is not given; costs alone"):
        hw.shiftlab.coverage(X, shifts=Calibrated(None))


def test_certainties_beside_a_model_of_a_user_are_refused_or_replace_its_own():
    fitted = RobustTreeClassifier(1, shifts=Steps())
    with pytest.raises(ValueError, match=r"certainty is given; the shift model Steps takes no certainty \(leave"):
        fitted.fit(X, y, certainty=[[0.8]] * 12)
    with pytest.raises(ValueError, match="costs is given; the shift model Steps takes no costs"):
        fitted.fit(X, y).worst_case(X, y, costs=1.0)
    own = RobustTreeClassifier(1, shifts=ScaledCosts(0.9)).fit(X, y, certainty=[[0.8]] * 12)
    assert type(own.shifts_) is ScaledCosts


def test_a_model_that_is_no_dataclass_says_so():
    with pytest.raises(TypeError, match=r"Undecorated is no dataclass; .*@dataclass\(frozen=True\)"):
        Undecorated().parameters()
    assert RobustTreeClassifier(1, shifts=Undecorated()).fit(X, y).certificate_.status == "optimal"


def test_the_recipe_lists_everything_that_a_model_may_define():
    page = (Path(__file__).parents[2] / "docs" / "extending.md").read_text(encoding="utf-8")
    derived = {"uncertainty", "required_probabilities", "probabilities_error", "parameters", "to_dict"}
    hooks = {name for name in vars(hw.ShiftModel) if not name.startswith("_")} - derived
    assert {"move_costs", "at", "has_probabilities"} <= hooks
    assert [name for name in sorted(hooks) if f"`{name}`" not in page and f"`{name}(" not in page] == []


def test_a_report_states_a_model_of_a_user_and_how_to_check_what_no_file_holds(tmp_path):
    RobustTreeClassifier(1, shifts=Steps()).fit(X, y).report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text("utf-8")
    assert Steps().describe() in page
    assert "hardwood.check(model.certificate_, X, y)" in page
    assert "hardwood check model.certificate.json" not in page
