"""A push of one file as a run with a record, and what fails a push although its file was read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Event
from uuid import uuid4

import httpx

from wms_sync.errors import WmsSyncError
from wms_sync.grammar import count_of
from wms_sync.master_data.check.rows import Checked
from wms_sync.master_data.errors import MasterDataError
from wms_sync.master_data.kinds.kind import Kind
from wms_sync.master_data.plan.steps import WRONG_USAGE, Plan
from wms_sync.master_data.push.file import PushReport, push_file
from wms_sync.master_data.push.outcomes import Watcher
from wms_sync.runs.recording import SUCCEEDED, Counts, Ended, Recording
from wms_sync.settings import Settings
from wms_sync.state.runs import Outcome

SHOWN_FAULTS = 10
Handled = Plan | PushReport


class InterruptedPush(WmsSyncError):
    """The push ended early because of a signal."""


class RowsUnsent(MasterDataError):
    """The service did not accept every row; the others are safe to push again."""


class WrongHeader(MasterDataError):
    """The header is wrong, so no row of the file can be read."""


def push(
    settings: Settings,
    kind: Kind,
    path: Path,
    *,
    source: str,
    resend: bool,
    planned: Callable[[Plan], object],
    stop: Event,
    watcher: Watcher | None = None,
    transport: httpx.BaseTransport | None = None,
) -> PushReport:
    """Push one file and record the run; ``planned``, ``stop`` and ``transport`` are those of ``push_file``."""
    recording = Recording(settings, str(uuid4()), purpose_of(kind), source)
    done: list[Handled] = []
    failures: list[WmsSyncError] = []
    with recording.phase("push", counts=lambda: counts_of(done), end=lambda: end_by(failures)) as held:
        report = push_file(
            settings,
            kind,
            path,
            run_id=recording.run_id,
            resend=resend,
            planned=planned,
            watcher=watcher,
            stop=stop,
            transport=transport,
            held=held,
        )
        done.append(report)
        failures += failures_of(report)
    return report


def purpose_of(kind: Kind) -> str:
    """Return what a push of this kind is for, in its record."""
    return f"push {kind.slug}"


def counts_of(handled: Sequence[Handled]) -> Counts:
    """Return the counts of the run's record: rows by outcome."""
    counts: Counter[str] = Counter()
    for done in handled:
        if isinstance(done, PushReport):
            counts.update({outcome.value.replace(" ", "_"): count for outcome, count in done.counts.items()})
    return counts


def end_by(failures: Sequence[WmsSyncError]) -> Ended:
    """Return how a push with these failures ended."""
    if not failures:
        return SUCCEEDED
    kind = type(failures[0])
    outcome: Outcome = "interrupted" if kind is InterruptedPush else "failed"
    return Ended(outcome, "\n".join(map(str, failures)), kind.__name__)


def failures_of(done: Handled) -> Iterator[WmsSyncError]:
    """Yield the errors that fail the run although the file was read."""
    if isinstance(done, PushReport) and done.applied.stopped is not None:
        yield done.applied.stopped
    if isinstance(done, PushReport) and done.applied.interrupted:
        yield InterruptedPush(f"The push was interrupted; push the file again to send the rest. {done.summary}")
    elif isinstance(done, PushReport) and done.unsettled and done.applied.stopped is None:
        first = done.unsettled[0]
        yield RowsUnsent(
            f"The service did not take {count_of(len(done.unsettled), 'row')} of {_checked(done).file.path.name}, the "
            f"first on line {first.line}: {first.message} {done.summary}"
        )
    if done.exit_code == WRONG_USAGE and _checked(done).header_is_wrong:
        why = "; ".join(f"{one.column}: {one.rule}" for one in _checked(done).offences[:SHOWN_FAULTS])
        yield WrongHeader(f"The header of {_checked(done).file.path.name} is wrong, so nothing of it was sent. {why}")


def _checked(done: Handled) -> Checked:
    return done.checked if isinstance(done, Plan) else done.plan.checked
