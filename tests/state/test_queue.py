"""One writer at a time, with real processes: taking turns, being told whom one waits for, surviving a kill."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import logged
from wms_sync.durable import Inaccessible
from wms_sync.layout import Layout
from wms_sync.state.locks import Lock, lock_of
from wms_sync.state.queue import FileLock

pytestmark = pytest.mark.proof

HOLD = """
import logging, sys, time
from pathlib import Path
from wms_sync.layout import Layout
from wms_sync.state.locks import lock_of
url, folder, purpose, seconds = sys.argv[1:]
logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(message)s")
with lock_of(url, Layout(Path(folder))).hold(purpose):
    print("mine", flush=True)
    log = Path(folder) / "log"
    log.open("a").write(f"in {purpose}\\n")
    time.sleep(float(seconds))
    log.open("a").write(f"out {purpose}\\n")
"""


def start(url: str, folder: Path, purpose: str, seconds: float) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", HOLD, url, str(folder), purpose, str(seconds)], stdout=subprocess.PIPE, text=True
    )


@pytest.fixture
def lock(url, tmp_path) -> Lock:
    """The locks of one installation: files, and PostgreSQL's."""
    return lock_of(url, Layout(tmp_path))


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_a_second_writer_waits_and_is_told_for_whom(lock, url, tmp_path):
    with start(url, tmp_path, 'the night\'s "sync" \\ü', 60) as first:
        assert line(first) == "mine"
        assert "the night's" in str(lock.holder())
        with start(url, tmp_path, "backfill", 0.0) as second:
            told = line(second)
            assert told.startswith('waiting for the night\'s "sync" \\ü (process ')
            (tmp_path / "enough").touch()
            assert str(first.pid) in told
            assert line(second) == "mine"
    assert (tmp_path / "log").read_text().split("\n")[:3] == [
        'in the night\'s "sync" \\ü',
        'out the night\'s "sync" \\ü',
        "in backfill",
    ]
    assert lock.holder() is None


def test_writers_take_turns_in_the_order_they_came(lock, url, tmp_path):
    holders = [start(url, tmp_path, "0", 60)]
    assert line(holders[0]) == "mine"
    for number in range(1, 4):
        holders.append(start(url, tmp_path, str(number), 0.1))
        assert line(holders[-1]).startswith("waiting for")
    holders[0].kill()
    for process in holders:
        process.wait()
        process.communicate()
    log = (tmp_path / "log").read_text().split()
    assert log[1::2] == ["0", "1", "1", "2", "2", "3", "3"]


def test_a_killed_writer_holds_nobody_up(lock, url, tmp_path):
    with start(url, tmp_path, "doomed", 60) as first:
        assert line(first) == "mine"
        first.send_signal(signal.SIGKILL)
        first.wait()
    began = time.monotonic()
    with lock.hold("next"):
        assert lock.holder() is not None
    assert time.monotonic() - began < 30
    assert not list((tmp_path / "work").rglob("queue/writer/*"))


def test_another_thing_is_done_at_the_same_time(lock, url, tmp_path):
    with start(url, tmp_path, "the night", 60) as writing_tables, logged() as waiting:
        assert line(writing_tables) == "mine"
        with lock.hold("pushing", what="push-retailers"):
            pushing = lock.holder(what="push-retailers")
            assert pushing is not None
            assert pushing.purpose == "pushing"
            assert "the night" in str(lock.holder())
        assert waiting == []
        writing_tables.kill()


@pytest.mark.parametrize("in_the_way", ["work", "work/writer.lock"])
def test_what_cannot_be_used_is_named(tmp_path, in_the_way):
    path = tmp_path / in_the_way
    if path.name == "work":
        path.touch()
    else:
        path.mkdir(parents=True)
    with (
        pytest.raises(Inaccessible, match=f"^{path} cannot be used"),
        FileLock(Layout(tmp_path)).hold("night"),
    ):
        pass
