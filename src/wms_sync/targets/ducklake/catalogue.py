"""The lake's catalogue, used directly in PostgreSQL: this needs no extension of DuckDB."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct
from sqlalchemy import Row, text
from sqlalchemy.exc import DBAPIError

from wms_sync import sql_files
from wms_sync.catalogue import table
from wms_sync.state.engine import StatePart
from wms_sync.state.leases import Lease
from wms_sync.targets.errors import ReadersInTheWay

STATISTICS = ("ducklake_file_column_stats", "ducklake_table_column_stats")
"""Tables of the catalogue that contain values of columns."""
READERS_WAIT_SECONDS = 3
"""New readers wait at most this long while our lock request waits for an earlier reader."""
NOT_LOCKED = "55P03"
"""PostgreSQL's code for a lock that was not granted within the time limit."""


class LakeSnapshot(Struct, frozen=True):
    """The newest snapshot of the lake, and the size in bytes of its data files."""

    id: int
    at: datetime
    size: int


class StoredTable(Struct, frozen=True):
    """The files of a table in the newest snapshot: data files, and delete files that list deleted rows."""

    schema_name: str
    table_name: str
    data_files: int
    data_bytes: int
    delete_files: int

    @property
    def files(self) -> int:
        """Return the number of files that a reader opens."""
        return self.data_files + self.delete_files


class LakeCatalogue(StatePart):
    """The lake's catalogue in PostgreSQL."""

    def newest_snapshot(self) -> LakeSnapshot | None:
        """Return the newest snapshot; None before the first load, although an empty lake has a snapshot of its own."""
        found = self._found("lake/newest_snapshot.sql")
        return LakeSnapshot(found[0].id, found[0].at, int(found[0].size)) if found else None

    def tables(self) -> tuple[StoredTable, ...]:
        """Return the tables of the lake; none if there is no lake."""
        return tuple(StoredTable(**row._mapping) for row in self._found("lake/tables.sql"))

    def data_path(self) -> str | None:
        """Return the path of the files that the catalogue records; None if there is no lake."""
        found = self._found("lake/data_path.sql")
        return str(found[0][0]) if found else None

    def identity(self) -> str:
        """Return the id that the lake got when it was created. The lake must exist."""
        with self._reading() as connection:
            return str(connection.execute(text(sql_files.read("lake/identity.sql"))).scalar_one())

    def drop(self) -> None:
        """Drop the lake's catalogue; the next load rebuilds the lake from Parquet files."""
        with self.engine.begin() as connection:
            connection.execute(text(sql_files.read("lake/dropped.sql")))

    def keep_samples_out(self, lease: Lease) -> None:
        """Keep PostgreSQL from sampling values of columns into its own statistics, which keep deleted values."""
        with self.engine.begin() as connection:
            lease.verify(connection)
            for name in connection.execute(text(sql_files.read("lake/statistics/sampled.sql"))).scalars().all():
                connection.exec_driver_sql(sql_files.read("lake/statistics/not_sampled.sql").format(table=name))

    def narrow_statistics(self, lease: Lease) -> None:
        """Remove from the statistics text values that no file contains any more, even from PostgreSQL's dead rows.

        Raise ``ReadersInTheWay`` if a session that has read the statistics keeps its transaction open.
        """
        with self.engine.begin() as connection:
            lease.verify(connection)
            connection.exec_driver_sql(sql_files.read("lake/statistics/narrowed.sql"))
        # without a transaction: inside a transaction PostgreSQL cannot rewrite tables
        with self.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql(f"set lock_timeout = '{READERS_WAIT_SECONDS}s'")
            try:
                connection.exec_driver_sql(sql_files.read("lake/statistics/written_anew.sql"))
            except DBAPIError as error:
                if getattr(error.orig, "sqlstate", None) != NOT_LOCKED:
                    raise
                raise ReadersInTheWay(self.readers()) from None
            finally:
                connection.exec_driver_sql("reset lock_timeout")  # others use the session afterwards

    def readers(self) -> tuple[int, ...]:
        """Return the sessions that have read the statistics in a transaction that is still open."""
        return tuple(row[0] for row in self._found("lake/statistics/readers.sql"))

    def loads_gathered(self) -> int:
        """Return the number of loads since files were last merged.

        Each load adds one file to ``ops.windows``, however many windows it merges; to ``ops.loads`` it adds one each.
        """
        place = table("ops_windows").place
        found = (table.data_files for table in self.tables() if (table.schema_name, table.table_name) == place)
        return max(0, next(found, 0) - 1)

    def _found(self, path: str) -> Sequence[Row[Any]]:
        """Return the rows of a statement; none if there is no lake."""
        with self._reading() as connection:
            if connection.execute(text(sql_files.read("lake/exists.sql"))).scalar() is None:
                return ()
            return connection.execute(text(sql_files.read(path))).all()
