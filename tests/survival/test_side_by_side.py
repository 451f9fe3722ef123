"""Several at once, as processes: they wait for each other, each says who holds the lock, a suspended one keeps it."""

from __future__ import annotations

import os
import random
import re
import signal
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from tests.conftest import Bench, opened_store
from tests.shipments.audit.test_audit import store
from tests.survival.conftest import SMALL
from tests.survival.counts import ORDERS_OF_READS
from tests.survival.installation import Installation, Rows, columns, rows_in, wait_until
from tests.survival.kills import ENDED
from tests.survival.test_kills import BACKFILL
from tests.test_sync import load
from wms_sandbox.app import Sandbox
from wms_sync.shipments.load.refresh import rebuild
from wms_sync.state.lock import FileLock
from wms_sync.targets.target import target_of

WAITING = re.compile(r"waiting for .+? \(run [^,]+, process (?P<process>\d+)")


def test_a_night_a_backfill_and_a_sync_by_hand_wait_for_each_other_though_the_first_is_suspended(install, expected):
    """The lock is the process's as long as it lives: nobody takes over, so there is no late writer to keep out."""
    installation: Installation = install()
    night = installation.start("sync")
    wait_until("the night's lock", 60, lambda: FileLock(installation.layout).holder() is not None)
    assert night.pid is not None
    os.kill(night.pid, signal.SIGSTOP)
    before = files(installation)
    others = [installation.start(*BACKFILL), installation.start("sync")]
    told = f"waiting for {FileLock(installation.layout).holder()}"
    wait_until("both waiting", 180, lambda: installation.log.read_text().count(told) == len(others))
    assert f", process {night.pid} " in told
    assert all(process.is_alive() for process in others)
    assert files(installation) == before
    os.kill(night.pid, signal.SIGCONT)
    for process in (night, *others):
        process.join()
    said = installation.log.read_text()
    assert {process.exitcode for process in (night, *others)} <= {*ENDED}, said
    named = {int(found["process"]) for found in WAITING.finditer(said)} - {night.pid}
    assert len(named) == 1, "the last one waits for the second, whichever that is"
    assert named < {process.pid for process in others}
    assert installation.differences(expected) == []
    installation.assert_coverage_is_true()


def files(installation: Installation) -> dict[str, int]:
    """What a writer changes, and when it was changed."""
    folders = (installation.layout.raw, installation.layout.parquet, installation.layout.published)
    found = [path for folder in folders for path in (folder, *folder.rglob("*"))]
    return {str(path): path.stat().st_mtime_ns for path in found}


@pytest.mark.targets("file", "lake")
@pytest.mark.seeds(ORDERS_OF_READS)
def test_backfills_and_nights_in_any_order_give_equal_rows(seed, bench, sandbox, settings_for, lakes, tmp_path):
    """However often they were merged in between; and a rebuild gives the same history. A lake has what a file has."""
    chance = random.Random(seed)
    sandbox.sandbox = Sandbox(SMALL)
    place = {} if lakes is None else {"analytics": "ducklake", "state_url": lakes.new()}
    settings = settings_for(sandbox, data_dir=tmp_path / "mixed", **place)
    mixed = Bench(settings, opened_store(settings))
    for one in (bench, mixed):
        sync(one)
    with store(sandbox) as held:  # its clock is corrected: some have changed, and were so earlier than before
        held.updated[10:30] -= 86_400_000
        held.step[10:30] += 1
    sandbox.sandbox.advance(seconds=7200, changed=80, new=10, packages_removed=20, orders=20, retailers=3)
    sandbox.sandbox.advance(seconds=10)
    sync(bench)
    backfill(bench, 1, 32)
    load(bench)

    reads = [partial(backfill, mixed, 1, 20), partial(backfill, mixed, 15, 32), partial(sync, mixed)]
    chance.shuffle(reads)
    for read in (*reads, partial(sync, mixed)):
        read()
        if chance.random() < 0.5:
            load(mixed)
    load(mixed)
    present = {table: names for table, names in columns(bench.layout).items() if not table.startswith("history.")}
    assert published(mixed, present) == published(bench, present)
    found = published(mixed)
    rebuild(mixed.run)
    assert published(mixed) == found  # with the history of what was read when
    mixed.store.close()


def published(bench: Bench, of: dict[str, list[str]] | None = None) -> Rows:
    with target_of(bench.settings).published() as connection:
        return rows_in(connection, of)


def sync(bench: Bench) -> None:
    bench.read()


def backfill(bench: Bench, first: int, after: int) -> None:
    """Days of March, counted from one."""
    march = datetime(2026, 3, 1, tzinfo=UTC) - timedelta(days=1)
    with bench.api() as api:
        bench.reading(api).backfill(march + timedelta(days=first), march + timedelta(days=after))
