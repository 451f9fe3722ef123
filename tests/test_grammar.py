"""Numbers agree with their nouns. That none is printed otherwise is shown in ``test_conventions.py``."""

import pytest

from wms_sync.grammar import agreed, count_of


@pytest.mark.parametrize(
    ("count", "shown"),
    [(0, "0 rows"), (1, "1 row"), (2, "2 rows"), (1234, "1,234 rows"), (1_000_001, "1,000,001 rows")],
)
def test_a_count_agrees_with_its_noun(count, shown):
    assert count_of(count, "row") == shown


def test_irregular_plurals_and_verbs_are_given():
    assert count_of(1, "status is", "statuses are") == "1 status is"
    assert count_of(3, "status is", "statuses are") == "3 statuses are"
    assert (agreed(1, "it", "they"), agreed(0, "it", "they")) == ("it", "they")
