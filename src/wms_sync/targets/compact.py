"""Copy a database table by table: without its free space, and without the personal data of forgotten orders.

DuckDB reuses the blocks that a load frees, and never gives them back: a checkpoint writes the new blocks before the old
ones are free. Rows that are deleted keep their space until so many of a row group's neighbours are deleted too that
fewer row groups hold the rest. So a file grows with its nights, and what was deleted from it can still be read there.
The copy has every table, view and comment.
"""

from __future__ import annotations

import logging
from collections.abc import Collection
from pathlib import Path

import duckdb

from wms_sync import sql_files
from wms_sync.catalogue import literal, ops_tables, quote, tables
from wms_sync.targets.database import Relations, relations_in, row_counts, settings_of
from wms_sync.targets.persons import concerned_tables, kept_rows, prepare

logger = logging.getLogger(__name__)

FREE_SHARE = 1 / 3
WORTH_IT = 16 * 1024 * 1024
"""Bytes of free space below which nobody would notice."""


def is_bloated(connection: duckdb.DuckDBPyConnection) -> bool:
    """Return whether so much of the open file is free or deleted that a copy without it is worth it."""
    [[block, total, free, stored]] = connection.execute(sql_files.read("queries/free_space.sql")).fetchall()
    rows = sum(row_counts(connection, (*tables(), *ops_tables())).values())
    in_use = (total - free) * min(1.0, rows / stored) if stored else total
    return bool(total - in_use > FREE_SHARE * total and (total - in_use) * block >= WORTH_IT)


def copy_tables(source: Path, fresh: Path, *, memory_limit: str, without: Collection[int] = ()) -> None:
    """Copy the database ``source`` into the new file ``fresh``, ``without`` the personal data of these orders."""
    with duckdb.connect(config=settings_of(fresh, memory_limit)) as connection:  # type: ignore[arg-type]
        if without:
            prepare(connection, without)
        attach_old = f"attach {literal(str(source))} as old (read_only)"
        connection.execute(f"{attach_old}; attach {literal(str(fresh))} as fresh")
        connection.execute("copy from database old to fresh (schema)")
        present = _relations(connection, "old")
        if present != _relations(connection, "fresh"):
            raise duckdb.IntegrityError(
                "the tables and views of the copy differ; this is a defect of wms-sync or DuckDB"
            )
        cleaned = {table.place: table for table in concerned_tables()} if without else {}
        for (schema, name), relation in present.items():
            if relation.definition:  # a view
                continue
            connection.execute(f"use fresh; detach old; {attach_old}")  # frees what DuckDB keeps of deleted rows
            stored = f"{quote(schema)}.{quote(name)}"
            if (table := cleaned.get((schema, name))) is None:
                connection.execute(f"insert into fresh.{stored} from old.{stored}")
                _refuse_other_count(connection, stored)
            else:
                rows = kept_rows(table, relation.columns, f"old.{stored}")
                connection.execute(f"insert into fresh.{stored} by name {rows}")
        connection.execute("checkpoint fresh")
    sizes = {"before": source.stat().st_size / 1e6, "after": fresh.stat().st_size / 1e6}
    logger.info("copied the tables without free space: %(after).1f MB instead of %(before).1f MB", sizes)


def _refuse_other_count(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    counts = connection.execute(f"select count(*) from old.{name} union all select count(*) from fresh.{name}")
    if len(set(counts.fetchall())) != 1:
        raise duckdb.IntegrityError(f"the rows of {name} in the copy differ; this is a defect of wms-sync or DuckDB")


def _relations(connection: duckdb.DuckDBPyConnection, database: str) -> Relations:
    """Return what a database has: tables, views, columns and comments."""
    connection.execute(f"use {database}")
    return relations_in(connection)
