"""The nightly audit: slices of old shipments read again, what they find, and that they cover nothing."""

from datetime import UTC, datetime, timedelta
from urllib.parse import unquote

import pytest
from starlette.responses import JSONResponse, Response

from tests.bench import NOW, Bench, logged
from wms_sync.cli.views import status_lines
from wms_sync.json_values import LARGEST_ID
from wms_sync.reports.installation import read_installation
from wms_sync.shipments.audit import SliceReader
from wms_sync.shipments.read.progress import Warnings
from wms_sync.state.audits import Audit
from wms_sync.state.schema import audits as audits_table

DIFFERS = "audits_find_no_change_that_the_sync_missed"
ROUND = "after_a_whole_round_the_tables_equal_the_service"
COUNTS = "the_service_has_the_shipments_that_the_tables_have"
BEFORE_START = 1_600_000_000_000
NOTHING = {"collection": [], "included": {}, "has_more": False, "next": None, "meta": {"count": 0}}


def one_page(bench, sandbox, settings_for) -> None:
    """Everything fits into one slice."""
    bench.settings = settings_for(sandbox, page_size=1000)


def night(bench, sandbox):
    """An hour later: a sync, the audit's slice, and the tables."""
    slice_read(bench, sandbox)
    return bench.load()


def slice_read(bench, sandbox):
    """An hour later: what a sync reads, and the audit's slice; nothing is loaded."""
    sandbox.sandbox.advance(seconds=3600)
    dated(bench, datetime.now(UTC) - timedelta(days=2))  # so that one is due
    with bench.api() as api:
        report = bench.reading(api).sync()
        with logged() as said:
            return audit_reading(bench, api).read(report.horizon), said


def audit_reading(bench, api) -> SliceReader:
    return SliceReader(bench.run, api, landed=lambda _: None, warnings=Warnings())


def missing(bench) -> set[int]:
    """What audits have proven missing so far, before any load."""
    return set(bench.store.audits.missing())


def dated(bench, moment):
    """As if every slice was read at a moment."""
    with bench.store.engine.begin() as connection:
        connection.execute(audits_table.update().values(read_at=moment))


def audits(bench: Bench) -> tuple[Audit, ...]:
    """All that were read, oldest first."""
    return bench.store.audits.all()


def warned(report) -> set[str]:
    return {
        outcome.check.name for outcome in report.checks if not outcome.passed and outcome.check.table == "ops_audits"
    }


@pytest.mark.proof
def test_slices_follow_each_other_round_after_round(synced, sandbox, settings_for):
    """What is deleted behind a round shows in its counts, and the next round finds it. A failed slice is repeated."""
    synced.settings = settings_for(sandbox, page_size=40, audit_pages=3)
    ids = sandbox.sandbox._store.ids
    sandbox.sandbox.intercept = lambda request: Response("{}", 400) if "id%7B" in request.url.query else None
    failed, said = slice_read(synced, sandbox)
    assert (failed, "audit" in said[0]) == (None, True)
    sandbox.sandbox.intercept = None

    night(synced, sandbox)
    sandbox.sandbox.delete_shipments([int(ids[40]), int(ids[190])])
    refreshed = night(synced, sandbox)
    assert (warned(refreshed), missing(synced)) == ({COUNTS, ROUND}, {ids[190]})
    shown = "\n".join(status_lines(read_installation(synced.settings, synced.store), ()))
    assert "to the end: 119 shipments compared" in shown
    assert "covered 240 of 240 shipments; 1 marked missing in total" in shown

    slice_read(synced, sandbox)
    refreshed = night(synced, sandbox)
    assert (warned(refreshed), missing(synced)) == (set(), {ids[40], ids[190]})
    half = audits(synced)[2].to_id
    assert [(found.after_id, found.to_id, found.compared, found.absent) for found in audits(synced)] == [
        (0, ids[119], 120, 0),
        (ids[119], LARGEST_ID, 119, 1),
        (0, half, 120, 1),
        (half, LARGEST_ID, 118, 0),
    ]


DAY = (NOW - timedelta(days=3), NOW - timedelta(days=2))


