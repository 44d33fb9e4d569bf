"""Records for the form of a report, and names that try to break out of a page."""

import pandas as pd
import pytest

HOSTILE = [
    "<script>document.title='broken'</script>",
    "\"'><img src=x onerror=document.title='broken'>",
    "\u202etfel ot thgir\u202c",
    "עברית ועוד",
    "😀👩‍👩‍👧",
    "x" * 200,
    "</title></style></script><!--",
    "a & b; -- DROP TABLE",
]


def fill(tab, model, row):
    for j, feature in enumerate(model.tree_.features):
        field = tab.locator(f"#field-{j}")
        if not field.count() or field.is_disabled():  # the tree does not use it
            continue
        value = row[feature.name].iloc[0]
        if feature.missing and pd.isna(value):
            field.select_option("") if feature.categories else field.fill("")
        elif feature.categories:
            field.select_option(str([str(category) for category in feature.categories].index(str(value))))
        else:
            field.fill(str(value))


def check_record(tab, model, row):
    """The page's prediction and margin of a record are the classifier's."""
    fill(tab, model, row)
    result = tab.locator("#result")
    assert result.get_attribute("data-prediction") == str(model.predict(row)[0])
    margin = float(result.get_attribute("data-margin").replace("Infinity", "inf"))
    assert margin == pytest.approx(model.margins(row)[0], rel=1e-9, abs=1e-12)
    leaf = int(model.tree_.leaf_of(model._encode(row))[0])
    assert result.get_attribute("data-leaf") == str(leaf)
    assert tab.locator("details.level:visible .leaf.on").get_attribute("data-leaf") == str(leaf)
    assert tab.locator("details.level:visible .question.on").count() == len(model.tree_.paths[leaf])
