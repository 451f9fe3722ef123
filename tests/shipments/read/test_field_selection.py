"""Reading from a service that takes less of field selection than is asked for, and takes it again."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from tests.conftest import logged
from tests.shipments.read.conftest import SHIPMENTS
from wms_sandbox.field_treatment import FieldTreatment
from wms_sync.service.selection import Selection
from wms_sync.shipments.read.field_selection import FieldSelection, Refusals
from wms_sync.shipments.read.progress import Warnings
from wms_sync.shipments.read.raw import read_manifest
from wms_sync.shipments.read.reader import Reading

WHOLE = Selection.whole(include_addresses=False)
REFUSED = frozenset({"fields:packages.gallery.items", "fields:order=carrier"})
OMITTED = ("fields:order=carrier", "fields:packages.gallery.items")


def read(bench, warnings: Warnings | None = None):
    with bench.api() as api:
        return Reading(bench.run, api, warnings=warnings).sync()


def refuse(sandbox, *refused: str) -> None:
    sandbox.sandbox.field_treatment = FieldTreatment(frozenset(refused))


def a_day_passes(bench, days: int = 1) -> None:
    """What was tried was tried a day ago; or so long ago as a clock says that was ahead, in days below zero."""
    with Refusals(bench.settings.database_url, bench.store.turn) as memory:
        known = memory.of(bench.settings.base_url, "")
        yesterday = (replace(one, tried_at=one.tried_at - timedelta(days=days)) for one in known)
        memory.replace(bench.settings.base_url, "", yesterday)


def queries(sandbox, since: int) -> list[str]:
    return [one.query for one in list(sandbox.sandbox.requests)[since:]]


def test_a_refused_name_is_left_out_and_warned_of(bench, sandbox):
    refuse(sandbox, *REFUSED)
    first = read(bench)
    assert first.progress.records == SHIPMENTS
    windows = bench.store.windows("landed")
    assert {tuple(window.omitted) for window in windows} == {OMITTED}
    assert read_manifest(bench.layout, windows[0].id).window.omitted.keys() == set(OMITTED)
    assert "fields:packages.gallery.items" in " ".join(first.warnings)
    assert "the data of gallery_items" in " ".join(first.warnings)
    assert "carrier of orders" in " ".join(first.warnings)

    sandbox.sandbox.advance(seconds=3600, changed=5)
    before = len(sandbox.sandbox.requests)
    report = read(bench)
    statuses = {request.status for request in list(sandbox.sandbox.requests)[before:]}
    assert statuses == {200}, "it is not asked for again that day"
    assert report.warnings == first.warnings, "an acknowledgement lasts"


def test_what_was_omitted_is_read_again_once_the_name_is_back(bench, sandbox):
    refuse(sandbox, *REFUSED)
    whole = read(bench).intervals
    refuse(sandbox)
    sandbox.sandbox.advance(seconds=3600)
    assert read(bench).progress.records < 10, "it is tried once a day"
    a_day_passes(bench)
    sandbox.sandbox.advance(seconds=3600)
    again = read(bench)
    assert again.intervals[0].start == whole[0].start
    assert again.progress.records == SHIPMENTS
    assert again.warnings == ()
    a_day_passes(bench)
    sandbox.sandbox.advance(seconds=3600)
    assert read(bench).progress.records < 10, "it is read again once"


@pytest.mark.parametrize("days", [1, -40])
def test_a_name_that_stays_refused_is_tried_once_a_day(bench, sandbox, days):
    refuse(sandbox, "fields:order.brand")
    read(bench)
    assert (
        FieldSelection(bench.settings, bench.store).remembered().asked == WHOLE.without(["fields:order.brand"]).asked
    ), "for audits"
    newer = bench.settings.model_copy(update={"api_version": "2026-01"})
    assert FieldSelection(newer, bench.store).remembered() == WHOLE, "another version is asked for everything"
    a_day_passes(bench, days)
    for tries in (1, 0):
        sandbox.sandbox.advance(seconds=60)
        before = len(sandbox.sandbox.requests)
        read(bench)
        asked = ["order.brand" in query for query in queries(sandbox, before)]
        assert any(asked) == bool(tries)


def test_all_that_is_refused_falls_back_to_names_and_loses_nothing(bench, sandbox):
    refuse(sandbox, "fields:retailer=all")
    with logged() as told:
        report = read(bench)
    assert report.warnings == ()
    assert "requested by name" in told[0]
    assert {tuple(window.omitted) for window in bench.store.windows("landed")} == {()}
