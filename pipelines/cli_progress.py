"""Progress of a long read: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from pipelines.operation import PlainLines
from wms_sync.extract.progress import Progress, Watcher

Say = Callable[[str], None]


@contextmanager
def progress() -> Iterator[tuple[Watcher, Say]]:
    """A watcher for the read and a function for sentences, fit for where standard error goes."""
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        yield PlainLines(_line), _line
        return
    with _bar(console) as bar:
        task = bar.add_task("reading", total=None, pages=0, speed="")

        def watch(now: Progress) -> None:
            elapsed = bar.tasks[task].elapsed or 0.001
            speed = f"{now.records / elapsed:,.0f} shipments/s"
            bar.update(task, completed=now.records, total=now.expected or None, pages=now.pages, speed=speed)

        yield watch, bar.console.print


def _line(text: str) -> None:
    click.echo(text, err=True)


def _bar(console: Console) -> Bar:
    return Bar(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[pages]} pages  {task.fields[speed]}"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
