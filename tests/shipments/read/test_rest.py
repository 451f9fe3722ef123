"""Where a list ends proves nothing: search backends end lists and counts at 5,000 or 10,000 matches without a word."""

from urllib.parse import unquote

import pytest

from tests.shipments.audit.test_audit import missing, slice_read
from tests.shipments.read.conftest import ids, read_until_down
from tests.shipments.read.test_undated import Ignores, undate
from wms_sandbox.errors import ParameterError, bad_parameters
from wms_sync.json_values import LARGEST_ID
from wms_sync.shipments.read.shortfall import LEAST

SHIPMENTS_HELD = 60


def asks_for_rest(query: str) -> bool:
    return "filter=id{gt" in unquote(query) and "filter=updated_at" in unquote(query)


@pytest.mark.parametrize("most", [1, 9, 10, 11, 59, 60])
def test_wherever_lists_and_counts_end_nothing_is_lost(bench, sandbox, settings_for, most):
    """It is said that counts prove nothing, unless they lack no more than may be deleted meanwhile."""
    bench.settings = settings_for(sandbox, page_size=10)
    sandbox.sandbox.most_matches = most
    assert any("not noticed" in text for text in bench.read().warnings) == (most < SHIPMENTS_HELD - LEAST)
    assert sorted(bench.landed_ids()) == ids(sandbox)


def test_nights_and_audits_pass_the_end_of_lists(bench, sandbox, settings_for):
    """A round ended with the list, so that no audit ever looked at what came after it."""
    bench.settings = settings_for(sandbox, page_size=20, audit_pages=3)
    sandbox.sandbox.most_matches = 15
    undate(sandbox, range(20))
    bench.read()
    sandbox.sandbox.advance(seconds=3600, changed=40, new=20)
    bench.sync()
    first, second = (slice_read(bench, sandbox)[0] for _ in range(2))
    assert first.to_id < second.to_id == LARGEST_ID
    shown = [*bench.landed_ids(only=first.window_id), *bench.landed_ids(only=second.window_id)]
    assert (sorted(shown), missing(bench)) == (ids(sandbox), set())
    sandbox.sandbox.most_matches = None
    bench.assert_equal(sandbox)


def test_after_a_kill_at_the_end_of_a_list_its_rest_is_still_requested(bench, sandbox, settings_for):
    bench.settings = settings_for(sandbox, page_size=10, max_parallel_requests=1)
    sandbox.sandbox.most_matches = 25
    read_until_down(bench, sandbox, 0, asks_for_rest)
    assert any(window.pages for window in bench.store.windows("reading"))
    bench.read()
    assert set(bench.landed_ids()) == {*ids(sandbox)}


@pytest.mark.parametrize("ignores", [True, False])
def test_where_filters_on_id_cannot_be_used_that_is_said_and_nothing_stops(bench, sandbox, ignores):
    refusal = bad_parameters(ParameterError("filter.id", "Only one filter is allowed."))
    sandbox.sandbox.intercept = lambda request: refusal if asks_for_rest(request.url.query) and not ignores else None
    sandbox.sandbox.field_treatment = Ignores(filters="id{" if ignores else "none")
    assert any("filters on id cannot be used" in warning for warning in bench.read().warnings)
    bench.assert_landed(sandbox)
