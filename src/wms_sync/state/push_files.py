"""The pushed files: the number of rows that the last push left unsent or waiting.

One row per file (service, kind, path). It is written with the plan, as if nothing had been sent, and again at the end
of the push, so the rows that a killed push left are known too. The ledger records rows that were sent; this table
counts the others.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict
from sqlalchemy import or_, select

from wms_sync.state.engine import insert_of
from wms_sync.state.schema import push_files
from wms_sync.state.turns import Guarded


class PushedFile(Struct, frozen=True):
    """One row of ``push_files``: the state of a file after its last push.

    ``unsent`` counts rows that a later push will send or settle by itself; ``reason`` is why they were not sent.
    ``waits`` counts rows that refer to something whose id is unknown. ``ended_at`` is None while the push runs, and if
    it was killed.
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
    """The store of pushed files. Open it once per process."""

    def of_kind(self, service: str, kind: str) -> dict[str, PushedFile]:
        """Return every file of the kind, by path."""
        query = select(push_files).where(push_files.c.service == service, push_files.c.kind == kind)
        with self._reading() as connection:
            return {row.path: PushedFile(**row._mapping) for row in connection.execute(query)}

    def unfinished(self) -> tuple[PushedFile, ...]:
        """Return the files with unsent or waiting rows, oldest first."""
        is_open = or_(push_files.c.unsent > 0, push_files.c.waits > 0)
        query = select(push_files).where(is_open).order_by(push_files.c.began_at, push_files.c.path)
        with self._reading() as connection:
            return tuple(PushedFile(**row._mapping) for row in connection.execute(query))

    def record(self, file: PushedFile) -> None:
        """Record the state of a file's push; it replaces the previous row."""
        keys = [column.name for column in push_files.primary_key]
        values: dict[str, Any] = asdict(file)
        changed = {name: value for name, value in values.items() if name not in keys}
        statement = (
            insert_of(self._engine, push_files).values(values).on_conflict_do_update(index_elements=keys, set_=changed)
        )
        with self._transaction() as connection:
            connection.execute(statement)
