"""Progress of a long read or push: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from pipelines.operation import PlainLines, line, push_line
from wms_sync.extract.progress import Progress, Watcher
from wms_sync.master_data.outcomes import PushProgress
from wms_sync.master_data.outcomes import Watcher as PushWatcher

Say = Callable[[str], None]


@contextmanager
def progress() -> Iterator[tuple[Watcher, Say]]:
    """A watcher for the read and a function for sentences, fit for where standard error goes."""
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        yield PlainLines(_line, line), _line
        return
    with _bar(console) as bar:
        task = bar.add_task("reading", total=None, about="")

        def watch(now: Progress) -> None:
            elapsed = bar.tasks[task].elapsed or 0.001
            speed = f"{now.records / elapsed:,.0f} shipments/s"
            about = f"{now.pages} pages  {speed}"
            bar.update(task, completed=now.records, total=now.expected or None, about=about)

        yield watch, bar.console.print


@contextmanager
def push_progress() -> Iterator[tuple[PushWatcher, Say]]:
    """The same for a push: rows sent, and the time that is left."""
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        yield PlainLines(_line, push_line), _line
        return
    with _bar(console) as bar:
        task = bar.add_task("pushing", total=None, about="")

        def watch(now: PushProgress) -> None:
            about = "  ".join(f"{count:,} {outcome}" for outcome, count in now.counts.items())
            bar.update(task, completed=now.done, total=now.total, about=about)

        yield watch, bar.console.print


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
