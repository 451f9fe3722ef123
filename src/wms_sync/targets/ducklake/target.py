"""The tables in a lake: DuckLake's catalogue in the PostgreSQL of the state store, Parquet files below the data path.

A load is one transaction: merged rows, ``ops``, findings of the checks and the commit message. Readers see a load only
after its commit. A load that is refused, fails or is killed leaves only files that no snapshot references. A writer
cannot commit once another writer has taken over (``session.Fence``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta

import duckdb

from wms_sync import sql_files
from wms_sync.catalogue import marts
from wms_sync.settings import Settings
from wms_sync.state.turns import Turn
from wms_sync.targets import database
from wms_sync.targets.database import Maintained, Opened, Session
from wms_sync.targets.ducklake import place as place
from wms_sync.targets.ducklake.catalogue import LakeCatalogue, LakeSnapshot
from wms_sync.targets.ducklake.session import (
    opened_for_reading,
    opened_for_writing,
    refuse_another_place,
    refuse_replaced,
    sign,
)
from wms_sync.targets.ducklake.upkeep import erase, maintain
from wms_sync.targets.errors import NotCommitted


class Lake:
    """The lake of an installation."""

    name = "the lake"

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    @property
    def is_published(self) -> bool:
        """Return whether a load has been committed."""
        return self._newest_snapshot() is not None

    @property
    def published_at(self) -> datetime:
        """Return when the newest snapshot was committed."""
        return self._published_snapshot().at

    @property
    def version(self) -> int:
        """Return the number of the newest snapshot."""
        return self._published_snapshot().id

    @property
    def size(self) -> int:
        """Return the size in bytes of the data files of the newest snapshot."""
        return self._published_snapshot().size

    def published(self, *, memory_limit: str | None = None) -> Opened:
        """Attach the lake for reading."""
        return opened_for_reading(self.settings, memory_limit=memory_limit)

    def refuse_others(self) -> None:
        """Raise ``LakeElsewhere`` if the lake's files are elsewhere, ``LakeReplaced`` if another lake replaced it."""
        refuse_another_place(self.settings)
        refuse_replaced(self.settings)

    def try_files(self) -> str | None:
        """Try the bucket, if the files are in one. Raise ``LakeUnreachable``."""
        return place.try_bucket(self.settings)

    def readers_in_the_way(self) -> tuple[int, ...]:
        """Return the sessions that have read the statistics in a transaction that is still open."""
        with LakeCatalogue.opened(self.settings.database_url) as catalogue:
            return catalogue.readers()

    @contextmanager
    def load(self, turn: Turn, *, from_scratch: bool = False) -> Iterator[LakeLoad]:
        """Begin a load for the length of the block. Drop everything if ``from_scratch`` or the history is outdated."""
        connection = opened_for_writing(self.settings, turn)
        try:
            connection.begin()
            if from_scratch or database.has_other_history(connection):
                database.drop_everything(connection)
            if not database.is_as_defined(connection):
                database.complete(connection, comments_on_views=False)
                _write_columns(connection)
            yield LakeLoad(self, turn, connection)
        finally:
            # if PostgreSQL's session of an open transaction is lost, closing the connection makes DuckDB end the whole
            # process; a rollback raises an ordinary error instead
            with suppress(duckdb.Error):
                connection.rollback()
            connection.close()

    @property
    def loads_gathered(self) -> int:
        """Return the number of loads since the last maintenance."""
        with LakeCatalogue.opened(self.settings.database_url) as catalogue:
            return catalogue.loads_gathered()

    def maintain(self, turn: Turn, keep: timedelta) -> Maintained:
        """Merge the files of each table, and delete files that were replaced longer ago than ``keep``."""
        return maintain(self.settings, turn, keep)

    def erase(self, turn: Turn, order_ids: Collection[int], *, anyway: bool) -> int:
        """Remove the personal data of these orders from everything that the lake keeps."""
        return erase(self.settings, turn, order_ids, anyway=anyway) if self.is_published else 0

    def _published_snapshot(self) -> LakeSnapshot:
        found = self._newest_snapshot()
        assert found is not None, "nothing is published"  # noqa: S101 - callers check first
        return found

    def _newest_snapshot(self) -> LakeSnapshot | None:
        with LakeCatalogue.opened(self.settings.database_url) as catalogue:
            return catalogue.newest_snapshot()


class LakeLoad:
    """One load of the lake: one transaction."""

    most: int | None = 2_000_000

    def __init__(self, lake: Lake, turn: Turn, connection: duckdb.DuckDBPyConnection) -> None:
        self._lake = lake
        self._turn = turn
        self._connection = connection

    @contextmanager
    def session(self) -> Iterator[Session]:
        """Yield the connection of the load, with the keys of the bucket as they are now."""
        place.look_for_keys(self._connection, self._lake.settings)
        yield Session(self._connection, is_one_transaction=True)

    def publish(self) -> int:
        """Commit everything. Raise ``NotCommitted``."""
        sign(self._connection, self._turn)
        try:
            self._connection.commit()
        except duckdb.Error as error:
            raise NotCommitted(error) from None  # the text of ``error`` contains values of columns
        return self._lake.size


def _write_columns(connection: duckdb.DuckDBPyConnection) -> None:
    """Write ``ops.columns``: DuckLake keeps no comments on columns of views."""
    connection.execute(sql_files.read("lake/columns.sql"))
    connection.execute("delete from ops.columns")
    rows = [(*mart.place, column.name, column.comment) for mart in marts() for column in mart.columns]
    marks = ", ".join(["(?, ?, ?, ?)"] * len(rows))
    connection.execute(f"insert into ops.columns values {marks}", [value for row in rows for value in row])
