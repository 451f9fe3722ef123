"""The sandbox gives the answers of the specification: the tables of cases, one request each."""

from __future__ import annotations

import pytest

from tests.sandbox import create_cases, listing_cases, merchant_cases
from tests.sandbox.case import Case


@pytest.mark.parametrize("case", [*listing_cases.CASES, *create_cases.CASES, *merchant_cases.CASES], ids=str)
def test_the_answer_is_that_of_the_specification(case: Case, request: pytest.FixtureRequest):
    case.prove(request.getfixturevalue(case.on))
