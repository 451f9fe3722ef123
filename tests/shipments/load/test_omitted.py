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
LISTS = (
    "packages",
    "package_items",
    "package_packaging",
    "shipment_items",
    "shipment_item_reservations",
    "order_items",
)


def shown(bench):
    """Rows by table and key."""
    with bench.published() as connection:
        kept = (one.slug for one in (*tables(), *history_tables()) if one.schema != "ops")
        return {slug: rows_by_key(connection, slug) for slug in kept}


def changes(sandbox, *, orders: int) -> None:
    let_pass(sandbox.sandbox, seconds=7200, changed=40, new=5, orders=orders, packages_added=0, packages_removed=0)


@pytest.mark.parametrize(
    ("key", "odd"),
    [
        ("packages", lambda packages: {str(2 * at): one for at, one in enumerate(packages)}),  # as PHP writes gaps
        ("packages", lambda packages: packages[0]),
        ("packages", lambda _: "none"),
        ("packing_solution", lambda _: "none"),
        ("packing_solution", lambda _: 7),
        ("packing_solution", lambda solution: [solution]),
    ],
)
def test_a_shipment_with_something_else_in_place_of_rows_stays_as_it_is(synced, sandbox, key, odd):
    """Its packages and its packing solution were deleted, and so were their items."""
    shared = "select min(shipment_id) from package_items join packing_solution_container_items using (shipment_id)"
    [(shipment,)] = queried(synced.layout.published, shared)
    parts = ("packages", "package_items", "packing_solutions", "packing_solution_container_items")
    queries = [
        f"select * from shipments where id = {shipment}",
        *(f"select * from {name} where shipment_id = {shipment} order by all" for name in parts),
    ]
    before = [queried(synced.layout.published, query) for query in queries]

    def rewrite(page):
        for record in page["collection"]:
            if record["id"] == shipment and record.get(key):
                record[key] = odd(record[key])
        return page

    sandbox.sandbox.rewrite = rewrite
    synced.backfill(NOW - timedelta(days=25), NOW)
    synced.load()
    assert all(before)
    assert [queried(synced.layout.published, query) for query in queries] == before
    assert queried(synced.layout.published, "select distinct object, object_id from ops.quarantine") == [
        ("Shipment", shipment)
    ]


@pytest.mark.parametrize("refused", REFUSALS, ids=lambda refused: refused[0])
def test_what_a_window_was_not_asked_for_stays_as_it_is(synced, sandbox, refused):
    before = shown(synced)
    changes(sandbox, orders=20)
    refuse(sandbox, *refused)
    read, refreshed = synced.sync()
    assert refreshed.published
    assert [
        one.check.name for one in refreshed.checks if not one.passed and re.search("belong|history", one.check.name)
    ] == []
    omitted = synced.store.window(read.window_ids[0]).omitted
    assert omitted == dict(
        queried(synced.layout.published, "select name, said from ops.omitted where reason = 'refused'")
    )
    after, data = shown(synced), omitted_data(tuple(omitted))
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
    assert_equal_but_for(synced, sandbox, data)


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


@pytest.mark.proof
def test_what_the_service_does_not_send_stays_as_it_is(synced, sandbox):
    """A service that ignores field selection for a night, then leaves ``included`` out, empties nothing."""
    before = shown(synced)
    for treatment in (FieldTreatment(ignored=True), FieldTreatment(drops_included=True)):
        sandbox.sandbox.field_treatment = treatment
        changes(sandbox, orders=0)
        read = synced.read()
    refreshed = synced.load()
    assert ending(synced.settings, read, refreshed) == 3
    for name in ("fields:order", "fields:warehouse"):
        assert f"{name} was requested" in "\n".join(synced.needs)
    assert refreshed.merged["shipments"] >= 40
    recorded = "select window_id, min(reason), max(referring) from ops.omitted where name = $1 group by all"
    omitted = queried(synced.layout.published, recorded, "fields:warehouse")
    assert {window for window, *_ in omitted} == set(refreshed.windows)
    assert all(reason == "not sent" and referring >= 40 for _, reason, referring in omitted)
    after = shown(synced)
    assert emptied(before, after) == []
    assert rebuild(synced.run).published
    assert shown(synced) == after


