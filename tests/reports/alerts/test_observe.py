"""What else is told: the state of the data, of pushes and of audits; once, until it changes or ends."""

from collections.abc import Callable
from dataclasses import replace as with_other
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace
from pydantic import SecretStr
from sqlalchemy import update

from tests.bench import CONFIG, NOW, empty_tables, opened_store
from tests.changed_files import change
from tests.deferred import deferred
from tests.reports.alerts.conftest import HOUR, Installation, Story, nothing, play, ran
from wms_sandbox.app import Sandbox
from wms_sandbox.transport import InProcess
from wms_sync.reports.alerts import deliver
from wms_sync.runs import Operation
from wms_sync.settings import Settings
from wms_sync.state.audits import Audit
from wms_sync.state.ledger import Entry, PushedFile, State
from wms_sync.state.lock import FileLock
from wms_sync.state.schema import installation
from wms_sync.state.snapshot_files import write_snapshot
from wms_sync.state.store import Window
from wms_sync.targets.file import FileTarget
from wms_sync.targets.target import note_published
from wms_sync.upkeep.recovery import recover_state

SERVICE = "https://acme.example.com"
FOUND = "'w', 1, timestamptz '2026-03-01 12:00:00+00'"
AUDIT = Audit("", "run", NOW, 0, 2**40, NOW, 9, 2**40, 9)
NOTHING = replace(AUDIT, compared=100, settled_in_tables=9, total_in_tables=9, examples="{}")


@deferred
def tables(house: Installation, *statements: str) -> None:
    """Publish a file of which nothing is wrong but this."""
    change(empty_tables(house.settings.layout.published), *statements)


def misfit(place: str, number: int) -> str:
    return (
        "insert into ops.quarantine values "
        f"('w/1', {number}, 'Order', null, '$.collection[{number}].order.{place}', '\"Jane\"', 'no number', {FOUND})"
    )


def unknown(path: str) -> str:
    return f"insert into ops.schema_drift values ('w/1', '{path}', '\"Jane\"', 3, 'no type has the key', {FOUND})"


DRIFTED = tables(unknown("Order.gift_wrap"))


def published(house: Installation) -> None:
    DRIFTED(house)
    with opened_store(house.settings) as store:
        note_published(store, FileTarget(house.settings), 1)


@deferred
def covered(house: Installation, until: float) -> None:
    """The tables have what changed until so many hours from now."""
    window = Window(
        id=f"w{until}", from_at=house.settings.start, to_at=house.now + until * HOUR,
        reason="sync", run_id="run", signature="", started_at=house.now, service=SERVICE,
    )  # fmt: skip
    with opened_store(house.settings) as store:
        store.begin_windows([window])
        store.mark_landed(window.id, read_seconds=0.1)
        store.mark_loaded([window.id])


@deferred
def creates(house: Installation, state: State, *keys: str) -> None:
    """Retailers are in this state."""
    entry = Entry(
        service=str(house.settings.base_url), kind="retailers", key="", state=state, body="{}",
        body_sha256="0" * 64, remote_id=None, run_id="run", attempts=1, message=None, intended_at=house.now,
        settled_at=None, seen_at=None,
    )  # fmt: skip
    with opened_store(house.settings) as store:
        store.ledger.record([replace(entry, key=key) for key in keys])


@deferred
def does(house: Installation, what: Callable[[Settings], object]) -> None:
    """What is done to files, or by a run."""
    what(house.settings)


damaged = does(lambda settings: settings.layout.published.write_bytes(b"no database"))
gone = does(lambda settings: settings.layout.published.unlink())


@deferred
def left(
    house: Installation, path: str, content: str = "1", *, unsent: int = 0, waits: int = 0, rejected: int = 0
) -> None:
    """What a push left of a file of products with this content: unsent, waiting and rejected rows."""
    file = PushedFile(
        SERVICE,
        "products",
        path,
        content,
        "run-1",
        unsent,
        waits,
        "Down.",
        house.now,
        house.now,
        rejected,
        0,
        f"of-{path[1:]}",
    )
    with opened_store(house.settings) as store:
        store.pushed_files.mark_corrected(file)
        store.pushed_files.record(file)


