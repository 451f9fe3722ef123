"""Records of runs, over SQLite and over a real PostgreSQL."""

from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from wms_sync.layout import Layout
from wms_sync.master_data.kinds import LOCATION_TAGS
from wms_sync.master_data.push import push_lock
from wms_sync.runs import purpose_of
from wms_sync.state import schema
from wms_sync.state.lock import lock_of
from wms_sync.state.run_records import KEPT, KILLED, KILLED_KIND, OVERDUE_AFTER, RunRecord, RunRecords


@pytest.fixture
def records(url):
    with RunRecords.opened(url) as opened:
        yield opened


def test_only_the_newest_are_kept(records):
    records.save(RunRecord("run-0", "sync", "ui"))
    with records.engine.begin() as connection:
        first = connection.execute(schema.runs.select()).one()._mapping
        more = [{**first, "run_id": f"run-{n}", "number": first["number"] + n} for n in range(1, KEPT + 2)]
        connection.execute(schema.runs.insert(), more)
    records.save(RunRecord(f"run-{KEPT + 2}", "sync", "ui"))
    assert [kept.run_id for kept in records.newest(2 * KEPT)] == [f"run-{n}" for n in range(KEPT + 2, 2, -1)]


def test_an_open_run_without_its_lock_was_killed(records, url, tmp_path):
    layout = Layout(tmp_path)
    lock = lock_of(url, layout)
    for run_id, purpose in (("killed", "sync"), ("alive", "backfill"), ("pushing", purpose_of(LOCATION_TAGS))):
        records.save(RunRecord(run_id, purpose, "ui"))
    before = records.of("killed")
    with lock.hold("backfill", run_id="alive"), lock.hold("push", what=push_lock(LOCATION_TAGS.name), run_id="pushing"):
        assert [record.outcome for record in records.as_they_are(layout)] == ["running", "running", "failed"]
        assert records.of("killed") == before, "looking changes nothing"
        [killed] = records.mark_killed(layout)
        assert killed == records.of("killed")
        assert (killed.outcome, killed.error, killed.error_kind) == ("failed", KILLED, KILLED_KIND)
        assert records.mark_killed(layout) == ()
    assert [record.run_id for record in records.mark_killed(layout)] == ["alive", "pushing"]
    records.save(replace(killed, outcome="succeeded"))
    assert records.as_it_is(layout, before).outcome == "succeeded", "it ended after it was looked at"


def test_a_run_that_waits_was_killed_if_it_is_overdue_and_the_lock_is_free(records, url, tmp_path):
    layout, now = Layout(tmp_path), datetime.now(UTC)
    for run_id, late in (("overdue", 2 * OVERDUE_AFTER), ("late", OVERDUE_AFTER / 2), ("early", -OVERDUE_AFTER)):
        records.save(RunRecord(run_id, "sync", "schedule", outcome="waiting", error="Down.", due_at=now - late))
    with lock_of(url, layout).hold("backfill", run_id="another"):
        assert records.mark_killed(layout) == ()
    [killed] = records.mark_killed(layout)
    assert killed == records.of("overdue")
    assert (killed.outcome, killed.error_kind, killed.due_at) == ("failed", KILLED_KIND, None)