@pytest.mark.proof
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("OrderAddress", "fields:order.shipping_address"),
        ("OrderStatusHistory", "fields:order.status_history"),
        ("OrderInstruction", "fields:order.instructions"),
        ("OrderAddressCandidate", "fields:order.address_candidates"),
        ("GalleryItem", "fields:gallery.items"),
    ],
)
def test_a_kind_that_included_lacks_empties_nothing(synced, sandbox, kind, name):
    before = shown(synced)
    sandbox.sandbox.rewrite = lambda page: page | {"included": {**page["included"], kind: []}}
    changes(sandbox, orders=20)
    synced.sync()
    assert emptied(before, shown(synced)) == []
    assert queried(synced.layout.published, "select distinct name from ops.omitted") == [(name,)]


def emptied(before, after):
    return [
        (slug, key, name)
        for slug, rows in before.items()
        for key, row in rows.items()
        for name, value in row.items()
        if value is not None and after[slug].get(key, {}).get(name) is None
    ]


def without_lists(page):
    """The page that a service sends for a token that may read neither packages nor items."""
    included = page.get("included", {})
    for thing in (*page["collection"], *included.get("Order", ())):
        thing.pop("packages", None)
        thing.pop("items", None)
    for kind in ("ShipmentPackage", "ShipmentItem", "OrderItem"):
        included.pop(kind, None)
    return page


@pytest.mark.proof
def test_a_list_whose_key_no_object_has_stays_as_it_is(synced, sandbox):
    before = shown(synced)
    sandbox.sandbox.rewrite = without_lists
    changes(sandbox, orders=20)
    read, refreshed = synced.sync()
    assert ending(synced.settings, read, refreshed) == 3
    after = shown(synced)
    for slug in LISTS:
        assert set() < before[slug].keys() <= after[slug].keys(), slug
    needs = "\n".join(synced.needs)
    for name in ("fields:packages", "fields:items", "fields:order.items"):
        assert f"{name} was requested, but no object of the latest load has this list" in needs
    assert "fields:order.status_history" not in needs, "an empty list was sent"
    assert rebuild(synced.run).published
    assert shown(synced) == after
    sandbox.sandbox.rewrite = None
    synced.backfill(NOW - timedelta(days=400), NOW + timedelta(hours=2))
    [again] = synced.load().windows
    lists = "select name from ops.omitted where window_id = $1 and stayed is not null"
    assert queried(synced.layout.published, lists, again) == []
    assert_equal_but_for(synced, sandbox, OmittedData({}, frozenset()))


def test_an_empty_list_was_sent(synced, sandbox):
    sandbox.sandbox.rewrite = lambda page: (
        page | {"collection": [shipment | {"packages": []} for shipment in page["collection"]]}
    )
    changes(sandbox, orders=0)
    synced.sync()
    left = """
        select count(distinct shipments.id) > 30, count(position)
        from shipments left join packages on shipment_id = shipments.id where shipments._window_id = $1
    """
    assert queried(synced.layout.published, left, synced.store.windows("loaded")[-1].id) == [(True, 0)]


def test_the_time_that_ranks_a_version_is_never_that_of_another():
    columns = omitted_data(("fields:order",)).columns_of("orders")
    assert ("status" in columns, "updated_at" in columns) == (True, False)


@pytest.mark.proof
def test_a_rebuild_keeps_addresses_that_were_stored_before_and_after_the_setting_was_off(bench, sandbox, settings_for):
    for is_on in (True, False, True):
        bench.settings = settings_for(sandbox, include_addresses=is_on)
        changes(sandbox, orders=40)
        _, loaded = bench.sync()
    assert rebuild(bench.run).rows == loaded.rows
