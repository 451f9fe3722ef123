"""Run the operation of a command, show its progress, print the result, and return the exit code."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from datetime import date
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from wms_sync.cli.printing import say, say_lines
from wms_sync.cli.progress import progress, push_progress
from wms_sync.cli.views import maintained_lines, next_lines, open_lines, read_lines, refresh_lines, took_lines
from wms_sync.interrupts import Stopping, sigterm_interrupts
from wms_sync.reports.finding import exit_code_of_run

if TYPE_CHECKING:
    from wms_sync.master_data.kinds.kind import Kind
    from wms_sync.runs import Operation, RunReport
    from wms_sync.settings import Settings
    from wms_sync.shipments.load.refresh import Replayed

INTERRUPTED = 130
COMMAND_LINE = "command line"
"""The source of a run, in its record."""
DAGSTER_HOME = "DAGSTER_HOME"


def run_sync(settings: Settings, *, is_shown: bool = True) -> int:
    """Run the nightly sync now, and maintenance if it is due; return the exit code.

    If ``DAGSTER_HOME`` is set and ``is_shown`` is true, report the run to Dagster's catalogue.
    """
    code = report(_run(settings, lambda run: run.sync(), is_shown=is_shown))
    from wms_sync.targets.target import maintenance_is_due

    if maintenance_is_due(settings):
        run_maintain(settings)
    return code


def run_backfill(settings: Settings, start: date, end: date) -> int:
    """Read whole days again; return the exit code."""
    from wms_sync.intervals import Interval, midnight

    return report(_run(settings, lambda run: run.backfill(Interval(midnight(start), midnight(end)))))


def run_rebuild(settings: Settings) -> int:
    """Rebuild every table from the raw pages; return the exit code."""
    return report(_run(settings, lambda run: run.rebuild()))


def run_replay(settings: Settings, windows: Collection[str]) -> Replayed:
    """Reload these windows from their raw pages; return the result."""
    done: list[Replayed] = []
    _run(settings, lambda run: done.append(run.replay(windows)))
    return done[0]


def run_maintain(settings: Settings) -> int:
    """Maintain the tables; return the exit code."""
    outcome = _run(settings, lambda run: run.maintain(), is_shown=False)
    if outcome.maintained is None:
        say("maintained  nothing: each load keeps the file compact")
    return report(outcome)


def run_push(
    settings: Settings, kind: Kind, path: Path, *, resend: bool, most: int | None = None, is_shown: bool = True
) -> int:
    """Push one file; return the exit code. Print at most ``most`` rows of each outcome, or all if it is None.

    From the first request on, SIGINT and SIGTERM end the push with a report.
    """
    from wms_sync.runs import push

    with sigterm_interrupts(), push_progress() as watcher, Stopping() as stopping:
        done = push(
            settings,
            kind,
            path.absolute(),
            source=COMMAND_LINE,
            resend=resend,
            planned=lambda _: stopping.listen(),
            stop=stopping.asked,
            watcher=watcher,
        )
    say_lines(done.lines(most=most))
    if is_shown:
        _show(lambda reporting: reporting.report_push(settings, kind, [done]))
    return INTERRUPTED if done.applied.interrupted else done.exit_code


def _run(settings: Settings, does: Callable[[Operation], object], *, is_shown: bool = True) -> RunReport:
    """Run the operation and report it to Dagster's catalogue, even if it failed.

    SIGINT and SIGTERM end the operation between two pages and raise ``KeyboardInterrupt``.
    """
    from wms_sync.runs import Operation

    with progress() as watcher, sigterm_interrupts():
        run = Operation(settings, source=COMMAND_LINE, watcher=watcher)
        try:
            does(run)
        except Exception:
            _show_run(run, is_shown=is_shown)
            raise
    _show_run(run, is_shown=is_shown)
    return run.report


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
        from pipelines import reporting

        reports(reporting)
    except Exception as error:  # noqa: BLE001 - a defect of Dagster's catalogue must not fail a command
        say(f"wms-sync: the result is not reported to the catalogue of {DAGSTER_HOME}: {error}", err=True)


def report(outcome: RunReport) -> int:
    """Print what a run did; return its exit code."""
    say_lines(_lines(outcome))
    return exit_code_of_run(outcome.findings)


def _lines(outcome: RunReport) -> Iterator[str]:
    if outcome.read is not None:
        yield from read_lines(outcome.read)
    if outcome.refreshed is not None:
        yield from refresh_lines(outcome.refreshed)
    if outcome.maintained is not None:
        yield from maintained_lines(outcome.maintained)
    yield from took_lines(outcome.read, outcome.refreshed)
    yield from open_lines(outcome.findings)
    yield from next_lines(outcome.refreshed)
