"""Random merges: the tables hold what the rule of versions says.

The rule, worked out slowly in Python: among the versions of an object, those that were read before an audit or a
backfill last read it are void; among the rest the newest ``updated_at`` counts, then the newest read; without
``updated_at`` the time of reading stands for it. The clocks of these windows go back as they like. With little memory
each table is merged by itself.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby

import duckdb
import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from msgspec import structs

from tests.survival.counts import ORDERS_OF_VERSIONS
from wms_sync.intervals import Interval
from wms_sync.layout import Layout
from wms_sync.shipments.flatten.window import FlattenedWindow, flattened_window
from wms_sync.shipments.load.merge import Merger
from wms_sync.state.store import Reason, Window
from wms_sync.targets.database import Session, create_empty

START = datetime(2026, 3, 1, tzinfo=UTC)
WHOLE = Interval(START, START + timedelta(days=1))
MOMENT = pa.timestamp("us", tz="UTC")
PAGE = [("_window_id", pa.string()), ("_page", pa.int32()), ("_extracted_at", MOMENT)]
KINDS = {
    "shipments": pa.schema([("id", pa.int64()), ("status", pa.string()), ("updated_at", MOMENT), *PAGE]),
    "packages": pa.schema([("shipment_id", pa.int64()), ("position", pa.int32()), *PAGE]),
    "retailers": pa.schema([("id", pa.int64()), ("name", pa.string()), ("updated_at", MOMENT), *PAGE]),
    "warehouses": pa.schema([("id", pa.int64()), ("name", pa.string()), *PAGE]),
}
ROOTS = ("shipments", "retailers", "warehouses")


@dataclass(frozen=True)
class Version:
    """An object as one page showed it."""

    kind: str
    id: int
    reason: Reason
    window: str
    page: int
    read: int
    updated: int | None
    packages: int
    status: str = "new"
    lacks_packages: bool = False
    """No object of the window has the key of the list."""

    @property
    def said(self) -> int:
        return self.read if self.updated is None else min(self.updated, self.read)

    @property
    def rank(self) -> tuple[int, int, bool, str, int]:
        dated = self.kind != "warehouses"
        updated = self.updated if dated and self.updated is not None else self.read - 2 * dated  # two are ten minutes
        return (updated, self.read, self.reason != "sync", self.window, self.page)

    def row(self) -> dict[str, object]:
        updated = None if self.updated is None else moment(self.updated)
        name = f"{self.window} {self.page}"
        return {"id": self.id, "status": self.status, "name": name, "updated_at": updated, **self.provenance()}

    def provenance(self) -> dict[str, object]:
        return {"_window_id": self.window, "_page": self.page, "_extracted_at": moment(self.read)}


def moment(number: int) -> datetime:
    return START + timedelta(minutes=5 * number)


def by_the_rule(versions: Sequence[Version]) -> dict[tuple[str, int], Version]:
    best: dict[tuple[str, int], Version] = {}
    for key in {(one.kind, one.id) for one in versions}:
        seen = [one for one in versions if (one.kind, one.id) == key]
        last_looked = max((one.read for one in seen if one.reason != "sync"), default=-1)
        best[key] = max((one for one in seen if one.read >= last_looked), key=lambda one: one.rank)
    return best


def packages_by_the_rule(versions: Sequence[Version]) -> dict[int, int]:
    """The packages of each shipment: those of its last version whose window has the list."""
    counts: dict[int, int] = {}
    shipments = [one for one in versions if one.kind == "shipments"]
    looks = {
        one.id: [seen.read for seen in shipments if seen.id == one.id and seen.reason != "sync"] for one in shipments
    }
    for one in sorted(shipments, key=lambda one: in_order(one, looks[one.id])):
        if not one.lacks_packages:
            counts[one.id] = one.packages
    return {shipment: count for shipment, count in counts.items() if count}


def in_order(one: Version, looks: Sequence[int]) -> tuple[object, ...]:
    return (max((look for look in looks if look <= one.read), default=-1), *one.rank)


Entry = tuple[int, int, datetime, datetime | None, bool, datetime, datetime, str, str, int]
"""A row of history: see ``PAST``."""
PAST = """
    select id, version, valid_from, valid_to, is_current, seen_at, last_seen_at, status, _window_id, _page
    from history.shipments
