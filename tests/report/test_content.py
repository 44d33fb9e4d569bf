"""What a report states."""

import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import hardwood as hw
from hardwood import RobustTreeClassifier, robustness_path
from hardwood.estimators.baselines import baselines, cart
from hardwood.report.content import Model, content_of
from hardwood.report.markup import csp_hash, element, escaped, inline_json
from hardwood.trees.node_stats import node_stats, rule_of
from tests.problems import posed, small_table
from tests.report.records import HOSTILE
from tests.shifts.models_of_users import RandomSteps, Steps, numbers
from tests.surveys import survey

ANSWERS = ["x", "y", "z"]
MEASURED = pd.DataFrame([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.2, 0.1, 0.7]], index=ANSWERS, columns=ANSWERS)
OTHER = pd.DataFrame([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.2, 0.7]], index=ANSWERS, columns=ANSWERS)


def test_node_statistics_add_up():
    values, y, costs = small_table(3, n=60)
    problem = posed(values, y, costs, 4.0, depth=3)
    attack = hw.attack(hw.solve(problem).tree, problem.labels, problem.uncertainty)
    nodes = node_stats(attack)
    leaves = [node for node in nodes if node.leaf is not None]
    assert [node.leaf for node in leaves] == list(range(len(attack.tree.regions)))
    assert nodes[0].n_samples == sum(node.n_samples for node in leaves) == 60
    assert sum(node.wrong for node in leaves) == 60 - attack.nominal_correct
    assert sum(node.flipped for node in leaves) == attack.nominal_correct - attack.worst_case_correct
    assert all(node.flipped <= node.flippable <= node.n_samples - node.wrong for node in leaves)
    assert np.array_equal(nodes[0].counts, np.bincount(problem.labels.codes))
    for node in nodes:
        if node.leaf is None:
            children = [other for other in nodes if other.way[:-1] == node.way and other.way]
            assert sum(child.n_samples for child in children) == node.n_samples


def test_the_rule_of_a_leaf_holds_for_all_its_samples(voters):
    model, _, frame, _, _ = voters
    tree = model.tree_
    leaf_of = tree.leaf_of(model._encode(frame))
    for leaf, region in enumerate(tree.regions):
        samples = frame[leaf_of == leaf]
        for column, text in rule_of(tree, region):
            values = samples[column]
            if match := re.fullmatch(r"is at least (\S+)( and at most (\S+))?", text):
                assert (values >= float(match[1])).all()
            elif match := re.fullmatch(r"is (more than (\S+) and )?at most (\S+)", text):
                assert (values <= float(match[3])).all()
                assert match[2] is None or (values > float(match[2])).all()
            elif text.startswith("is not "):
                assert not set(map(str, values)) & set(re.split(", | or ", text.removeprefix("is not ")))
            elif match := re.fullmatch(r"is more than (\S+)", text):
                assert (values > float(match[1])).all()
            else:
                assert set(map(str, values)) <= set(re.split(", | or ", text.removeprefix("is ")))


def test_cart_is_the_tree_of_scikit_learn():
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"number": rng.integers(0, 9, 150), "colour": rng.choice(["red", "green", "blue"], 150)})
    y = (frame["number"] > 4) ^ (frame["colour"] == "red") ^ (rng.random(150) < 0.1)
    table = hw.encode(frame)
    labels = hw.encode_labels(y, 150)
    problem = hw.Problem(labels, hw.UncertaintySet.boxes(table, radius=0), 3)
    ours = cart(problem).predict(table)
    design = np.column_stack([frame["number"], pd.get_dummies(frame["colour"])])
    theirs = DecisionTreeClassifier(max_depth=3, random_state=0).fit(design, labels.codes).predict(design)
    assert (ours == theirs).mean() > 0.97  # ties between equal splits may fall differently
    assert (ours == labels.codes).mean() == pytest.approx((theirs == labels.codes).mean(), abs=0.02)


def test_the_report_agrees_with_the_certificate(voters):
    model, _, _, y, path = voters
    text = path.read_text(encoding="utf-8")
    certificate = model.certificate_
    for share in (certificate.nominal_accuracy, certificate.worst_case_accuracy):
        assert f"<dd>{100 * share:.1f}\N{NO-BREAK SPACE}%" in text
    assert f"{certificate.worst_case_correct} of {len(y)} rows" in text
    assert certificate.data_hash in text
    assert path.stat().st_size < 1_000_000


