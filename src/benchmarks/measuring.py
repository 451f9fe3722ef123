"""Measure what a process costs, from outside, including every process that it starts."""

from __future__ import annotations

import os
import select
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

_SAMPLE_SECONDS = 0.2


@dataclass(frozen=True)
class Cost:
    """Seconds of user and system time, seconds of wall time, MiB of memory."""

    cpu: float
    wall: float
    memory: float


class ContenderFailed(Exception):
    """The measured process failed, or stored something else; the message says who and what."""


def measure(
    command: Sequence[str | Path], *, folder: Path, environment: Mapping[str, str], done: Sequence[int] = (0,)
) -> Cost:
    """Run a command in `folder` to its end. What it prints goes to `log.txt` there.

    CPU is that of the process and of every child that it waited for. Memory is the largest resident set of one process
    or, if it is more, the largest sum of proportional set sizes (where a page shared by forked processes counts once),
    sampled five times a second. Raise `ContenderFailed` for any exit code but `done`.
    """
    log = folder / "log.txt"
    started = monotonic()
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=output, stderr=output)
    memory, ended = 0.0, os.pidfd_open(process.pid)
    while not select.select([ended], [], [], _SAMPLE_SECONDS)[0]:
        memory = max(memory, _memory(process.pid) / 1024)
    os.close(ended)
    _, status, usage = os.wait4(process.pid, 0)
    wall = monotonic() - started
    process.returncode = os.waitstatus_to_exitcode(status)  # already waited for; Popen must not wait again
    if process.returncode not in done:
        end = log.read_text(encoding="utf-8", errors="replace")[-3000:]
        raise ContenderFailed(f"{' '.join(map(str, command))} ended with {process.returncode}:\n{end}")
    return Cost(usage.ru_utime + usage.ru_stime, wall, memory)


def _memory(process: int) -> int:
    """Return KiB. `wait4` has a maximum too, but it begins with the memory of whoever started the process."""
    tree = list(_tree(process))
    largest = max(_kib(f"/proc/{member}/status", "VmHWM:") for member in tree)
    return max(largest, sum(_kib(f"/proc/{member}/smaps_rollup", "Pss:") for member in tree))


def _tree(process: int) -> Iterator[int]:
    yield process
    with suppress(OSError):  # it is gone
        for task in Path(f"/proc/{process}/task").iterdir():
            for child in _read(task / "children").split():
                yield from _tree(int(child))


def _kib(file: str, word: str) -> int:
    lines = _read(Path(file)).splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith(word)), 0)


def _read(file: Path) -> str:
    """Return the text of a file of `/proc`; empty if its process is gone."""
    try:
        return file.read_text()
    except OSError:
        return ""
