"""Several at once, as processes: a suspended run keeps its lock, and the others wait and say who holds it."""

from __future__ import annotations

import signal

from tests.survival.installation import ENDED, SECONDS, Installation, wait_until
from tests.survival.victims import BACKFILL
from wms_sync.state.lock import FileLock


def test_runs_wait_for_one_that_is_suspended(install, expected):
    """The lock is the process's as long as it lives: nobody takes over, so there is no late writer to keep out."""
    installation: Installation = install()
    night = installation.start("sync")
    wait_until("the night's lock", 60, lambda: FileLock(installation.layout).holder() is not None)
    night.send_signal(signal.SIGSTOP)
    before = files(installation)
    others = [installation.start(*BACKFILL), installation.start("sync")]
    told = f"waiting for {FileLock(installation.layout).holder()}"
    assert f", process {night.pid} " in told
    wait_until("both waiting", 180, lambda: all(told in other.stderr for other in others))
    assert all(other.is_running for other in others)
    assert files(installation) == before
    night.send_signal(signal.SIGCONT)
    for process in (night, *others):
        ended = process.ended(SECONDS)
        assert ended.returncode in ENDED, ended.said
    assert installation.differences(expected) == []
    installation.assert_coverage_is_true()


def files(installation: Installation) -> dict[str, int]:
    """What a writer changes, and when it was changed."""
    folders = (installation.layout.raw, installation.layout.parquet, installation.layout.published)
    found = [path for folder in folders for path in (folder, *folder.rglob("*"))]
    return {str(path): path.stat().st_mtime_ns for path in found}