def test_curves_of_the_tree_and_of_baselines_are_those_of_the_attack(voters):
    model, _, frame, y, _ = voters
    table, labels, shifts = model._given_or_training_data(frame, y)
    others = baselines(hw.Problem(labels, shifts.uncertainty(table), 3), model.certificate_)
    content = content_of([Model(model.tree_, shifts, None)], 0, table, labels, baselines=others, title="")
    curve = model.worst_case(frame, y).curve
    budgets = np.linspace(0, content.largest_budget, 201)
    assert content.curves["this tree"] == pytest.approx(curve.accuracy_at(budgets), abs=1e-5)
    assert set(content.curves) == {"this tree", "ordinary optimal tree", "CART", "majority answer"}
    ordinary = RobustTreeClassifier(3, plausibility=1.0, feature_kinds={"trust": ["low", "middle", "high"]}).fit(
        frame, y
    )
    assert content.curves["ordinary optimal tree"][0] == pytest.approx(ordinary.score(frame, y), abs=1e-5)
    assert len(set(content.curves["majority answer"])) == 1
    for accuracies in content.curves.values():
        assert all(accuracies[k] >= accuracies[k + 1] for k in range(200))


def test_a_report_on_another_table_says_so(voters, tmp_path):
    model, _, frame, y, _ = voters
    model.report(tmp_path / "other.html", frame[:50], y[:50])
    text = (tmp_path / "other.html").read_text(encoding="utf-8")
    assert "what is proved is about the table that the tree was learnt from" in text
    assert "All numbers are about 50 rows, which are not the table that the tree was learnt from" in text
    assert "rows at most" not in text
    assert "CART" not in text  # a tree learnt from this table would have an advantage


def test_levels_that_share_a_tree_are_distinguished(tmp_path):
    """A path may have one tree at several levels; the report is about the level of the model."""
    frame = pd.DataFrame({"a": [0, 1, 2, 3] * 25})
    found = robustness_path(frame, frame["a"] > 1, (1.0, 0.99, 0.98, 0.9), max_depth=1, certainty=0.7)
    first = found.classifiers[0]
    for classifier in found.classifiers:
        classifier.tree_ = first.tree_
    for level, classifier in zip(found.plausibilities, found.classifiers, strict=True):
        classifier.report(tmp_path / "report.html", along=found)
        text = (tmp_path / "report.html").read_text(encoding="utf-8")
        assert f"Plausibility {level:g}: " in text.split("</header>")[0]
        assert f"<small>{classifier.certificate_.worst_case_correct} of 100 rows" in text


def test_a_path_for_other_shifts_is_refused(tmp_path):
    frame = pd.DataFrame({"a": [0, 1, 2, 3] * 25})
    found = robustness_path(frame, frame["a"] > 1, (1.0, 0.9), max_depth=1, certainty=0.7)
    model = RobustTreeClassifier(1, certainty=0.9).fit(frame, frame["a"] > 1)
    with pytest.raises(ValueError, match="along was learnt for other shifts"):
        model.report(tmp_path / "report.html", along=found)


@pytest.mark.parametrize(
    ("of_path", "of_model"),
    [
        ({"certainty": {"a": MEASURED, "b": 0.9}}, {"certainty": {"a": OTHER, "b": 0.9}}),
        ({"certainty": 0.9, "missing_certainty": 0.8}, {"certainty": 0.9}),
        ({"certainty": 0.9, "direction": {"b": "up"}}, {"certainty": 0.9}),
    ],
    ids=["table", "missing_certainty", "direction"],
)
def test_a_path_is_compared_in_all_costs_and_in_reach(of_path, of_model, tmp_path):
    frame = pd.DataFrame({"a": ["x", "y", "z"] * 20, "b": [0, 1, 2, 3, None] * 12})
    y = (np.arange(60) % 3 == 0) | (np.arange(60) % 5 > 3)
    found = robustness_path(frame, y, (1.0, 0.9), max_depth=1, missing="category", **of_path)
    model = RobustTreeClassifier(1, missing="category", **of_model).fit(frame, y)
    with pytest.raises(ValueError, match="along was learnt for other shifts"):
        model.report(tmp_path / "report.html", along=found)
    found.classifiers[1].report(tmp_path / "report.html", along=found)


def test_a_path_with_other_budgets_is_refused(tmp_path):
    frame = pd.DataFrame({"a": [0, 1, 2, 3] * 25})
    found = robustness_path(frame, frame["a"] > 1, (1.0, 0.9), max_depth=1)
    wrong = replace(found, classifiers=found.classifiers[::-1])
    with pytest.raises(ValueError, match="along was learnt for other shifts"):
        found.classifiers[0].report(tmp_path / "report.html", along=wrong)


