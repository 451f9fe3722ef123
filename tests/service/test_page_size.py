"""A ``limit`` that the service refuses is lowered until it is taken; any other refusal lowers nothing."""

from __future__ import annotations

import pytest

from wms_sync.service.errors import Problem, Rejected
from wms_sync.service.page_size import PageSize


def refusal(key: str = "limit", message: str = "Too large.") -> Rejected:
    return Rejected("400", status=400, problems=(Problem("parameters", key, message),))


def lowered(wanted: int, largest: int, message: str = "Too large.") -> list[int]:
    """The sizes that are asked for until one is taken."""
    found: list[int] = []
    size = PageSize(wanted, found=found.append)
    asked = [size.now]
    while asked[-1] > largest:
        assert size.refused(asked[-1], refusal(message=message))
        asked.append(size.now)
    size.taken(asked[-1])
    size.taken(asked[-1])
    assert found == ([asked[-1]] if asked[-1] < wanted else [])
    return asked


@pytest.mark.parametrize(
    ("message", "asked"),
    [
        ("Too large.", [1000, 500, 250, 125, 62]),
        ("An integer from 1 to 100 is expected.", [1000, 500, 250, 125, 100]),
        ("limit must not exceed 100 (error 17)", [1000, 500, 250, 125, 100]),
        ("Of 1,000.999 too many by 999999.", [1000, 500, 250, 125, 62]),
    ],
)
def test_it_is_halved_or_brought_to_the_number_that_the_refusal_names(message, asked):
    assert lowered(1000, 100, message) == asked


@pytest.mark.parametrize(
    "problem",
    [("limit", ""), ("query.limit", "x"), ("/limit", "x"), ("", "The limit is 50."), ("query", "limit is too large")],
)
def test_a_refusal_of_the_limit_is_known_by_its_key_or_its_message(problem):
    assert PageSize(100).refused(100, refusal(*problem))


@pytest.mark.parametrize("problems", [(Problem("parameters", "", "Invalid."),), (Problem("x", "query", "No."),), ()])
def test_a_refusal_that_names_nothing_is_one_of_the_limit_while_no_such_page_was_taken(problems):
    size, refused = PageSize(100), Rejected("400", status=400, problems=problems)
    assert size.refused(100, refused)
    assert size.now == 50
    size.taken(50)
    assert not size.refused(50, refused)
    assert not PageSize(100).refused(100, Rejected("404", status=404, problems=problems))


@pytest.mark.parametrize("problem", [("filter", "The limit of a filter."), ("fields:limited", "No."), ("sort", "No.")])
def test_any_other_refusal_lowers_nothing(problem):
    size = PageSize(100)
    assert not size.refused(100, refusal(*problem))
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
