"""Run what a command is for, show progress, print the result, and return the exit code."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pipelines.cli.printing import say_lines
from pipelines.cli.progress import progress, push_progress
from pipelines.cli.views import maintained_lines, read_lines, refresh_lines, took_lines
from pipelines.home import home_of_user

if TYPE_CHECKING:
    from wms_sync.extract.progress import Watcher
    from wms_sync.master_data.kinds.kind import Kind
    from wms_sync.master_data.push.file import PushReport
    from wms_sync.master_data.push.outcomes import Watcher as PushWatcher
    from wms_sync.runs.operation import RunReport
    from wms_sync.settings import Settings

DONE_WITH_DOUBTS = 3
INTERRUPTED = 130


class Runs(Protocol):
    """What runs the commands: the library itself, or the jobs of Dagster with its history."""

    def run_sync(self, settings: Settings, *, watcher: Watcher | None = None) -> RunReport:
        """Read what is not covered, and load."""

    def run_backfill(self, settings: Settings, start: date, end: date, *, watcher: Watcher | None = None) -> RunReport:
        """Read days again, and load."""

    def run_rebuild(self, settings: Settings) -> RunReport:
        """Make every table again."""

    def run_maintain(self, settings: Settings) -> RunReport:
        """Put the files of a lake together."""

    def run_push(
        self, settings: Settings, kind: Kind, path: Path, *, resend: bool = False, watcher: PushWatcher | None = None
    ) -> PushReport:
        """Push a file."""


def run_sync(settings: Settings, *, keeps_history: bool = True) -> int:
    """Run the nightly job now, and maintenance where it is due; return the exit code."""
    runs = _runs(keeps_history=keeps_history)
    with progress() as watcher:
        outcome = runs.run_sync(settings, watcher=watcher)
    code = report(outcome)
    if settings.analytics == "ducklake" and _is_due(settings):
        with progress():
            report(runs.run_maintain(settings))
    return code


def run_backfill(settings: Settings, start: date, end: date) -> int:
    """Read whole days again; return the exit code."""
    with progress() as watcher:
        outcome = _runs().run_backfill(settings, start, end, watcher=watcher)
    return report(outcome)


def run_rebuild(settings: Settings) -> int:
    """Make every table again from raw pages; return the exit code."""
    with progress():
        outcome = _runs().run_rebuild(settings)
    return report(outcome)


def run_maintain(settings: Settings) -> int:
    """Maintain the tables; return the exit code."""
    with progress():
        outcome = _runs().run_maintain(settings)
    if outcome.maintained is None:
        say_lines(["maintained  nothing: a load keeps the file compact by itself"])
    return report(outcome)


def run_push(
    settings: Settings,
    kind: Kind,
    path: Path,
    *,
    resend: bool,
    most: int | None = None,
    keeps_history: bool = True,
) -> int:
    """Push one file; return the exit code. ``most`` rows of each outcome are printed, or all."""
    with push_progress() as watcher:
        outcome = _runs(keeps_history=keeps_history).run_push(settings, kind, path, resend=resend, watcher=watcher)
    say_lines(outcome.lines(most=most))
    return INTERRUPTED if outcome.applied.interrupted else outcome.exit_code


def report(outcome: RunReport) -> int:
    """Print what a run did; return its exit code."""
    say_lines(_lines(outcome))
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
    if outcome.maintained is not None:
        yield from maintained_lines(outcome.maintained)
    yield from took_lines(outcome.read, outcome.refreshed)


def _is_due(settings: Settings) -> bool:
    from wms_sync.upkeep.maintenance import is_due  # a file needs none, and its night should import none of it

    return is_due(settings)


def _runs(*, keeps_history: bool = True) -> Runs:
    """Return Dagster's jobs if there is a home to keep their history, else the library, without importing Dagster."""
    if keeps_history and home_of_user() is not None:
        from pipelines import running

        return running
    from pipelines import directly

    return directly
