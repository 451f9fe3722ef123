"""A ``limit`` that the service refuses is halved until it is taken."""

from __future__ import annotations

import pytest

from wms_sync.service.errors import Rejected
from wms_sync.service.shipments import PageSize


def refusal() -> Rejected:
    return Rejected("400", status=400)


@pytest.mark.parametrize(("wanted", "largest", "sizes"), [(1000, 100, [1000, 500, 250, 125, 62]), (100, 1000, [100])])
def test_it_is_halved_until_it_is_taken_and_told_once_if_it_was_lowered(wanted, largest, sizes):
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
def test_another_refusal_or_one_record_a_page_lowers_nothing(wanted, status):
    size = PageSize(wanted)
    assert not size.refused(wanted, Rejected(str(status), status=status))
    assert size.now == wanted


def test_a_refusal_is_one_of_the_limit_while_no_such_page_was_taken():
    size = PageSize(100)
    assert size.refused(100, refusal())
    assert size.now == 50
    size.taken(50)
    assert not size.refused(50, refusal())
    assert size.now == 50


def test_what_another_thread_has_lowered_is_not_lowered_twice():
    size = PageSize(1000)
    assert size.refused(1000, refusal())
    assert size.refused(1000, refusal())
    assert size.now == 500
