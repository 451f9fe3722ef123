"""Parameters of field selection that a service refuses, and the values requested instead.

A refusal is stored by service and version of its interface, so that the next run does not start with the refused
request. ``tried_at`` determines when to try the full request again.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from msgspec import Struct
from msgspec.structs import asdict
from sqlalchemy import ColumnElement, and_, select, update

from wms_sync.state.schema import refusals
from wms_sync.state.turns import Guarded

LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


class Refusal(Struct, frozen=True):
    """One row of ``refusals``: a parameter with values that the service refuses.

    ``asked`` are the values that it accepts, comma-separated; empty if it accepts none. ``said`` is the text of its
    refusal.
    """

    service: str
    api_version: str
    parameter: str
    asked: str
    said: str
    since: datetime
    tried_at: datetime


class Refusals(Guarded):
    """The store of refused parameters."""

    def of(self, service: str, api_version: str) -> tuple[Refusal, ...]:
        """Return the refusals of one service, ordered by parameter."""
        query = select(refusals).where(_of(service, api_version)).order_by(refusals.c.parameter)
        with self._reading() as connection:
            return tuple(Refusal(**row._mapping) for row in connection.execute(query))

    def try_again(self, service: str, api_version: str) -> None:
        """Make the next read try the full request again. Needs no turn: it only changes the time of that trial."""
        with self._engine.begin() as connection:
            connection.execute(update(refusals).where(_of(service, api_version)).values(tried_at=LONG_AGO))

    def replace(self, service: str, api_version: str, found: Iterable[Refusal]) -> None:
        """Replace the refusals of a service with these."""
        rows = [asdict(refusal) for refusal in found]
        with self._transaction() as connection:
            connection.execute(refusals.delete().where(_of(service, api_version)))
            if rows:
                connection.execute(refusals.insert(), rows)


def _of(service: str, api_version: str) -> ColumnElement[bool]:
    return and_(refusals.c.service == service, refusals.c.api_version == api_version)
