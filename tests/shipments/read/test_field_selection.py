"""Reading from a service that takes less of field selection than is asked for, and takes it again."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from tests.shipments.read.conftest import SHIPMENTS
from wms_sandbox.field_treatment import FieldTreatment
from wms_sync.shipments.read.listing import remembered

BRAND = "fields:order.brand"


def refuse(sandbox, *refused: str) -> None:
    sandbox.sandbox.field_treatment = FieldTreatment(frozenset(refused))


def a_day_passes(bench, days: int = 1) -> None:
    """What was tried was tried a day ago; or so long ago as a clock says that was ahead, in days below zero."""
    store, service = bench.store, bench.settings.base_url
    earlier = (
        replace(refusal, tried_at=refusal.tried_at - timedelta(days=days)) for refusal in store.refusals(service, "")
    )
    store.replace_refusals(service, "", list(earlier))


def test_what_was_omitted_is_read_again_once_the_name_is_back(bench, sandbox):
    refuse(sandbox, BRAND)
    whole = bench.read().intervals
    refuse(sandbox)
    sandbox.sandbox.advance(seconds=3600)
    assert bench.read().progress.records < 10, "it is tried once a day"
    a_day_passes(bench)
    sandbox.sandbox.advance(seconds=3600)
    again = bench.read()
    assert again.intervals[0].start == whole[0].start
    assert again.progress.records == SHIPMENTS
    assert again.warnings == ()
    a_day_passes(bench)
    sandbox.sandbox.advance(seconds=3600)
    assert bench.read().progress.records < 10, "it is read again once"


@pytest.mark.parametrize("days", [1, -40])
def test_a_name_that_stays_refused_is_tried_once_a_day(bench, sandbox, days):
    """And each night warns of it."""
    refuse(sandbox, BRAND)
    first = bench.read()
    assert BRAND in first.warnings[0]
    [window, *_] = bench.store.windows("landed")
    assert window.omitted.keys() == {BRAND}
    assert remembered(bench.settings, bench.store).omitted == window.omitted, "for audits"
    a_day_passes(bench, days)
    for tries in (1, 0):
        sandbox.sandbox.advance(seconds=60)
        sandbox.sandbox.requests.clear()
        assert bench.read().warnings == first.warnings
        assert any("order.brand" in request.query for request in sandbox.sandbox.requests) == bool(tries)
