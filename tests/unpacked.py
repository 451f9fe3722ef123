"""What is in the files of a data folder, whatever packs it."""

from __future__ import annotations

from pathlib import Path

import duckdb

from wms_sync.flatten.page import read_raw


def files_holding(root: Path, *texts: bytes) -> set[str]:
    """The files that hold one of the texts, by their place below the folder."""
    files = [path for path in root.rglob("*") if path.is_file()]
    with duckdb.connect() as connection:
        return {
            str(path.relative_to(root))
            for path in files
            if any(text in content for content in [contents(path, connection)] for text in texts)
        }


def contents(path: Path, connection: duckdb.DuckDBPyConnection) -> bytes:
    """What is in a file, whatever packs it."""
    if path.name.startswith("page-"):
        return read_raw(path)
    if path.suffix == ".parquet":
        return repr(connection.execute("select * from read_parquet(?)", [str(path)]).fetchall()).encode()
    if path.suffix == ".duckdb":
        return in_tables(path) + path.read_bytes()
    return path.read_bytes()


def in_tables(path: Path) -> bytes:
    with duckdb.connect(path, read_only=True) as connection:
        tables = connection.execute("select schema_name, table_name from duckdb_tables()").fetchall()
        rows = [connection.execute(f'from "{schema}"."{table}"').fetchall() for schema, table in tables]
    return repr(rows).encode()
