"""The parameters of requests that the service refuses, which reads leave out (``read/listing``)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from msgspec import Struct
from msgspec.structs import asdict
from sqlalchemy import ColumnElement, and_, select

from wms_sync.state.engine import add_rows
from wms_sync.state.schema import refusals
from wms_sync.state.turns import Guarded


class Refusal(Struct, frozen=True):
    """One row of ``refusals``: a parameter that a service refuses in this version of its interface.

    ``said`` is the text of its refusal, ``tried_at`` the time when everything was last tried.
    """

    service: str
    api_version: str
    parameter: str
    said: str
    tried_at: datetime


class Refusals(Guarded):
    """The refused parameters."""

    def of(self, service: str, api_version: str) -> tuple[Refusal, ...]:
        """Return the refusals of one service, ordered by parameter."""
        query = select(refusals).where(_of(service, api_version)).order_by(refusals.c.parameter)
        return tuple(Refusal(**row._mapping) for row in self._rows(query))

    def replace(self, service: str, api_version: str, found: Iterable[Refusal]) -> None:
        """Replace the refusals of a service with the refusals ``found``."""
        rows = [asdict(refusal) for refusal in found]
        with self._transaction() as connection:
            connection.execute(refusals.delete().where(_of(service, api_version)))
            add_rows(connection, refusals, rows)


def _of(service: str, api_version: str) -> ColumnElement[bool]:
    return and_(refusals.c.service == service, refusals.c.api_version == api_version)
