"""The trials: a first sync, a night, and nights as the database grows.

In each round the contenders take turns, in another order each time, against the same state of one service. The medians
of the rounds are shown; a ratio is taken in each round before the median, so that a slow minute of the machine counts
on both sides. First comes a round that is not counted: byte code and libraries come from memory after it, and after a
copy of the rows the first night is the one that meets them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

import duckdb

from benchmarks.contenders import WMS_SYNC, Installation, contenders
from benchmarks.measuring import Cost
from benchmarks.outputs import compare, stored_tables
from benchmarks.service import CHANGES, Service, serving
from benchmarks.table import Row, show
from wms_sync.catalogue import quote

Round = Mapping[str, Cost]
"""The costs by contender."""

WARM_UP = 1000
READ = 5000
"""Shipments that growth reads at most: more than the night's audit reads again, so that it reaches no copy."""
COPIED = {"shipments", "orders", "galleries"}
IDS = {"id", "shipment_id", "shipment_item_id", "packing_solution_id", "order_id", "order_item_id", "gallery_id"}
APART = 10_000_000
"""Distance between the ids of one copy and the next."""


def first_sync(shipments: int, rounds: int, folder: Path, *, persons: bool) -> None:
    """Show what it costs to read this many shipments into an empty folder."""
    with serving(min(WARM_UP, shipments)) as service:
        _take_turns(_install(folder, service), 0)
    with serving(shipments, persons=persons) as service:
        for _ in service.pages():
            pass
        counted = []
        for number in range(rounds):
            installations = _install(folder, service)
            counted.append(_take_turns(installations, number))
            compare(installations)
    _show(f"First sync of {shipments:,} shipments{', a person in each address' if persons else ''}", counted)


def night(shipments: int, rounds: int, folder: Path) -> None:
    """Show what a night costs after a first sync of this many shipments."""
    with serving(shipments) as service:
        installations = _install(folder, service)
        _take_turns(installations, 0)
        _nights(f"over {shipments:,} shipments", installations, service, rounds)


def growth(shipments: int, sizes: Sequence[int], rounds: int, folder: Path) -> None:
    """Show what a night costs at these numbers of shipments, most of which are copies made by SQL.

    Reading millions from the sandbox would take an hour and show nothing more.
    """
    read = min(shipments, READ)
    for size in sizes:
        with serving(read) as service:
            installations = _install(folder, service)
            _take_turns(installations, 0)
            for installation in installations:
                multiply(installation.database, max(1, size // read))
            _nights(f"over {size:,} shipments, most of them copies", installations, service, rounds)


def _install(folder: Path, service: Service) -> Sequence[Installation]:
    return [Installation(contender, folder, service) for contender in contenders()]


def _nights(over: str, installations: Sequence[Installation], service: Service, rounds: int) -> None:
    counted = []
    for number in range(rounds + 1):
        service.let_an_hour_pass()
        counted.append(_take_turns(installations, number))
    compare(installations)
    _show(f"A night of {sum(CHANGES.values()):,} changes {over}", counted[1:])


def _take_turns(installations: Sequence[Installation], number: int) -> Round:
    begin = number % len(installations)
    in_turn = [*installations[begin:], *installations[:begin]]
    return {installation.contender.name: installation.sync() for installation in in_turn}


def _show(title: str, rounds: Sequence[Round]) -> None:
    rows: list[Row] = []
    for contender in contenders():
        pairs = [(each[WMS_SYNC.name], each[contender.name]) for each in rounds]
        rows.append(
            {
                "contender": contender.name,
                "CPU s": median(cost.cpu for _, cost in pairs),
                "wall s": median(cost.wall for _, cost in pairs),
                "peak MiB": round(median(cost.memory for _, cost in pairs)),
                "CPU, wms-sync / it": median(ours.cpu / cost.cpu for ours, cost in pairs),
                "wall, wms-sync / it": median(ours.wall / cost.wall for ours, cost in pairs),
                "memory, wms-sync / it": median(ours.memory / cost.memory for ours, cost in pairs),
            }
        )
    show(f"{title}, median of {len(rounds)}", rows)


def multiply(database: Path, copies: int) -> None:
    """Copy shipments, orders and galleries with their rows and history, to `copies` in total.

    The copies of a row stand beside it, so that the changes of a night are spread over the whole table.
    """
    database.chmod(0o600)
    with duckdb.connect(database, config={"memory_limit": "4GB", "preserve_insertion_order": "false"}) as connection:
        for stored in list(stored_tables(connection)):
            if stored.table.root not in COPIED:
                continue
            shifted = []
            for name, column in stored.columns.items():
                if name in IDS:
                    shifted.append(f"{quote(column)} + copy * {APART} as {quote(column)}")
                elif name in {"_dlt_id", "_dlt_parent_id", "_dlt_root_id"}:
                    shifted.append(f"{quote(column)} || '-' || copy as {quote(column)}")
            connection.execute(f"create or replace temp table original as from {stored.qualified}")
            connection.execute(f"truncate {stored.qualified}")
            connection.execute(
                f"insert into {stored.qualified} select * exclude (copy) replace ({', '.join(shifted)}) "
                "from (select unnest(range($copies)) as copy, * from original)",
                {"copies": copies},
            )
