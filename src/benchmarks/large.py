"""Measure a night over a database of millions of shipments with little memory.

The millions are copies of a small first sync, made by SQL in the working file with their own ids: reading as many from
the sandbox would take an hour and show nothing more. The night reads, merges, checks and publishes as usual.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb

from benchmarks.night import CHANGES, PASSED_SECONDS, WARM_PAGES
from benchmarks.report import Row, Section
from benchmarks.runs import Folder
from benchmarks.service import serving
from wms_sync.catalogue import Table, history_tables, quote, tables

READ = 5000
"""Shipments of the sandbox: more than the night's audit reads again, so that it reaches no copy."""
APART = 10_000_000
"""Distance between the ids of one copy and the next."""
COPIED = {"shipments", "orders", "galleries"}
FILLING_MEMORY = "4GB"


def large(shipments: int, memory_limit: str, scratch: Path) -> Section:
    """Measure one night at this many shipments; it fails if the memory is not enough."""
    with serving(READ) as service:
        service.warm_up(WARM_PAGES)
        folder = Folder(scratch / "large", service)
        folder.command_line("sync")
        rows = multiply(folder.layout.working_database, max(1, shipments // READ))
        service.advance(seconds=PASSED_SECONDS, **CHANGES)
        run = folder.command_line("sync", memory_limit=memory_limit)
        size = folder.layout.published.stat().st_size / 1e6
        folder.remove()
    row: Row = {
        "shipments": rows["shipments"],
        "rows": sum(rows.values()),
        "WMS_MEMORY_LIMIT": memory_limit,
        "published MB": size,
        "wall s": run.cost.wall,
        "peak MiB": round(run.cost.memory),
        "flatten, merge, check s": run.phases["refresh"] - run.phases["publish"],
        "publishing copy s": run.phases["publish"],
    }
    return Section(name="large", title="A night with little memory", rows=[row], figures=[])


def multiply(database: Path, copies: int) -> dict[str, int]:
    """Copy shipments, orders and galleries with their rows and history, to `copies` in total. Return rows by table."""
    settings = {"memory_limit": FILLING_MEMORY, "preserve_insertion_order": "false"}
    with duckdb.connect(database, config=settings) as connection:  # type: ignore[arg-type]
        for table in (*tables(), *history_tables()):
            if table.root in COPIED:
                _spread(connection, table, copies)
        counted = {}
        for table in tables():
            row = connection.execute(f"select count(*) from {table.qualified}").fetchone()
            counted[table.slug] = int(row[0]) if row else 0
    return counted


def _spread(connection: duckdb.DuckDBPyConnection, table: Table, copies: int) -> None:
    """Put the copies of a row next to it, so that the changes of the night are spread over the whole table."""
    shifted = ", ".join(f"{column} + copy * {APART} as {column}" for column in _ids(table))
    connection.execute(f"create or replace temp table original as from {table.qualified}")
    connection.execute(f"truncate {table.qualified}")
    connection.execute(
        f"insert into {table.qualified} select * exclude (copy) replace ({shifted}) "
        "from (select unnest(range($copies)) as copy, * from original)",
        {"copies": copies},
    )


def _ids(table: Table) -> Iterator[str]:
    """Yield the columns that identify a shipment, an order or a gallery."""
    known = {table.root_key, "order_id", "gallery_id"}
    return (quote(name) for name in table.column_names if name in known)
