"""Several at once, as processes: they wait for each other, each says who holds the lock, a suspended one keeps it."""

from __future__ import annotations

import os
import re
import signal

from tests.survival.installation import ENDED, Installation, wait_until
from tests.survival.victims import BACKFILL
from wms_sync.state.lock import FileLock

WAITING = re.compile(r"waiting for .+? \(run [^,]+, process (?P<process>\d+)")


def test_runs_wait_for_one_that_is_suspended(install, expected):
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