"""


def history_by_the_rule(versions: Sequence[Version]) -> set[Entry]:
    entries: set[Entry] = set()
    for shipment in {one.id for one in versions if one.kind == "shipments"}:
        seen = [one for one in versions if (one.kind, one.id) == ("shipments", shipment)]
        looks = [one.read for one in seen if one.reason != "sync"]
        ordered = sorted(seen, key=lambda one: in_order(one, looks))
        parts = [list(part) for _, part in groupby(ordered, key=lambda one: one.status)]
        firsts, begins = [part[0] for part in parts], list[int]()
        for at, first in enumerate(firsts):
            before = max((one.said for one in firsts[:at]), default=-1)
            begins.append(max([first.said if first.said > before else first.read, *begins[-1:]]))
        for at, part in enumerate(parts):
            first, last = part[0], at + 1 == len(parts)
            end = None if last else moment(begins[at + 1])
            read = moment(first.read), max(moment(one.read) for one in part)
            entries.add(
                (shipment, at + 1, moment(begins[at]), end, last, *read, first.status, first.window, first.page)
            )
    return entries


def played(chance: random.Random, windows: int) -> list[Version]:
    """Windows of two pages each; few objects and few moments, so that everything meets everything."""
    versions = []
    for number in range(windows):
        reason: Reason = chance.choice(("sync", "sync", "backfill", "audit"))
        lacks = chance.random() < 1 / 3
        for page in (1, 2):
            read = chance.randrange(8)
            for kind in ROOTS:
                for one in chance.sample(range(1, 5), chance.randrange(3)):
                    updated = chance.choice((None, *range(6), 900))
                    packages = chance.randrange(3) if kind == "shipments" else 0
                    status = chance.choice(("new", "packed"))
                    found = Version(kind, one, reason, f"w{number}", page, read, updated, packages, status, lacks)
                    versions.append(found)
    return versions


def landed(layout: Layout, versions: Sequence[Version]) -> list[Window]:
    """The Parquet files of these versions, and their windows."""
    windows = []
    for name in sorted({one.window for one in versions}):
        rows: dict[str, list[dict[str, object]]] = {kind: [] for kind in KINDS}
        of_window = [one for one in versions if one.window == name]
        for one in of_window:
            rows[one.kind].append(one.row())
            packages = range(1, 0 if one.lacks_packages else one.packages + 1)
            rows["packages"] += [{"shipment_id": one.id, "position": at, **one.provenance()} for at in packages]
        for kind, found in rows.items():
            if found:
                (layout.parquet / kind).mkdir(parents=True, exist_ok=True)
                pq.write_table(
                    pa.Table.from_pylist(found, schema=KINDS[kind]), layout.parquet / kind / f"{name}-1.parquet"
                )
        flattened = FlattenedWindow(
            rows={kind: len(found) for kind, found in rows.items()},
            parts={kind: [f"{name}-1.parquet"] for kind, found in rows.items() if found},
            not_sent=["Shipment.packages"] if of_window[0].lacks_packages else [],
            quarantined=0,
            drift=0,
            records_removed=0,
        )
        layout.flattened_manifest(name).parent.mkdir(parents=True, exist_ok=True)
        layout.flattened_manifest(name).write_bytes(msgspec.json.encode(flattened))
        reason = of_window[0].reason
        begun = Window.begun(name, WHOLE, reason=reason, run_id="run", signature="", service=None)
        windows.append(structs.replace(begun, records=flattened.records))
    return windows


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    """An empty database; each test takes its own rows away."""
    with duckdb.connect() as opened:
        opened.execute("set timezone = 'UTC'")
        create_empty(opened)
        yield opened


@pytest.mark.seeds(ORDERS_OF_VERSIONS)
def test_any_order_of_arrival_gives_the_same_tables(seed, connection, tmp_path):
    """Each part of the windows is merged in a transaction of its own."""
    chance = random.Random(seed)
    layout = Layout(tmp_path)
    versions = played(chance, windows=6)
    windows = landed(layout, versions)
    chance.shuffle(windows)
    cuts = sorted(chance.sample(range(1, len(windows)), chance.randrange(len(windows))))
    parts = [windows[start:end] for start, end in zip([0, *cuts], [*cuts, len(windows)], strict=True)]
    for table in (*KINDS, "history.shipments", "ops.loads"):
        connection.execute(f"truncate {table}")
    omitted = {one.window: ("fields:packages",) for one in versions if one.lacks_packages}
    merger = Merger(Session(connection), layout, run_id="load", include_addresses=False, omitted=omitted)
    for part in parts:
        merger.merge([(window, flattened_window(layout, window.id)) for window in part])
    told = " | ".join(" ".join(window.id for window in part) for part in parts)
    assert_by_the_rule(connection, versions, told)


def assert_by_the_rule(connection: duckdb.DuckDBPyConnection, versions: Sequence[Version], told: str) -> None:
    best = by_the_rule(versions)
    for kind in ROOTS:
        rows = connection.execute(f"select id, _window_id, _page from {kind} order by all").fetchall()
        assert rows == sorted((id_, one.window, one.page) for (of, id_), one in best.items() if of == kind), told
    packages = connection.execute("select shipment_id, count(*) from packages group by all").fetchall()
    assert dict(packages) == packages_by_the_rule(versions), told
    past = connection.execute(PAST).fetchall()
    assert len(past) == len(set(past)), told
    assert set(past) == history_by_the_rule(versions), told
