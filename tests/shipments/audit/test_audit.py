"""The nightly audit: slices of old shipments read again, what they find, and that they cover nothing."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from urllib.parse import unquote

import pytest
from starlette.responses import JSONResponse, Response

from tests.conftest import CONFIG, FEWER, NOW, logged
from tests.test_sync import begun, first_synced
from wms_sandbox.app import Sandbox
from wms_sync.cli.views import status_lines
from wms_sync.json_values import LARGEST_ID
from wms_sync.reports.status import status
from wms_sync.shipments.audit import SliceReader
from wms_sync.shipments.load.audits import stored_shipments
from wms_sync.shipments.load.refresh import refresh
from wms_sync.state.audits import Audit, Audits
from wms_sync.state.schema import audits as audits_table

LONG_AGO = timedelta(days=2)
DIFFERS = "audits_find_no_change_that_the_sync_missed"
ROUND = "after_a_whole_round_the_tables_equal_the_service"
COUNTS = "the_service_has_the_shipments_that_the_tables_have"
BEFORE_START = 1_600_000_000_000


@pytest.fixture
def sandbox(in_process):
    in_process.sandbox = Sandbox(replace(CONFIG, shipments=120, families=20))
    return in_process


@contextmanager
def store(sandbox):
    """The service's own data, to change without a trace in ``updated_at``."""
    held = sandbox.sandbox._store
    with sandbox.sandbox._lock:
        yield held
        held.version += 1


def hide(sandbox, index: int) -> int:
    """Let the service not list a shipment any more; its ``updated_at``, to show it again."""
    with store(sandbox) as held:
        before = int(held.updated[index])
        held.updated[index] = BEFORE_START
    return before


def one_page(bench, sandbox, settings_for) -> None:
    """Everything fits into one slice."""
    bench.settings = settings_for(sandbox, page_size=1000)


def night(bench, sandbox):
    """An hour later: a sync, the audit's slice, and the tables."""
    slice_, said = slice_read(bench, sandbox)
    return slice_, refresh(bench.run), said


def slice_read(bench, sandbox):
    """An hour later: what a sync reads, and the audit's slice; nothing is loaded."""
    sandbox.sandbox.advance(seconds=3600)
    make_due(bench)
    with bench.api() as api:
        report = bench.reading(api).sync()
        with logged() as said:
            return audit_reading(bench, api).read(report.horizon), said


def audit_reading(bench, api) -> SliceReader:
    return SliceReader(bench.run, api, stored=partial(stored_shipments, bench.settings))


def missing(bench) -> set[int]:
    """What audits have proven missing so far, before any load."""
    with Audits(bench.settings.database_url) as store:
        return set(store.missing())


def make_due(bench):
    """As if the last slice was read two days ago."""
    dated(bench, datetime.now(UTC) - LONG_AGO)


def dated(bench, moment):
    """As if every slice was read at a moment."""
    with Audits(bench.settings.database_url) as store, store._engine.begin() as connection:
        connection.execute(audits_table.update().values(read_at=moment))


def audits(bench) -> tuple[Audit, ...]:
    """All that were read, oldest first."""
    with Audits(bench.settings.database_url) as store:
        return store.all()


def last(bench) -> Audit:
    return audits(bench)[-1]


def warned(report) -> set[str]:
    return {
        outcome.check.name for outcome in report.checks if not outcome.passed and outcome.check.table == "ops_audits"
    }


def test_slices_follow_each_other_round_after_round(bench, sandbox, settings_for):
    """What is deleted behind a round shows in its counts, and the next round finds it. A failed slice is repeated."""
    first_synced(bench, sandbox)
    bench.settings = settings_for(sandbox, page_size=20, audit_pages=3)
    ids = sandbox.sandbox._store.ids
    assert status(bench.settings, bench.store).last_audit is None
    sandbox.sandbox.intercept = lambda request: Response("{}", 400) if "id%7B" in request.url.query else None
    failed, said = slice_read(bench, sandbox)
    assert (failed, "audit" in said[0]) == (None, True)
    sandbox.sandbox.intercept = None

    night(bench, sandbox)
    assert_shown(bench, f"ids above 0 up to {ids[59]}: 60 shipments compared", "covered 60 of 120 shipments; 0 marked")
    sandbox.sandbox.delete_shipments([int(ids[40]), int(ids[90])])
    _, refreshed, _ = night(bench, sandbox)
    assert (warned(refreshed), missing(bench)) == ({COUNTS, ROUND}, {ids[90]})
    assert_shown(bench, "to the end: 59 shipments compared", "covered 120 of 120 shipments; 1 marked missing in total")

    slice_read(bench, sandbox)
    _, refreshed, _ = night(bench, sandbox)
    assert (warned(refreshed), missing(bench)) == (set(), {ids[40], ids[90]})
    slices = audits(bench)
    assert [found.after_id for found in slices] == [0, ids[59], 0, slices[2].to_id]
    assert [found.to_id for found in slices] == [ids[59], LARGEST_ID, slices[2].to_id, LARGEST_ID]
    assert [(found.compared, found.absent) for found in slices] == [(60, 0), (59, 1), (60, 1), (58, 0)]


