"""What a service takes less of than is asked for: parameters of field selection, and what is asked instead.

A refusal is remembered by service and version of its interface, so that the next run does not begin with it; when it
was tried last says when to try again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import ColumnElement, and_, select, update

from wms_sync.state.schema import narrowed_fields
from wms_sync.state.turns import Guarded

LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class NarrowedField:
    """One parameter: ``asked`` are the values that the service takes, comma-separated, and empty where it takes none.

    ``said`` are the words of its refusal.
    """

    service: str
    api_version: str
    parameter: str
    asked: str
    said: str
    since: datetime
    tried_at: datetime


class NarrowedFields(Guarded):
    """The refusals that are remembered."""

    def of(self, service: str, api_version: str) -> tuple[NarrowedField, ...]:
        """Those of one service, by parameter."""
        query = select(narrowed_fields).where(_of(service, api_version)).order_by(narrowed_fields.c.parameter)
        with self._engine.connect() as connection:
            return tuple(NarrowedField(**row._mapping) for row in connection.execute(query))

    def try_again(self, service: str, api_version: str) -> None:
        """Let the next read begin with everything. Without a turn: whoever writes, it says no more than when to try."""
        with self._engine.begin() as connection:
            connection.execute(update(narrowed_fields).where(_of(service, api_version)).values(tried_at=LONG_AGO))

    def replace(self, service: str, api_version: str, found: Iterable[NarrowedField]) -> None:
        """Remember these and no others of a service."""
        rows = [vars(one) for one in found]
        with self._writing() as connection:
            connection.execute(narrowed_fields.delete().where(_of(service, api_version)))
            if rows:
                connection.execute(narrowed_fields.insert(), rows)


def _of(service: str, api_version: str) -> ColumnElement[bool]:
    return and_(narrowed_fields.c.service == service, narrowed_fields.c.api_version == api_version)
