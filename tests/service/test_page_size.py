"""A ``limit`` that the service refuses is halved until it is taken."""

from __future__ import annotations

import pytest

from wms_sync.service.errors import Rejected
from wms_sync.service.shipments import PageSize


def refusal() -> Rejected:
    return Rejected("400", status=400)


@pytest.mark.parametrize(("wanted", "largest", "sizes"), [(1000, 100, [1000, 500, 250, 125, 62]), (100, 1000, [100])])
def test_it_is_halved_until_taken_and_told_once(wanted, largest, sizes):
    found: list[int] = []
    size = PageSize(wanted, found=found.append)
    asked = [size.now]
    while asked[-1] > largest:
        assert size.refused(asked[-1], refusal())
        asked.append(size.now)
    for _ in range(2):
        size.taken(asked[-1])
    assert asked == sizes
    assert found == sizes[1:][-1:]


@pytest.mark.parametrize(("wanted", "status"), [(100, 404), (1, 400)])
def test_another_refusal_lowers_nothing(wanted, status):
    size = PageSize(wanted)
    assert not size.refused(wanted, Rejected(str(status), status=status))
    assert size.now == wanted


def test_a_refusal_blames_no_size_that_was_taken():
    size = PageSize(100)
    assert size.refused(100, refusal())
    assert size.now == 50
    size.taken(50)
    assert not size.refused(50, refusal())
    assert size.now == 50


def test_two_threads_lower_a_size_once():
    size = PageSize(1000)
    assert size.refused(1000, refusal())
    assert size.refused(1000, refusal())
    assert size.now == 500
