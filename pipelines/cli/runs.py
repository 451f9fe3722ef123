"""Run the jobs of the commands, show progress, print the result, and return the exit code."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import click
import dagster as dg

from pipelines.cli.progress import progress, push_progress
from pipelines.cli.views import read_lines, refresh_lines, took_lines
from pipelines.running import RunReport
from pipelines.running import run_backfill as backfill_job
from pipelines.running import run_push as push_job
from pipelines.running import run_rebuild as rebuild_job
from pipelines.running import run_sync as sync_job
from wms_sync.master_data.kinds.kind import Kind
from wms_sync.master_data.plan.steps import SHOWN
from wms_sync.settings import Settings

DONE_WITH_DOUBTS = 3
INTERRUPTED = 130


def run_sync(settings: Settings, *, instance: dg.DagsterInstance | None = None) -> int:
    """Run the nightly job now; return the exit code."""
    with progress() as watcher:
        outcome = sync_job(settings, watcher=watcher, instance=instance)
    return report(outcome)


def run_backfill(settings: Settings, start: date, end: date) -> int:
    """Read whole days again; return the exit code."""
    with progress() as watcher:
        outcome = backfill_job(settings, start, end, watcher=watcher)
    return report(outcome)


def run_rebuild(settings: Settings) -> int:
    """Make every table again from raw pages; return the exit code."""
    with progress():
        outcome = rebuild_job(settings)
    return report(outcome)


def run_push(
    settings: Settings,
    kind: Kind,
    path: Path,
    *,
    resend: bool,
    most: int | None = SHOWN,
    instance: dg.DagsterInstance | None = None,
) -> int:
    """Push one file; return the exit code. ``most`` rows of each outcome are printed, or all."""
    with push_progress() as watcher:
        outcome = push_job(settings, kind, path, resend=resend, watcher=watcher, instance=instance)
    for line in outcome.lines(most=most):
        click.echo(line)
    return INTERRUPTED if outcome.applied.interrupted else outcome.exit_code


def report(outcome: RunReport) -> int:
    """Print what a run did; return its exit code."""
    for line in _lines(outcome):
        click.echo(line)
    return DONE_WITH_DOUBTS if _is_doubtful(outcome) else 0


def _is_doubtful(outcome: RunReport) -> bool:
    read, refreshed = outcome.read, outcome.refreshed
    return bool(
        (read is not None and read.warnings)
        or (refreshed is not None and (refreshed.quarantined or refreshed.drift or refreshed.warnings))
    )


def _lines(outcome: RunReport) -> Iterator[str]:
    if outcome.read is not None:
        yield from read_lines(outcome.read)
    if outcome.refreshed is not None:
        yield from refresh_lines(outcome.refreshed)
    yield from took_lines(outcome.read, outcome.refreshed)
