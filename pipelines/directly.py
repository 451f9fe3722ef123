"""Run what the commands are for without Dagster, where nobody keeps a history: its import takes longer than a night.

The library is called as a step of Dagster calls it, so a run does the same and leaves the same.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.sources import COMMAND_LINE
from pipelines.stopping import Stopping, sigterm_interrupts
from wms_sync.extract.progress import Watcher
from wms_sync.intervals import Interval, midnight
from wms_sync.runs.operation import Operation, RunReport
from wms_sync.settings import Settings

if TYPE_CHECKING:
    from wms_sync.master_data.kinds.kind import Kind
    from wms_sync.master_data.plan.steps import Plan
    from wms_sync.master_data.push.file import PushReport
    from wms_sync.master_data.push.outcomes import Watcher as PushWatcher


def run_sync(settings: Settings, *, watcher: Watcher | None = None) -> RunReport:
    """Read everything that is not covered, and load the tables."""
    return _run(Operation(settings, source=COMMAND_LINE, watcher=watcher), Operation.sync)


def run_backfill(settings: Settings, start: date, end: date, *, watcher: Watcher | None = None) -> RunReport:
    """Read the days of `[start, end)` again, and load the tables."""
    days = Interval(midnight(start), midnight(end))
    return _run(Operation(settings, source=COMMAND_LINE, watcher=watcher), lambda run: run.backfill(days))


def run_rebuild(settings: Settings) -> RunReport:
    """Make every table again from raw pages."""
    return _run(Operation(settings, source=COMMAND_LINE), Operation.rebuild)


def run_maintain(settings: Settings) -> RunReport:
    """Put the files of a lake together."""
    return _run(Operation(settings, source=COMMAND_LINE), Operation.maintain)


def run_push(
    settings: Settings, kind: Kind, path: Path, *, resend: bool = False, watcher: PushWatcher | None = None
) -> PushReport:
    """Push one file. Once it sends, SIGINT and SIGTERM end it with a report, which says what stopped it."""
    from wms_sync.runs.pushing import push

    def planned(_: Plan) -> None:
        stopping.listen()

    with sigterm_interrupts(), Stopping() as stopping:
        return push(
            settings,
            kind,
            path.absolute(),
            source=COMMAND_LINE,
            resend=resend,
            planned=planned,
            stop=stopping.asked,
            watcher=watcher,
        )


def _run(operation: Operation, does: Callable[[Operation], object]) -> RunReport:
    """Run it. SIGINT and SIGTERM end it between two pages and raise `KeyboardInterrupt`."""
    with sigterm_interrupts():
        does(operation)
    return operation.report
