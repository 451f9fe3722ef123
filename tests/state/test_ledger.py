"""The ledger of creates, over SQLite and over a real PostgreSQL."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from wms_sync.state.ledger import (
    KEYS_PER_STATEMENT,
    UNSURE,
    CreatesJournal,
    Entry,
    PushLedger,
    Sighting,
    State,
    entries_in,
    newest_entries,
)

MOMENT = datetime(2026, 3, 1, 12, tzinfo=UTC)
LATER = MOMENT + timedelta(days=1)


def intent(key: str, **values) -> Entry:
    return replace(
        Entry(
            service="service",
            kind="retailers",
            key=key,
            state=State.INTENDED,
            body='{"code":"a"}',
            body_sha256="0" * 64,
            remote_id=None,
            run_id="run",
            attempts=1,
            message=None,
            intended_at=MOMENT,
            settled_at=None,
            seen_at=None,
        ),
        **values,
    )


def written(path: Path) -> tuple[list[Entry], int]:
    return entries_in(path.read_bytes(), str(path))


def test_what_was_recorded_last_is_there(store):
    """Kinds, services and keys are apart, and there may be more rows than a statement takes."""
    outcome = intent("ü|'\"", state=State.CREATED, remote_id=2**40, settled_at=LATER)
    rows = [intent("a", attempts=9), intent("A"), *(intent(f"key {at}") for at in range(2 * KEYS_PER_STATEMENT))]
    others = [intent("a", service="another"), intent("a", kind="products")]
    store.ledger.record([intent(outcome.key), *rows, *others])
    store.ledger.record([outcome])
    assert store.ledger.entries("service", "retailers", ["b", outcome.key, *(row.key for row in rows)]) == {
        row.key: row for row in (outcome, *rows)
    }
    assert set(others) < set(store.ledger.all())


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ({"state": State.REFUSED, "settled_at": LATER}, {"attempts": 2, "state": State.DOUBT}),
        ({}, {"state": State.CREATED, "settled_at": LATER, "remote_id": 5}),
        (
            {"intended_at": LATER},
            {"intended_at": LATER, "state": State.CREATED, "settled_at": MOMENT},
        ),  # a clock set back
        ({"settled_at": LATER}, {"settled_at": LATER, "seen_at": MOMENT}),
    ],
)
def test_the_newer_copy_of_a_row_is_kept(store, older, newer):
    """Of several copies in any order: the journal in the data folder may be newer than the one in the bucket."""
    old, new = intent("a", **older), intent("a", **newer)
    store.ledger.record([old])
    assert [store.ledger.take_in(copies) for copies in ([old], [new, old], [old, new])] == [0, 1, 0]
    assert store.ledger.entries("service", "retailers", ["a"]) == {"a": new}


def test_the_journal_is_completed_and_rewritten(tmp_path):
    """It lacks what was recorded while it was lost, or has an older version; a row has a line for each version."""
    journal, path = CreatesJournal(tmp_path / "creates.jsonl"), tmp_path / "creates.jsonl"
    rows = [intent(str(number)) for number in range(3)]
    journal.complete(rows)
    assert written(path) == (rows, 0)
    for _ in range(3):
        journal.append(rows)
    path.write_bytes(path.read_bytes()[:-20])
    journal.append([intent("after a line that a kill cut off")])
    lines, damaged = written(path)
    assert ({entry.key for entry in lines}, damaged) == ({"0", "1", "2", "after a line that a kill cut off"}, 1)
    newest = [*newest_entries(lines)[:3], replace(lines[-1], state=State.CREATED, settled_at=LATER)]
    for known in ([], newest):
        journal.complete(known)
        assert len(path.read_bytes().splitlines()) == 4
    assert written(path) == (newest, 0)


def test_a_damaged_line_of_a_journal_is_written_again(tmp_path):
    """Of an outcome, whose intent is whole; and of a version that the state store lost too."""
    journal, path = CreatesJournal(tmp_path / "creates.jsonl"), tmp_path / "creates.jsonl"
    for known in ([intent("a", state=State.CREATED, settled_at=LATER)], []):
        path.unlink(missing_ok=True)
        journal.append([intent("a"), *known])
        path.write_bytes(path.read_bytes() + b"a torn line\n")
        assert (journal.complete(known), 0) == written(path) == (known or [intent("a")], 0)


def test_kinds_append_at_the_same_time_and_nothing_is_lost(tmp_path):
    """Each push appends its own rows while another begins and rewrites the file."""
    path = tmp_path / "creates.jsonl"
    rows = [intent(f"{kind}-{number}") for kind in range(4) for number in range(50)]

    def push(kind: int) -> None:
        journal = CreatesJournal(path)
        for entry in rows[kind * 50 : kind * 50 + 50]:
            journal.append([entry, entry, entry])
            journal.complete([entry])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(push, range(4)))
    assert sorted(newest_entries(written(path)[0]), key=rows.index) == rows


@pytest.mark.parametrize(
    ("state", "answered", "becomes", "remote_id"),
    [
        *((state, None, State.CREATED if state in UNSURE else state, 7) for state in State),
        (State.CREATED, 5, State.CREATED, 5),
    ],
)
def test_a_sighting_settles_a_doubt_once(store, state, answered, becomes, remote_id):
    """An id that an answer brought stays."""
    store.ledger.record([intent("a", state=state, remote_id=answered)])
    store.ledger.record_sightings([Sighting("service", "retailers", "a", 7, MOMENT)])
    store.ledger.record_sightings([Sighting("service", "retailers", "a", 8, MOMENT + timedelta(days=1))])
    entry = store.ledger.entries("service", "retailers", ["a"])["a"]
    assert (entry.state, entry.remote_id, entry.seen_at) == (becomes, remote_id, MOMENT)


def test_a_transaction_is_on_disk_before_it_counts(tmp_path):
    with PushLedger.opened(f"sqlite:///{tmp_path}/state.db") as ledger, ledger.engine.connect() as connection:
        assert connection.exec_driver_sql("pragma synchronous").scalar() == 2
