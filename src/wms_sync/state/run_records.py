"""The runs that wrote or pushed: the starter of each, the duration of its phases, its outcome and its error.

One row per run, written by the run itself while it holds its lock. So if a row is ``running`` while that lock is free,
or another run holds it, the process was killed. Between two attempts a run is ``waiting``, without its lock; its
process was killed if the lock is free long after the next attempt should have begun. A run that ends before it has the
lock is recorded at its end. Other processes change a row only to mark the run as killed. Only the newest rows are kept.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from msgspec import Struct, field
from msgspec.structs import asdict, replace
from sqlalchemy import Row, func, select, update

from wms_sync.layout import Layout
from wms_sync.state.engine import StatePart, insert_of
from wms_sync.state.holder import WRITER
from wms_sync.state.lock import lock_of
from wms_sync.state.schema import migrations_table, runs

Outcome = Literal["running", "waiting", "read", "succeeded", "failed", "interrupted"]
"""The outcome of a run that has only read is ``read``: the same run, or a later one, loads what it read."""
KEPT = 400
OVERDUE_AFTER = timedelta(minutes=10)
"""How long after the time of its next attempt a run that waits counts as killed, if it could have the lock."""
SYNC, LOADING, MAINTENANCE, FORGET = "sync", "loading the tables", "maintenance", "forget"
"""The purposes in records of runs; a backfill appends its days, a push its kind."""
LOADS_TABLES = frozenset({SYNC, "backfill", "rebuild", "loading"})
"""Groups of runs that include a load: the success of such a run makes up for an earlier failed load."""
DASHES = str.maketrans(" _", "--")
KILLED_KIND = "Killed"
KILLED = (
    "The process of this run is gone: it was killed, or its machine went down. Landed pages are kept; the next run "
    "continues where it stopped."
)

NEWEST_FIRST = (runs.c.number.desc().nulls_last(), runs.c.started_at.desc(), runs.c.run_id)
"""By number, because a clock may have been wrong: a run dated weeks ahead would stay the newest for weeks, and outcomes
of later runs would not be reported."""


class RunRecord(Struct, frozen=True):
    """One row of ``runs``.

    ``purpose`` is, for example, ``backfill 2026-03-01 to 2026-03-08``; ``source`` is what started the run
    (``schedule``, ``sensor``, ``ui`` or ``command line``). ``phases`` are seconds by phase, including a phase that
    failed; ``counts`` are by name. ``error_kind`` is the name of the error's class. ``data_as_of`` is the sync cursor
    of the tables at the end of the run. ``due_at`` is the time of the next attempt of a run that waits; None otherwise.
    """

    run_id: str
    purpose: str
    source: str
    started_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    ended_at: datetime | None = None
    outcome: Outcome = "running"
    error: str | None = None
    error_kind: str | None = None
    phases: Mapping[str, float] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    data_as_of: datetime | None = None
    due_at: datetime | None = None

    @property
    def group(self) -> str:
        """Return the purpose without its days: ``sync``, ``backfill``, ``loading``, ``push retailers``."""
        return self.purpose if self.purpose.startswith("push ") else self.purpose.split(" ", 1)[0]


class RunRecords(StatePart):
    """The records of runs. Any process may read them; a run writes its own, without a check of the epoch."""

    def newest(self, limit: int) -> tuple[RunRecord, ...]:
        """Return the newest runs, newest first."""
        return tuple(map(_record, self._rows(select(runs).order_by(*NEWEST_FIRST).limit(limit))))

    def of(self, run_id: str) -> RunRecord | None:
        """Return the record of a run; None if it has none."""
        return next(map(_record, self._rows(select(runs).where(runs.c.run_id == run_id))), None)

    def kept_since(self) -> datetime:
        """Return the time since which there are records: runs from before the loss of a state store have none."""
        since: datetime = self._rows(select(func.min(migrations_table.c.applied_at)))[0][0]
        return since

    def save(self, record: RunRecord) -> None:
        """Write the record of a run in place of its earlier one; keep only the newest ``KEPT`` records."""
        values = _values(record)
        number = select(func.coalesce(func.max(runs.c.number), 0) + 1).scalar_subquery()
        insert = insert_of(self.engine, runs).values({**values, "number": number})
        oldest = select(runs.c.number).order_by(runs.c.number.desc()).offset(KEPT).limit(1)
        self._execute(
            insert.on_conflict_do_update(index_elements=["run_id"], set_=values),
            runs.delete().where(runs.c.number <= oldest.scalar_subquery()),
        )

    def as_they_are(self, layout: Layout) -> tuple[RunRecord, ...]:
        """Return all kept runs, newest first; killed runs of this installation count as failed."""
        return tuple(self.as_it_is(layout, record) for record in self.newest(KEPT))

    def mark_killed(self, layout: Layout) -> tuple[RunRecord, ...]:
        """Record as failed the runs whose process is gone; return them, oldest first."""
        query = select(runs).where(runs.c.outcome.in_(("running", "waiting"))).order_by(runs.c.number)
        killed: list[RunRecord] = []
        for before in map(_record, self._rows(query)):
            record = self.as_it_is(layout, before)
            if record.error == KILLED:
                same = (runs.c.run_id == record.run_id) & (runs.c.outcome == before.outcome)
                self._execute(update(runs).where(same).values(_values(record)))
                killed.append(record)
        return tuple(killed)

    def as_it_is(self, layout: Layout, record: RunRecord) -> RunRecord:
        """Return the record, as failed if the process of the run is gone.

        A run closes its record before it releases the lock. So the record is read again after the check of the lock:
        the run may have ended in between, or released the lock and taken it again.
        """
        while self._is_gone(layout, record):
            again = self.of(record.run_id)
            if again is None or again == record:
                killed = replace(record, outcome="failed", error=KILLED, error_kind=KILLED_KIND)
                return replace(killed, ended_at=datetime.now(UTC), due_at=None)
            record = again
        return record

    def _is_gone(self, layout: Layout, record: RunRecord) -> bool:
        """Return whether a run that is running does not hold its lock, or whether one that waits is overdue.

        The next attempt of a run that waits may have to wait for the lock, too.
        """
        is_running = record.outcome == "running"
        is_overdue = record.due_at is not None and datetime.now(UTC) > record.due_at + OVERDUE_AFTER
        if not (is_running or is_overdue):
            return False
        holder = lock_of(self.engine.url.render_as_string(hide_password=False), layout).holder(
            what=lock_for(record.purpose)
        )
        return holder is None or (is_running and holder.run_id != record.run_id)


def lock_for(purpose: str) -> str:
    """Return the name of the lock that a run for this purpose holds: ``writer``, or ``push-location-tags``."""
    return purpose.translate(DASHES) if purpose.startswith("push ") else WRITER


def _record(row: Row[Any]) -> RunRecord:
    values = dict(row._mapping)
    del values["number"]
    return RunRecord(**{**values, "phases": json.loads(values["phases"]), "counts": json.loads(values["counts"])})


def _values(record: RunRecord) -> dict[str, Any]:
    return {**asdict(record), "phases": json.dumps(record.phases), "counts": json.dumps(record.counts)}
