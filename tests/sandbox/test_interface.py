"""The sandbox gives the answers of the specification: the tables of cases, one request each."""

import pytest

from tests.sandbox import create_cases, filter_cases, listing_cases, merchant_cases, selection_cases
from tests.sandbox.case import Case
from wms_sandbox.kinds import KINDS


@pytest.mark.parametrize(
    "case",
    [
        *listing_cases.CASES,
        *filter_cases.CASES,
        *selection_cases.CASES,
        *create_cases.CASES,
        *merchant_cases.CASES,
    ],
    ids=str,
)
def test_the_answer_is_that_of_the_specification(case: Case, request: pytest.FixtureRequest):
    case.prove(request.getfixturevalue(case.on))


@pytest.mark.parametrize("kind", selection_cases.LISTED)
def test_the_values_of_a_selection_are_those_of_the_specification(kind: str):
    assert set(KINDS[kind].values) == set(selection_cases.LISTED[kind].split())
