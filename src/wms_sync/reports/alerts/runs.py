"""Which failed runs are told: by what they were for, and not while a night is still being tried again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from wms_sync.reports.alerts.fact import Event, Fact, Undecided, digest
from wms_sync.reports.nights import is_being_retried, mends_by_waiting
from wms_sync.state.runs import KILLED, KILLED_KIND, LOADS_TABLES, SYNC, RunRecord

QUOTES_ROWS = {"RowsUnsent", "WrongHeader", "Rejected"}
"""Kinds of errors whose message may repeat what stands in a file or in the service."""
TELLING_NUMBERS = re.compile(r"[0-9a-f]{6,}|\d+")
LONGEST_TEXT = 1000
EXPLAINED_WITHIN = timedelta(minutes=1)
"""Dagster notices the end of a process some seconds later than others may."""


def is_in_ui(record: RunRecord) -> bool:
    """Return whether Dagster's UI has the run for certain: one of the command line may have kept no history."""
    return record.source != "command line"


def last_success(records: Sequence[RunRecord], group: str) -> RunRecord | None:
    """Return the newest run of a group if it succeeded; ``records`` are the newest first."""
    newest = _newest(records, group)
    return newest if newest is not None and newest.outcome == "succeeded" else None


def is_failing(records: Sequence[RunRecord]) -> bool:
    """Return whether the newest sync that ended has failed."""
    newest = _newest(records, SYNC)
    return newest is not None and newest.outcome == "failed"


def failed(
    records: Sequence[RunRecord], told: Iterable[str], now: datetime, night_retry_hours: float
) -> Iterator[Fact | Undecided]:
    """Yield each group whose newest run failed; a run that was interrupted says nothing, nor one that goes on.

    ``told`` are the keys of what was told: of a group whose records are no longer kept nothing is known.
    """
    groups = {_key(one.group): one.group for one in records}
    yield from (Undecided(key) for key in told if key not in groups)
    for key, group in groups.items():
        last = _newest(records, group)
        is_open = group == SYNC and is_being_retried(records, now, night_retry_hours)
        if last is None or is_open or _may_be_explained(last, now):
            yield Undecided(key)
        elif last.outcome == "failed":
            yield fact_of(last)


def _may_be_explained(record: RunRecord, now: datetime) -> bool:
    """Return whether Dagster, which launched the run, may still say what ended its process."""
    if record.error != KILLED or not is_in_ui(record) or record.ended_at is None:
        return False
    return now - record.ended_at < EXPLAINED_WITHIN


def _newest(records: Sequence[RunRecord], group: str) -> RunRecord | None:
    ended = (one for one in records if one.outcome in {"succeeded", "failed"})
    return next((one for one in ended if _settles(one, group)), None)


def _settles(record: RunRecord, group: str) -> bool:
    loads = record.group in LOADS_TABLES and record.outcome == "succeeded"
    return record.group == group or (group == "loading" and loads)


def fact_of(record: RunRecord) -> Fact:
    """Return that this run failed."""
    return Fact(
        Event.RUN_FAILED,
        key=_key(record.group),
        fingerprint=_fingerprint(record),
        text=f"{record.purpose} failed: {_cause(record)}",
        what_to_do="`wms-sync status` shows how things stand; the next run goes on where this one stopped.",
        run_id=record.run_id,
        purpose=record.purpose,
        is_in_ui=is_in_ui(record),
        counts=record.counts,
    )


def _key(group: str) -> str:
    return f"{Event.RUN_FAILED}:{group}"


def _cause(record: RunRecord) -> str:
    if record.error is None or record.error_kind in QUOTES_ROWS:
        return f"{record.error_kind or 'an error'}; `wms-sync status` and the log of the run say more."
    return record.error if len(record.error) <= LONGEST_TEXT else f"{record.error[:LONGEST_TEXT]}..."


def _fingerprint(record: RunRecord) -> str:
    """Return what makes two failures the same: what they were for, and the error without its numbers.

    All failures that waiting mends are one. Each kill is one of its own.
    """
    if mends_by_waiting(record.error_kind):
        return digest([record.purpose, "service or network"])
    if record.error_kind == KILLED_KIND:
        return digest([record.run_id])
    return digest([record.purpose, record.error_kind, TELLING_NUMBERS.sub("#", record.error or "")])
