"""Maintenance of a lake: merge the files of each table, and delete files that no reader needs.

Each load adds data files and delete files to the tables that it changes. The catalogue lists all of them, so each load
takes longer than the last (measured: 0.9 s at first, 9.9 s after 80 loads). Maintenance goes table by table with a
transaction for each step: all tables at once need more memory than a load has. The first step rewrites files with
deleted rows, the second merges small files; DuckLake merges neither files of the same transaction nor files with
deleted rows. In a large table, a file with few deleted rows stays as it is, so the cost of maintenance depends on the
changes; its delete file costs readers little. Replaced files stay as long as readers may be reading them. Maintenance
can stop after any step: the next maintenance continues.

``erase`` removes the personal data of orders from tables, files, snapshots and statistics. Rows that a transaction
deletes stay in the files of earlier snapshots. So all files with deleted rows are rewritten, all snapshots but the
newest expire, and files that no snapshot references are deleted at once, including those of killed loads. A query that
is still running may fail because a file is gone.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta

import duckdb

from wms_sync.catalogue import literal
from wms_sync.grammar import count_of
from wms_sync.layout import LAKE
from wms_sync.settings import Settings
from wms_sync.state.leases import Lease
from wms_sync.targets import persons
from wms_sync.targets.database import Maintained
from wms_sync.targets.ducklake.catalogue import LakeCatalogue, StoredTable
from wms_sync.targets.ducklake.place import find_keys
from wms_sync.targets.ducklake.session import opened_for_writing, sign, threads
from wms_sync.targets.errors import MaintenanceError, may_lack_files

logger = logging.getLogger(__name__)

AT_ONCE = timedelta(0)
"""Replaced files are not kept, even if a reader still uses them."""
REWRITE = "ducklake_rewrite_data_files({name}, {table}, schema => {schema}, delete_threshold => %s)"
MERGE = "ducklake_merge_adjacent_files({name}, {table}, schema => {schema}, max_file_size => %d)"
EVERYTHING = (REWRITE % 0, MERGE % (512 * 1024 * 1024))
"""The steps for a table: rewrite each file with a deleted row, and merge files below DuckLake's target size."""
WORTHWHILE = (REWRITE % 0.01, MERGE % (32 * 1024 * 1024))
"""The steps for a large table: rewrite each file with at least 1% deleted rows, and merge files below 32 MiB."""
LARGE = 16 * 1024 * 1024
"""The size in bytes from which a table is large."""
MANY_FILES = 20
"""A large table that still has more files than this is merged like a small table."""
Steps = Callable[[StoredTable], Sequence[str]]
MEMORY_EACH = 250_000_000
"""The bytes that a thread needs to write a file of the widest table."""


def maintain(settings: Settings, lease: Lease, keep: timedelta) -> Maintained:
    """Merge files, and delete files that were replaced longer ago than ``keep``. Raise ``MaintenanceError``."""
    before = LakeCatalogue(lease.engine).tables()
    with explained(), closing(opened_for_writing(settings, lease)) as connection:
        changed = put_together(
            settings,
            connection,
            lease,
            lambda table: WORTHWHILE if table.data_bytes >= LARGE and table.files > 1 else everything(table),
        )
        changed |= put_together(
            settings, connection, lease, lambda table: EVERYTHING if table.files > MANY_FILES else ()
        )
        deleted = delete_replaced(settings, connection, lease, keep)
    return Maintained(len(changed), _files(before), _files(LakeCatalogue(lease.engine).tables()), deleted)


def put_together(
    settings: Settings, connection: duckdb.DuckDBPyConnection, lease: Lease, steps: Steps
) -> set[tuple[str, str]]:
    """Run the steps for each table; return the tables that were rewritten.

    Afterwards the connection has as many threads as memory allows.
    """
    connection.execute(f"set threads = {threads(settings, MEMORY_EACH)}")
    changed = set()
    for table in LakeCatalogue(lease.engine).tables():
        if _put_together(settings, connection, lease, table, steps(table)):
            changed.add((table.schema_name, table.table_name))
    return changed