@deferred
def audited(house: Installation, number: int, found: Audit) -> None:
    moved = {"window_id": f"window-{number}", "read_at": house.now + number * HOUR, "settled_at": house.now}
    with opened_store(house.settings) as store:
        store.audits.begin(replace(AUDIT, **moved))
        store.audits.complete(replace(found, **moved))


def put_back(house: Installation) -> None:
    """The state store is an old copy."""
    with opened_store(house.settings) as store:
        write_snapshot(house.settings.layout, store)
        with store.engine.begin() as connection:
            connection.execute(update(installation).values(snapshot=0))


def another_service(house: Installation) -> None:
    """The settings name a service that the tables are not of."""
    house.settings = house.settings.model_copy(update={"base_url": "https://other.example.com"})


STORIES: dict[str, Story] = {
    "places that do not fit, and unknown keys": [
        (covered(-1), None, ""),
        (tables(misfit("weight", 1), misfit("weight", 2)), 0, "new:quarantine"),
        (tables(*(misfit("weight", at) for at in range(3)), unknown("Order.gift_wrap")), 0, "new:drift"),
        (tables(misfit("weight", 1), misfit("volume", 2)), 0, "changed:quarantine ended:drift"),
        (tables(), 0, "ended:quarantine"),
        (DRIFTED, 0, "new:drift"),  # it had ended, and is so again
    ],
    "what cannot be looked at has not ended": [
        (covered(-1), None, ""),
        (DRIFTED, 0, "new:drift"),
        (damaged, 0, "new:tables-unreadable"),
        (DRIFTED, 0, "ended:tables-unreadable"),
    ],
    "a published file that is gone, and its return": [
        (covered(-1), None, ""),
        (published, 0, "new:drift"),
        (gone, 1, "new:tables-gone"),
        (nothing, 2, ""),
        (DRIFTED, 0, "ended:tables-gone"),  # what was told of its rows had not ended
    ],
    "a state store that is an old copy, and one of another service": [
        (covered(-1), 0, ""),
        (DRIFTED, 0, "new:drift"),
        (put_back, 0, ""),
        (tables(), 0, ""),
        (nothing, 40, "new:state-lost"),  # no sync has come
        (does(recover_state), 0, "ended:drift"),
        (DRIFTED, 0, "new:drift"),
        (another_service, 0, "new:another-service"),
        (tables(), 0, ""),
    ],
    "old data, and its end": [
        (covered(-1), 0, ""),
        (nothing, 20, ""),
        *((nothing, hours, "new:stale" if hours == 30 else "") for hours in (30, 40, 60)),
        (covered(-0.5), 0, "ended:stale"),
        (ran("failed", "No.", "X"), 30, "new:run-sync"),  # which says why the data is old
        (nothing, 60, "new:stale"),  # and the night after did not mend it
        (ran("succeeded"), 0, "ended:stale ended:run-sync"),
    ],
    "old data while a night is tried again": [
        (covered(-1), 0, ""),
        (ran("waiting", "Down.", "ServiceFailed", source="schedule", due=29 * HOUR), 28, ""),
    ],
    "creates in doubt": [
        (creates(State.INTENDED, "JANE"), 0, "new:doubts"),
        (nothing, 0, ""),
        (creates(State.DOUBT, "JOE"), 0, "changed:doubts"),
        (creates(State.CREATED, "JANE", "JOE"), 0, "ended:doubts"),
    ],
    "what pushes leave and does not settle by itself": [
        (left("/1.csv", unsent=3), 0, ""),
        (left("/2.csv", waits=2), 0, ""),
        (nothing, 2, "new:file"),
        (nothing, 3, ""),
        (left("/1.csv", unsent=2), 3, ""),
        (nothing, 27, "new:file"),
        (left("/1.csv"), 28, "ended:file"),
        (left("/2.csv"), 28, "ended:file"),
    ],
    "rejected rows, once a file": [
        (left("/1.csv", "1", rejected=2), 0, "new:file"),
        (left("/1.csv", "1", rejected=3), 0, ""),
        (left("/1.csv", "2", rejected=2), 0, "changed:file"),
        (left("/2.csv"), 0, ""),  # a push of another file settles nothing
        (left("/1.csv", "3"), 0, "ended:file"),
        (left("/1.csv", "3", rejected=1), 0, "new:file"),
        (left("/folder/of-1.csv"), 0, "ended:file"),  # the file of rejected rows, corrected
    ],
    "audits that find something night after night": [
        (audited(0, NOTHING), 0, ""),
        (audited(1, replace(NOTHING, changed=2, missed=1)), 0, "new:audit-differences"),
        (audited(2, replace(NOTHING, changed=7)), 0, ""),
        (audited(3, NOTHING), 0, "ended:audit-differences"),
        (audited(4, AUDIT), 0, ""),
    ],
}
TOLD: dict[str, tuple[dict[str, Any], str]] = {
    # the first alert about a finding: its counts, and what it says
    "quarantine": (
        {"values": 2, "kinds": 1},
        "2 values or records were left out: Order $.collection[].order.weight (no number).",
    ),
    "drift": ({}, "Order.gift_wrap"),
    "tables-unreadable": ({}, "analytics.duckdb cannot be read"),
    "tables-gone": ({}, "analytics.duckdb"),
    "stale": ({}, "Data as of {:%Y-%m-%d %H:%M} UTC."),
    "doubts": ({"doubts": 1}, ""),
    "file": ({"waiting": 0}, ".csv has open rows: "),
    "audit-differences": ({"compared": 100, "changed": 2, "missed": 1}, ""),
}


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_what_is_told_and_when_again(hooked, receiver, story):
    """And never a value or a key."""
    play(story, hooked, receiver)
    names = [name.partition(":")[2] for name in receiver.heard]
    first = dict(zip(reversed(names), reversed(receiver.taken), strict=True))
    for name in first.keys() & TOLD.keys():
        counts, says = TOLD[name]
        assert counts.items() <= first[name]["counts"].items(), name
        assert says.format(hooked.now - HOUR) in first[name]["text"], name
    assert not [word for word in ("JANE", "JOE", "Jane") if word in str(receiver.taken)]


