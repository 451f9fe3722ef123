"""What a window omits stays as it is in the tables. ``survival/test_random_merges.py`` has any order of windows."""

import re
from datetime import timedelta

import pytest

from tests.bench import NOW, ending, let_pass, queried
from tests.oracle import differences, expected_tables, rows_by_key
from tests.shipments.read.test_field_selection import refuse
from wms_sandbox.field_treatment import FieldTreatment
from wms_sync.catalogue import history_tables, tables
from wms_sync.shipments.load.omitted import OmittedData, omitted_data
from wms_sync.shipments.load.refresh import rebuild

SHIPMENTS_HELD = 90
REFUSALS = [
    (
        "fields:packages.items",
        "fields:items",
        "fields:order.shipping_address",
        "fields:gallery.items",
        "fields:packing_solution",
    ),
    (
        "fields",
        "fields:packages",
        "fields:order",
        "fields:warehouse",
    ),
]


def shown(bench):
    """Rows by table and key."""
    with bench.published() as connection:
        kept = (one.slug for one in (*tables(), *history_tables()) if one.schema != "ops")
        return {slug: rows_by_key(connection, slug) for slug in kept}


def changes(sandbox, *, orders: int) -> None:
    let_pass(sandbox.sandbox, seconds=7200, changed=40, new=5, orders=orders, packages_added=0, packages_removed=0)


def as_php_writes_gaps(packages):
    return {str(2 * number): package for number, package in enumerate(packages)}


@pytest.mark.parametrize(
    ("key", "odd"),
    [
        ("packages", as_php_writes_gaps),
        ("packages", lambda packages: packages[0]),
        ("packages", lambda _: "none"),
        ("packing_solution", lambda _: "none"),
        ("packing_solution", lambda _: 7),
        ("packing_solution", lambda solution: [solution]),
    ],
)
def test_a_shipment_with_something_else_in_place_of_rows_stays_as_it_is(bench, sandbox, key, odd):
    """Its packages and its packing solution were deleted, and so were their items."""
    bench.first_sync(sandbox)
    shared = "select min(shipment_id) from package_items join packing_solution_container_items using (shipment_id)"
    [(shipment,)] = queried(bench.layout.published, shared)
    parts = ("packages", "package_items", "packing_solutions", "packing_solution_container_items")
    queries = [f"select * from {name} where shipment_id = {shipment} order by all" for name in parts]
    queries += [f"select * from shipments where id = {shipment}"]
    before = [queried(bench.layout.published, query) for query in queries]

    def rewrite(page):
        for record in page["collection"]:
            if record["id"] == shipment and record.get(key):
                record[key] = odd(record[key])
        return page

    sandbox.sandbox.rewrite = rewrite
    bench.backfill(NOW - timedelta(days=25), NOW)
    bench.load()
    assert all(before)
    assert [queried(bench.layout.published, query) for query in queries] == before
    quarantined = queried(bench.layout.published, "select distinct object, object_id from ops.quarantine")
    assert quarantined == [("Shipment", shipment)]


@pytest.mark.parametrize("refused", REFUSALS, ids=lambda refused: refused[0])
def test_what_a_window_was_not_asked_for_stays_as_it_is(bench, sandbox, refused):
    bench.first_sync(sandbox)
    before = shown(bench)
    changes(sandbox, orders=20)
    refuse(sandbox, *refused)
    read, refreshed = bench.sync()
    assert refreshed.published
    assert [
        one.check.name for one in refreshed.checks if not one.passed and re.search("belong|history", one.check.name)
    ] == []
    omitted = bench.store.window(read.window_ids[0]).omitted
    assert omitted == dict(
        queried(bench.layout.published, "select name, said from ops.omitted where reason = 'refused'")
    )
    after, data = shown(bench), omitted_data(tuple(omitted))
    for slug in data.sets:
        assert len(after[slug]) >= 0.8 * len(before[slug]) > 0 or slug.startswith("pii")
    assert [
        (slug, key, name)
        for slug, columns in data.columns.items()
        for key in before[slug].keys() & after[slug].keys()
        for name in columns
        if after[slug][key][name] is None and before[slug][key][name] is not None
    ] == [], "nothing is emptied"
    refuse(sandbox)
    assert_equal_but_for(bench, sandbox, data)


