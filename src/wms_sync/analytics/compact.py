"""Compaction: a file of which a third is free space is copied by DuckDB into a fresh one, without it.

DuckDB reuses the blocks that a load frees, and never gives them back: a checkpoint writes the new blocks before the old
ones are free. Rows that are deleted keep their space until so many of a row group's neighbours are deleted too that
fewer row groups hold the rest. So a file grows with its nights. The copy has every table, view, comment and row. It is
made before the working file is put in place, under another name, so a kill leaves the files as they were.
"""

from __future__ import annotations

import logging
from pathlib import Path

import duckdb

from wms_sync import sql_files
from wms_sync.analytics.database import Relations, has_room, relations_in, settings_of
from wms_sync.catalogue import literal, quote
from wms_sync.durable import sync_file

logger = logging.getLogger(__name__)

FREE_SHARE = 1 / 3
WORTH_IT = 16 * 1024 * 1024
"""Bytes of free space below which nobody would notice."""


def is_bloated(connection: duckdb.DuckDBPyConnection, rows: int) -> bool:
    """Return whether so much of the open file is free or deleted that a compaction is worth it.

    ``rows`` are those of all tables without schema ``history``.
    """
    ((block, total, free, stored),) = connection.execute(sql_files.read("queries/free_space.sql")).fetchall()
    in_use = (total - free) * min(1.0, rows / stored) if stored else total
    return bool(total - in_use > FREE_SHARE * total and (total - in_use) * block >= WORTH_IT)


def compact(source: Path, fresh: Path, *, memory_limit: str) -> bool:
    """Copy all of the database ``source``, which nobody may have open, into the file ``fresh``; return whether it did.

    If not, a warning says why, and ``source`` goes on as it is.
    """
    try:
        _copy(source, fresh, memory_limit)
    except (duckdb.Error, OSError) as error:
        fresh.unlink(missing_ok=True)
        logger.warning(
            "The tables could not be copied into a file without free space (%(error)s). Nothing else is affected; the "
            "next load tries again.",
            {"error": f"{type(error).__name__}: {error}"},
        )
        return False
    sizes = {"before": source.stat().st_size / 1e6, "after": fresh.stat().st_size / 1e6}
    logger.info("a third of the file was free space: it has %(after).1f MB now instead of %(before).1f MB", sizes)
    return True


def _copy(source: Path, fresh: Path, memory_limit: str) -> None:
    with duckdb.connect(config=settings_of(fresh, memory_limit)) as connection:  # type: ignore[arg-type]
        connection.execute(f"attach {literal(str(fresh))} as fresh")
        connection.execute(_attach(source))
        connection.execute("copy from database bloated to fresh (schema)")
        if _relations(connection, "bloated") != _relations(connection, "fresh"):
            raise duckdb.IntegrityError(
                "the tables and views of the copy differ; this is a defect of wms-sync or DuckDB"
            )
        query = "select schema_name, table_name from duckdb_tables() where database_name = 'bloated' order by all"
        for schema, name in connection.execute(query).fetchall():
            if not has_room(connection, memory_limit):  # of what was read, where rows are deleted stays in memory
                connection.execute(f"detach bloated; {_attach(source)}")
            _copy_table(connection, f"{quote(schema)}.{quote(name)}")
        connection.execute("checkpoint fresh")
    sync_file(fresh)


def _attach(source: Path) -> str:
    return f"attach {literal(str(source))} as bloated (read_only)"


def _copy_table(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    connection.execute(f"insert into fresh.{name} from bloated.{name}")
    counts = connection.execute(f"select count(*) from bloated.{name} union all select count(*) from fresh.{name}")
    if len(set(counts.fetchall())) != 1:
        raise duckdb.IntegrityError(f"the rows of {name} in the copy differ; this is a defect of wms-sync or DuckDB")


def _relations(connection: duckdb.DuckDBPyConnection, database: str) -> Relations:
    """Return what a database has: tables, views, columns and comments."""
    connection.execute(f"use {database}")
    return relations_in(connection)
