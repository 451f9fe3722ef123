"""The lake's catalogue, read from PostgreSQL itself, which takes no extension of DuckDB."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct
from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from wms_sync import sql_files
from wms_sync.catalogue import table
from wms_sync.state.engine import Opened
from wms_sync.state.turns import Turn
from wms_sync.targets.errors import ReadersInTheWay

STATISTICS = ("ducklake_file_column_stats", "ducklake_table_column_stats")
"""Tables of the catalogue with values of columns."""
READERS_WAIT_SECONDS = 3
"""Whoever begins to read waits as long behind a lock that an earlier reader holds up."""
NOT_LOCKED = "55P03"
"""What PostgreSQL calls a lock that was not had in this time."""


class Snapshot(Struct, frozen=True):
    """The newest snapshot of the lake, and the bytes of the files that it names."""

    id: int
    at: datetime
    size: int


class StoredTable(Struct, frozen=True):
    """What the newest snapshot has of a table: files with rows, and files that say which of these are deleted."""

    schema_name: str
    table_name: str
    data_files: int
    data_bytes: int
    delete_files: int

    @property
    def files(self) -> int:
        """Return how many files a reader opens."""
        return self.data_files + self.delete_files


class LakeCatalogue(Opened):
    """Reads the catalogue."""

    def newest_snapshot(self) -> Snapshot | None:
        """Return the newest snapshot; None before the first load, which the empty lake's own snapshot precedes."""
        with self._reading() as connection:
            if not _is_there(connection):
                return None
            row = connection.execute(text(sql_files.read("lake/newest_snapshot.sql"))).one_or_none()
        return None if row is None else Snapshot(row.id, row.at, int(row.size))

    def tables(self) -> tuple[StoredTable, ...]:
        """Return the tables of the lake; none if there is no lake."""
        with self._reading() as connection:
            if not _is_there(connection):
                return ()
            rows = connection.execute(text(sql_files.read("lake/tables.sql")))
            return tuple(StoredTable(**row._mapping) for row in rows)

    def data_path(self) -> str | None:
        """Return where the files are, as the catalogue has it; None if there is no lake."""
        with self._reading() as connection:
            if not _is_there(connection):
                return None
            return connection.execute(text(sql_files.read("lake/data_path.sql"))).scalar()

    def identity(self) -> str:
        """Return what tells this lake from every other one; there must be one."""
        with self._reading() as connection:
            return str(connection.execute(text(sql_files.read("lake/identity.sql"))).scalar_one())

    def drop(self) -> None:
        """Forget the lake; the next load makes it anew from Parquet files."""
        with self._engine.begin() as connection:
            connection.execute(text(sql_files.read("lake/dropped.sql")))

    def keep_samples_out(self, turn: Turn) -> None:
        """Let PostgreSQL keep no values of columns in its own statistics, which it never clears of what was deleted."""
        with self._engine.begin() as connection:
            turn.epoch.verify(connection)
            for name in connection.execute(text(sql_files.read("lake/statistics/sampled.sql"))).scalars().all():
                connection.exec_driver_sql(sql_files.read("lake/statistics/not_sampled.sql").format(table=name))

    def narrow_statistics(self, turn: Turn) -> None:
        """Forget the texts that no file has any more, also in the deleted rows that PostgreSQL keeps.

        Raise ``ReadersInTheWay`` if somebody keeps a transaction open that has read them.
        """
        with self._engine.begin() as connection:
            turn.epoch.verify(connection)
            connection.exec_driver_sql(sql_files.read("lake/statistics/narrowed.sql"))
        with self._reading() as connection:  # without a transaction, in which PostgreSQL writes no table anew
            connection.exec_driver_sql(f"set lock_timeout = '{READERS_WAIT_SECONDS}s'")
            try:
                connection.exec_driver_sql(sql_files.read("lake/statistics/written_anew.sql"))
            except DBAPIError as error:
                if getattr(error.orig, "sqlstate", None) != NOT_LOCKED:
                    raise
                raise ReadersInTheWay(_readers(connection)) from None
            finally:
                connection.exec_driver_sql("reset lock_timeout")  # others use the session afterwards

    def readers(self) -> tuple[int, ...]:
        """Return the sessions that keep a transaction open in which they have read the statistics."""
        with self._reading() as connection:
            return _readers(connection) if _is_there(connection) else ()

    def loads_gathered(self) -> int:
        """Return how many loads have added files since these were last put together: each adds one to ``ops.loads``."""
        place = table("ops_loads").place
        found = (table.data_files for table in self.tables() if (table.schema_name, table.table_name) == place)
        return max(0, next(found, 0) - 1)


def _readers(connection: Connection) -> tuple[int, ...]:
    return tuple(connection.execute(text(sql_files.read("lake/statistics/readers.sql"))).scalars())


def _is_there(connection: Connection) -> bool:
    return connection.execute(text(sql_files.read("lake/exists.sql"))).scalar() is not None
