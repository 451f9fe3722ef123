"""The memory that the C library keeps for threads."""

from __future__ import annotations

import ctypes
import gzip
import resource
import threading
from pathlib import Path

import pytest

from tests.processes import PROCESSES
from wms_sync.compression import decompress
from wms_sync.memory import give_back, share_arena

LIBC = ctypes.CDLL(None)
pytestmark = [
    pytest.mark.proof,
    pytest.mark.skipif(not hasattr(LIBC, "mallopt"), reason="only glibc has arenas"),
]


def arenas(told: Path) -> int:
    LIBC.fopen.restype = ctypes.c_void_p
    file = ctypes.c_void_p(LIBC.fopen(str(told).encode(), b"w"))
    LIBC.malloc_info(0, file)
    LIBC.fclose(file)
    return told.read_text().count("<heap nr=")


def counted(folder: Path) -> None:
    """Write how many arenas there are before and after threads ask for memory at once, in a process of its own."""
    share_arena()
    before, together = arenas(folder / "info"), threading.Barrier(4)

    def ask() -> None:
        together.wait()
        LIBC.free(ctypes.c_void_p(LIBC.malloc(1000)))
        together.wait()

    LIBC.malloc.restype = ctypes.c_void_p
    threads = [threading.Thread(target=ask) for _ in range(together.parties)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    give_back()
    (folder / "counts").write_text(f"{before} {arenas(folder / 'info')}")


def test_threads_share_one_arena(tmp_path):
    process = PROCESSES.Process(target=counted, args=(tmp_path,), daemon=True)
    process.start()
    process.join(60)
    assert process.exitcode == 0
    before, after = (tmp_path / "counts").read_text().split()
    assert before == after


def unpacked(folder: Path) -> None:
    """Write how often the system gave memory while a page was unpacked the third time, in a process of its own."""
    share_arena()
    page = gzip.compress(b'{"id": 1, "sku": "A-1"}' * 300_000)
    given = [0]
    for _ in range(3):
        decompress(page, "json.gz")
        given.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt)
    (folder / "given").write_text(str(given[-1] - given[-2]))


def test_the_memory_of_a_page_serves_the_next(tmp_path):
    process = PROCESSES.Process(target=unpacked, args=(tmp_path,), daemon=True)
    process.start()
    process.join(60)
    assert process.exitcode == 0
    assert int((tmp_path / "given").read_text()) < 100
