"""What else is told: the state of the data, of pushes and of audits; once, until it changes or ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import duckdb
import pytest
from msgspec.structs import replace

from tests.conftest import opened_store, turn_at
from wms_sync.state.audits import Audit, AuditResult, Audits
from wms_sync.state.ledger import Entry, PushedFile, PushFiles, PushLedger, State
from wms_sync.state.lock import FileLock
from wms_sync.state.store import Window
from wms_sync.state.turns import Turn
from wms_sync.targets.database import create_empty
from wms_sync.targets.file import FileTarget
from wms_sync.targets.target import note_published

HOUR = timedelta(hours=1)
SERVICE = "https://acme.example.com"


@pytest.fixture(scope="module")
def empty(tmp_path_factory) -> Path:
    """A published file of which nothing is wrong."""
    path = Path(tmp_path_factory.mktemp("published"), "analytics.duckdb")
    with duckdb.connect(str(path)) as connection:
        create_empty(connection)
    return path


def with_rows(installation, empty: Path, *statements: str) -> None:
    """Publish a file of which these things are so."""
    published = installation.settings.layout.published
    published.parent.mkdir(exist_ok=True)
    published.write_bytes(empty.read_bytes())
    with duckdb.connect(str(published)) as connection:
        for statement in statements:
            connection.execute(statement)


@pytest.fixture
def kept_at(hooked) -> Iterator[tuple[str, Turn]]:
    """Where state is kept, and the turn in which it may be written."""
    url = hooked.settings.database_url
    with closing(turn_at(url, hooked.settings.data_dir)) as turn:
        yield url, turn


FOUND = "'w', 1, timestamptz '2026-03-01 12:00:00+00'"


def misfit(place: str, number: int) -> str:
    return (
        "insert into ops.quarantine values "
        f"('w/1', {number}, 'Order', null, '$.collection[{number}].order.{place}', '\"Jane\"', 'no number', {FOUND})"
    )


def unknown(path: str) -> str:
    return f"insert into ops.schema_drift values ('w/1', '{path}', '\"Jane\"', 3, 'the key is in no type', {FOUND})"


def test_a_place_that_does_not_fit_is_told_once_and_never_a_value(hooked, receiver, empty):
    with_rows(hooked, empty, misfit("weight", 1), misfit("weight", 2))
    hooked.tell()
    [told] = receiver.taken
    assert (told["event"], told["counts"]) == ("quarantine", {"values": 2, "kinds": 1})
    assert "2 values or records did not fit and are left out: Order $.collection[].order.weight." in told["text"]
    with_rows(hooked, empty, *(misfit("weight", number) for number in range(3)), unknown("Order.gift_wrap"))
    hooked.tell()
    assert receiver.events == ["quarantine", "drift"], "more of the same is the same"
    assert "Order.gift_wrap" in receiver.taken[1]["text"]
    with_rows(hooked, empty, misfit("weight", 1), misfit("volume", 2))
    hooked.tell()
    assert receiver.events == ["quarantine", "drift", "quarantine"]
    with_rows(hooked, empty)
    hooked.tell()
    with_rows(hooked, empty, unknown("Order.gift_wrap"))
    hooked.tell()
    assert receiver.events == ["quarantine", "drift", "quarantine", "drift"], "it had ended, and is so again"
    assert "Jane" not in str(receiver.taken)


def test_what_cannot_be_looked_at_has_not_ended(hooked, receiver, empty):
    with_rows(hooked, empty, unknown("Order.gift_wrap"))
    hooked.tell()
    hooked.settings.layout.published.write_bytes(b"no database")
    hooked.tell()
    with_rows(hooked, empty, unknown("Order.gift_wrap"))
    hooked.tell()
    assert receiver.events == ["drift", "finding"]
    assert "analytics.duckdb cannot be read" in receiver.taken[1]["text"]


def test_a_published_file_that_is_gone_is_told_once_and_so_is_its_return(hooked, receiver, empty):
    with_rows(hooked, empty, unknown("Order.gift_wrap"))
    with opened_store(hooked.settings) as store:
        note_published(store, FileTarget(hooked.settings), 1)
    hooked.tell()
    hooked.settings.layout.published.unlink()
    for hours in (1, 2):
        hooked.tell(hours * HOUR)
    assert receiver.events == ["drift", "tables_gone"]
    assert "analytics.duckdb" in receiver.taken[1]["text"]
    assert "wms-sync sync" in receiver.taken[1]["what_to_do"]
    with_rows(hooked, empty, unknown("Order.gift_wrap"))
    hooked.tell()
    assert receiver.events == ["drift", "tables_gone", "recovered"], "what was told of its rows had not ended"
    assert "The published tables are there again" in receiver.taken[2]["text"]


def test_old_data_is_told_once_and_so_is_its_end(hooked, receiver):
    start = hooked.settings.start

    def covered(until, name):
        window = Window(
            id=name, from_at=start, to_at=until, state="reading", reason="sync", run_id="run", signature="",
            count_reported=0, pages=0, records=0, bytes=0, started_at=hooked.now, landed_at=None, loaded_at=None,
            read_seconds=None,
        )  # fmt: skip
        with opened_store(hooked.settings) as store:
            store.begin_windows([window])
            store.mark_landed(window.id, read_seconds=0.1)
            store.mark_loaded([window.id])

    covered(hooked.now - HOUR, "first")
    hooked.tell()
    hooked.tell(20 * HOUR)
    assert receiver.taken == []
    for hours in (30, 40, 60):
        hooked.tell(hours * HOUR)
    assert receiver.events == ["stale_data"]
    assert receiver.taken[0]["data_as_of"] == f"{hooked.now - HOUR:%Y-%m-%dT%H:%M:%SZ}"
    covered(hooked.now - HOUR / 2, "second")
    hooked.tell()
    assert receiver.events == ["stale_data", "recovered"]
    hooked.run("failed", "No.", "X")
    hooked.tell(30 * HOUR)
    assert receiver.events == ["stale_data", "recovered", "run_failed"], "which says why the data is old"
    hooked.tell(60 * HOUR)
    assert receiver.events[3:] == ["stale_data"], "and the night after did not mend it"
    receiver.clear()
    hooked.run("succeeded")
    hooked.tell()
    hooked.run("failed", "Down.", "ServiceFailed", source="schedule", began=hooked.now + 59 * HOUR)
    hooked.tell(60 * HOUR)
    assert receiver.events == ["recovered", "recovered"], "the night is tried again"


def retailer(hooked, key: str, state: State) -> Entry:
    return Entry(
        service=SERVICE, kind="retailers", key=key, state=state, body="{}", body_sha256="0" * 64, remote_id=None,
        run_id="run", attempts=1, message=None, intended_at=hooked.now, settled_at=None, seen_at=None,
    )  # fmt: skip


def test_creates_in_doubt_are_told_until_they_are_settled_but_not_while_they_are_sent(hooked, receiver, kept_at):
    with PushLedger(*kept_at) as ledger:
        with FileLock(hooked.settings.layout).hold("a push", what="push-retailers"):
            ledger.record([retailer(hooked, "JANE", State.INTENDED)])
            hooked.tell()
            assert receiver.taken == []
        for _ in range(2):
            hooked.tell()
        [told] = receiver.taken
        assert (told["event"], told["counts"]) == ("doubts", {"doubts": 1})
        ledger.record([retailer(hooked, "JOE", State.DOUBT)])
        with FileLock(hooked.settings.layout).hold("a push", what="push-retailers"):
            hooked.tell()
        hooked.tell()
        ledger.record([retailer(hooked, key, State.CREATED) for key in ("JANE", "JOE")])
        hooked.tell()
    assert receiver.events == ["doubts", "doubts"]
    assert "JANE" not in str(receiver.taken)
    assert "JOE" not in str(receiver.taken)


def test_what_pushes_leave_is_told_when_it_does_not_settle_by_itself(hooked, receiver, kept_at):
    unsent = PushedFile(SERVICE, "products", "/new.csv", "1" * 64, "run-1", 3, 0, "Down.", hooked.now, hooked.now)
    waits = replace(unsent, path="/other.csv", sha256="2" * 64, unsent=0, waits=2)
    with PushFiles(*kept_at) as files:
        files.record(unsent)
        files.record(waits)
        hooked.tell()
        assert receiver.taken == []
        for hours in (2, 3):
            hooked.tell(hours * HOUR)
        [told] = receiver.taken
        assert (told["event"], told["counts"]) == ("push_not_settled", {"unsent": 3, "waits": 0})
        hooked.tell(27 * HOUR)
        assert receiver.taken[1]["counts"] == {"unsent": 0, "waits": 2}
        for file in (unsent, waits):
            files.record(replace(file, unsent=0, waits=0))
        hooked.tell(28 * HOUR)
    assert receiver.events == ["push_not_settled"] * 2


def test_rejected_rows_are_told_once_a_file(hooked, receiver, kept_at):
    file = PushedFile(SERVICE, "retailers", "/new.csv", "1" * 64, "", 0, 0, None, hooked.now, hooked.now)

    def push(content: str, rejected: int) -> None:
        counts = {"created": 1, **({"rejected": rejected} if rejected else {})}
        run_id = hooked.run("succeeded", purpose="push retailers", counts=counts)
        with PushFiles(*kept_at) as files:
            files.record(replace(file, sha256=content * 64, run_id=run_id))
        hooked.tell()

    for content, rejected in (("1", 2), ("1", 2), ("2", 2), ("3", 0), ("3", 1)):
        push(content, rejected)
    assert [(body["event"], body["counts"]) for body in receiver.taken] == [
        ("rejects", {"rejected": 2}), ("rejects", {"rejected": 2}), ("rejects", {"rejected": 1})
    ]  # fmt: skip


def test_each_audit_that_found_something_is_told(hooked, receiver, kept_at):
    nothing = AuditResult(100, 0, 0, 0, 0, 9, 9, 0, "{}")
    with Audits(*kept_at) as audits:
        for number, result in enumerate((nothing, replace(nothing, changed=2, missed=1), nothing, None)):
            read_at = hooked.now + number * HOUR
            audits.begin(Audit(f"window-{number}", "run", read_at, 0, 2**40, hooked.now, 9, 2**40, 9))
            if result is not None:
                audits.complete(f"window-{number}", result)
            for _ in range(2):
                hooked.tell()
    [told] = receiver.taken
    assert (told["event"], told["counts"]) == ("audit_findings", {"compared": 100, "changed": 2, "missed": 1})
