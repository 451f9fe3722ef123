"""The commands that run an operation: they show its progress and print its result.

The progress of a read or push is a bar on a terminal, and plain lines elsewhere. A load reports to the library's log.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from types import ModuleType
from typing import TypeVar

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress as Bar, TextColumn, TimeRemainingColumn

from wms_sync.cli.commands import exits_with_code, say, say_lines, settings_for_service
from wms_sync.cli.views import open_lines, phases_text
from wms_sync.errors import SettingsError
from wms_sync.grammar import count_of, moment
from wms_sync.interrupts import INTERRUPTED, Stopping, sigterm_interrupts
from wms_sync.intervals import Interval, midnight
from wms_sync.logs import LIBRARY, PlainLines, line, push_line
from wms_sync.master_data.create import PushProgress
from wms_sync.master_data.kind import Kind, columns_of
from wms_sync.master_data.kinds import NAMES, kind_named
from wms_sync.master_data.plan import SHOWN
from wms_sync.runs import Operation, plan_push, push as push_recorded
from wms_sync.settings import Settings
from wms_sync.shipments.load.refresh import RefreshReport
from wms_sync.shipments.read.progress import Progress
from wms_sync.targets.target import maintenance_is_due

DAY = click.DateTime(formats=["%Y-%m-%d"])
COMMAND_LINE = "command line"
"""The source of a run, in its record."""
DAGSTER_HOME = "DAGSTER_HOME"
T = TypeVar("T")
Shown = tuple[int, int | None, str]
"""What a bar shows at one moment: what is done, of how much, and a text. Without a total it shows no percentage."""


@click.command(epilog="Example: wms-sync sync")
@exits_with_code
def sync() -> None:
    """Run the nightly sync now: read everything that has changed since the last sync, and load it."""
    run_sync(settings_for_service())


@click.command(epilog="Example: wms-sync backfill --from 2026-03-01 --to 2026-03-08")
@click.option("--from", "start", type=DAY, required=True, help="First day to read again, UTC.")
@click.option("--to", "end", type=DAY, required=True, help="The day after the last one, UTC.")
@exits_with_code
def backfill(start: datetime, end: datetime) -> None:
    """Read whole days again and load them.

    A day has the shipments whose updated_at (UTC) is on that day. The range is [from, to).
    """
    settings = settings_for_service()
    first, after = start.date(), end.date()
    if after <= first:
        raise SettingsError(f"--to must be after --from: the range is [from, to), got {first} to {after}.")
    if first > (today := datetime.now(UTC).date()):
        raise SettingsError(f"--from {first} is in the future (today is {today} UTC): there is nothing to read again.")
    if first < settings.start_date:
        raise SettingsError(
            f"--from {first} is before WMS_START_DATE ({settings.start_date}). Set that to an earlier day: the next "
            "sync then reads everything since."
        )
    run_operation(settings, lambda run: run.backfill(Interval(midnight(first), midnight(after))))


@click.command(epilog="Example: wms-sync rebuild")
@exits_with_code
def rebuild() -> None:
    """Rebuild every table without requests, from Parquet files where raw pages were dropped."""
    run_operation(Settings.load(), lambda run: run.rebuild())


@click.command(epilog="Example: wms-sync maintain")
@exits_with_code
def maintain() -> None:
    """Merge the small files of a lake, and delete the files that no reader needs.

    With WMS_ANALYTICS=file there is nothing to do.
    """
    run_maintain(Settings.load())


@click.command(epilog="Example: wms-sync push retailers retailers.csv --dry-run")
@click.argument("kind", type=click.Choice(NAMES))
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=False)
@click.option("--dry-run", is_flag=True, help="Print the plan and send nothing.")
@click.option("--resend", is_flag=True, help="Send rows in doubt again; the service may then have them twice.")
@click.option(
    "--as-written", is_flag=True, help="Send suspicious cells too, such as dates and errors of a spreadsheet."
)
@click.option("--limit", type=click.IntRange(min=1), help="Send only the first creates, and show each with its answer.")
@click.option("--all", "every", is_flag=True, help="Print every row, even of a long file.")
@click.option("--columns", is_flag=True, help="Print the columns that a file of this kind may have, and exit.")
@exits_with_code
def push(
    kind: str,
    file: Path | None,
    dry_run: bool,
    resend: bool,
    as_written: bool,
    limit: int | None,
    every: bool,
    columns: bool,
) -> int:
    """Create in the service the rows of a CSV file that the service lacks."""
    if columns:
        say_lines(_column_lines(kind_named(kind)))
        return 0
    if file is None:
        raise click.UsageError("Name the CSV file, or use --columns to see the columns that it may have.")
    settings = settings_for_service()
    most = None if every else SHOWN
    if dry_run:
        plan = plan_push(settings, kind_named(kind), file, resend=resend, as_written=as_written, limit=limit)
        say_lines(plan.lines(push_limit=settings.push_limit, most=most))
        return plan.exit_code
    return run_push(settings, kind_named(kind), file, resend=resend, as_written=as_written, limit=limit, most=most)


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
        done = push_recorded(
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
    say_lines(_lines(outcome, seconds))


def _lines(outcome: Operation, seconds: float) -> Iterator[str]:
    read, refreshed, maintained = outcome.read, outcome.refreshed, outcome.maintained
    phases: dict[str, float] = {}
    if read is not None:
        phases["read"] = read.seconds
        for interval in read.intervals:
            yield f"read      {moment(interval.start)} to {moment(interval.end)} (shipments by updated_at)"
        yield (
            f"landed    {count_of(read.progress.records, 'shipment')} in {count_of(read.progress.pages, 'page')}, "
            f"{read.progress.bytes / 1e6:,.1f} MB compressed, {count_of(read.requests, 'request')}"
        )
        yield from (f"note      {note}" for note in read.notes)
    if refreshed is not None:
        phases |= refreshed.phases
        yield from refresh_lines(refreshed)
    if maintained is not None:
        yield (
            f"maintained  {count_of(maintained.tables, 'table')}: {count_of(maintained.files, 'file')} instead of "
            f"{maintained.files_before:,}; deleted {maintained.deleted:,} that no reader needs"
        )
    if phases:
        phases["other"] = max(0.0, seconds - sum(phases.values()))
        yield f"took      {phases_text(phases)}"
    yield from open_lines(outcome.findings)
    if refreshed is not None and (refreshed.quarantined or refreshed.drift):
        yield "next      wms-sync inbox"


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


def refresh_lines(report: RefreshReport) -> Iterator[str]:
    """Yield the result of a refresh of the tables, and the checks that prevented publishing."""
    merged = [count for count in report.merged.values() if count]
    windows = count_of(report.counts["merged_windows"], "window into", "windows into")
    yield f"merged    {count_of(sum(merged), 'row')} of {windows} {count_of(len(merged), 'table')}"
    if report.audited is not None:
        yield f"audit     {report.audited}"
    yield from (f"check     REFUSED: {outcome.finding} ({outcome.check.name})" for outcome in report.refused_by)
    yield f"checks    {sum(outcome.passed for outcome in report.checks)} of {len(report.checks)} passed"
    if report.published:
        yield f"published {report.bytes / 1e6:,.1f} MB"
    else:
        yield "NOT published: analysts still see the previous tables"


def _column_lines(kind: Kind) -> Iterator[str]:
    """Yield a line for each column of a kind: name, type, rule, whether it is required, and for which item types."""
    columns = columns_of(kind)
    width = max(len(column.name) for column in columns)
    every = max((column.types for column in columns), key=len)
    for column in columns:
        needed = "required" if column.required else "required with its group" if column.with_group else ""
        types = "" if column.types == every else f"only {', '.join(column.types)}"
        facts = "; ".join(fact for fact in (f"{column.cell.type}: {column.cell.rule}", needed, types) if fact)
        yield f"{column.name:<{width}}  {facts}"
