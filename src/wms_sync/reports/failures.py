"""Find the failed runs, and the nights that wait for their next attempt. Only the newest run of each purpose counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import takewhile

from wms_sync.reports.finding import Finding, is_in_ui, name_of, warning
from wms_sync.service.errors import Busy, NotSent, ServiceFailed, Unreachable
from wms_sync.state.errors import StateSilent
from wms_sync.state.runs import KILLED, LOADING, LOADS_TABLES, RunRecord
from wms_sync.storage.files import FilesUnavailable

PASSING = frozenset(
    kind.__name__ for kind in (Unreachable, NotSent, Busy, ServiceFailed, FilesUnavailable, StateSilent)
)
QUOTES_ROWS = {"RowsUnsent", "WrongHeader", "Rejected"}
"""Kinds of errors whose messages may quote values from a file or the service."""
LONGEST_TEXT = 1000
EXPLAINED_WITHIN = timedelta(minutes=1)
"""How long to wait for Dagster to record why a process ended. It notices the end some seconds later."""


def of_runs(runs: Sequence[RunRecord], moment: datetime) -> Iterator[Finding]:
    """Yield a finding for each purpose whose newest run failed, waits for its next attempt, or was interrupted.

    A run that waits or was interrupted counts only if the newest run that ended by itself did not fail. ``runs`` are
    sorted newest first.
    """
    done: set[str] = set()
    undecided: dict[str, RunRecord] = {}
    for run in runs:
        if run.outcome == "running" or run.purpose in done:
            continue
        if run.outcome in {"interrupted", "waiting"}:
            undecided.setdefault(run.purpose, run)
            continue
        done.add(run.purpose)
        if run.outcome == "failed":
            undecided.pop(run.purpose, None)
            yield failed_run(run, runs, moment)
        elif run.group in LOADS_TABLES:
            done.add(LOADING)
    for run in undecided.values():
        if run.outcome == "waiting":
            yield failed_run(run, runs, moment)
            continue
        text = f"{run.purpose} was interrupted ({run.source}, {_minute(run.started_at)})."
        what_to_do = run.error or "Run it again: it continues where it stopped."
        yield warning(
            name_of(run.purpose), text, what_to_do=what_to_do, since=run.started_at, is_settled=False, run=run
        )


def failed_run(run: RunRecord, runs: Sequence[RunRecord], moment: datetime) -> Finding:
    """Return the finding that this run failed: a warning while it waits for its next attempt, otherwise an error."""
    alike = [other for other in runs if other.purpose == run.purpose]
    failing = list(takewhile(lambda other: other.outcome != "succeeded", alike))
    quotes = run.error is None or run.error_kind in QUOTES_ROWS
    may_be_explained = (
        run.error == KILLED and is_in_ui(run) and run.ended_at is not None and moment - run.ended_at < EXPLAINED_WITHIN
    )
    said = run.error or ""
    cause = said if len(said) <= LONGEST_TEXT else f"{said[:LONGEST_TEXT]}..."
    if quotes:
        cause = f"{run.error_kind or 'an error'}; the log of the run has the details."
    return Finding(
        name=name_of(run.purpose),
        severity="error" if run.due_at is None else "warning",
        text=f"{run.purpose} failed: {cause}",
        what_to_do=(
            "The next run continues where this one stopped."
            if run.due_at is None
            else f"The next attempt begins at {_minute(run.due_at)}."
        ),
        detail=f"{said if quotes else ''} ({run.source}, {_minute(run.started_at)})".strip(),
        since=failing[-1].started_at if failing else run.started_at,
        facts="service or network" if mends_by_waiting(run.error_kind) else run.error_kind or "",
        is_settled=run.due_at is None and not may_be_explained,
        counts=run.counts,
        run=run,
    )


def mends_by_waiting(error_kind: str | None) -> bool:
    """Return whether an error of this kind may pass by itself, unlike a wrong token or setting, or a full disk."""
    return error_kind in PASSING


def _minute(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"
