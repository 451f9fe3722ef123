"""Forgetting orders: nothing personal of them is left in any byte of the data folder, and nothing comes back."""

import os
import shutil
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from tests.bench import NOW, Bench, no_file_larger_than, opened_store, queried
from tests.changed_files import change
from tests.unpacked import files_holding
from wms_sync.settings import Settings
from wms_sync.shipments.read.raw import damage
from wms_sync.targets.errors import AnalyticsError, UnknownOrderError
from wms_sync.upkeep.forget import forget
from wms_sync.upkeep.forgotten_orders import orders_named
from wms_sync.upkeep.verify import verify

MARK = "Zaphodina-Quxley-%s-77"
"""Long and like nothing else, so that it stands in a file as it is, however the file is encoded."""


def marked(envelope: dict[str, Any]) -> dict[str, Any]:
    """Addresses, candidates and free-form values tell which order they are of; every other id is written as text."""
    included = envelope["included"]
    for order in included.get("Order", ()):
        mark = MARK % order["id"]
        held = [address for address in (order.get("shipping_address"), order.get("original_address")) if address]
        for kind, references, values in (
            ("OrderAddress", held, {"first_name": mark, "street": [mark], "country": mark}),
            ("OrderAddressCandidate", order.get("address_candidates"), {"street": mark}),
            ("OrderStatusHistory", order.get("status_history"), {"user": {"id": 7, "email": mark}}),
        ):
            ids = {reference["id"] for reference in references or ()}
            for related in included.get(kind, ()):
                if related["id"] in ids:
                    related |= values
        order["automation_data"] = {"told": [{"email": mark}], "steps": 2}
        if order["id"] % 2:
            for named in (order, *held):
                named["id"] = str(named["id"])
    return envelope


def marked_in_new_places(envelope: dict[str, Any]) -> dict[str, Any]:
    """Persons stand under keys too that no type knows, in the order and where it refers to."""
    included = marked(envelope)["included"]
    for order in included.get("Order", ()):
        mark = MARK % order["id"]
        order |= {"buyer": {"first_name": mark}, "customer": {"type": "Customer", "id": order["id"]}}
        included.setdefault("Customer", []).append({"type": "Customer", "id": int(order["id"]), "email": mark})
    return envelope


@pytest.fixture
def stored(settings, service) -> Iterator[Bench]:
    with opened_store(settings) as store:
        yield Bench(settings, store, service)


def holding(settings: Settings, order: int) -> set[str]:
    """The files that hold the mark of an order, by their place below the data folder."""
    return files_holding(settings.data_dir, (MARK % order).encode())


def orders_with_addresses(published: Path) -> list[int]:
    """Those with most rows first: candidates too, and in both windows."""
    query = """
        select order_id
        from (
            select order_id from pii.order_addresses union all select order_id from pii.order_address_candidates
        )
        group by all order by count(*) desc, order_id limit 4
    """
    return [order for (order,) in queried(published, query)]


def counted(bench: Bench, condition: str = "true", *given: object) -> Counter[str]:
    """By table of the published file, the rows for which it is true, where there are any."""
    query = " union all ".join(
        f'select \'{schema}.{table}\', count(*) from (from "{schema}"."{table}") as held where {condition}'
        for schema, table in queried(bench.layout.published, "select schema_name, table_name from duckdb_tables()")
    )
    return +Counter(dict(queried(bench.layout.published, query, *given)))


DESCRIBED = """
select schema_name || '.' || view_name, sql, comment from duckdb_views() where not internal
union all
select schema_name || '.' || table_name, column_name, comment from duckdb_columns() where not internal
order by all
"""
"""What views do, and the comments of all columns."""


def test_nothing_of_a_forgotten_order_is_left(stored):
    """Neither in tables, Parquet files and pages, landed and copied ones too, nor in what killed runs left."""
    order, other, *_ = orders_with_addresses(stored.layout.published)
    stored.backfill(stored.settings.start, NOW + timedelta(days=1))
    shutil.copytree(next(stored.layout.raw.iterdir()), stored.layout.raw / os.fsdecode(b"copie caf\xe9"))
    before, kept_before = holding(stored.settings, order), holding(stored.settings, other)
    named = counted(stored, "contains(held::varchar, $1)", MARK % order)
    assert named.keys() >= {"pii.order_addresses", "main.orders", "main.order_status_history"}
    assert {part.split("/")[0] for part in before} == {"raw", "parquet", "analytics.duckdb"}
    rows_before, described_before = counted(stored), queried(stored.layout.published, DESCRIBED)
    leftovers = [
        stored.layout.leases / "writer-1-killed" / "flatten-1" / "batch" / "OrderAddress.jsonl",
        stored.layout.leases / "writer-1-killed" / "publishing.duckdb",
        stored.layout.work / "spill" / "duckdb_temp_storage.tmp",
        stored.layout.work / "reading-0.duckdb",
        stored.layout.root / "analytics.duckdb.wal.of-an-earlier-file",
        next(stored.layout.raw.glob("2*/page-*")).with_suffix(".bak"),  # a person's copy, which cannot be searched
    ]
    for path in leftovers:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((MARK % order).encode())
    stored.store = opened_store(stored.settings)

    done = forget(stored.run, [order])

    assert holding(stored.settings, order) == set()
    assert holding(stored.settings, other) == kept_before
    assert [path for path in leftovers if path.exists()] == []
    files = Counter(part.split("/")[0] for part in before)
    assert (done.pages, done.parquet_files, done.databases) == (files["raw"], files["parquet"], 1)
    assert (done.orders, done.rows) == ((order,), sum(named.values()))
    rows_after = counted(stored)
    assert rows_after - rows_before == {"ops.forgotten_orders": 1}
    assert (rows_before - rows_after).keys() <= {"pii.order_addresses", "pii.order_address_candidates"}
    assert queried(stored.layout.published, DESCRIBED) == described_before
    steps = "select automation_data->>'steps' from orders where id = ?"
    assert queried(stored.layout.published, steps, order) == [("2",)], "what is not personal of a value stays"
    assert_recorded(stored)
    assert stored.store.forgotten(unfinished=True) == frozenset()

    windows = len(stored.store.windows())
    stored.backfill(stored.settings.start, NOW + timedelta(days=1))
    assert len(stored.store.windows()) > windows, "the service was asked again"
    assert holding(stored.settings, order) == set(), "it does not come back with its pages"