def everything(table: StoredTable) -> Sequence[str]:
    """Return the steps that leave no file with a deleted row."""
    return EVERYTHING if table.files > 1 else ()


def delete_replaced(settings: Settings, connection: duckdb.DuckDBPyConnection, lease: Lease, keep: timedelta) -> int:
    """Delete snapshots, and files that no snapshot references, if older than ``keep``; return the number of files.

    Files that no transaction has committed are deleted too. Nobody reads them, and no load takes as long as ``keep``.
    """
    until = datetime.now(UTC) - keep
    with committed(settings, connection, lease):
        if keep > AT_ONCE:
            connection.execute(f"call ducklake_expire_snapshots({literal(LAKE)}, older_than => $1)", [until])
        else:  # all but the newest by number, because their times come from different clocks
            numbers = connection.execute(f"select snapshot_id from ducklake_snapshots({literal(LAKE)}) order by all")
            if earlier := [number for (number,) in numbers.fetchall()][:-1]:
                connection.execute(f"call ducklake_expire_snapshots({literal(LAKE)}, versions => {earlier})")
    old = "older_than => $1" if keep > AT_ONCE else "cleanup_all => true"
    deleted = 0
    for function in ("ducklake_cleanup_old_files", "ducklake_delete_orphaned_files"):
        lease.check()
        connection.execute(find_keys(settings))
        found = connection.execute(f"call {function}({literal(LAKE)}, {old})", [until] if keep > AT_ONCE else [])
        deleted += len(found.fetchall())
    return deleted


def _put_together(
    settings: Settings, connection: duckdb.DuckDBPyConnection, lease: Lease, table: StoredTable, steps: Sequence[str]
) -> bool:
    """Run the steps for one table. Return whether anything was written."""
    names = {"name": literal(LAKE), "table": literal(table.table_name), "schema": literal(table.schema_name)}
    written = 0
    for step in steps:
        with committed(settings, connection, lease):
            written += len(connection.execute(f"call {step.format(**names)}").fetchall())
    if written:
        logger.info(
            "merged %(files)s of %(schema)s.%(table)s",
            {"files": count_of(table.files, "file"), "schema": table.schema_name, "table": table.table_name},
        )
    return written > 0


@contextmanager
def committed(settings: Settings, connection: duckdb.DuckDBPyConnection, lease: Lease) -> Iterator[None]:
    """Commit the block, as a load does. After an error roll it back, for the reason given in ``target.begun``."""
    connection.execute(find_keys(settings))
    connection.begin()
    try:
        yield
        sign(connection, lease)
        connection.commit()
    except BaseException:
        with suppress(duckdb.Error):
            connection.rollback()
        raise


def _files(tables: tuple[StoredTable, ...]) -> int:
    return sum(table.files for table in tables)


@contextmanager
def explained() -> Iterator[None]:
    """Turn errors of DuckDB into ``MaintenanceError``, which has advice."""
    try:
        yield
    except duckdb.Error as error:
        # its text contains values of columns
        raise MaintenanceError(error, may_lack_files=may_lack_files(error)) from None


def erase(settings: Settings, lease: Lease, order_ids: Collection[int], *, anyway: bool) -> int:
    """Remove the personal data of these orders; return the number of affected rows.

    With ``anyway``, clear earlier snapshots even if no row has any. Raise ``MaintenanceError`` or ``ReadersInTheWay``.
    """
    with explained(), closing(opened_for_writing(settings, lease)) as connection:
        held = sum(persons.held_rows(connection, order_ids).values())
        if not (held or anyway):
            return 0
        with committed(settings, connection, lease):
            persons.erase(connection, order_ids)
        put_together(settings, connection, lease, everything)
        delete_replaced(settings, connection, lease, AT_ONCE)
    LakeCatalogue(lease.engine).narrow_statistics(lease)
    return held
