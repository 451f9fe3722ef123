"""What the floor with outputs adds: a Parquet file per table and window, and a database of the same tables, committed.

The product's own queries make the rows, so they are the same rows. A shipment or an order that two windows show is
stored once: the windows overlap by a second, and an order stands beside each of its shipments. The tables of schema
`pii` are left out: nobody asks for addresses here.

Measured for 100,000 shipments and left alone, since it costs as much or more: rows inserted from memory instead of from
Parquet, other compression, two threads in the insert (twice the CPU time), other settings of the allocator.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import duckdb

from benchmarks.contenders.objects import Objects
from wms_sync.catalogue import Table, quote, tables
from wms_sync.shipments.flatten.write import create_stages, select_of

_FORMAT = "format parquet, compression zstd, compression_level 1"
_TWICE = """
create or replace temp table twice as
select {key} as key, _window_id, _page
from {table}
qualify row_number() over (partition by {key} order by _window_id, _page) > 1
"""
_DELETE = """
delete from {table} as stored using twice
where stored.{key} = twice.key and stored._window_id = twice._window_id and stored._page = twice._page
"""


class Outputs:
    """A folder of Parquet files, and the database that is made of them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._tables = [table for table in tables() if table.schema == "main"]
        for table in self._tables:
            (folder / table.slug).mkdir(parents=True)

    def write(self, objects: Objects, window_id: str, pages: int) -> None:
        """Write a file per table from the pages that were put in last."""
        connection = objects.connection
        create_stages(connection, objects.kinds)
        provenance = {
            "window_id": window_id,
            "numbers": list(range(1, pages + 1)),
            "extracted_at": [datetime.now(UTC).isoformat()] * pages,
        }
        for table in self._tables:
            file = self._folder / table.slug / f"{window_id}.parquet"
            select = select_of(table, objects.kinds)
            copied = connection.execute(f"copy ({select}) to $file ({_FORMAT})", {**provenance, "file": str(file)})
            if copied.fetchone() == (0,):
                file.unlink()

    def load(self, database: Path) -> None:
        """Insert all files into a new database, in one transaction."""
        with duckdb.connect(database, config={"threads": "1", "preserve_insertion_order": "false"}) as connection:
            connection.execute("set timezone = 'UTC'")
            connection.begin()
            for table in self._tables:
                connection.execute(table.create)
                if files := [str(file) for file in (self._folder / table.slug).glob("*.parquet")]:
                    connection.execute(
                        f"insert into {table.qualified} by name from read_parquet($files)", {"files": files}
                    )
            for root in (table for table in self._tables if table.is_root):
                self._keep_once(connection, root)
            connection.commit()

    def _keep_once(self, connection: duckdb.DuckDBPyConnection, root: Table) -> None:
        connection.execute(_TWICE.format(key=quote(root.root_key), table=root.qualified))
        if connection.execute("select 1 from twice limit 1").fetchone():
            for table in self._tables:
                if table.root == root.name:
                    connection.execute(_DELETE.format(key=quote(table.root_key), table=table.qualified))