@pytest.mark.parametrize("wrong_by", [3 * HOUR, -3 * HOUR], ids=["ahead", "behind"])
def test_a_clock_that_is_wrong_for_three_nights_is_told_twice(hooked, receiver, wrong_by):
    """It is wrong; it is right again. Each night the difference is another, and so are the times in what is told."""
    service = Sandbox(with_other(CONFIG, shipments=40, families=20, now=hooked.now))
    start = hooked.now.date() - timedelta(days=CONFIG.days + 5)
    settings = hooked.settings.model_copy(update={"start_date": start, "api_token": SecretStr(CONFIG.token)})
    for night, wrong in enumerate((0, 1, 1.1, 1.2, 0), 1):
        service.redate = lambda right, off=wrong * wrong_by: right + off
        service.advance(seconds=30, changed=2)
        Operation(settings, source="schedule", run_id=f"night {night}", transport=InProcess(service)).read_changes()
        deliver(settings)
        assert receiver.heard == ["new:clocks", "ended:clocks"][: (night > 1) + (night > 4)], night


def test_no_doubt_is_told_while_a_push_runs(hooked, receiver):
    with FileLock(hooked.settings.layout).hold("a push", what="push-retailers"):
        creates(State.INTENDED, "JANE")(hooked)
        hooked.tell()
        assert receiver.taken == []
    hooked.tell()
    assert receiver.heard == ["new:doubts"]
