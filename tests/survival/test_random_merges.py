"""Random merges: the tables hold what the rule of versions says.

The rule, worked out slowly in Python: among the versions of an object, those that were read before an audit or a
backfill last read it are void; among the rest the newest ``updated_at`` counts, then the newest read; without
``updated_at`` the time of reading stands for it. What the window of that version omits, a list or columns, is that of
the last version whose window has it. The clocks of these windows go back as they like.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby

import duckdb
import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from wms_sync.intervals import Interval
from wms_sync.layout import Layout, flattened_key
from wms_sync.shipments.flatten.window import FlattenedWindow, ParquetPart, flattened_window
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
    "merchants": pa.schema([("id", pa.int64()), ("name", pa.string()), ("updated_at", MOMENT), *PAGE]),
    "warehouses": pa.schema([("id", pa.int64()), ("name", pa.string()), *PAGE]),
}
ROOTS = ("shipments", "merchants", "warehouses")


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
    omits: bool = False
    """The window has no list of packages, and no name of a merchant or a warehouse."""

    @property
    def said(self) -> int:
        return self.read if self.updated is None else min(self.updated, self.read)

    @property
    def rank(self) -> tuple[int, int, bool, str, int]:
        dated = self.kind != "warehouses"
        return (
            self.updated if dated and self.updated is not None else self.read - 2 * dated,  # two are ten minutes
            self.read,
            self.reason != "sync",
            self.window,
            self.page,
        )

    def row(self) -> dict[str, object]:
        return {
            "id": self.id,
            "status": self.status,
            "name": None if self.omits else self.name,
            "updated_at": None if self.updated is None else moment(self.updated),
            **self.provenance(),
        }

    @property
    def name(self) -> str:
        return f"{self.window} {self.page}"

    def provenance(self) -> dict[str, object]:
        return {"_window_id": self.window, "_page": self.page, "_extracted_at": moment(self.read)}


def moment(number: int) -> datetime:
    return START + timedelta(minutes=5 * number)


def last_look(one: Version, versions: Sequence[Version]) -> int:
    """When an audit or a backfill last read the object, up to this version."""
    looks = (seen.read for seen in versions if (seen.kind, seen.id) == (one.kind, one.id) and seen.reason != "sync")
    return max((look for look in looks if look <= one.read), default=-1)


def in_order(versions: Sequence[Version]) -> Mapping[tuple[str, int], Sequence[Version]]:
    """The versions of each object: those that are void first, the one that counts last."""
    objects = defaultdict[tuple[str, int], list[Version]](list)
    for one in sorted(versions, key=lambda one: (last_look(one, versions), *one.rank)):
        objects[one.kind, one.id].append(one)
    return objects


PAST = """
    select id, version, valid_from, valid_to, is_current, seen_at, last_seen_at, status, _window_id, _page
    from history.shipments
