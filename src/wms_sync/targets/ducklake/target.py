"""The tables in a lake: DuckLake's catalogue in the PostgreSQL of the state store, Parquet files below the data path.

A load is one transaction: merged rows, ``ops``, findings of the checks and the commit message. A rebuild is done in a
private lake, whose rows one transaction copies. Readers see a load only after its commit. A load that is refused, fails
or is killed leaves only files that no snapshot references. A writer cannot commit once another writer has taken over
(``session.Fence``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from datetime import datetime, timedelta

import duckdb

from wms_sync import sql_files
from wms_sync.catalogue import marts, stored_tables
from wms_sync.settings import Settings
from wms_sync.state.leases import Lease
from wms_sync.targets import database
from wms_sync.targets.database import Maintained, Opened, Session
from wms_sync.targets.ducklake import place as place
from wms_sync.targets.ducklake.catalogue import LakeCatalogue, LakeSnapshot
from wms_sync.targets.ducklake.session import (
    PRIVATE,
    opened_for_reading,
    opened_for_writing,
    opened_privately,
    private,
    refuse_another_place,
    refuse_replaced,
    sign,
    threads,
)
from wms_sync.targets.ducklake.upkeep import MEMORY_EACH, erase, maintain
from wms_sync.targets.errors import NotCommitted


class Lake:
    """The lake of an installation."""

    name = "the lake"

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

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
        return opened_for_reading(self._settings, memory_limit=memory_limit)

    def refuse_others(self) -> None:
        """Raise ``LakeElsewhere`` if the lake's files are elsewhere, ``LakeReplaced`` if another lake replaced it."""
        refuse_another_place(self._settings)
        refuse_replaced(self._settings)

    def try_files(self) -> str | None:
        """Try the bucket, if the files are in one. Raise ``AnalyticsError``."""
        return place.try_bucket(self._settings)

    def readers_in_the_way(self) -> tuple[int, ...]:
        """Return the sessions that have read the statistics in a transaction that is still open."""
        with LakeCatalogue.opened(self._settings.database_url) as catalogue:
            return catalogue.readers()

    def load(self, lease: Lease, *, from_scratch: bool = False) -> AbstractContextManager[LakeLoad | LakeRebuild]:
        """Begin a load for the length of the block, in a private lake if ``from_scratch``."""
        return nullcontext(LakeRebuild(self._settings, lease)) if from_scratch else begun(self._settings, lease)

    @property
    def loads_gathered(self) -> int:
        """Return the number of loads since the last maintenance."""
        with LakeCatalogue.opened(self._settings.database_url) as catalogue:
            return catalogue.loads_gathered()

    def maintain(self, lease: Lease, keep: timedelta) -> Maintained:
        """Merge the files of each table, and delete files that were replaced longer ago than ``keep``."""
        return maintain(self._settings, lease, keep)

    def erase(self, lease: Lease, order_ids: Collection[int], *, anyway: bool) -> int:
        """Remove the personal data of these orders from everything that the lake keeps."""
        return erase(self._settings, lease, order_ids, anyway=anyway) if self.is_published else 0

    def _published_snapshot(self) -> LakeSnapshot:
        found = self._newest_snapshot()
        assert found is not None, "nothing is published"  # noqa: S101 - callers check first
        return found

    def _newest_snapshot(self) -> LakeSnapshot | None:
        with LakeCatalogue.opened(self._settings.database_url) as catalogue:
            return catalogue.newest_snapshot()


@contextmanager
def begun(settings: Settings, lease: Lease, *, is_empty: bool = False) -> Iterator[LakeLoad]:
    """Begin a transaction for the length of the block. Drop everything if ``is_empty`` or the history is outdated."""
    connection = opened_for_writing(settings, lease)
    try:
        connection.begin()
        if is_empty or database.has_other_history(connection):
            database.drop_everything(connection)
        if not database.is_as_defined(connection):
            database.complete(connection, comments_on_views=False)
            _write_columns(connection)
        yield LakeLoad(settings, lease, connection)
    finally:
        # if PostgreSQL's session of an open transaction is lost, closing the connection makes DuckDB end the whole
        # process; a rollback raises an ordinary error instead
        with suppress(duckdb.Error):
            connection.rollback()
        connection.close()


class LakeLoad:
    """One load of the lake: one transaction."""

    most: int | None = 1_000_000

    def __init__(self, settings: Settings, lease: Lease, connection: duckdb.DuckDBPyConnection) -> None:
        self._settings = settings
        self._lease = lease
        self._connection = connection

    @contextmanager
    def session(self) -> Iterator[Session]:
        """Yield the connection of the load, with the keys of the bucket as they are now."""
        self._connection.execute(place.find_keys(self._settings))
        yield Session(self._connection, is_one_transaction=True)

    def publish(self) -> int:
        """Commit everything. Raise ``NotCommitted``."""
        sign(self._connection, self._lease)
        try:
            self._connection.commit()
        except duckdb.Error as error:
            raise NotCommitted(error) from None  # the text of ``error`` contains values of columns
        return Lake(self._settings).size


class LakeRebuild:
    """A rebuild of the lake: a private lake on this machine's disk, whose rows one transaction copies.

    Readers must not see a part of the tables, and a transaction frees no memory half way.
    """

    most: int | None = None

    def __init__(self, settings: Settings, lease: Lease) -> None:
        self._settings = settings
        self._lease = lease
        with self.session() as session, session.transaction():
            database.complete(session.connection, comments_on_views=False)

    @contextmanager
    def session(self) -> Iterator[Session]:
        """Open the private lake; closing it frees its memory."""
        with closing(opened_privately(self._settings, self._lease)) as connection:
            yield Session(connection)

    def publish(self) -> int:
        """Replace the rows of the lake. Raise ``NotCommitted``."""
        with begun(self._settings, self._lease, is_empty=True) as load:
            with load.session() as session:
                session.connection.execute(f"set threads = {threads(self._settings, MEMORY_EACH)}")
                session.connection.execute(f"attach {private(self._lease)} (read_only)")
            for table in stored_tables():
                with load.session() as session:  # with the present keys of the bucket
                    session.connection.execute(
                        f"insert into {table.qualified} by name select * from {PRIVATE}.{table.qualified}"
                    )
            return load.publish()


def _write_columns(connection: duckdb.DuckDBPyConnection) -> None:
    """Write ``ops.columns``: DuckLake keeps no comments on columns of views."""
    connection.execute(sql_files.read("lake/columns.sql"))
    connection.execute("delete from ops.columns")
    rows = [(*mart.place, column.name, column.comment) for mart in marts() for column in mart.columns]
    marks = ", ".join(["(?, ?, ?, ?)"] * len(rows))
    connection.execute(f"insert into ops.columns values {marks}", [value for row in rows for value in row])
