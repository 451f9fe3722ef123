"""Write the objects of a batch to one Parquet file per table, by a COPY of ``sql/flatten/<table>.sql``.

A file is written under a temporary name, synced and renamed; a table without rows has no file. The files of a batch are
synced side by side, because the disk then does it at once: one after the other takes eight times as long.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path
from typing import Any

import duckdb
from msgspec import Struct

from wms_sync import sql_files
from wms_sync.catalogue import Table, quote, tables
from wms_sync.shipments.flatten.page import RawPage
from wms_sync.shipments.flatten.statements import Kinds, needs, select_of, statement
from wms_sync.storage.durable import make_private, put_in_place, sync_file

# Measured on 25 tables: snappy is 10 % faster to write and a third larger; reading takes far longer than either.
_LARGE = "format parquet, compression zstd, compression_level 1"
# To set zstd up for each column takes a tenth of a small batch's time; its files are 3 % larger with snappy.
_SMALL, SMALL_BYTES = "format parquet, compression snappy", 1_000_000
_SYNCED_AT_ONCE = 8


class Batch(Struct, frozen=True):
    """Pages of one window and where their Parquet files go: ``<parquet_dir>/<table>/<name>``, made in ``work_dir``."""

    pages: Sequence[RawPage]
    window_id: str
    parquet_dir: Path
    name: str
    work_dir: Path

    def path(self, slug: str) -> Path:
        """Return the path of a table's file."""
        return self.parquet_dir / slug / self.name

    def temporary(self, slug: str) -> Path:
        """Return the path at which a table's file is written."""
        return self.work_dir / f"{slug}.parquet"

    @property
    def provenance(self) -> dict[str, Any]:
        """Return the parameters of ``sql/flatten/page/provenance.sql``."""
        return {
            "window_id": self.window_id,
            "numbers": [page.number for page in self.pages],
            "extracted_at": [page.extracted_at.isoformat() for page in self.pages],
        }

    @property
    def format(self) -> str:
        """Return the options of COPY for files of so many pages."""
        return _SMALL if sum(page.uncompressed_bytes for page in self.pages) < SMALL_BYTES else _LARGE


@cache
def columns_written() -> str:
    """Return a digest of all SQL that decides which columns the files have, in which order and of which types."""
    folders = ("types", "tables", "flatten", "flatten/stages", "flatten/page")
    texts = (sql_files.read(path) for folder in folders for path in sql_files.listed(folder))
    return hashlib.sha256("".join(texts).encode()).hexdigest()[:16]


def create_stages(connection: duckdb.DuckDBPyConnection, kinds: Kinds) -> set[str]:
    """Create the views that several tables select from; as tables if that saves time (header ``kept: yes``).

    Return the names of those tables that have rows.
    """
    filled = set()
    for path in sql_files.listed("flatten/stages"):
        name, kept = _stage(path)
        what = f"{'table' if kept else 'view'} {quote(name)}"
        created = connection.execute(f"create or replace {what} as {statement(path, kinds)}").fetchone()
        if kept and created and created[0]:
            filled.add(name)
    return filled


def drop_kept_stages(connection: duckdb.DuckDBPyConnection) -> None:
    """Drop the stages that are tables, to free their memory."""
    for name, kept in map(_stage, sql_files.listed("flatten/stages")):
        if kept:
            connection.execute(f"drop table if exists {quote(name)}")


@cache
def _stage(path: str) -> tuple[str, bool]:
    """Return the name of a stage and whether it is kept."""
    return sql_files.stem(path).partition("_")[2], sql_files.headers(sql_files.read(path)).get("kept") == "yes"


def write_tables(
    connection: duckdb.DuckDBPyConnection, batch: Batch, kinds: Kinds, filled: Collection[str]
) -> tuple[dict[str, int], dict[str, Path]]:
    """Write every table; return rows and files by ``Table.slug``.

    A table that ``needs`` what is not ``filled`` is not asked: to plan its query costs more than a few rows do.
    """
    rows = {
        table.slug: 0 if needs(table).isdisjoint(filled) else _write(connection, batch, table, kinds)
        for table in tables()
    }
    for slug, count in rows.items():
        if not count:
            batch.path(slug).unlink(missing_ok=True)
    files = {slug: batch.path(slug) for slug, count in rows.items() if count}
    with ThreadPoolExecutor(_SYNCED_AT_ONCE, "sync") as pool:
        for _ in pool.map(partial(_put_in_place, batch), files):
            pass  # an error of one is raised here
    return rows, files


def _write(connection: duckdb.DuckDBPyConnection, batch: Batch, table: Table, kinds: Kinds) -> int:
    temporary = batch.temporary(table.slug)
    copy = f"copy ({select_of(table, kinds)}) to $temporary ({batch.format})"
    parameters = {"temporary": str(temporary)} | ({} if table.schema == "ops" else batch.provenance)
    copied = connection.execute(copy, parameters).fetchone()
    rows = int(copied[0]) if copied else 0
    if not rows:
        temporary.unlink(missing_ok=True)
    return rows


def _put_in_place(batch: Batch, slug: str) -> None:
    temporary, path = batch.temporary(slug), batch.path(slug)
    make_private(path.parent)
    sync_file(temporary)
    put_in_place(temporary, path)