def test_a_slice_covers_no_time_and_is_read_once_a_night(bench, sandbox, settings_for):
    """Also after a clock that was ahead dated one; but none while the tables are damaged or lost."""
    bench.backfill(*DAY)
    with bench.api() as api:
        assert audit_reading(bench, api).read(NOW) is None, "nothing is loaded yet"
        bench.load()
        bench.settings = settings_for(sandbox, audit_pages=0)
        assert audit_reading(bench, api).read(NOW) is None
        bench.settings = settings_for(sandbox, audit_pages=2, page_size=20)
        reading = audit_reading(bench, api)
        assert [reading.read(NOW) is None for _ in range(2)] == [False, True]
        dated(bench, datetime.now(UTC) + timedelta(days=40))
        assert [reading.read(NOW) is None for _ in range(2)] == [False, True]
        first, second = audits(bench)
        assert second.after_id == first.to_id
        bench.store.abandon(first.window_id)  # its pages were damaged
        dated(bench, datetime.now(UTC) - timedelta(days=2))
        assert reading.read(NOW) is not None
        assert audits(bench)[-1].after_id == first.after_id
        dated(bench, datetime.now(UTC) - timedelta(days=2))
        bench.layout.published.write_bytes(b"no database")
        assert reading.read(NOW) is None
        bench.layout.published.unlink()
        assert reading.read(NOW) is None
    assert [window.reason for window in bench.store.windows("landed")] == ["audit", "audit"]
    assert [(covered.start, covered.end) for covered in bench.store.covered()] == [DAY]


@pytest.mark.proof
def test_a_slice_waits_until_what_earlier_runs_read_is_loaded(synced, sandbox, settings_for):
    """As after a killed load, or with an older lake: the tables lack a shipment that is gone by now."""
    one_page(synced, sandbox, settings_for)
    sandbox.sandbox.advance(seconds=3600, new=1)
    synced.read()
    gone = int(sandbox.sandbox._store.ids[-1])
    sandbox.sandbox.delete_shipments([gone])
    synced.run_id = "another"
    assert slice_read(synced, sandbox) == (None, [])
    synced.load()
    night(synced, sandbox)
    assert missing(synced) == {gone}


def test_without_proof_nothing_is_missing(synced, sandbox, settings_for):
    """A record is lost while paging, then requests by id are answered in ways that prove nothing."""
    one_page(synced, sandbox, settings_for)
    gone, other = (int(sandbox.sandbox._store.ids[index]) for index in (3, 40))
    sandbox.sandbox.delete_shipments([gone])

    def lose(page):
        kept = [record for record in page["collection"] if record["id"] != other]
        return page | {"collection": kept if len(page["collection"]) > 5 else page["collection"]}

    def spoil(page):
        return page | {"collection": [one | {"id": "?"} if one["id"] == other else one for one in page["collection"]]}

    for answer, rewrite, says in (
        (None, lose, "counts 239 records"),
        (JSONResponse(NOTHING), None, "proves nothing"),
        (Response("{}", 400), None, "without proof"),
        (None, spoil, "does not prove that any shipment is gone"),
    ):
        sandbox.sandbox.intercept = lambda request, answer=answer: answer if "in%3A" in request.url.query else None
        sandbox.sandbox.rewrite = rewrite
        _, said = slice_read(synced, sandbox)
        assert (says in said[0], missing(synced)) == (True, set()), says
    sandbox.sandbox.rewrite = None
    slice_read(synced, sandbox)
    assert missing(synced) == {gone}


def test_that_most_are_gone_is_not_believed(synced, sandbox, settings_for):
    """A token that sees less looks the same. With a larger slice the same shipments are less than half."""
    gone = [int(shipment) for shipment in sandbox.sandbox._store.ids[:101]]
    sandbox.sandbox.delete_shipments(gone)
    synced.settings = settings_for(sandbox, page_size=90)
    sandbox.sandbox.requests.clear()
    _, said = slice_read(synced, sandbox)
    assert ("Of 191 shipments in the tables, the audit found only 90." in said[0], missing(synced)) == (True, set())
    assert [asked for asked in sandbox.sandbox.requests if "in%3A" in asked.query] == []
    synced.settings = settings_for(sandbox, page_size=90, audit_pages=10)
    slice_read(synced, sandbox)
    slice_read(synced, sandbox)
    assert missing(synced) == set(gone)
    assert max(len(asked.query) for asked in sandbox.sandbox.requests if "in%3A" in asked.query) < 4000


def test_what_is_older_than_a_later_start_is_not_absent(synced, sandbox, settings_for):
    """Nor is it requested by id. Each audit counts it again: a count stayed, even if shipments were missing then."""
    synced.settings = settings_for(sandbox, page_size=1000, start_date="2026-03-28")
    synced.store.observe("records_before_start", 7, synced.settings.start.isoformat())
    held = sandbox.sandbox._store
    since = held.ids[held.updated >= datetime(2026, 3, 28, tzinfo=UTC).timestamp() * 1000].tolist()
    sandbox.sandbox.delete_shipments(since[:1])
    sandbox.sandbox.requests.clear()
    night(synced, sandbox)
    found = audits(synced)[-1]
    assert (found.compared, found.absent, missing(synced)) == (len(since) - 1, 1, {since[0]})
    assert synced.store.observation("records_before_start").value == len(held.ids) - len(since)
    asked = [asked.query for asked in sandbox.sandbox.requests if "in%3A" in asked.query]
    assert f"[{since[0]},{since[-1]}]" in unquote(asked[-1])
