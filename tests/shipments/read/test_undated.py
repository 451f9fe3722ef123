"""Shipments whose ``updated_at`` is null until their first change: no range of times has them."""

from dataclasses import dataclass

import pytest
from starlette.responses import JSONResponse

from tests.services import data_of
from tests.shipments.audit.test_audit import BEFORE_START, NOTHING, audits, missing, one_page, slice_read, warned
from tests.shipments.read.conftest import ids, read_until_down
from wms_sandbox.app import Sandbox
from wms_sandbox.errors import ParameterError, bad_parameters
from wms_sandbox.field_treatment import FieldTreatment
from wms_sandbox.store import NO_TIME
from wms_sync.json_values import LARGEST_ID
from wms_sync.service.query import UNDATED

SHIPMENTS_HELD = 40
REFUSED = bad_parameters(ParameterError("filter.updated_at.null", "Unknown operator."))


@pytest.fixture
def sandbox(sandbox):
    """Of 40 shipments the last ten, which are the newest, were never changed."""
    undate(sandbox, range(30, 40))
    return sandbox


@dataclass(frozen=True)
class Ignores(FieldTreatment):
    """The service ignores filters that begin so."""

    filters: str = ""

    def heard(self, parameters):
        return [part for part in super().heard(parameters) if part[0] != "filter" or self.filters not in part[1]]


def undate(sandbox, indexes) -> None:
    with data_of(sandbox) as held:
        held.updated[list(indexes)] = NO_TIME


def asks_for_undated(request) -> bool:
    return UNDATED in request.query_params.getlist("filter")


def answer_for_undated(sandbox, answer: JSONResponse) -> None:
    sandbox.sandbox.intercept = lambda request: answer if asks_for_undated(request) else None


@pytest.mark.proof
def test_they_and_their_first_change_arrive(bench, sandbox):
    """30 of 40 arrived, with exit code 0."""
    assert bench.read().warnings == ()
    bench.assert_landed(sandbox)
    undated = [window for window in bench.store.windows() if window.reason == "undated"]
    assert [(window.records, window.covers_time) for window in undated] == [(10, False)]
    assert len(bench.store.covered()) == 1, "they cover no time"

    sandbox.sandbox.advance(seconds=3600, changed=20, new=3)
    undate(sandbox, range(35, 43))
    bench.sync()
    bench.assert_equal(sandbox)

    assert len(sandbox.sandbox.advance(seconds=60, changed=43, late=300).changed) == 43
    bench.sync()
    bench.assert_equal(sandbox)  # also what was committed late: its time is before that of the reading without a date


@pytest.mark.parametrize("answer", [REFUSED, JSONResponse(NOTHING)], ids=["it is refused", "it finds nothing"])
def test_where_the_filter_does_not_find_them_they_are_named_each_night_and_audits_read_them(
    bench, sandbox, settings_for, answer
):
    bench.settings = settings_for(sandbox, page_size=20, audit_pages=3)
    answer_for_undated(sandbox, answer)
    assert "10 shipments match no filter" in bench.sync()[0].warnings[0]
    sandbox.sandbox.advance(seconds=3600, new=5)
    undate(sandbox, range(40, 45))
    assert "15 shipments match no filter" in bench.read().warnings[0]
    while slice_read(bench, sandbox)[0].to_id < LARGEST_ID:
        pass
    assert set(bench.landed_ids()) == {*ids(sandbox)}


def test_where_neither_filter_nor_counts_show_them_that_is_said(bench, sandbox):
    answer_for_undated(sandbox, REFUSED)
    sandbox.sandbox.rewrite = lambda page: page | {"meta": page["meta"] | {"count": None}}
    assert any("It is unknown whether shipments" in warning for warning in bench.read().warnings)


def test_a_filter_that_is_ignored_reads_nothing_as_undated(bench, sandbox):
    """The service answers with every shipment: they have dates, so they are not what was asked for."""
    sandbox.sandbox = Sandbox(sandbox.sandbox.config)
    sandbox.sandbox.field_treatment = Ignores(filters="null")
    assert bench.read().warnings == ()
    assert {window.reason for window in bench.store.windows()} == {"sync"}


def test_after_a_failure_their_window_resumes(bench, sandbox, settings_for):
    undate(sandbox, range(40))
    bench.settings = settings_for(sandbox, page_size=10, max_parallel_requests=1)
    read_until_down(bench, sandbox, 2, lambda query: "null" in query and "fields" in query)
    [half_read] = [window for window in bench.store.windows("reading") if window.reason == "undated"]
    assert half_read.records == 20
    assert half_read.id in bench.read().window_ids
    assert sorted(bench.landed_ids()) == ids(sandbox)


@pytest.mark.proof
def test_audits_count_them_without_what_is_old(bench, sandbox, settings_for):
    """They are listed by id, without a date: what is dated before the start is on the pages too, between the others."""
    old = [*range(10), *range(12, 30, 3)]
    with data_of(sandbox) as held:
        held.updated[old] = BEFORE_START
    bench.settings = settings_for(sandbox, page_size=1000, audit_pages=3)
    bench.sync()
    bench.settings = settings_for(sandbox, page_size=5, audit_pages=5)
    while slice_read(bench, sandbox)[0].to_id < LARGEST_ID:
        pass
    assert warned(bench.load()) == set()
    kept = 40 - len(old)
    assert {
        (found.changed, found.missed, found.absent, found.total_counted, found.total_in_tables)
        for found in audits(bench)
    } == {(0, 0, 0, kept, kept)}
    assert sum(found.compared or 0 for found in audits(bench)) == kept

    gone = ids(sandbox)[35]
    sandbox.sandbox.delete_shipments([gone])
    one_page(bench, sandbox, settings_for)
    slice_read(bench, sandbox)
    assert (audits(bench)[-1].total_counted, missing(bench)) == (kept - 1, {gone})
