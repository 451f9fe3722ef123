"""Several at once, as processes: they take turns, say whom they wait for, and a suspended one keeps its turn."""

from __future__ import annotations

import os
import random
import re
import signal
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from tests.conftest import Bench
from tests.survival.conftest import SMALL
from tests.survival.installation import Installation, rows, wait_until
from tests.survival.test_kills import BACKFILL
from tests.test_sync import say
from wms_sync.analytics.refresh import refresh
from wms_sync.lock import writer
from wms_sync.sandbox.app import Sandbox
from wms_sync.state.store import StateStore

WAITING = re.compile(r"waiting for (?P<purpose>.+?) \(process (?P<process>\d+)")


def test_a_night_a_backfill_and_a_sync_by_hand_at_once_all_end_well(install, expected):
    installation: Installation = install()
    commands = [("sync",), BACKFILL, ("sync",)]
    processes = [installation.start(*command) for command in commands]
    for process in processes:
        process.join()
    said = installation.log.read_text()
    assert [process.exitcode for process in processes] == [0, 0, 0], said
    waited_for = {int(found["process"]) for found in WAITING.finditer(said)}
    assert waited_for, "nobody had to wait: the test shows nothing"
    assert waited_for <= {process.pid for process in processes}
    assert installation.differences(expected) == []
    installation.assert_coverage_is_true()


def test_a_suspended_run_keeps_its_turn_and_nobody_overtakes_it(install, expected):
    """The lock is the process's as long as it lives: nobody takes over, so there is no late writer to keep out."""
    installation: Installation = install()
    suspended = installation.start("sync")
    wait_until("the first run's turn", 30, lambda: writer(installation.layout) is not None)
    assert suspended.pid is not None
    os.kill(suspended.pid, signal.SIGSTOP)
    waiting = installation.start("sync")
    told = f"waiting for {writer(installation.layout)}"
    wait_until("waiting", 30, lambda: told in installation.log.read_text())
    before = files(installation)
    waiting.join(0.5)
    assert waiting.is_alive()
    assert str(suspended.pid) in told
    assert files(installation) == before
    os.kill(suspended.pid, signal.SIGCONT)
    suspended.join()
    waiting.join()
    assert (suspended.exitcode, waiting.exitcode) == (0, 0), installation.log.read_text()
    assert installation.differences(expected) == []


def files(installation: Installation) -> dict[str, int]:
    """What a writer changes, and when it was changed."""
    folders = (installation.layout.raw, installation.layout.parquet, installation.layout.published)
    found = [path for folder in folders for path in (folder, *folder.rglob("*"))]
    return {str(path): path.stat().st_mtime_ns for path in found}


@pytest.mark.seeds(suite=1, soak=60)
def test_backfills_and_nights_in_any_order_give_equal_rows(seed, bench, sandbox, settings_for, tmp_path):
    """However often they were merged in between."""
    chance = random.Random(seed)
    sandbox.sandbox = Sandbox(SMALL)
    mixed = Bench(settings_for(sandbox, data_dir=tmp_path / "mixed"), StateStore(f"sqlite:///{tmp_path / 'mixed.db'}"))
    for one in (bench, mixed):
        sync(one)
    sandbox.sandbox.advance(seconds=7200, changed=80, new=10, packages_removed=20, orders=20, retailers=3)
    sandbox.sandbox.advance(seconds=10)
    sync(bench)
    refresh(bench.settings, bench.store, run_id="test", say=say)

    reads = [partial(backfill, mixed, 5, 20), partial(backfill, mixed, 15, 32), partial(sync, mixed)]
    chance.shuffle(reads)
    for read in (*reads, partial(sync, mixed)):
        read()
        if chance.random() < 0.5:
            refresh(mixed.settings, mixed.store, run_id="test", say=say)
    refresh(mixed.settings, mixed.store, run_id="test", say=say)
    assert rows(mixed.layout) == rows(bench.layout)
    mixed.store.close()


def sync(bench: Bench) -> None:
    with bench.api() as api:
        bench.reading(api).sync()


def backfill(bench: Bench, first: int, after: int) -> None:
    """Days of March, counted from one."""
    march = datetime(2026, 3, 1, tzinfo=UTC) - timedelta(days=1)
    with bench.api() as api:
        bench.reading(api).backfill(march + timedelta(days=first), march + timedelta(days=after))
