"""Audits in the state store: the slice of ids that was read again, the service's counts, the result of the comparison.

An audit is recorded when its slice is on disk, together with the shipments that it proved missing. The result of the
comparison is added once; a rebuild does not compare again. A shipment is missing until a page contains it again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from msgspec import Struct
from msgspec.structs import asdict
from sqlalchemy import select, update

from wms_sync.state.engine import add_rows
from wms_sync.state.leases import Guarded
from wms_sync.state.schema import audits, missing_shipments


class Audit(Struct, frozen=True):
    """One row of ``audits``: shipments with ids in ``(after_id, to_id]`` were read again in a separate window.

    Every change before ``settled_at`` must be in the tables. ``settled_counted`` is the service's count of shipments
    changed between the start date and ``settled_at``; ``total_counted`` is its count of shipments with ids up to
    ``total_to_id``. The fields from ``compared`` on are the result of comparing the slice with the tables, None
    until then. ``examples`` is JSON: a few ids for each kind of difference.
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

    @property
    def differing(self) -> int:
        """Return the number of differences that the sync had missed."""
        return sum(found or 0 for found in (self.changed, self.orders_changed, self.missed, self.voided))


class MissingShipment(Struct, frozen=True):
    """One row of ``missing_shipments``: a window proved that the service no longer has a shipment.

    The window is the slice of an audit, or its pages contain a stub that marks the shipment as deleted.
    ``missing_since`` is the time of the request by id that did not find it, or of the stub; ``returned_at`` is the time
    when a page contained it again. Both are by the service's clock.
    """

    shipment_id: int
    window_id: str
    missing_since: datetime
    returned_at: datetime | None = None


class Audits(Guarded):
    """The audits and the missing shipments. Writing needs a ``Lease``."""

    def all(self) -> tuple[Audit, ...]:
        """Return every audit, oldest first."""
        by_age = select(audits).order_by(audits.c.read_at, audits.c.window_id)
        return tuple(Audit(**row._mapping) for row in self._rows(by_age))

    def last(self) -> Audit | None:
        """Return the newest audit; None if there is none."""
        return next(reversed(self.all()), None)

    def all_missing(self) -> tuple[MissingShipment, ...]:
        """Return every shipment that was ever proven missing, including those that returned, oldest first."""
        by_age = select(missing_shipments).order_by(missing_shipments.c.missing_since, *missing_shipments.primary_key)
        return tuple(MissingShipment(**row._mapping) for row in self._rows(by_age))

    def missing(self) -> dict[int, MissingShipment]:
        """Return the shipments that are missing now, by id."""
        return {shipment.shipment_id: shipment for shipment in self.all_missing() if shipment.returned_at is None}

    def begin(self, audit: Audit, missing: Iterable[MissingShipment] = ()) -> None:
        """Record an audit whose slice is on disk, and the shipments that it proved missing.

        Earlier audits with a later date got that date from a clock that was ahead. Their ``settled_at`` replaces the
        date, so that this audit is the newest: otherwise the round would not continue until that date.
        """
        with self._transaction() as connection:
            connection.execute(
                update(audits).where(audits.c.read_at > audit.read_at).values(read_at=audits.c.settled_at)
            )
            connection.execute(audits.insert().values(**asdict(audit)))
            add_rows(connection, missing_shipments, [asdict(shipment) for shipment in missing])

    def complete(self, audit: Audit) -> None:
        """Record an audit with the result of the comparison."""
        self._execute(update(audits).where(audits.c.window_id == audit.window_id).values(**asdict(audit)))

    def mark_deleted(self, found: Iterable[MissingShipment]) -> None:
        """Record shipments that pages mark as deleted, except those already known to be missing at that time."""
        known: dict[int, list[MissingShipment]] = {}
        for missing in self.all_missing():
            known.setdefault(missing.shipment_id, []).append(missing)
        new = [
            asdict(stub)
            for stub in found
            if not any(_spans(missing, stub) for missing in known.get(stub.shipment_id, ()))
        ]
        self._put(missing_shipments, new)

    def mark_returned(self, seen: Mapping[int, datetime]) -> None:
        """Record the times when pages contained missing shipments again, by shipment."""
        still = update(missing_shipments).where(missing_shipments.c.returned_at.is_(None))
        id_ = missing_shipments.c.shipment_id
        self._execute(*(still.where(id_ == shipment).values(returned_at=moment) for shipment, moment in seen.items()))


def _spans(known: MissingShipment, other: MissingShipment) -> bool:
    """Return whether a shipment was known to be missing when another proof of it was found."""
    has_begun = known.missing_since <= other.missing_since
    return has_begun and (known.returned_at is None or known.returned_at > other.missing_since)
