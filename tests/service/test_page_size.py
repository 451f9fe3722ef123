"""A ``limit`` that the service refuses is halved until it is taken."""

from __future__ import annotations

from wms_sync.service.errors import Rejected
from wms_sync.service.page_size import PageSize


def refusal() -> Rejected:
    return Rejected("400", status=400)


def lowered(wanted: int, largest: int) -> list[int]:
    """The sizes that are asked for until one is taken."""
    found: list[int] = []
    size = PageSize(wanted, found=found.append)
    asked = [size.now]
    while asked[-1] > largest:
        assert size.refused(asked[-1], refusal())
        asked.append(size.now)
    size.taken(asked[-1])
    size.taken(asked[-1])
    assert found == ([asked[-1]] if asked[-1] < wanted else [])
    return asked


def test_it_is_halved():
    assert lowered(1000, 100) == [1000, 500, 250, 125, 62]


def test_a_refusal_is_one_of_the_limit_while_no_such_page_was_taken():
    size = PageSize(100)
    assert size.refused(100, refusal())
    assert size.now == 50
    size.taken(50)
    assert not size.refused(50, refusal())
    assert size.now == 50


def test_a_status_that_is_not_about_parameters_lowers_nothing():
    size = PageSize(100)
    assert not size.refused(100, Rejected("404", status=404))
    assert size.now == 100


def test_one_record_a_page_is_the_least():
    assert not PageSize(1).refused(1, refusal())


def test_what_another_thread_has_lowered_is_not_lowered_twice():
    size = PageSize(1000)
    assert size.refused(1000, refusal())
    assert size.refused(1000, refusal())
    assert size.now == 500


def test_what_is_known_to_be_taken_is_asked_for_first_and_told_again():
    found: list[int] = []
    size = PageSize(1000, known=250, found=found.append)
    assert size.now == 250
    size.taken(250)
    assert found == [250]


def test_a_size_as_wanted_is_not_worth_a_word():
    assert lowered(100, 1000) == [100]
