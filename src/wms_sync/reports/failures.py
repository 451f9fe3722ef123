"""Find the failed runs. Only the newest run of each purpose counts, and a night that is still being retried does not.

A night is a scheduled sync with its retries. If it failed because the service, PostgreSQL, object storage or the
network to one of them did not answer, it is retried for hours. Each attempt is a run that continues where the previous
attempt stopped. Between attempts, neither the writer's lock nor a slot of Dagster is held.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import takewhile

from wms_sync.reports.finding import Finding, is_in_ui, name_of, warning
from wms_sync.service.errors import Busy, NotSent, ServiceFailed, Unreachable
from wms_sync.state.errors import StateSilent
from wms_sync.state.runs import KILLED, LOADING, LOADS_TABLES, SYNC, RunRecord
from wms_sync.storage.files import FilesUnavailable

PAUSES = tuple(timedelta(minutes=minutes) for minutes in (2, 5, 10, 20, 30))
"""The pauses between the end of an attempt and the next attempt. The last pause repeats."""
PASSING = frozenset(
    kind.__name__ for kind in (Unreachable, NotSent, Busy, ServiceFailed, FilesUnavailable, StateSilent)
)
QUOTES_ROWS = {"RowsUnsent", "WrongHeader", "Rejected"}
"""Kinds of errors whose messages may quote values from a file or the service."""
LONGEST_TEXT = 1000
EXPLAINED_WITHIN = timedelta(minutes=1)
"""How long to wait for Dagster to record why a process ended. It notices the end some seconds later."""


def of_runs(runs: Sequence[RunRecord], moment: datetime, hours: float) -> Iterator[Finding]:
    """Yield a finding for each purpose whose newest run failed, or was interrupted and has not succeeded since.

    ``runs`` are sorted newest first. A night is retried for ``hours`` after its first attempt.
    """
    is_retried = is_being_retried(runs, moment, hours)
    done: set[str] = set()
    interrupted: dict[str, RunRecord] = {}
    for run in runs:
        if run.outcome == "running" or run.purpose in done:
            continue
        if run.outcome == "interrupted":
            interrupted.setdefault(run.purpose, run)
            continue
        done.add(run.purpose)
        if run.outcome == "failed":
            interrupted.pop(run.purpose, None)
            yield failed_run(run, runs, moment, is_retried=is_retried and run.purpose == SYNC)
        elif run.group in LOADS_TABLES:
            done.add(LOADING)
    for run in interrupted.values():
        text = f"{run.purpose} was interrupted ({run.source}, {_minute(run.started_at)})."
        what_to_do = run.error or "Run it again: it continues where it stopped."
        yield warning(
            name_of(run.purpose), text, what_to_do=what_to_do, since=run.started_at, is_settled=False, run=run
        )


def failed_run(run: RunRecord, runs: Sequence[RunRecord], moment: datetime, *, is_retried: bool = False) -> Finding:
    """Return the finding that this run failed: a warning while the run is retried automatically, otherwise an error."""
    alike = [other for other in runs if other.purpose == run.purpose]
    failing = list(takewhile(lambda other: other.outcome != "succeeded", alike))
    quotes = run.error is None or run.error_kind in QUOTES_ROWS
    may_be_explained = (
        run.error == KILLED and is_in_ui(run) and run.ended_at is not None and moment - run.ended_at < EXPLAINED_WITHIN
    )
    cause = f"{run.error_kind or 'an error'}; the log of the run has the details." if quotes else _cut(run.error or "")
    return Finding(
        name=name_of(run.purpose),
        severity="warning" if is_retried else "error",
        text=f"{run.purpose} failed: {cause}",
        what_to_do="The next run continues where this one stopped.",
        detail=f"{run.error if quotes and run.error else ''} ({run.source}, {_minute(run.started_at)})".strip(),
        since=failing[-1].started_at if failing else run.started_at,
        facts="service or network" if mends_by_waiting(run.error_kind) else run.error_kind or "",
        is_settled=not (is_retried or may_be_explained),
        counts=run.counts,
        run=run,
    )


def mends_by_waiting(error_kind: str | None) -> bool:
    """Return whether an error of this kind may pass by itself, unlike a wrong token or setting, or a full disk."""
    return error_kind in PASSING


def next_attempt(
    tick: datetime, ended_at: datetime, attempt: int, hours: float, pauses: Sequence[timedelta] = PAUSES
) -> datetime | None:
    """Return the time of the attempt after number ``attempt`` (from 1); None if it is too late for this night."""
    due = ended_at + pauses[min(attempt, len(pauses)) - 1]
    return due if due <= tick + timedelta(hours=hours) else None


def is_being_retried(records: Iterable[RunRecord], now: datetime, hours: float) -> bool:
    """Return whether the newest sync failed and is still being retried. ``records`` are sorted newest first.

    The ``hours`` count from the first failure after the last success; otherwise a schedule with a tick every few hours
    would put the alert off forever. An attempt that is running may take longer.
    """
    syncs = [run for run in records if run.group == SYNC]
    failures = list(takewhile(_is_passing_failure, (run for run in syncs if run.outcome != "running")))
    if not failures:
        return False
    return syncs[0].outcome == "running" or now < min(run.started_at for run in failures) + timedelta(hours=hours)


def _is_passing_failure(record: RunRecord) -> bool:
    return record.outcome == "failed" and record.source == "schedule" and mends_by_waiting(record.error_kind)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}..."


def _minute(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"
