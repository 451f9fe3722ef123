"""Filters that compare minutes or dates, read times in another zone, or find nothing; empty lists without a list."""

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest
from msgspec import structs
from starlette.responses import JSONResponse, Response

from tests.bench import FEWER, NOW, Bench, let_pass
from wms_sandbox.app import SHIPMENTS, Sandbox
from wms_sandbox.field_treatment import FieldTreatment
from wms_sync.service.errors import FilterMisses, NotAList, Rejected
from wms_sync.service.query import timestamp
from wms_sync.shipments.read.listing import FOUND, TRIED_AGAIN, found_by_filter, listing_of

SECOND, MINUTE, HOUR, DAY = (timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1), timedelta(days=1))
BOUND = re.compile(r'(gt|lt):"([0-9T:-]+)Z"')
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Compares(FieldTreatment):
    """The service reads the bounds of a filter ``later``, cut to a ``unit``."""

    unit: timedelta = SECOND
    later: timedelta = timedelta(0)

    def heard(self, parameters):
        return [(name, BOUND.sub(self._read, text)) for name, text in super().heard(parameters)]

    def _read(self, bound: re.Match[str]) -> str:
        moment = datetime.fromisoformat(bound[2]).replace(tzinfo=UTC) + self.later
        return f'{bound[1]}:"{timestamp(moment - (moment - EPOCH) % self.unit)}"'


SHIPMENTS_HELD = 120
INEXACT = {
    "compares minutes": Compares(unit=MINUTE),
    "compares dates": Compares(unit=DAY),
    "reads times five hours late": Compares(later=5 * HOUR),
    "compares dates nine hours early": Compares(unit=DAY, later=-9 * HOUR),
    "filters by something else": Compares(later=40 * DAY),
}


def tried(bench: Bench) -> int | None:
    with bench.api() as api:
        return found_by_filter(listing_of(bench.settings, api))


@pytest.mark.parametrize("treatment", INEXACT.values(), ids=INEXACT)
def test_a_filter_that_is_not_exact_any_more_is_refused_within_a_week(bench, sandbox, treatment):
    """A night within a day was empty, and what changed near the end of each window was lost, with exit code 0."""
    bench.read()
    sandbox.sandbox.field_treatment = treatment
    bench.read()
    seen, windows = bench.store.observation(FOUND), bench.store.windows()
    bench.store.record([structs.replace(seen, observed_at=seen.observed_at - TRIED_AGAIN)])
    sandbox.sandbox.requests.clear()
    with pytest.raises(FilterMisses, match="for that second does not find it"):
        bench.read()
    assert (bench.store.windows(), len(sandbox.sandbox.requests) <= 4) == (windows, True)


def test_a_shipment_that_is_gone_while_it_is_tried_is_not_the_only_one(bench, sandbox):
    tries, nothing = count(1), JSONResponse({"collection": [], "has_more": False, "next": None})
    sandbox.sandbox.intercept = lambda request: (
        nothing if "filter" in request.query_params and next(tries) <= 2 else None
    )
    assert tried(bench)


def test_times_at_the_ends_of_the_calendar_are_not_tried(bench, sandbox):
    odd = ["0001-01-01T00:00:00+05:00", "9999-12-31T23:59:59Z", "soon", None]

    sandbox.sandbox.rewrite = lambda page: (
        page
        | {
            "collection": [
                record | {"updated_at": moment} for record, moment in zip(page["collection"], odd, strict=False)
            ]
        }
    )
    assert tried(bench) is None


def test_a_service_without_shipments_is_tried_at_the_next_sync(bench, in_process):
    in_process.sandbox = Sandbox(replace(FEWER, shipments=0))
    assert tried(bench) is None
    assert bench.sync()[1].rows["shipments"] == 0
    assert bench.store.observation(FOUND) is None


@pytest.mark.parametrize("status", [404, 204])
def test_an_answer_without_a_list_is_an_empty_list_where_the_service_answers_so(bench, sandbox, settings_for, status):
    """The first sync stopped. A path that is gone later is no empty list."""
    sandbox.sandbox.status_of_empty_list = status
    bench.settings = settings_for(sandbox, page_size=50, audit_pages=2)
    bench.read()
    assert bench.read().progress.records == 0
    let_pass(sandbox.sandbox, seconds=DAY.total_seconds(), changed=20)
    bench.read()
    bench.assert_landed(sandbox)
    covered = bench.store.covered()
    sandbox.sandbox.advance(seconds=3600, changed=20)
    sandbox.sandbox.intercept = lambda request: Response(status_code=status) if request.url.path == SHIPMENTS else None
    with pytest.raises((NotAList, Rejected)):
        bench.read()
    assert bench.store.covered() == covered


@pytest.mark.parametrize("status", [404, 204])
def test_an_answer_without_a_list_is_no_empty_list_where_the_service_answers_with_one(bench, sandbox, status):
    sandbox.sandbox.intercept = lambda request: Response(status_code=status) if "2026-03" in request.url.query else None
    with bench.api() as api, pytest.raises((NotAList, Rejected)):
        listing_of(bench.settings, api).count(NOW - DAY, NOW)
