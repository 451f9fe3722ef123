"""Record what each test costs: ``--costs FILE``, a line a test with its processor seconds, its seconds and its name.

Counted are this process, its children that have ended, and those that run with what they have reaped, such as the
server that commands are forked from. PostgreSQL leaves the family and is not counted.
"""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path

import pytest

TICKS = os.sysconf("SC_CLK_TCK")


def spent() -> float:
    """Return the processor seconds so far."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = time.process_time() + ended.ru_utime + ended.ru_stime
    for children in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):
            for child in children.read_text().split():
                fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
                seconds += sum(map(int, fields[11:15])) / TICKS
    return seconds


class Costs:
    """Appends the lines. What a fixture of several tests costs is in the line of the first of them."""

    def __init__(self, file: Path) -> None:
        self._file = file

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        before, began = spent(), time.monotonic()
        try:
            return (yield)
        finally:
            with self._file.open("a") as lines:  # whole lines, of several processes
                lines.write(f"{spent() - before:.3f} {time.monotonic() - began:.3f} {item.nodeid}\n")
