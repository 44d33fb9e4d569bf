from dataclasses import dataclass

import pytest

from hardwood._util.deprecation import renamed_attributes


@renamed_attributes(people="weight")
@dataclass(frozen=True, slots=True)
class Share:
    weight: float


def test_an_old_attribute_name_works_and_warns():
    with pytest.warns(DeprecationWarning, match=r"Share\.people was renamed to Share\.weight"):
        assert Share(2.0).people == 2.0
