"""What is an id is the same wherever one is read."""

from decimal import Decimal

import pytest

from wms_sync.json_values import LARGEST_ID, identity, whole


@pytest.mark.parametrize("written", [12, "12", "0012", 12.0, Decimal(12)])
def test_an_id_counts_however_it_is_written(written):
    assert identity(written) == whole(written) == 12


@pytest.mark.parametrize(
    "none", [None, True, "", "１２", "+1", " 1", "1.0", 12.5, 1e300, float("nan"), "9" * 5000, [1]]
)
def test_anything_else_is_no_id(none):
    assert identity(none) is whole(none) is None


@pytest.mark.parametrize(("value", "id_"), [(0, 0), (-1, None), ("-1", None), (LARGEST_ID, LARGEST_ID)])
def test_an_id_fits_the_tables(value, id_):
    assert identity(value) == id_
    assert identity(LARGEST_ID + 1) is None