"""


def history_by_the_rule(objects: Mapping[tuple[str, int], Sequence[Version]]) -> set[tuple[object, ...]]:
    """The rows that ``PAST`` gives."""
    entries: set[tuple[object, ...]] = set()
    for (_, shipment), ordered in ((key, seen) for key, seen in objects.items() if key[0] == "shipments"):
        parts = [list(part) for _, part in groupby(ordered, key=lambda one: one.status)]
        firsts, begins = [part[0] for part in parts], list[int]()
        for at, first in enumerate(firsts):
            before = max((one.said for one in firsts[:at]), default=-1)
            begins.append(max([first.said if first.said > before else first.read, *begins[-1:]]))
        for at, part in enumerate(parts):
            first, last = part[0], at + 1 == len(parts)
            entries.add(
                (
                    shipment,
                    at + 1,
                    moment(begins[at]),
                    None if last else moment(begins[at + 1]),
                    last,
                    moment(first.read),
                    max(moment(one.read) for one in part),
                    first.status,
                    first.window,
                    first.page,
                )
            )
    return entries


def played(chance: random.Random, windows: int) -> list[Version]:
    """Windows of two pages each; few objects and few moments, so that everything meets everything."""
    versions: list[Version] = []
    for number in range(windows):
        reason: Reason = chance.choice(("sync", "sync", "backfill", "audit"))
        omits = chance.random() < 1 / 3
        for page in (1, 2):
            read = chance.randrange(8)
            for kind in ROOTS:
                versions += [
                    Version(
                        kind=kind,
                        id=one,
                        reason=reason,
                        window=f"w{number}",
                        page=page,
                        read=read,
                        updated=chance.choice((None, *range(6), 900)),
                        packages=chance.randrange(3) if kind == "shipments" else 0,
                        status=chance.choice(("new", "packed")),
                        omits=omits,
                    )
                    for one in chance.sample(range(1, 5), chance.randrange(3))
                ]
    return versions


def landed(layout: Layout, versions: Sequence[Version]) -> Window:
    """The Parquet files of the versions of a window, and the window."""
    name, rows = versions[0].window, defaultdict[str, list[dict[str, object]]](list)
    for one in versions:
        rows[one.kind].append(one.row())
        for position in range(1, 0 if one.omits else one.packages + 1):
            rows["packages"].append({"shipment_id": one.id, "position": position, **one.provenance()})
    for kind, found in rows.items():
        (layout.parquet / kind).mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.Table.from_pylist(found, schema=KINDS[kind]), layout.parquet / kind / f"{name}-1.parquet")
    flattened = FlattenedWindow(
        parts={kind: [ParquetPart.of(f"{name}-1.parquet", len(found), b"")] for kind, found in rows.items()},
        not_sent=["Shipment.packages"] if versions[0].omits else [],
        left_out=0,
    )
    (layout.root / flattened_key(name)).parent.mkdir(parents=True, exist_ok=True)
    (layout.root / flattened_key(name)).write_bytes(msgspec.json.encode(flattened))
    return Window(
        id=name,
        from_at=WHOLE.start,
        to_at=WHOLE.end,
        reason=versions[0].reason,
        run_id="run",
        signature="",
        records=flattened.records,
    )


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    """An empty database; each test takes its own rows away."""
    with duckdb.connect() as opened:
        opened.execute("set timezone = 'UTC'")
        create_empty(opened)
        yield opened


@pytest.mark.seeds("orders of versions that the clocks belie")
def test_any_order_of_arrival_gives_the_same_tables(seed, connection, tmp_path):
    """Each part of the windows is merged in a transaction of its own."""
    chance = random.Random(seed)
    layout = Layout(tmp_path)
    versions = played(chance, windows=6)
    windows = [landed(layout, list(seen)) for _, seen in groupby(versions, key=lambda one: one.window)]
    chance.shuffle(windows)
    cuts = sorted(chance.sample(range(1, len(windows)), chance.randrange(len(windows))))
    parts = [windows[start:end] for start, end in zip([0, *cuts], [*cuts, len(windows)], strict=True)]
    for table in (*KINDS, "history.shipments", "ops.loads"):
        connection.execute(f"truncate {table}")
    omitted = {
        one.window: ("fields:order.merchant", "fields:packages", "fields:warehouse") for one in versions if one.omits
    }
    merger = Merger(Session(connection), layout, run_id="load", include_addresses=False, omitted=omitted)
    for part in parts:
        merger.merge([(window, flattened_window(layout, window.id)) for window in part])
    told = " | ".join(" ".join(window.id for window in part) for part in parts)
    objects = in_order(versions)
    for kind in ROOTS:
        rows = connection.execute(f"select id, _window_id, _page from {kind}").fetchall()
        best = [seen[-1] for (of, _), seen in objects.items() if of == kind]
        assert sorted(rows) == sorted((one.id, one.window, one.page) for one in best), told
    whole = {key: [one for one in seen if not one.omits] for key, seen in objects.items()}
    given = {key: seen[-1] for key, seen in whole.items() if seen}
    for kind in ("merchants", "warehouses"):
        names = dict(connection.execute(f"select id, name from {kind} where name is not null").fetchall())
        assert names == {id_: one.name for (of, id_), one in given.items() if of == kind}, told
    packages = dict(connection.execute("select shipment_id, count(*) from packages group by all").fetchall())
    counts = {id_: one.packages for (of, id_), one in given.items() if of == "shipments" and one.packages}
    assert packages == counts, told
    assert Counter(connection.execute(PAST).fetchall()) == dict.fromkeys(history_by_the_rule(objects), 1), told
