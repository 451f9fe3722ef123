"""Measure what a process costs, from outside: wall time, CPU and peak memory, including everything it starts.

- CPU is the user and system time of the process and of every child it waited for (`wait4`).
- Peak memory is the larger of two values: the largest resident set of a single process (`wait4`), and the largest sum
  of proportional set sizes over the process tree (`/proc/<pid>/smaps_rollup`, where a page shared by forked processes
  counts once), sampled five times a second while there is more than one process.
- The process tree is every process in the same session, so a worker counts whoever its parent is.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

_TICKS = os.sysconf("SC_CLK_TCK")
_SAMPLE_SECONDS = 0.2


@dataclass(frozen=True)
class Cost:
    """Seconds and MiB. `service_cpu` is what the sandbox used meanwhile."""

    wall: float
    user: float
    system: float
    memory: float
    service_cpu: float

    @property
    def cpu(self) -> float:
        """Return user and system time."""
        return self.user + self.system

    def as_row(self) -> dict[str, float | int]:
        """Return the columns that every table shows of it."""
        return {
            "CPU s": self.cpu,
            "of it system s": self.system,
            "wall s": self.wall,
            "peak MiB": round(self.memory),
            "service CPU s": self.service_cpu,
        }


class ContenderFailed(Exception):
    """The measured process failed; the message has the end of its log."""


def measure(
    command: Sequence[str | Path],
    *,
    folder: Path,
    environment: Mapping[str, str],
    service: int | None = None,
    accepted: Sequence[int] = (0,),
) -> tuple[Cost, str]:
    """Run a command in `folder` to its end. Return its cost and its standard output.

    `service` is the process id of the sandbox. Standard error goes to `log.txt` in the folder.
    """
    output, log = folder / "output.txt", folder / "log.txt"
    service_before = _cpu_of(service)
    started = monotonic()
    with output.open("wb") as out, log.open("wb") as err:
        process = subprocess.Popen(
            [*map(str, command)],
            cwd=folder,
            env=environment,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
    with _Onlooker(process.pid) as onlooker:
        _, status, usage = os.wait4(process.pid, 0)
        wall = monotonic() - started
    process.returncode = os.waitstatus_to_exitcode(status)  # already waited for; Popen must not wait again
    if process.returncode not in accepted:
        raise ContenderFailed(f"{command} ended with {process.returncode}:\n{_end_of(output)}\n{_end_of(log)}")
    cost = Cost(
        wall=wall,
        user=usage.ru_utime,
        system=usage.ru_stime,
        memory=max(usage.ru_maxrss / 1024, onlooker.memory),
        service_cpu=_cpu_of(service) - service_before,
    )
    print(f"{cost.cpu:8.1f} CPU s {cost.wall:8.1f} s  {' '.join(map(str, command[-4:]))}", file=sys.stderr, flush=True)
    return cost, output.read_text(encoding="utf-8")


class _Onlooker(threading.Thread):
    """Watches the memory of a process tree until the process is gone."""

    def __init__(self, process: int) -> None:
        super().__init__(name="onlooker", daemon=True)
        self.memory = 0.0
        self._process = process
        self._over = threading.Event()

    def __enter__(self) -> _Onlooker:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self.join()

    def run(self) -> None:
        """Look at the memory from time to time."""
        while not self._over.wait(_SAMPLE_SECONDS):
            self._sample()

    def _sample(self) -> None:
        tree = list(_session(self._process))
        if len(tree) > 1:
            self.memory = max(self.memory, sum(_proportional(process) for process in tree) / 1024)


def _session(leader: int) -> Iterator[int]:
    for entry in os.scandir("/proc"):
        if entry.name.isdigit() and _fields(int(entry.name))[3:4] == [str(leader)]:
            yield int(entry.name)


def _fields(process: int) -> list[str]:
    """Return the fields of `/proc/<pid>/stat` from the state on; empty if the process is gone."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _proportional(process: int) -> int:
    """Return the proportional set size in KiB; 0 if the process is gone."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


def _cpu_of(process: int | None) -> float:
    fields = _fields(process) if process else []
    return (int(fields[11]) + int(fields[12])) / _TICKS if fields else 0.0


def _end_of(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")[-3000:]
