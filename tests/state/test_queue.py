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
from wms_sync.state.queue import hold_lock, lock_holder

HOLD = """
import logging, sys, time
from pathlib import Path
from wms_sync.layout import Layout
from wms_sync.state.queue import hold_lock
logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(message)s")
with hold_lock(Layout(Path(sys.argv[1])), sys.argv[2]):
    print("mine", flush=True)
    log = Path(sys.argv[1]) / "log"
    log.open("a").write(f"in {sys.argv[2]}\\n")
    time.sleep(float(sys.argv[3]))
    log.open("a").write(f"out {sys.argv[2]}\\n")
"""


def start(folder: Path, purpose: str, seconds: float) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder), purpose, str(seconds)], stdout=subprocess.PIPE, text=True
    )


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_a_second_writer_waits_and_is_told_for_whom(tmp_path):
    with start(tmp_path, "the night", 1.0) as first:
        assert line(first) == "mine"
        assert "the night" in str(lock_holder(Layout(tmp_path)))
        with start(tmp_path, "backfill", 0.0) as second:
            told = line(second)
            assert told.startswith("waiting for the night (process ")
            assert str(first.pid) in told
            assert line(second) == "mine"
    assert (tmp_path / "log").read_text().split("\n")[:3] == ["in the night", "out the night", "in backfill"]
    assert lock_holder(Layout(tmp_path)) is None


def test_writers_take_turns_in_the_order_they_came(tmp_path):
    holders = [start(tmp_path, "0", 1.0)]
    assert line(holders[0]) == "mine"
    for number in range(1, 4):
        holders.append(start(tmp_path, str(number), 0.1))
        assert line(holders[-1]).startswith("waiting for")
    for process in holders:
        process.wait()
        process.communicate()
    log = (tmp_path / "log").read_text().split()
    assert log[1::2] == ["0", "0", "1", "1", "2", "2", "3", "3"]


def test_a_killed_writer_holds_nobody_up(tmp_path):
    with start(tmp_path, "doomed", 60) as first:
        assert line(first) == "mine"
        first.send_signal(signal.SIGKILL)
        first.wait()
    began = time.monotonic()
    with hold_lock(Layout(tmp_path), "next"):
        assert lock_holder(Layout(tmp_path)) is not None
    assert time.monotonic() - began < 30
    assert not list((tmp_path / "work" / "queue" / "writer").iterdir())


def test_another_thing_is_done_at_the_same_time(tmp_path):
    with start(tmp_path, "the night", 60) as writing_tables, logged() as waiting:
        assert line(writing_tables) == "mine"
        with hold_lock(Layout(tmp_path), "pushing", what="push-retailers"):
            pushing = lock_holder(Layout(tmp_path), what="push-retailers")
            assert pushing is not None
            assert pushing.purpose == "pushing"
            assert "the night" in str(lock_holder(Layout(tmp_path)))
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
        hold_lock(Layout(tmp_path), "night"),
    ):
        pass
