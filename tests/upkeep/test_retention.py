"""Raw pages that are no longer kept: only what a rebuild can do without, and nothing is lost by it."""

import sqlite3
from contextlib import closing
from datetime import timedelta

import pytest
from pyarrow import parquet

from tests.bench import FEWER, NOW, Bench, let_pass, logged, opened_store, queried
from wms_sandbox.app import Sandbox
from wms_sync.layout import flattened_key
from wms_sync.shipments.load.refresh import rebuild, refresh
from wms_sync.shipments.read.raw import is_dropped
from wms_sync.state.snapshot_files import write_snapshot
from wms_sync.targets.errors import RawPagesDamagedError
from wms_sync.upkeep.retention import drop_old_pages
from wms_sync.upkeep.verify import verify

LANDED = """
update windows set started_at = datetime(started_at, ?1), landed_at = datetime(landed_at, ?1) where state = ?2
"""
SERVED = """
update pages set served_at = datetime(served_at, ?1) where window_id in (select id from windows where state = ?2)
"""


def grow_old(bench: Bench, state: str, days: int, *clocks: str) -> None:
    """As if what was read had been read that many days before, by this machine's clock, the service's or both."""
    with closing(sqlite3.connect(bench.layout.state)) as connection, connection:
        for aged in clocks or (LANDED, SERVED):
            connection.execute(aged, (f"{-days} days", state))


def pages_on_disk(bench: Bench) -> set[str]:
    """The windows that have raw pages."""
    return {path.parent.name for path in bench.layout.raw.glob("*/page-*")}


def drop(bench: Bench) -> set[str]:
    """Drop old pages; the windows that have pages then."""
    drop_old_pages(bench.run)
    return pages_on_disk(bench)


@pytest.fixture
def aged(bench: Bench, sandbox, settings_for) -> Bench:
    """Some windows of eleven days ago, some of today, in the tables."""
    sandbox.sandbox = Sandbox(FEWER)
    bench.settings = settings_for(sandbox, page_size=80, raw_retention_days=10)
    bench.first_sync(sandbox)
    grow_old(bench, "loaded", 11)
    let_pass(sandbox.sandbox, seconds=3600, changed=40)
    bench.read()
    return bench


def test_old_pages_are_dropped_without_loss(aged, settings_for, sandbox):
    ten_days, aged.settings = aged.settings, settings_for(sandbox)
    old, everything = {window.id for window in aged.store.windows("loaded")}, pages_on_disk(aged)
    assert drop(aged) == everything, "without a number of days"
    aged.settings = ten_days
    refresh(aged.run)
    assert drop(aged) == {window.id for window in aged.store.windows("loaded")} - old

    before = queried(aged.layout.published, "select * from shipments order by id")
    for path in (aged.layout.parquet / "warehouses").glob("*.parquet"):  # as they were before one of the columns came
        parquet.write_table(parquet.read_table(path).drop_columns("abbreviation"), path)
    assert rebuild(aged.run).published
    assert queried(aged.layout.published, "select * from shipments order by id") == before
    assert {window.id for window in aged.store.windows("loaded") if is_dropped(aged.layout, window.id)} == old

    missing = next(iter(aged.layout.raw.glob("*/page-*")))
    missing.unlink()
    with pytest.raises(RawPagesDamagedError, match=missing.parent.name):
        rebuild(aged.run)


@pytest.mark.parametrize(
    ("folder", "becomes"),
    [("shipments", None), ("orders", b""), ("_windows", b"")],
    ids=["a missing file", "an empty file", "an empty record"],
)
def test_pages_stay_as_long_as_their_window_has_damaged_files(aged, folder, becomes):
    """They are the last whole copy then; the next load flattens them again."""
    window, *_ = (window.id for window in aged.store.windows("loaded"))
    file = next((aged.layout.parquet / folder).glob(f"{window}*"))
    file.unlink()
    if becomes is not None:
        file.write_bytes(becomes)
    assert window in drop(aged)
    refresh(aged.run)
    assert window not in drop(aged)
    assert rebuild(aged.run).published


def test_verify_says_what_to_do_about_a_file_without_pages(aged):
    """A rebuild alone cannot write it again."""
    window, *_ = aged.store.windows("loaded")
    file = next((aged.layout.parquet / "shipments").glob(f"{window.id}*"))
    drop(aged)
    file.unlink()
    aged.store.close()
    [damage] = verify(aged.settings).damaged
    assert damage.what_to_do.startswith("its raw pages were dropped: copy the file back from a backup")
    (aged.layout.root / flattened_key(window.id)).unlink()
    aged.store = opened_store(aged.settings)
    with pytest.raises(RawPagesDamagedError, match=window.id):
        rebuild(aged.run)
    assert aged.read().intervals[0].start == window.from_at


def test_what_else_is_dropped_and_when(aged):
    grow_old(aged, "loaded", -11)  # as if they had been read today
    before = pages_on_disk(aged)
    grow_old(aged, "loaded", 200, LANDED)
    assert drop(aged) == before, "one night with a clock that was months ahead deleted every raw page"

    [given_up, *_] = aged.store.windows("landed")
    aged.store.abandon(given_up.id)
    assert given_up.id in drop(aged), "what was given up is kept for a day"
    grow_old(aged, "abandoned", 2)
    assert given_up.id not in drop(aged)

    assert not (aged.layout.raw / given_up.id).exists()


@pytest.mark.parametrize("has_record", [True, False])
def test_what_the_state_store_does_not_know_is_kept_for_a_day(aged, sandbox, has_record):
    """It was read and loaded after the newest snapshot, when the store was lost; its time is read again."""
    write_snapshot(aged.layout, aged.store)
    let_pass(sandbox.sandbox, seconds=3600, changed=20)
    read, _ = aged.sync()
    [lost] = read.window_ids
    files = {"page", "Parquet", *["record"] * has_record}
    if not has_record:  # as if killed before it was written
        (aged.layout.root / flattened_key(lost)).unlink()
    aged.lose_the_state_store(during_a_run=True)
    with logged() as said:
        aged.recover()
    assert [lost in line for line in said if "deleted after a day" in line] == [True]
    [again], [before] = aged.read().intervals, read.intervals
    assert (again.start <= before.start, again.end) == (True, before.end)
    assert files_of(aged, lost) == files
    aged.load()
    drop(aged)
    assert files_of(aged, lost) == files
    grow_old(aged, "abandoned", 2)
    drop(aged)
    assert files_of(aged, lost) == set()
    aged.assert_equal(sandbox)


def test_days_read_again_after_the_newest_snapshot_are_read_once_more(aged):
    """Their earlier windows are known to the store, and cover them, but are older than what it lost."""
    write_snapshot(aged.layout, aged.store)
    day = NOW.replace(hour=0) - timedelta(days=9)
    aged.backfill(day, day + timedelta(days=2))
    aged.lose_the_state_store(during_a_run=True)
    aged.recover()
    [again] = aged.read().intervals
    assert again.start <= day < day + timedelta(days=2) == again.end


def files_of(bench: Bench, window: str) -> set[str]:
    found = {
        "page": bench.layout.pages(window),
        "record": (bench.layout.root / flattened_key(window)).exists(),
        "Parquet": [*bench.layout.parquet.glob(f"*/{window}-*.parquet")],
    }
    return {what for what, files in found.items() if files}
