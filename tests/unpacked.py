"""What is in the files of a data folder, whatever packs it."""

from collections.abc import Collection
from pathlib import Path

import duckdb

from wms_sync.shipments.flatten.page import unpacked_page

ONE_THREAD: dict[str, str | bool | int | float | list[str]] = {"threads": "1"}
"""Several take longer over a small table: they wake each other for each query."""


def files_holding(root: Path, *texts: bytes) -> set[str]:
    """The files that hold one of the texts, by their place below the folder."""
    with duckdb.connect(config=ONE_THREAD) as connection:
        return {
            str(path.relative_to(root))
            for path in sorted(root.rglob("*"))
            if path.is_file() and holds(path, connection, texts)
        }


def holds(path: Path, connection: duckdb.DuckDBPyConnection, texts: Collection[bytes]) -> bool:
    """Whether a file holds one of the texts, whatever packs it; a database also where its bytes do not show them."""
    if path.suffix == ".parquet":
        return a_row_holds(connection, "read_parquet($file)", texts, file=str(path))
    if path.suffix == ".duckdb":
        with duckdb.connect(path, read_only=True, config=ONE_THREAD) as tables:
            if any(a_row_holds(tables, table, texts) for table in tables_of(tables)):
                return True
    content = path.read_bytes()
    if path.name.startswith("page-"):
        content = unpacked_page(content, path)
    return any(text in content for text in texts)


def a_row_holds(
    connection: duckdb.DuckDBPyConnection, source: str, texts: Collection[bytes], **parameters: str
) -> bool:
    named = {f"text{number}": text.decode() for number, text in enumerate(texts)}
    condition = " or ".join(f"contains(held::varchar, ${name})" for name in named)
    query = f"select 1 from {source} as held where {condition} limit 1"
    return connection.execute(query, {**named, **parameters}).fetchone() is not None


def in_tables(path: Path) -> bytes:
    with duckdb.connect(path, read_only=True) as connection:
        rows = [connection.execute(f"from {table}").fetchall() for table in tables_of(connection)]
    return repr(rows).encode()


def tables_of(connection: duckdb.DuckDBPyConnection) -> list[str]:
    names = connection.execute("select schema_name, table_name from duckdb_tables()").fetchall()
    return [f'"{schema}"."{table}"' for schema, table in names]
