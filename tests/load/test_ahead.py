"""Merging while others are read: the tables are those of one load at the end, also after an error."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import duckdb
import pytest

from tests.conftest import FEWER, logged
from tests.test_sync import assert_equal, begun
from wms_sandbox.app import Sandbox
from wms_sync.analytics.database import open_for_writing
from wms_sync.extract.plan import data_as_of
from wms_sync.extract.read import Reading
from wms_sync.flatten.window import flattened_window
from wms_sync.flatten.workers import MEMORY_MEANWHILE, Flattening
from wms_sync.intervals import Interval
from wms_sync.load.ahead import PAGES, MergingAhead
from wms_sync.load.pending import PendingWindows
from wms_sync.load.refresh import Refresh, refresh
from wms_sync.runs.operation import Operation
from wms_sync.settings import memory_bytes
from wms_sync.state.store import Window

UNREAD = "unread"
ONE_BY_ONE = "the memory is not enough to merge in one transaction: the tables are merged one by one"


@pytest.fixture
def sandbox(in_process):
    in_process.sandbox = Sandbox(FEWER)
    return in_process


@pytest.fixture
def landed(bench, sandbox):
    """Windows that are flattened and not merged."""
    bench.settings = bench.settings.model_copy(update={"page_size": 4})
    return begun(bench, sandbox, read_and_flattened)


def read_and_flattened(bench):
    with bench.api() as api, Flattening(bench.settings, bench.store) as ahead:
        return Reading(bench.run, api, landed=ahead.add).sync().window_ids


def merging(bench):
    """A read goes on, of which a window is still to be begun."""
    whole = Interval(datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC))
    unread = Window.begun(UNREAD, whole, reason="sync", run_id="test", signature="", service=None)
    bench.store.begin_windows([unread])
    begun = Refresh(bench.run)
    return begun, MergingAhead(bench.run, begun)


def test_windows_are_merged_ahead_when_there_are_enough_and_published_with_the_rest(bench, sandbox, landed):
    begun, ahead = merging(bench)
    first, *others, _ = landed
    ahead.flattened(first)
    assert not ahead.is_due
    for one in others:
        ahead.flattened(one)
    assert ahead.is_due
    ahead.merge(MEMORY_MEANWHILE)
    assert not ahead.is_due
    assert not bench.layout.working_database.exists()  # nor is anything published before the end
    assert not bench.layout.published.exists()
    assert {one.id for one in bench.store.windows("landed")} == set(landed)

    report = refresh(bench.run, begun=begun)
    assert report.published
    assert sorted(report.windows) == sorted(landed)
    assert report.merged["shipments"] == report.rows["shipments"] == FEWER.shipments
    assert {one.id for one in bench.store.windows("loaded")} == set(landed)
    assert_equal(bench, sandbox)


def test_shortly_before_the_end_of_a_read_nothing_is_merged_ahead(bench, landed):
    _, ahead = merging(bench)
    for one in landed:
        ahead.flattened(one)
    assert ahead.is_due
    bench.store.abandon(UNREAD)
    assert not ahead.is_due


def test_an_error_ahead_is_left_to_the_load_which_merges_everything(bench, sandbox, landed):
    begun, ahead = merging(bench)
    for one in landed:
        ahead.flattened(one)
    last = landed[-1]
    damaged = bench.layout.parquet / "shipments" / flattened_window(bench.layout, last).parts["shipments"][0]
    whole = damaged.read_bytes()
    damaged.write_bytes(whole[: len(whole) // 2])
    ahead.merge(MEMORY_MEANWHILE)
    assert not any(bench.store.turn.folder.glob("*.duckdb"))

    damaged.write_bytes(whole)
    report = refresh(bench.run, begun=begun)
    assert report.published
    assert report.merged["shipments"] == FEWER.shipments
    assert_equal(bench, sandbox)


def test_once_memory_was_not_enough_for_one_transaction_the_tables_are_merged_one_by_one(bench, sandbox, landed):
    path = bench.layout.working_database

    def merge(merged: PendingWindows, limit: str) -> list[str]:
        with open_for_writing(path, memory_limit="300MB") as connection, logged() as told:
            connection.execute(f"set memory_limit = '{limit}'")
            merged.merge_into(connection)
            connection.execute("set memory_limit = '300MB'")
        return told

    refused, merged = PendingWindows(bench.run), PendingWindows(bench.run)
    merge(refused, "2MB")
    with pytest.raises(duckdb.OutOfMemoryException):
        merge(refused, "2MB")
    merge(merged, "2MB")
    assert not merged.windows
    assert ONE_BY_ONE in merge(merged, "300MB")
    assert merged.is_complete
    assert merged.rows["shipments"] == FEWER.shipments
    assert refresh(bench.run).published
    assert_equal(bench, sandbox)


def test_once_it_is_stopped_nothing_is_merged_ahead(bench, landed):
    _, ahead = merging(bench)
    for one in landed:
        ahead.flattened(one)
    ahead.stop()
    assert not ahead.is_due
    ahead.merge(MEMORY_MEANWHILE)
    assert not any(bench.store.turn.folder.glob("*.duckdb"))


def test_flatteners_whose_memory_a_merge_takes_pause_and_the_others_go_on(bench, landed):
    done: list[str] = []
    overlapping: list[frozenset[int]] = []
    memory: list[int] = []

    class Counted:
        is_due = True

        def flattened(self, window_id):
            done.append(window_id)

        def merge(self, bytes_):
            overlapping.append(flattening._paused & flattening._flattening)
            memory.append(bytes_)
            others, before = flattening._workers - len(flattening._paused), len(done)
            while others and len(done) == before < len(landed) - others:
                time.sleep(0.01)

    with Flattening(bench.settings, bench.store, meanwhile=Counted()) as flattening:
        for window in landed:
            flattening.add(window)
        while len(done) < len(landed) or not overlapping:
            time.sleep(0.01)
    assert sorted(done) == sorted(landed)
    assert not any(overlapping)
    limit = memory_bytes(bench.settings.memory_limit)
    assert all(min(MEMORY_MEANWHILE, limit - flattening._workers) <= bytes_ <= limit for bytes_ in memory)


def test_a_run_reads_and_merges_a_service_that_takes_its_time(bench, sandbox):
    """Pages are small enough for several transactions; how many there are depends on who is faster."""
    bench.store.close()
    settings = bench.settings.model_copy(update={"page_size": FEWER.shipments // (2 * PAGES)})
    operation = Operation(settings, source="test", transport=sandbox)
    operation.sync()
    report = operation.report.refreshed
    assert report is not None
    assert report.merged["shipments"] == FEWER.shipments
    assert_equal(bench, sandbox)


def test_of_more_than_a_load_takes_the_first_windows_are_merged_and_the_data_reaches_as_far(bench, sandbox, landed):
    half = FEWER.shipments // 2
    merged = PendingWindows(bench.run, most=half)
    with open_for_writing(bench.layout.working_database, memory_limit="300MB") as connection:
        merged.merge_into(connection)
        [(until,)] = connection.execute("select data_until from ops.latest_load").fetchall()
        states = connection.execute("select state, sum(records) from ops.windows group by all order by all").fetchall()
    assert merged.is_complete
    assert set(merged.windows) | merged.later == set(landed)
    assert until < bench.store.covered()[-1].end
    assert [state for state, _ in states] == ["landed", "loaded"]
    assert 0 < states[1][1] <= half
    bench.store.mark_loaded(merged.landed)
    assert until == data_as_of(bench.settings, bench.store)

    report = refresh(bench.run)
    assert set(report.windows) == merged.later
    assert not report.has_more
    assert_equal(bench, sandbox)