def assert_shown(bench, *lines: str) -> None:
    text = "\n".join(status_lines(status(bench.settings, bench.store), ()))
    assert [line for line in lines if line not in text] == []


DAY = (NOW - timedelta(days=3), NOW - timedelta(days=2))


def read_a_day(bench) -> None:
    """And see that there is nothing to audit before it is loaded."""
    with bench.api() as api:
        bench.reading(api).backfill(*DAY)
        assert audit_reading(bench, api).read(NOW) is None
    refresh(bench.run)


def test_a_slice_covers_no_time_and_is_read_once_a_night(bench, sandbox, settings_for):
    """Also after a clock that was ahead dated one; but none while the tables are lost."""
    begun(bench, sandbox, read_a_day)
    with bench.api() as api:
        bench.settings = settings_for(sandbox, audit_pages=0)
        assert audit_reading(bench, api).read(NOW) is None
        bench.settings = settings_for(sandbox, audit_pages=2, page_size=20)
        reading = audit_reading(bench, api)
        first = reading.read(NOW)
        assert reading.read(NOW) is None
        dated(bench, datetime.now(UTC) + timedelta(days=40))
        second = reading.read(NOW)
        assert first is not None
        assert second is not None
        assert (second.after_id, last(bench).window_id, reading.read(NOW)) == (first.to_id, second.window_id, None)
        make_due(bench)
        bench.layout.published.unlink()
        assert reading.read(NOW) is None
    assert [window.reason for window in bench.store.windows("landed")] == ["audit", "audit"]
    assert [(covered.start, covered.end) for covered in bench.store.covered()] == [DAY]


def answer_by_id(sandbox, answer) -> None:
    """Answer so when shipments are requested by id alone."""
    sandbox.sandbox.intercept = lambda request: answer if "in%3A" in request.url.query else None


def test_without_proof_nothing_is_missing(bench, sandbox, settings_for):
    """A record is lost while paging, then requests by id are answered in ways that prove nothing."""
    first_synced(bench, sandbox)
    one_page(bench, sandbox, settings_for)
    gone, other = (int(sandbox.sandbox._store.ids[index]) for index in (3, 40))
    sandbox.sandbox.delete_shipments([gone])
    nothing = {"collection": [], "included": {}, "has_more": False, "next": None, "meta": {"count": 0}}

    def lose(page):
        kept = [record for record in page["collection"] if record["id"] != other]
        return page | {"collection": kept if len(page["collection"]) > 5 else page["collection"]}

    def spoil(page):
        return page | {"collection": [one | {"id": "?"} if one["id"] == other else one for one in page["collection"]]}

    for answer, rewrite, says in (
        (None, lose, "counts 119 records"),
        (JSONResponse(nothing), None, "proves nothing"),
        (Response("{}", 400), None, "without proof"),
        (None, spoil, "does not prove that any shipment is gone"),
    ):
        answer_by_id(sandbox, answer)
        sandbox.sandbox.rewrite = rewrite
        _, said = slice_read(bench, sandbox)
        assert (says in said[0], missing(bench)) == (True, set()), says
    sandbox.sandbox.rewrite = None
    slice_read(bench, sandbox)
    assert missing(bench) == {gone}


def test_that_most_are_gone_is_not_believed(bench, sandbox, settings_for):
    """A token that sees less looks the same. With a larger slice the same shipments are less than half."""
    sandbox.sandbox = Sandbox(FEWER)
    first_synced(bench, sandbox)
    gone = [int(shipment) for shipment in sandbox.sandbox._store.ids[:101]]
    sandbox.sandbox.delete_shipments(gone)
    bench.settings = settings_for(sandbox, page_size=90)
    sandbox.sandbox.requests.clear()
    _, said = slice_read(bench, sandbox)
    assert ("Of 191 shipments in the tables, the audit found only 90." in said[0], missing(bench)) == (True, set())
    assert [asked for asked in sandbox.sandbox.requests if "in%3A" in asked.query] == []
    bench.settings = settings_for(sandbox, page_size=90, audit_pages=10)
    slice_read(bench, sandbox)
    slice_read(bench, sandbox)
    assert missing(bench) == set(gone)
    assert max(len(asked.query) for asked in sandbox.sandbox.requests if "in%3A" in asked.query) < 4000


def test_what_is_older_than_a_later_start_is_not_absent(bench, sandbox, settings_for):
    """Nor is it requested by id."""
    first_synced(bench, sandbox)
    bench.settings = settings_for(sandbox, page_size=1000, start_date="2026-03-28")
    held = sandbox.sandbox._store
    since = held.ids[held.updated >= datetime(2026, 3, 28, tzinfo=UTC).timestamp() * 1000].tolist()
    sandbox.sandbox.delete_shipments(since[:1])
    sandbox.sandbox.requests.clear()
    night(bench, sandbox)
    assert (last(bench).compared, last(bench).absent, missing(bench)) == (len(since) - 1, 1, {since[0]})
    queries = [unquote(asked.query) for asked in sandbox.sandbox.requests]
    asked = [ids for query in queries for ids in re.findall(r"id\{in:\[([\d,]+)\]", query)]
    assert asked[-1] == f"{since[0]},{since[-1]}"
