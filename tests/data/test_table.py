"""Features, tables and labels are immutable and refuse values that do not fit."""

import numpy as np
import pytest

from hardwood.data.feature import Feature, Kind
from hardwood.data.labels import Labels
from hardwood.data.table import Table


def test_tables_and_labels_do_not_share_memory_with_writable_arrays():
    feature = Feature("a", Kind.CATEGORICAL, 0, 1, ("x", "y"))
    array = np.zeros((2, 1), dtype=np.int32, order="F")
    view = array.view()
    view.flags.writeable = False
    codes = np.zeros(2, dtype=np.int32)
    tables, labels = [Table((feature,), array), Table((feature,), view)], Labels(codes, ("a", "b"))
    array[0, 0] = codes[0] = 10**6
    assert [table.values.max() for table in tables] == [0, 0]
    assert labels.codes.max() == 0


@pytest.mark.parametrize("values", [[[2**32 + 1]], [[0.7]], [[float("nan")]]])
def test_codes_are_not_cast_silently(values):
    with pytest.raises(ValueError, match="expected whole numbers within"):
        Table((Feature("a", Kind.INTEGER, 0, 1),), np.array(values))


def test_features_tables_and_labels_check_their_values():
    feature = Feature("a", Kind.ORDINAL, 0, 1, ("x", "y"))
    with pytest.raises(ValueError, match='column "a", row 0 has code 2; expected 0 to 1'):
        Table((feature,), np.array([[2]], dtype=np.int32))
    with pytest.raises(ValueError, match="expected samples by 1 features"):
        Table((feature,), np.zeros((2, 2), dtype=np.int32))
    with pytest.raises(ValueError, match="expected 0 to 1, one for each category"):
        Feature("a", Kind.ORDINAL, 0, 2, ("x", "y"))
    with pytest.raises(ValueError, match="binary but has 3"):
        Feature("a", Kind.BINARY, 0, 2, ("x", "y", "z"))
    with pytest.raises(ValueError, match="must be finite and ascend"):
        Feature("a", Kind.BINNED, 0, 2, edges=(2.0, 1.0))
    with pytest.raises(ValueError, match=r"values up to 2; expected one dimension and values from 0 to 1"):
        Labels(np.array([0, 2]), ("a", "b"))
