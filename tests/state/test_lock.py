"""One writer at a time, with real processes: each waits and says who holds the lock, and a kill releases it."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.survival.installation import wait_until
from wms_sync.layout import Layout
from wms_sync.state.lock import FileLock, lock_of

pytestmark = pytest.mark.proof

HOLD = """
import logging, sys
from pathlib import Path
from typing import Any
from wms_sync.layout import Layout
from wms_sync.state.lock import lock_of
url, folder, purpose = sys.argv[1:]
logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(message)s")
with lock_of(url, Layout(Path(folder))).hold(purpose, run_id="one"):
    print("mine", flush=True)
    log = Path(folder) / "log"
    log.open("a").write(f"in {purpose}\\n")
    sys.stdin.readline()
    log.open("a").write(f"out {purpose}\\n")
"""


def start(url: str, folder: Path, purpose: str, *, stays: bool = True) -> subprocess.Popen[str]:
    """A process that takes the lock, and holds it until its input is closed if it ``stays``."""
    return subprocess.Popen(
        [sys.executable, "-c", HOLD, url, str(folder), purpose],
        stdin=subprocess.PIPE if stays else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_second_writers_wait_one_by_one(url, tmp_path):
    """Each says who holds the lock, which is a file or one of PostgreSQL's."""
    lock = lock_of(url, Layout(tmp_path))
    purpose = 'the night\'s "sync" \\ü'
    processes = [start(url, tmp_path, purpose)]
    assert line(processes[0]) == "mine"
    holder = lock.holder()
    assert holder is not None
    assert (holder.run_id, holder.process, holder.host) == ("one", processes[0].pid, socket.gethostname())
    of_holder = f"run one, process {holder.process} on {holder.host}, since {holder.began_at:%Y-%m-%d %H:%M:%S}Z"
    processes += [start(url, tmp_path, str(number), stays=False) for number in range(1, 4)]
    assert [line(process) for process in processes[1:]] == [f"waiting for {purpose} ({of_holder})"] * 3
    processes[0].kill()
    for process in processes:
        process.communicate()
    first, *steps = (tmp_path / "log").read_text().splitlines()
    assert [first, *sorted(steps[::2])] == [f"in {purpose}", "in 1", "in 2", "in 3"]
    assert [step.replace("in", "out") for step in steps[::2]] == steps[1::2]
    assert lock.holder() is None


def test_a_deleted_lock_is_taken_by_one_process(tmp_path):
    url, lock = f"sqlite:///{tmp_path}/state.db", FileLock(Layout(tmp_path))
    with lock.hold("suspended"):
        waiting = [start(url, tmp_path, purpose) for purpose in ("first", "second")]
        assert all(line(process).startswith("waiting for suspended") for process in waiting)
        Layout(tmp_path).lock("writer").unlink()
        names = [f"process {process.pid} on" for process in waiting]
        wait_until("one of them takes it", 30, lambda: any(name in str(lock.holder()) for name in names))
        taken, other = waiting if names[0] in str(lock.holder()) else reversed(waiting)
        assert line(taken) == "mine"
        assert f"process {taken.pid} on" in line(other)
        taken.kill()
        assert line(other) == "mine"
        other.kill()
    for process in waiting:
        process.communicate()
