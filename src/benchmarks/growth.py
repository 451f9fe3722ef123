"""Measure what a night of 1,000 changes costs as the database grows: CPU time, memory, and with which exponent.

The millions are copies of a small first sync, made by SQL in the published file with ids of their own: reading as many
from the sandbox would take an hour and show nothing more. The night reads, merges, checks and publishes as usual. The
first night at each size is not counted: it is the one that meets the copies. After the last one its bound is measured:
what it costs to change the same rows, and nothing else (`contenders.bound`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from itertools import pairwise
from math import log
from multiprocessing import get_context
from pathlib import Path

import duckdb

from benchmarks.bound import Bound
from benchmarks.night import CHANGES, PASSED_SECONDS, WARM_PAGES, median
from benchmarks.report import Figure, Row, Section
from benchmarks.rows import rows_by_table
from benchmarks.runs import Folder, Run
from benchmarks.service import Service, serving
from wms_sync.catalogue import Table, history_tables, quote, tables

SIZES = (100_000, 1_000_000, 3_000_000)
READ = 5000
"""Shipments of the sandbox: more than the night's audit reads again, so that it reaches no copy."""
APART = 10_000_000
"""Distance between the ids of one copy and the next."""
COPIED = {"shipments", "orders", "galleries"}
FILLING_MEMORY = "4GB"


def growth(sizes: Sequence[int], memory_limit: str | None, scratch: Path, *, nights: int) -> Section:
    """Measure nights at these numbers of shipments; one fails if the memory is not enough."""
    runs: dict[int, Run] = {}
    bounds: dict[int, Run] = {}
    rows: list[Row] = []
    with serving(READ) as service:
        service.warm_up(WARM_PAGES)
        for size in sizes:
            folder = Folder(scratch / "growth", service)
            folder.command_line("sync")
            read = rows_by_table(folder.layout.published)["shipments"]
            with ProcessPoolExecutor(1, get_context("spawn")) as apart:  # what it takes would count as the night's
                counted = apart.submit(multiply, folder.layout.published, max(1, round(size / read))).result()
            runs[size] = median([_night(folder, service, memory_limit) for _ in range(nights + 1)][1:])
            bound = Bound(folder)
            _night(folder, service, memory_limit)
            bounds[size] = bound.measure()
            rows.append({**_row(counted, folder, runs[size]), "bound CPU s": bounds[size].cost.cpu})
            folder.remove()
    return Section(
        name="growth",
        title=f"A night of {sum(CHANGES.values()):,} changes as the database grows, median of {nights}",
        rows=rows,
        figures=[
            *_exponents(runs),
            *(replace(exponent, name=f"{exponent.name}, of the bound") for exponent in _exponents(bounds)),
            Figure("largest peak", max(run.cost.memory for run in runs.values()), "MiB"),
        ],
        notes=(f"WMS_MEMORY_LIMIT: {memory_limit or 'the default'}",),
    )


def _night(folder: Folder, service: Service, memory_limit: str | None) -> Run:
    service.advance(seconds=PASSED_SECONDS, **CHANGES)
    return folder.command_line("sync", memory_limit=memory_limit)


def _exponents(runs: dict[int, Run]) -> Iterator[Figure]:
    """Yield the exponent of CPU time between each size and the next, and between the smallest and the largest."""
    pairs = list(pairwise(runs))
    for small, large in dict.fromkeys([*pairs, (min(runs), max(runs))] if pairs else []):
        exponent = log(runs[large].cost.cpu / runs[small].cost.cpu) / log(large / small)
        yield Figure(f"exponent of CPU, {small:,} to {large:,}", exponent)


def _row(counted: dict[str, int], folder: Folder, run: Run) -> Row:
    return {
        "shipments": counted["shipments"],
        "rows": sum(counted.values()),
        **run.cost.as_row(),
        "published MB": folder.layout.published.stat().st_size / 1e6,
        "load s": run.phases["load"],
    }


def multiply(database: Path, copies: int) -> dict[str, int]:
    """Copy shipments, orders and galleries with their rows and history, to `copies` in total. Return rows by table."""
    settings = {"memory_limit": FILLING_MEMORY, "preserve_insertion_order": "false"}
    database.chmod(0o600)
    with duckdb.connect(database, config=settings) as connection:  # type: ignore[arg-type]
        return multiply_in(connection, copies)


def multiply_in(connection: duckdb.DuckDBPyConnection, copies: int) -> dict[str, int]:
    """Do the same in an open database."""
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