def assert_equal_but_for(bench, sandbox, data: OmittedData) -> None:
    """But for what was not asked for, the tables equal the service."""
    expected = {
        name: {key: {c: v for c, v in row.items() if not is_omitted(name, c, data)} for key, row in rows.items()}
        for name, rows in expected_tables(sandbox).items()
        if name not in data.sets
    }
    with bench.published() as connection:
        found = differences(connection, expected)
    allowed = {"galleries", "gallery_items", "warehouses", "products", "brands", "merchants"} | {
        "third_party_billing_groups",
        "retailers",
        "retailer_ship_to_locations",
    }
    if "status" in data.columns_of("orders"):  # an order that changed while none was requested shows in no other table
        allowed |= {"orders", "order_items", "order_status_history", "order_instructions", "order_address_candidates"}
    assert [one for one in found if one.split()[0].strip(":") not in allowed] == []


def is_omitted(name: str, column: str, data: OmittedData) -> bool:
    columns = data.columns_of(name)
    return column in columns or any(one.startswith(f"{column}_") or column.startswith(f"{one}_") for one in columns)


def test_what_the_service_does_not_send_stays_as_it_is(bench, sandbox):
    """A service that ignores field selection for a night, then leaves ``included`` out, empties nothing."""
    bench.first_sync(sandbox)
    before = shown(bench)
    for treatment in (FieldTreatment(ignored=True), FieldTreatment(drops_included=True)):
        sandbox.sandbox.field_treatment = treatment
        changes(sandbox, orders=0)
        read = bench.read()
    refreshed = bench.load()
    assert ending(bench.settings, read, refreshed) == 3
    for name in ("fields:order", "fields:warehouse"):
        assert f"{name} was requested" in "\n".join(bench.needs)
    assert refreshed.merged["shipments"] >= 40
    recorded = "select window_id, min(reason), max(referring) from ops.omitted where name = $1 group by all"
    omitted = queried(bench.layout.published, recorded, "fields:warehouse")
    assert {window for window, *_ in omitted} == set(refreshed.windows)
    assert all(reason == "not sent" and referring >= 40 for _, reason, referring in omitted)
    after = shown(bench)
    assert [
        (slug, key, name)
        for slug, rows in before.items()
        for key, row in rows.items()
        for name, value in row.items()
        if value is not None and after[slug].get(key, {}).get(name) is None
    ] == [], "nothing is emptied"
    assert rebuild(bench.run).published
    assert shown(bench) == after


def without_lists(page):
    """The page that a service sends for a token that may read neither packages nor items."""
    for shipment in page["collection"]:
        shipment.pop("packages", None)
        shipment.pop("items", None)
    for order in page.get("included", {}).get("Order", ()):
        order.pop("items", None)
    for kind in ("ShipmentPackage", "ShipmentItem", "OrderItem"):
        page.get("included", {}).pop(kind, None)
    return page


@pytest.mark.proof
def test_a_list_whose_key_no_object_has_stays_as_it_is(bench, sandbox):
    bench.first_sync(sandbox)
    before = shown(bench)
    sandbox.sandbox.rewrite = without_lists
    changes(sandbox, orders=20)
    read, refreshed = bench.sync()
    assert ending(bench.settings, read, refreshed) == 3
    after = shown(bench)
    for slug in (
        "packages",
        "package_items",
        "package_packaging",
        "shipment_items",
        "shipment_item_reservations",
        "order_items",
    ):
        assert before[slug]
        assert [key for key in before[slug] if key not in after[slug]] == [], slug
    needs = "\n".join(bench.needs)
    for name in ("fields:packages", "fields:items", "fields:order.items"):
        assert f"{name} was requested, but no object of the latest load has this list" in needs
    assert "fields:order.status_history" not in needs, "an empty list was sent"
    assert rebuild(bench.run).published
    assert shown(bench) == after
    sandbox.sandbox.rewrite = None
    bench.backfill(NOW - timedelta(days=400), NOW + timedelta(hours=2))
    [again] = bench.load().windows
    lists = "select name from ops.omitted where window_id = $1 and stayed is not null"
    assert queried(bench.layout.published, lists, again) == []
    assert_equal_but_for(bench, sandbox, OmittedData({}, frozenset()))


def test_an_empty_list_was_sent(bench, sandbox):
    def emptied(page):
        for shipment in page["collection"]:
            shipment["packages"] = []
        return page

    bench.first_sync(sandbox)
    sandbox.sandbox.rewrite = emptied
    changes(sandbox, orders=0)
    bench.sync()
    left = "select count(*) from packages join shipments on shipment_id = shipments.id where shipments._window_id = $1"
    window = bench.store.windows("loaded")[-1].id
    assert queried(bench.layout.published, left, window) == [(0,)]
    assert queried(bench.layout.published, "select count(*) from shipments where _window_id = $1", window) > [(30,)]


def test_the_time_that_ranks_a_version_is_never_that_of_another():
    columns = omitted_data(("fields:order",)).columns_of("orders")
    assert ("status" in columns, "updated_at" in columns) == (True, False)
