"""Show the progress of a long read or push: as a bar on a terminal, as plain lines elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TypeVar

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from pipelines.operation import PlainLines, line, push_line
from wms_sync.extract.progress import Progress, Watcher
from wms_sync.master_data.push.outcomes import PushProgress
from wms_sync.master_data.push.outcomes import Watcher as PushWatcher

T = TypeVar("T")


@dataclass(frozen=True)
class _Shown:
    """What a bar shows at one moment; without a total it only moves."""

    done: int
    total: int | None
    about: str


def progress() -> AbstractContextManager[Watcher]:
    """Yield a watcher for a read, made for a terminal or for plain standard error."""
    return _watched("reading", line, _of_read)


def push_progress() -> AbstractContextManager[PushWatcher]:
    """Yield the same for a push."""
    return _watched("pushing", push_line, _of_push)


@contextmanager
def _watched(what: str, line: Callable[[T], str], shown: Callable[[T, float], _Shown]) -> Iterator[Callable[[T], None]]:
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        yield PlainLines(_line, line)
        return
    with _bar(console) as bar:
        task = bar.add_task(what, total=None, about="")

        def watch(now: T) -> None:
            found = shown(now, bar.tasks[task].elapsed or 0.001)
            bar.update(task, completed=found.done, total=found.total, about=found.about)

        yield watch


def _of_read(now: Progress, elapsed: float) -> _Shown:
    speed = f"{now.records / elapsed:,.0f} shipments/s"
    return _Shown(now.records, now.expected or None, f"{now.pages} pages  {speed}")


def _of_push(now: PushProgress, _: float) -> _Shown:
    counted = "  ".join(f"{count:,} {outcome}" for outcome, count in now.counts.items())
    return _Shown(now.done, now.total, counted)


def _line(text: str) -> None:
    click.echo(text, err=True)


def _bar(console: Console) -> Bar:
    return Bar(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[about]}"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
