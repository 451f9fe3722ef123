"""Audits in the state store: which slice of ids was read again, what the service counted, what the comparison found.

An audit is written with its slice, and completed once by its outcome; a rebuild does not compare again.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime

from sqlalchemy import select, update

from wms_sync.state.schema import audits
from wms_sync.state.turns import Guarded


@dataclass(frozen=True)
class Outcome:
    """What the tables held when the slice came, by numbers; ``examples`` are ids, as text."""

    compared: int
    changed: int
    missed: int
    absent: int
    orders_changed: int
    settled_in_tables: int
    total_in_tables: int
    examples: str


@dataclass(frozen=True)
class Audit:
    """One row of ``audits``: shipments with ids in ``(after_id, to_id]`` were read again in a window of their own.

    What was changed before ``settled_at`` must be in the tables. ``settled_counted`` is how many shipments the service
    had that were changed between the start date and then, ``total_counted`` how many up to the id ``total_to_id``.
    """

    window_id: str
    run_id: str
    read_at: datetime
    after_id: int
    to_id: int
    settled_at: datetime
    settled_counted: int
    total_to_id: int
    total_counted: int
    compared: int | None = None
    changed: int | None = None
    missed: int | None = None
    absent: int | None = None
    orders_changed: int | None = None
    settled_in_tables: int | None = None
    total_in_tables: int | None = None
    examples: str | None = None


class Audits(Guarded):
    """Opened once a process; to write takes a turn."""

    def all(self) -> tuple[Audit, ...]:
        """Every audit, the oldest first."""
        with self._engine.connect() as connection:
            rows = connection.execute(select(audits).order_by(audits.c.read_at, audits.c.window_id))
            return tuple(Audit(**row._mapping) for row in rows)

    def last(self) -> Audit | None:
        """The newest audit."""
        return next(reversed(self.all()), None)

    def open(self) -> dict[str, Audit]:
        """Audits that are not compared yet, by window."""
        return {audit.window_id: audit for audit in self.all() if audit.compared is None}

    def begin(self, audit: Audit) -> None:
        """Remember a slice that is on disk."""
        with self._writing() as connection:
            connection.execute(audits.insert().values(**asdict(audit)))

    def complete(self, window_id: str, outcome: Outcome) -> None:
        """Remember what the comparison found."""
        with self._writing() as connection:
            connection.execute(update(audits).where(audits.c.window_id == window_id).values(**asdict(outcome)))
