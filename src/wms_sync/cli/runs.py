"""Run the operation of a command, show its progress, and print the result. A run that ends without an error is done.

The progress of a read or push is a bar on a terminal, and plain lines elsewhere. A load reports to the library's log.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from types import ModuleType
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from wms_sync.cli.printing import say, say_lines
from wms_sync.cli.views import maintained_lines, next_lines, open_lines, read_lines, refresh_lines, took_lines
from wms_sync.grammar import count_of
from wms_sync.interrupts import INTERRUPTED, Stopping, sigterm_interrupts
from wms_sync.logs import LIBRARY, PlainLines, line, push_line
from wms_sync.master_data.create import PushProgress
from wms_sync.master_data.kind import Kind
from wms_sync.runs import Operation, push
from wms_sync.settings import Settings
from wms_sync.shipments.read.progress import Progress
from wms_sync.targets.target import maintenance_is_due

COMMAND_LINE = "command line"
"""The source of a run, in its record."""
DAGSTER_HOME = "DAGSTER_HOME"
T = TypeVar("T")
Shown = tuple[int, int | None, str]
"""What a bar shows at one moment: what is done, of how much, and a text. Without a total it shows no percentage."""


def run_sync(settings: Settings, *, is_shown: bool = True) -> None:
    """Run the nightly sync now, and maintenance if it is due.

    If ``DAGSTER_HOME`` is set and ``is_shown`` is true, report the run to Dagster's catalogue.
    """
    run_operation(settings, lambda run: run.sync(), is_shown=is_shown)
    if maintenance_is_due(settings):
        run_maintain(settings)


def run_maintain(settings: Settings) -> None:
    """Maintain the tables."""
    if run_operation(settings, lambda run: run.maintain(), is_shown=False).maintained is None:
        say("maintained  nothing: each load keeps the file compact")


def run_push(
    settings: Settings,
    kind: Kind,
    path: Path,
    *,
    resend: bool = False,
    as_written: bool = False,
    limit: int | None = None,
    most: int | None = None,
    is_shown: bool = True,
) -> int:
    """Push one file; return the exit code. Print at most ``most`` rows of each outcome, or all if it is None.
    With ``limit``, send at most that many creates, and show each with its answer.

    From the first request on, SIGINT, SIGTERM and SIGHUP end the push with a report.
    """
    with sigterm_interrupts(), _watched(settings, "pushing", push_line, _of_push) as watcher, Stopping() as stopping:
        done = push(
            settings,
            kind,
            path.absolute(),
            source=COMMAND_LINE,
            resend=resend,
            as_written=as_written,
            limit=limit,
            planned=lambda _: stopping.listen(),
            stop=stopping.asked,
            watcher=watcher,
        )
    say_lines(done.lines(most=most))
    if is_shown:
        _show(lambda reporting: reporting.report_push(settings, kind, [done]))
    return INTERRUPTED if done.interrupted else done.exit_code


def run_operation(settings: Settings, does: Callable[[Operation], object], *, is_shown: bool = True) -> Operation:
    """Run the operation, report it to Dagster's catalogue, even if it failed, and print what it did.

    SIGINT, SIGTERM and SIGHUP end the operation with ``KeyboardInterrupt``.
    """
    began = monotonic()
    with _watched(settings, "reading", line, _of_read) as watcher, sigterm_interrupts():
        run = Operation(settings, source=COMMAND_LINE, watcher=watcher)
        try:
            does(run)
        except Exception:
            _show_run(run, is_shown=is_shown)
            raise
    _show_run(run, is_shown=is_shown)
    run.refuse_unpublished()
    report(run, monotonic() - began)
    return run


def _show_run(run: Operation, *, is_shown: bool) -> None:
    if is_shown:
        _show(lambda reporting: reporting.report_shipments(run.settings, run.read, run.refreshed, run.page))


def _show(reports: Callable[[ModuleType], None]) -> None:
    """Report to Dagster if ``DAGSTER_HOME`` is set. The library itself does not import Dagster.

    If that raises an error, print it and continue, because the run is already recorded.
    """
    if not os.environ.get(DAGSTER_HOME):
        return
    try:
        from wms_sync_pipelines import reporting

        reports(reporting)
    except Exception as error:  # noqa: BLE001 - a defect of Dagster's catalogue must not fail a command
        LIBRARY.error(f"the result is not reported to the catalogue of {DAGSTER_HOME}: {error}")


def report(outcome: Operation, seconds: float) -> None:
    """Print what a run did, and how the ``seconds`` that it took add up."""
    if outcome.read is not None:
        say_lines(read_lines(outcome.read))
    if outcome.refreshed is not None:
        say_lines(refresh_lines(outcome.refreshed))
    if outcome.maintained is not None:
        say_lines(maintained_lines(outcome.maintained))
    say_lines(took_lines(outcome.read, outcome.refreshed, seconds))
    say_lines(open_lines(outcome.findings))
    say_lines(next_lines(outcome.refreshed))


@contextmanager
def _watched(
    settings: Settings, what: str, line: Callable[[T], str], shown: Callable[[T, float], Shown]
) -> Iterator[Callable[[T], None]]:
    """Yield a watcher that shows a read or push: as a bar on a terminal, as lines of the log elsewhere."""
    console = Console(stderr=True, highlight=False)
    if settings.log_format == "json" or not console.is_terminal:
        yield PlainLines(LIBRARY.info, line)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[about]}"),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task(what, total=None, about="", visible=False)

        def watch(now: T) -> None:
            done, total, about = shown(now, bar.tasks[0].elapsed or 0.001)
            bar.update(task, completed=done, total=total, about=about, visible=True)

        yield watch


def _of_read(now: Progress, elapsed: float) -> Shown:
    speed = f"{now.records / elapsed:,.0f} shipments/s"
    return now.records, now.expected or None, f"{count_of(now.pages, 'page')}  {speed}"


def _of_push(now: PushProgress, _: float) -> Shown:
    counted = "  ".join(f"{count:,} {outcome}" for outcome, count in now.counts.items())
    return now.done, now.total, counted
