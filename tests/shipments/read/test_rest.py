"""Where a list ends proves nothing: search backends end lists and counts at 5,000 or 10,000 matches without a word."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import unquote

import pytest
from starlette.responses import Response

from tests.conftest import CONFIG
from tests.landed import assert_landed, landed_ids
from tests.shipments.audit.test_audit import last, night
from tests.shipments.read.test_undated import ids, undate
from tests.test_sync import assert_equal, synced
from wms_sandbox.app import Sandbox
from wms_sandbox.errors import ParameterError, bad_parameters
from wms_sync.service.errors import ServiceFailed


@pytest.fixture
def sandbox(in_process):
    in_process.sandbox = Sandbox(replace(CONFIG, shipments=60, families=20))
    return in_process


def asks_for_rest(request) -> bool:
    query = unquote(request.scope["query_string"].decode())
    return "filter=id{gt" in query and "filter=updated_at" in query


@pytest.mark.parametrize("most", [*range(1, 12), 19, 20, 21, 30, 59, 60, 61])
def test_wherever_lists_and_counts_end_nothing_is_lost(bench, sandbox, settings_for, most):
    bench.settings = settings_for(sandbox, page_size=10)
    sandbox.sandbox.most_matches = most
    bench.read()
    assert sorted(landed_ids(bench)) == sorted(ids(sandbox))


def test_nights_and_audit_rounds_pass_the_end_of_lists_too(bench, sandbox, settings_for):
    """A round ended with the list, so that no audit ever looked at what came after it."""
    bench.settings = settings_for(sandbox, page_size=10, audit_pages=6)
    sandbox.sandbox.most_matches = 15
    undate(sandbox, range(20))
    bench.read()
    sandbox.sandbox.advance(seconds=3600, changed=40, new=20)
    synced(bench)
    reached, compared, nights = 0, 0, 0
    while reached < 2**62:
        night(bench, sandbox)
        nights += 1
        found = last(bench)
        assert found.to_id > reached
        reached = found.to_id
        compared += found.compared or 0
        assert (found.changed, found.missed, found.absent) == (0, 0, 0)
    assert (nights, compared) == (2, 80)
    sandbox.sandbox.most_matches = None
    assert_equal(bench, sandbox)


def test_after_a_kill_at_the_end_of_a_list_its_rest_is_still_requested(bench, sandbox, settings_for):
    bench.settings = settings_for(sandbox, page_size=10, max_parallel_requests=1)
    sandbox.sandbox.most_matches = 25
    sandbox.sandbox.intercept = lambda request: Response("down", 500) if asks_for_rest(request) else None
    with bench.api() as api, pytest.raises(ServiceFailed):
        bench.reading(api).sync()
    assert any(window.pages for window in bench.store.windows("reading"))
    sandbox.sandbox.intercept = None
    bench.read()
    assert set(landed_ids(bench)) == ids(sandbox)


@pytest.mark.parametrize("ignores", [True, False])
def test_where_filters_on_id_cannot_be_used_that_is_said_and_nothing_stops(bench, sandbox, ignores):
    refusal = bad_parameters(ParameterError("filter.id", "Only one filter is allowed."))

    def intercept(request):
        if not asks_for_rest(request):
            return None
        if not ignores:
            return refusal
        parts = request.scope["query_string"].split(b"&")
        request.scope["query_string"] = b"&".join(part for part in parts if not part.startswith(b"filter=id"))
        return None

    sandbox.sandbox.intercept = intercept
    read = bench.read()
    assert any("filters on id cannot be used" in warning for warning in read.warnings)
    assert_landed(bench, sandbox)
