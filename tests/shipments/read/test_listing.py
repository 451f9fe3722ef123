"""Filters that compare minutes or dates, read times in another zone, or find nothing: no night loses a change."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest
from msgspec import structs
from starlette.responses import JSONResponse, Response

from tests.conftest import FEWER, NOW, Bench
from tests.landed import assert_landed
from tests.test_sync import synced
from wms_sandbox.app import SHIPMENTS, Sandbox
from wms_sandbox.field_treatment import FieldTreatment
from wms_sync.reports.doctor_reading import read_as_a_sync
from wms_sync.service.errors import FilterMisses, NotAList, Rejected
from wms_sync.service.query import timestamp
from wms_sync.service.shipments import ShipmentListing
from wms_sync.shipments.read.listing import EXACT, TRIED_AGAIN, WIDENING, measured_widening

SECOND, MINUTE, HOUR, DAY = (timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1), timedelta(days=1))
BOUND = re.compile(r'(gt|lt):"([0-9T:-]+)Z"')
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Compares(FieldTreatment):
    """The service reads the bounds of a filter ``later``, cut to a ``unit``.

    ``both``: it cuts the shipment's own time too before it compares.
    """

    unit: timedelta = SECOND
    later: timedelta = timedelta(0)
    both: bool = False

    def heard(self, parameters):
        return [(name, BOUND.sub(self._read, text)) for name, text in super().heard(parameters)]

    def _read(self, bound: re.Match[str]) -> str:
        moment = datetime.fromisoformat(bound[2]).replace(tzinfo=UTC) + self.later
        moment -= (moment - EPOCH) % self.unit
        if self.both and bound[1] == "gt":
            moment += self.unit - SECOND  # a time cut to the unit is above it from the next unit on
        return f'{bound[1]}:"{timestamp(moment)}"'


SERVICE = replace(FEWER, shipments=120)
MINUTES, DATES = Compares(unit=MINUTE, both=True), Compares(unit=DAY, both=True)
SERVICES = {
    "compares minutes": (MINUTES, 2 * MINUTE),
    "cuts bounds to minutes": (Compares(unit=MINUTE), 2 * MINUTE),
    "compares dates": (DATES, 2 * DAY),
    "cuts bounds to dates": (Compares(unit=DAY), 2 * DAY),
    "reads times five hours late": (Compares(later=5 * HOUR), 2 * DAY),
    "reads times nine hours early": (Compares(later=-9 * HOUR), 2 * DAY),
    "compares dates five hours late": (Compares(unit=DAY, later=5 * HOUR, both=True), 2 * DAY),
    "compares dates nine hours early": (Compares(unit=DAY, later=-9 * HOUR, both=True), 2 * DAY),
}


def listing_of(api) -> ShipmentListing:
    return ShipmentListing(api, page_size=50, include_addresses=False)


def tried(bench: Bench) -> timedelta | None:
    with bench.api() as api:
        found = measured_widening(listing_of(api))
        assert api.requests <= 5
    return found


@pytest.mark.parametrize(("treatment", "wider"), SERVICES.values(), ids=SERVICES)
def test_how_a_filter_compares_is_found(bench, sandbox, treatment, wider):
    sandbox.sandbox.field_treatment = treatment
    assert tried(bench) == wider


@pytest.mark.parametrize("name", ["compares minutes", "compares dates five hours late"])
def test_nights_lose_nothing_however_the_filter_compares(bench, sandbox, settings_for, name):
    """A night within a day was empty, and what changed near the end of each window was lost, with exit code 0."""
    sandbox.sandbox.field_treatment, _ = SERVICES[name]
    bench.settings = settings_for(sandbox, page_size=20, overlap_seconds=0)
    read = bench.read()
    assert (read.warnings, len(read.notes)) == ((), 1)
    for seconds in (40, 3 * 3600, 26 * 3600):
        sandbox.sandbox.advance(seconds=seconds, changed=20)
        sandbox.sandbox.advance(seconds=10)
        bench.read()
    sandbox.sandbox.field_treatment = FieldTreatment()
    assert_landed(bench, sandbox)


def test_an_exact_filter_is_tried_once_a_week(bench, sandbox):
    bench.read()
    sandbox.sandbox.field_treatment = MINUTES
    read = bench.read()
    assert read.notes == ()
    seen = bench.store.observation(WIDENING)
    bench.store.record([structs.replace(seen, observed_at=seen.observed_at - TRIED_AGAIN)])
    read = bench.read()
    assert "compares minutes. Each window is read 2 minutes wider" in read.notes[0]


def test_a_filter_on_something_else_is_refused_before_anything_counts_as_covered(bench, sandbox):
    sandbox.sandbox.field_treatment = Compares(later=timedelta(days=40))
    with pytest.raises(FilterMisses, match="filters by something else"):
        bench.read()
    assert bench.store.windows() == ()


def test_a_shipment_that_is_gone_while_it_is_tried_is_not_the_only_one(bench, sandbox):
    tries, nothing = count(1), JSONResponse({"collection": [], "has_more": False, "next": None})
    sandbox.sandbox.intercept = lambda request: (
        nothing if "filter" in request.query_params and next(tries) <= 3 else None
    )
    assert tried(bench) == EXACT


def test_times_at_the_ends_of_the_calendar_are_not_tried(bench, sandbox):
    odd = ["0001-01-01T00:00:00+05:00", "9999-12-31T23:59:59Z", "soon", None]

    def age(page):
        aged = [record | {"updated_at": moment} for record, moment in zip(page["collection"], odd, strict=False)]
        return page | {"collection": aged}

    sandbox.sandbox.rewrite = age
    assert tried(bench) is None


def test_a_service_without_shipments_is_tried_at_the_next_sync(bench, in_process):
    in_process.sandbox = Sandbox(replace(FEWER, shipments=0))
    assert tried(bench) is None
    assert synced(bench)[1].rows["shipments"] == 0
    assert bench.store.observation(WIDENING) is None


@pytest.mark.parametrize("status", [404, 204])
def test_an_answer_without_a_list_is_an_empty_list_where_the_service_answers_so(bench, sandbox, settings_for, status):
    """The first sync stopped, and doctor said that all was well. A path that is gone later is no empty list."""
    sandbox.sandbox.status_of_empty_list = status
    bench.settings = settings_for(sandbox, page_size=50, audit_pages=2)
    bench.read()
    assert bench.read().progress.records == 0
    sandbox.sandbox.advance(seconds=DAY.total_seconds(), changed=20)
    sandbox.sandbox.advance(seconds=10)
    bench.read()
    assert_landed(bench, sandbox)
    with bench.api() as api:
        [empty] = [finding for finding in read_as_a_sync(bench.settings, api) if finding.name == "empty list"]
    assert (empty.severity, f"answered with {status}" in empty.text) == ("note", True)
    covered = bench.store.covered()
    sandbox.sandbox.advance(seconds=3600, changed=20)
    sandbox.sandbox.intercept = lambda request: Response(status_code=status) if request.url.path == SHIPMENTS else None
    with pytest.raises((NotAList, Rejected)):
        bench.read()
    assert bench.store.covered() == covered


@pytest.mark.parametrize("status", [404, 204])
def test_an_answer_without_a_list_is_no_empty_list_where_the_service_answers_with_one(bench, sandbox, status):
    absent = Response(status_code=status)
    sandbox.sandbox.intercept = lambda request: absent if "2026-03" in request.url.query else None
    with bench.api() as api, pytest.raises((NotAList, Rejected)):
        listing_of(api).count(NOW - DAY, NOW)
