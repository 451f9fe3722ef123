"""A thread that gets no memory to start ends the process: Python would wait for it for ever."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path

import pytest

from tests.processes import PROCESSES
from wms_sync.errors import NoThread, OutOfMemory, TooManyFiles
from wms_sync.out_of_memory import refusals_told

pytestmark = pytest.mark.proof

LARGER_THAN_ANY_MACHINE = 1 << 46


class Starved(threading.Thread):
    """What becomes of a thread for which there is no memory before it has said that it started."""

    def _bootstrap(self) -> None:
        raise MemoryError


def starved(said: Path) -> None:
    os.dup2(os.open(said, os.O_CREAT | os.O_WRONLY), 2)
    with refusals_told(patience=0.1):
        Starved().start()


def test_a_thread_without_memory_ends_the_process(tmp_path):
    process = PROCESSES.Process(target=starved, args=(tmp_path / "said",), daemon=True)
    process.start()
    process.join(60)
    assert process.exitcode == OutOfMemory.exit_code
    assert (tmp_path / "said").read_text().splitlines()[-1] == f"wms-sync: {OutOfMemory()}"  # after Python's own


def test_what_the_system_refuses_is_told():
    with pytest.raises(OutOfMemory), refusals_told():
        b"." * LARGER_THAN_ANY_MACHINE
    before = threading.stack_size(LARGER_THAN_ANY_MACHINE)
    try:
        with pytest.raises(NoThread), refusals_told():
            threading.Thread().start()
    finally:
        threading.stack_size(before)
    with pytest.raises(RuntimeError, match="something else"), refusals_told():
        raise RuntimeError("something else")
    with pytest.raises(TooManyFiles, match="ulimit -n"), refusals_told():
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE), "page-00001.json.gz")
