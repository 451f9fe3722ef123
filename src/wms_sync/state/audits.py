"""Audits in the state store: which slice of ids was read again, what the service counted, what the comparison found.

An audit is written with its slice and with the shipments that it proved missing, and completed once by its outcome; a
rebuild does not compare again. A shipment is missing until a page of the service shows it again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime

from sqlalchemy import Connection, Table, select, update

from wms_sync.state.schema import audits, missing_shipments
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
    voided: int
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
    voided: int | None = None
    examples: str | None = None


@dataclass(frozen=True)
class Missing:
    """One row of ``missing_shipments``: the audit of a window proved that the service has a shipment no longer.

    ``missing_since`` is when the service was asked for it by id and did not have it, ``returned_at`` when a page showed
    it again, both by the service's clock.
    """

    shipment_id: int
    window_id: str
    missing_since: datetime
    returned_at: datetime | None = None


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

    def proven(self) -> tuple[Missing, ...]:
        """Everything that was ever proven missing, also what has returned, the oldest first."""
        by_age = select(missing_shipments).order_by(missing_shipments.c.missing_since, *missing_shipments.primary_key)
        with self._engine.connect() as connection:
            return tuple(Missing(**row._mapping) for row in connection.execute(by_age))

    def missing(self) -> dict[int, Missing]:
        """What is missing now, by shipment."""
        return {one.shipment_id: one for one in self.proven() if one.returned_at is None}

    def begin(self, audit: Audit, missing: Iterable[Missing] = ()) -> None:
        """Remember a slice that is on disk, and what it proved missing."""
        with self._writing() as connection:
            connection.execute(audits.insert().values(**asdict(audit)))
            _insert(connection, missing_shipments, missing)

    def complete(self, window_id: str, outcome: Outcome) -> None:
        """Remember what the comparison found."""
        with self._writing() as connection:
            connection.execute(update(audits).where(audits.c.window_id == window_id).values(**asdict(outcome)))

    def returned(self, seen: Mapping[int, datetime]) -> None:
        """Remember when pages showed shipments again that were missing."""
        with self._writing() as connection:
            for shipment_id, moment in seen.items():
                back = update(missing_shipments).where(
                    missing_shipments.c.shipment_id == shipment_id, missing_shipments.c.returned_at.is_(None)
                )
                connection.execute(back.values(returned_at=moment))

    def take_in(self, known: Iterable[Audit], proven: Iterable[Missing]) -> None:
        """Take in rows that are known from elsewhere, in place of those of the same windows."""
        known, proven = tuple(known), tuple(proven)
        windows = {one.window_id for one in known} | {one.window_id for one in proven}
        with self._writing() as connection:
            for table in (audits, missing_shipments):
                connection.execute(table.delete().where(table.c.window_id.in_(windows)))
            _insert(connection, audits, known)
            _insert(connection, missing_shipments, proven)


def _insert(connection: Connection, table: Table, rows: Iterable[Audit | Missing]) -> None:
    values = [vars(row) for row in rows]
    if values:
        connection.execute(table.insert(), values)