def test_numbers_are_exact_and_wide_columns_have_a_report(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"day": rng.integers(20200101, 20251231, 60)})
    model = RobustTreeClassifier(1, plausibility=1.0, feature_kinds="integer").fit(frame, frame["day"] > 20230405)
    model.report(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    threshold = model.tree_.root.code
    assert f"is at most {threshold}<" in text
    assert f"is at least {threshold + 1}<" in text
    assert "e+07" not in text


def test_values_that_no_row_has_may_be_less_certain_than_allowed(tmp_path):
    frame = pd.DataFrame({"a": [0, 1, 2, 3, 4, 5, 6, 7, 8, 10] * 5})
    model = RobustTreeClassifier(1, certainty=0.4, direction="up", bounds=(0, 10)).fit(frame, frame["a"] > 4)
    model.report(tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size > 10_000


def test_values_of_single_rows_are_not_disclosed_by_default(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"income": rng.integers(30_000, 30_600, 150)})
    y = frame["income"] > 30_300
    model = RobustTreeClassifier(1, certainty=0.1, plausibility=0.95, feature_kinds="integer").fit(frame, y)
    assert len(model.worst_case(frame, y).shift) > 3
    model.report(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    disclosed = {int(word) for word in re.findall(r"\d{5}", text)} & set(frame["income"])
    assert disclosed <= {model.tree_.root.code}
    model.report(tmp_path / "rows.html", show_rows=True)
    text = (tmp_path / "rows.html").read_text(encoding="utf-8")
    assert len({int(word) for word in re.findall(r"\d{5}", text)} & set(frame["income"])) > 3


def test_costs_by_category_are_given_for_changes(tmp_path):
    frame = pd.DataFrame({"c": ["u", "v", "w"] * 20})
    costs = {"c": {"u": 1.0, "v": 2.0, "w": 3.0}}
    RobustTreeClassifier(1, costs=costs, budget=6.0).fit(frame, frame["c"] == "u").report(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<td>3 to 5</td><td>not known</td><td>not known</td><td>2</td><td>among its answers</td>" in text
    assert "as likely as no shift" not in text


def test_a_penalised_optimum_does_not_claim_that_none_is_more_robust(tmp_path):
    frame, y = survey()
    model = RobustTreeClassifier(3, branch_penalty=6.0, feature_kinds={"trust": ["low", "middle", "high"]}).fit(
        frame, y
    )
    assert model.certificate_.gap > 0
    model.report(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    most = model.certificate_.upper_bound / model.certificate_.total
    assert f"up to {100 * most:.1f}\N{NO-BREAK SPACE}%" in text
    assert "proved optimal" not in text


def test_a_file_that_cannot_be_written_is_refused_first(tmp_path):
    model = RobustTreeClassifier(1).fit({"a": [1, 2]}, [0, 1])
    for path in (tmp_path, tmp_path / "missing" / "report.html"):
        with pytest.raises(ValueError, match="cannot be written: expected a file in a folder that exists"):
            model.report(path)


def test_sql_that_some_database_would_misread_is_not_written(tmp_path):
    frame = pd.DataFrame({"a": [0, 1] * 10})
    model = RobustTreeClassifier(1, plausibility=1.0).fit(frame, np.where(frame["a"], "\\'; DROP TABLE x; --", "b"))
    model.report(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Not written: a name has a backslash" in text
    assert 'id="rules-sql"' not in text


def test_single_rows_are_shown_only_on_request(voters, tmp_path):
    model, _, _, _, path = voters
    assert "Row by row" not in path.read_text(encoding="utf-8")
    model.report(tmp_path / "rows.html", show_rows=True)
    assert "Row by row, counted from 0" in (tmp_path / "rows.html").read_text(encoding="utf-8")


def test_a_loaded_model_needs_its_table(voters, tmp_path):
    model, _, frame, y, _ = voters
    model.save(tmp_path / "model.json")
    loaded = RobustTreeClassifier.load(tmp_path / "model.json")
    with pytest.raises(ValueError, match="does not hold its training table; give X and y"):
        loaded.report(tmp_path / "report.html")
    with pytest.raises(ValueError, match="X and y belong together"):
        loaded.report(tmp_path / "report.html", frame)
    loaded.report(tmp_path / "report.html", frame, y)
    assert model.certificate_.data_hash in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_markup_escapes_everything_and_json_cannot_leave_its_element():
    for text in HOSTILE:
        assert not set("<>\"'") & set(escaped(text))
        document = inline_json({text: [text]})
        assert not set("<>&") & set(document)
    assert escaped("a\x00b\x85c\ud800") == "a\ufffdb\ufffdc\ufffd"
    assert element("p", "<", data_x='"', hidden=None, open=True) == '<p data-x="&quot;" open>&lt;</p>'
    assert csp_hash("") == "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"


def test_a_page_has_a_strict_policy_and_no_inline_styles_or_handlers(voters):
    text = voters[4].read_text(encoding="utf-8")
    assert "default-src &#x27;none&#x27;" in text
    assert "unsafe" not in text
    assert not re.search(r"<[^>]* (style|on\w+)=", text)
    assert not re.search(r"(src|href)=\"(?!#)", text)
    assert "http://" not in text.replace("http://www.w3.org/", "")
    assert "https://" not in text


def test_the_same_model_gives_the_same_page(voters, tmp_path):
    model, _, frame, y, _ = voters
    for name in ("one.html", "two.html"):
        model.report(tmp_path / name, frame, y)
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()


def test_estimators_do_not_import_the_report_before_it_is_needed():
    code = "import sys, hardwood.estimators.path, hardwood.estimators.audit; print('hardwood.report' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_the_header_states_what_the_numbers_are_about(tmp_path):
    frame, y = survey()
    unseen, y_unseen = survey(seed=9)
    model = RobustTreeClassifier(2, feature_kinds={"trust": ["low", "middle", "high"]})
    model.fit(frame, pd.Series(y, name="vote <1996>"))
    model.report(
        tmp_path / "report.html",
        X_test=unseen,
        y_test=y_unseen,
        author="The team",
        source="Panel",
        intended_use="Planning, not for decisions about persons",
    )
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Predicting vote &lt;1996&gt;: a tree that stays right" in text
    assert f"All numbers are about {len(frame)} rows that the tree was learnt from" in text
    found = model.worst_case(unseen, y_unseen)
    assert f"on {len(unseen)} rows that it has not seen" in text
    assert f"{100 * found.worst_case_accuracy:.1f}\N{NO-BREAK SPACE}% after the worst shift of these rows" in text
    for expected in ("The team", "Panel", "Planning, not for decisions about persons", "What this does not promise"):
        assert expected in text
    assert "changes expected by chance" in text


def test_equally_good_new_values_are_not_reduced_to_one(tmp_path):
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"town": rng.choice(["a", "b", "c", "d"], 1000)})
    y = np.where(frame["town"] == "a", "yes", "no")
    model = RobustTreeClassifier(1, certainty=0.6, plausibility=0.9).fit(frame, y)
    model.report(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<bdi>any other answer</bdi>" in text


def test_the_costs_of_a_table_are_described_as_such(tmp_path):
    never = pd.DataFrame([[0.9, 0.1, 0.0], [0.1, 0.9, 0.0], [0.2, 0.1, 0.7]], index=ANSWERS, columns=ANSWERS)
    frame = pd.DataFrame({"a": ANSWERS * 20, "b": [0, 1, 2, 3] * 15, "c": [0, 1] * 30})
    shifts = hw.Calibrated({"a": never, "b": 1.0, "c": 0.9})
    RobustTreeClassifier(1, shifts=shifts).fit(frame, np.arange(60) % 3 == 0).report(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "as its table states" in text
    assert "nowhere" in text
    assert "some changes never" in text
    assert "to never changes" not in text


def test_a_model_of_a_user_that_states_probabilities_has_them_in_the_report(tmp_path):
    X, y = numbers(40)
    for shifts, has_probabilities in ((RandomSteps(), True), (Steps(), False)):
        RobustTreeClassifier(1, shifts=shifts).fit(X, y).report(tmp_path / "report.html")
        text = (tmp_path / "report.html").read_text(encoding="utf-8")
        assert ("No certainties were given" in text) is not has_probabilities
        assert ("The shift model states both the costs" in text) is has_probabilities


def test_class_weights_are_described_and_a_penalty_is_no_proof_of_the_most_robust_tree(tmp_path):
    frame, y = survey(200)
    parameters = {"certainty": 0.9, "plausibility": 0.97, "class_weight": "balanced"}
    free, penalised = (RobustTreeClassifier(2, branch_penalty=p, **parameters).fit(frame, y) for p in ("auto", 40))
    assert free.certificate_.worst_case_correct > penalised.certificate_.worst_case_correct
    assert not free.certificate_.penalty_matters
    assert penalised.certificate_.penalty_matters
    pages = []
    for model in (free, penalised):
        assert model.certificate_.status == "optimal"
        model.report(tmp_path / "report.html")
        pages.append((tmp_path / "report.html").read_text("utf-8"))
    assert "no: proved optimal" in pages[0]
    assert "no: proved optimal" not in pages[1]
    assert "with more questions, each of which had to be worth 40 rows" in pages[1]
    for page in pages:
        assert "the balanced accuracy stays as high as possible" in page
        assert "of the rows stay right" not in page
        assert "of the rows are right" not in page


def test_errors_about_kinds_name_the_parameter_of_the_classifier():
    frame, y = survey(60)
    with pytest.raises(ValueError, match=r'feature_kinds\["party"\].*\(such as feature_kinds=') as caught:
        RobustTreeClassifier(1, feature_kinds={"party": "ordinal"}).fit(frame, y)
    assert " kinds" not in str(caught.value)