def assert_recorded(stored: Bench) -> None:
    """What is recorded of rewritten files is what they are, so that none was given up as damaged."""
    assert verify(stored.settings).damaged == ()
    assert stored.store.windows("abandoned") == ()
    for window in stored.store.windows("loaded"):
        pages = stored.store.pages(window.id)
        assert {damage(stored.layout, page) for page in pages} == {None}
        assert window.bytes == sum(page.bytes for page in pages)


def test_the_next_run_finishes_an_interrupted_forget(stored, read_once):
    order, *_ = orders_with_addresses(stored.layout.published)
    before = counted(stored)
    stored.layout.lake.mkdir()
    with pytest.raises(AnalyticsError, match="has files of a lake"):
        forget(stored.run, [order])
    stored.layout.lake.rmdir()
    with (
        no_file_larger_than(2**20),  # room for raw pages and Parquet files, and not for the tables
        pytest.raises(AnalyticsError, match=r"Forgetting .* \(.*File too large"),
    ):
        forget(stored.run, [order])
    assert counted(stored) == before
    assert stored.store.forgotten(unfinished=True) == {order}

    stored.store.mark_forgotten()
    # the worst crash: all is recorded as done, and each file is as before
    kept = shutil.ignore_patterns("state.db*", "forgotten-orders.json", "work")
    shutil.copytree(read_once / "data", stored.layout.root, ignore=kept, dirs_exist_ok=True)
    assert holding(stored.settings, order)
    stored.recover()
    assert holding(stored.settings, order) == set()
    assert_recorded(stored)


def test_a_damaged_file_of_others_stays_known_as_damaged(stored):
    order, *_ = orders_with_addresses(stored.layout.published)
    places = {path.relative_to(stored.layout.root).as_posix(): path for path in stored.layout.parquet.glob("order*/*")}
    damaged = min(places.keys() - holding(stored.settings, order))
    parquet.write_table(parquet.read_table(places[damaged]), places[damaged])
    assert forget(stored.run, [order]).parquet_files
    assert [found.place for found in verify(stored.settings).damaged] == [damaged]


@pytest.mark.proof
def test_orders_are_forgotten_although_files_are_damaged(stored):
    """Else no run would ever end again: each first finishes what was to be forgotten. What is damaged comes again."""
    orders = orders_with_addresses(stored.layout.published)[:2]
    for record in stored.layout.root.glob("parquet/_windows/*.json"):
        record.write_bytes(record.read_bytes()[:-9])
    window, *_, unread = (window.id for window in stored.store.windows("loaded"))
    page = stored.layout.raw / window / stored.store.pages(window)[0].file
    page.write_bytes(page.read_bytes()[:100])
    file = next((stored.layout.parquet / "orders").glob(f"{unread}*"))
    file.write_bytes(file.read_bytes()[:-100])
    strays = [file.with_name(name) for name in ("._x.parquet", "old.parquet")]
    for stray in strays:
        stray.write_bytes(b"Mac OS X")
    forget(stored.run, orders)
    assert [stray.exists() for stray in strays] == [False, False]
    assert [holding(stored.settings, order) for order in orders] == [set(), set()], (
        "though it is unknown which files there are"
    )
    assert (page.exists(), file.exists(), stored.store.window(window).state) == (False, False, "abandoned")

    assert stored.sync()[1].published
    assert (file.exists(), verify(stored.settings).damaged) == (True, ())
    assert [holding(stored.settings, order) for order in orders] == [set(), set()]


def test_orders_are_named_by_id_or_reference(stored):
    query = "select id, unique_id, order_ref from orders order by id limit 3"
    first, second, third = queried(stored.layout.published, query)
    change(stored.layout.published, f"update orders set order_ref = 'the same' where id > {first[0]}")
    for name in map(str, first):
        assert [order.id for order in orders_named(stored.settings, stored.store, [name])] == [first[0]]
    with pytest.raises(UnknownOrderError, match=f"{second[0]} .*{third[0]} "):
        orders_named(stored.settings, stored.store, ["the same"])
