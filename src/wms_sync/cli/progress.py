"""Show the progress of a long read, load or push: as a bar on a terminal, as plain lines elsewhere.

A read and a push report to a watcher; a load reports to the library's log.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct

from wms_sync.cli.printing import say
from wms_sync.grammar import count_of
from wms_sync.logs import LIBRARY, LINE_SECONDS, Lines, PlainLines, line, push_line, stamped

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

    from wms_sync.master_data.create import PushProgress
    from wms_sync.master_data.create import Watcher as PushWatcher
    from wms_sync.shipments.read.progress import Progress, Watcher

T = TypeVar("T")
SAID_TO_BE_A_TERMINAL = {"FORCE_COLOR", "TTY_COMPATIBLE"}
"""Variables that make rich treat standard error as a terminal."""
STEPS = {"flattened": "flattening", "merged": "merging"}
"""The steps of a load: the name of the count in its log records, and the label in the bar."""


class _Shown(Struct, frozen=True):
    """The content of a bar at one moment. Without a total the bar shows no percentage."""

    done: int
    total: int | None
    about: str


def progress() -> AbstractContextManager[Watcher]:
    """Yield a watcher for a read and show the steps of a load, on a terminal or on plain standard error."""
    return _watched("reading", line, _of_read)


def push_progress() -> AbstractContextManager[PushWatcher]:
    """Yield a watcher for a push, on a terminal or on plain standard error."""
    return _watched("pushing", push_line, _of_push)


@contextmanager
def _watched(what: str, line: Callable[[T], str], shown: Callable[[T, float], _Shown]) -> Iterator[Callable[[T], None]]:
    if (console := _terminal()) is None:
        with _filtering(_Seldom()):
            yield PlainLines(_line, line)
        return
    with _bar(console) as bar, _filtering(_Steps(bar)):
        tasks: list[TaskID] = []

        def watch(now: T) -> None:
            if not tasks:
                tasks.append(bar.add_task(what, total=None, about=""))
            found = shown(now, bar.tasks[tasks[0]].elapsed or 0.001)
            bar.update(tasks[0], completed=found.done, total=found.total, about=found.about)

        yield watch


@contextmanager
def _filtering(steps: logging.Filter) -> Iterator[None]:
    """Filter the library's log for the terminal; the log of a run gets everything."""
    handlers = [handler for handler in LIBRARY.handlers if isinstance(handler, Lines)]
    for handler in handlers:
        handler.addFilter(steps)
    try:
        yield
    finally:
        for handler in handlers:
            handler.removeFilter(steps)


class _Steps(logging.Filter):
    """Shows the steps of a load in the bar instead of as lines."""

    def __init__(self, bar: Bar) -> None:
        super().__init__()
        self._bar = bar
        self._tasks: dict[str, TaskID] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether to print the record; show a record of a step in the bar instead."""
        if (step := _step_of(record)) is None:
            return True
        if step.what not in self._tasks:
            self._tasks[step.what] = self._bar.add_task(step.what, total=step.total, about="windows")
        self._bar.update(self._tasks[step.what], completed=step.done, total=step.total)
        return False


class _Seldom(logging.Filter):
    """Passes the first record of a step, then one record every ten seconds, and the last one."""

    def __init__(self) -> None:
        super().__init__()
        self._next: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether to print the record."""
        step, now = _step_of(record), monotonic()
        if step is None or step.done == step.total:
            return True
        if now < self._next.get(step.what, now):
            return False
        self._next[step.what] = now + LINE_SECONDS
        return True


class _Step(Struct, frozen=True):
    """The progress of a step of a load, in windows."""

    what: str
    done: int
    total: int


def _step_of(record: logging.LogRecord) -> _Step | None:
    """Return the step that a record of the library reports, such as ``merged 3 of 10 windows``."""
    values = record.args
    if not isinstance(values, Mapping) or "windows" not in values:
        return None
    done = next((name for name in STEPS if name in values), None)
    return None if done is None else _Step(STEPS[done], int(str(values[done])), int(str(values["windows"])))


def _of_read(now: Progress, elapsed: float) -> _Shown:
    speed = f"{now.records / elapsed:,.0f} shipments/s"
    return _Shown(now.records, now.expected or None, f"{count_of(now.pages, 'page')}  {speed}")


def _of_push(now: PushProgress, _: float) -> _Shown:
    counted = "  ".join(f"{count:,} {outcome}" for outcome, count in now.counts.items())
    return _Shown(now.done, now.total, counted)


def _line(text: str) -> None:
    say(stamped(text), err=True)


def _terminal() -> Console | None:
    """Return a console if standard error is a terminal; else None."""
    if not sys.stderr.isatty() and not os.environ.keys() & SAID_TO_BE_A_TERMINAL:
        return None
    from rich.console import Console  # slow to import

    console = Console(stderr=True, highlight=False)
    return console if console.is_terminal else None


def _bar(console: Console) -> Bar:
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    return Bar(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[about]}"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
