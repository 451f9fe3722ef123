"""The files that were pushed: how many of their rows were not sent, or wait, when they were pushed last.

One row a file (service, kind, path). It is written with the plan, as if nothing could be sent, and again when the push
has ended: so what a killed push leaves is known too. The ledger has what was sent; this has what was not.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import or_, select
from sqlalchemy.dialects.postgresql import insert as insert_postgresql
from sqlalchemy.dialects.sqlite import insert as insert_sqlite

from wms_sync.state.schema import push_files
from wms_sync.state.turns import Guarded


@dataclass(frozen=True)
class PushedFile:
    """A file as it was pushed last.

    ``unsent`` are rows that a later push sends or settles by itself, ``waits`` those that name something whose id is
    not known; ``reason`` says why of the first. ``ended_at`` is None while it is pushed, and where that was killed.
    """

    service: str
    kind: str
    path: str
    sha256: str
    run_id: str
    unsent: int
    waits: int
    reason: str | None
    began_at: datetime
    ended_at: datetime | None


class PushFiles(Guarded):
    """Opened once a process."""

    def of_kind(self, service: str, kind: str) -> dict[str, PushedFile]:
        """Every file of the kind, by path."""
        query = select(push_files).where(push_files.c.service == service, push_files.c.kind == kind)
        with self._engine.connect() as connection:
            return {row.path: PushedFile(**row._mapping) for row in connection.execute(query)}

    def unfinished(self) -> tuple[PushedFile, ...]:
        """Those with rows that were not sent or wait, the oldest first."""
        is_open = or_(push_files.c.unsent > 0, push_files.c.waits > 0)
        query = select(push_files).where(is_open).order_by(push_files.c.began_at, push_files.c.path)
        with self._engine.connect() as connection:
            return tuple(PushedFile(**row._mapping) for row in connection.execute(query))

    def record(self, file: PushedFile) -> None:
        """Remember how the push of a file stands, in place of what was remembered of it."""
        insert = insert_sqlite if self._engine.dialect.name == "sqlite" else insert_postgresql
        keys = [column.name for column in push_files.primary_key]
        values: dict[str, Any] = vars(file)
        changed = {name: value for name, value in values.items() if name not in keys}
        statement = insert(push_files).values(values).on_conflict_do_update(index_elements=keys, set_=changed)
        with self._writing() as connection:
            connection.execute(statement)
