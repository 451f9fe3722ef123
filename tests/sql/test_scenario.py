"""What each mart says of the scenario, counted by hand. Nothing depends on the client's time zone."""

import re

import pytest

from tests.sql.scenario import day
from wms_sync import sql_files
from wms_sync.catalogue import marts
from wms_sync.shipments.load.checks import checks

MARTS = [mart for mart in marts() if mart.schema == "marts"]
CHECKS = {check.name: check.query for check in checks()}


SAYS: dict[str, tuple[str, list[tuple[object, ...]]]] = {
    "when each shipment was shipped and whether that was on time": (
        "select shipment_id, shipped_local::varchar, shipped_at_source, days_late, is_shipped, is_open, is_live, "
        "is_on_time from marts.shipments order by shipment_id",
        [
            (1, "2024-03-09 23:30:00", "order", 0, True, False, True, True),  # 10 March in UTC
            (2, "2024-03-11 00:15:00", "order", 1, True, False, True, False),  # 10 March in winter time
            (3, "2024-03-12 10:00:00", "packed", 0, True, False, True, True),  # its order was shipped with 4
            (4, "2024-03-12 23:30:00", "packed", 0, True, False, True, True),
            (5, None, None, None, False, False, False, None),  # voided
            (6, "2024-03-13 16:00:00", "order", 1, True, False, True, False),  # the only one of its order
            (7, None, None, None, False, False, False, None),  # canceled
            (8, None, None, 1, False, True, True, False),  # open past its day
            (9, None, None, 0, False, True, True, None),  # due on 14 March, which is not over in the West
            (10, None, None, None, None, None, True, None),  # an unknown status
            (11, None, "unknown", None, True, False, True, None),
            (12, "2024-03-12 11:00:00", "packed", None, True, False, True, None),  # promised for no day
            (13, None, None, None, False, False, False, None),  # deleted
            (14, "2024-03-13 23:30:00", "packed", 0, True, False, True, True),  # no warehouse: the default zone
        ],
    ),
    "days and hours of a shipment": (
        "select timezone, local_today, order_created_day, created_day, packed_day, packed_hour, shipped_day, "
        "hours_order_to_created, hours_created_to_packed, hours_packed_to_shipped, hours_order_to_shipped, "
        "hours_shipped_to_delivered from marts.shipments where shipment_id = 1",
        [("America/Los_Angeles", day(14), day(9), day(9), day(9), 22, day(9), 1.0, 12.0, 1.5, 14.5, 48.0)],
    ),
    "a promise that was moved, and a shipment that takes the place of another": (
        "select shipment_id, first_target_ship_date, is_on_time_by_first_promise, is_voided, is_deleted, "
        "replaced_by_shipment_id from marts.shipments where shipment_id in (3, 4, 5, 6, 13) order by shipment_id",
        [
            (3, day(12), True, False, False, None),
            (4, day(11), False, False, False, None),
            (5, day(12), None, True, False, 6),
            (6, day(12), False, False, False, None),
            (13, day(12), None, False, True, None),
        ],
    ),
    "a shipment beside its order, retailer, warehouse and totals": (
        "select shipment_id, order_unique_id, retailer_code, warehouse_name, merchant_name, shipment_lines, skus, "
        "units, units_shipped, packages, round(billed_kg, 6), cost_by_kg, cost, packaging_units "
        "from marts.shipments where shipment_id in (1, 3, 4, 8, 12, 13) order by shipment_id",
        [
            (1, "O-1", "ACME", "West", "Maker", 1, 1, 2, 2, 1, 2.267962, 10, 10, 4),  # a box, an infill, two labels
            (3, "O-3", "BETA", "East", "Maker", 1, 1, 6, 6, 1, None, None, None, None),
            (4, "O-3", "BETA", "East", "Maker", 1, 1, 4, 4, 2, 1.360777, 9, 9, 1),
            (8, "O-6", None, "West", "Trader", 1, 1, 2, 0, 0, None, None, None, None),
            (12, "O-10", None, "East", "Maker", 2, 1, 3, 3, 0, None, None, 6, None),  # both products have this sku
            (13, "O-11", None, "East", "Trader", 0, 0, None, None, 0, None, None, None, None),
        ],
    ),
    "what a retailer and an order ask for": (
        "select shipment_id, retailer_code, is_method_allowed, is_sscc_missing, is_tpb_group_as_ordered "
        "from marts.shipments where retailer_id is not null order by shipment_id",
        [
            (1, "ACME", True, False, True),
            (2, "ACME", False, True, True),
            (3, "BETA", None, False, True),  # BETA names no methods, and the order wants no SSCC
            (4, "BETA", None, False, True),
            (14, None, None, None, None),  # neither retailer nor order came
        ],
    ),
    "orders": (
        "select order_id, is_open, units, units_reserved, units_shipped, units_backordered, units_canceled, shipments, "
        "shipments_live, is_split, shipped_day, is_in_full, is_on_time, is_otif, age_days, cost "
        "from marts.orders order by order_id",
        [
            (1, False, 2, None, 2, 0, None, 1, 1, False, day(9), True, True, True, None, 10),
            (2, False, 1, None, 1, 0, None, 1, 1, False, day(11), True, False, False, None, 20),
            (3, False, 10, None, 10, 0, None, 2, 2, True, day(12), True, True, True, None, 9),
            (
                4,
                False,
                5,
                None,
                3,
                0,
                None,
                2,
                1,
                False,
                day(13),
                False,
                False,
                False,
                None,
                15,
            ),  # no split: one is void
            (5, False, 2, None, 0, 0, 2, 1, 0, False, None, None, None, None, None, None),  # canceled: nothing is owed
            (6, True, 4, 1, 0, 2, None, 1, 1, False, None, None, False, False, 3.0, None),  # late whatever comes
            (7, True, None, None, None, None, None, 1, 1, False, None, None, None, None, 1.0, None),
            (8, True, 1, None, 0, None, None, 1, 1, False, None, None, None, None, 2.625, None),
            (9, True, 1, None, 1, None, None, 1, 1, False, None, True, None, None, 2.625, None),
            (10, True, 4, None, 4, None, None, 1, 1, False, day(12), True, None, None, 3.625, 6),
            (11, True, None, None, None, None, None, 1, 0, False, None, None, None, None, 3.0, None),
        ],
    ),
    "since when an order is on hold": (
        "select order_id, strftime(on_hold_since at time zone 'UTC', '%m-%d %H:%M'), hours_on_hold from marts.orders "
        "where on_hold_since is not null",
        [(7, "03-14 06:00", 21.0)],
    ),
    "lines of orders": (
        "select order_id, sku, merchant_name, order_created_day, units, units_shipped, units_backordered "
        "from marts.order_lines where order_id in (4, 6, 10) order by order_id, order_item_id",
        [
            (4, "B", "Trader", day(12), 5, 3, 0),
            (6, "B", "Trader", day(11), 4, 0, 2),  # 12 March in UTC
            (10, "A", "Maker", day(11), 1, 1, None),
            (10, "A", "Maker", day(11), 3, 3, None),
        ],
    ),
    "lines of shipments": (
        "select shipment_id, sku, goods_type, merchant_name, shipped_day, units, units_shipped, units_picked_short, "
        "units_shipped_short from marts.shipment_lines where shipment_id in (5, 6, 8, 12) "
        "order by shipment_id, shipment_item_id",
        [
            (5, "B", None, "Trader", None, 5, 0, 0, None),  # picked, packed and voided: nothing was to be shipped
            (6, "B", None, "Trader", day(13), 5, 3, 2, 2),
            (8, "B", None, "Trader", None, 2, 0, None, None),
            (12, "A", "NORMAL", "Maker", day(12), None, None, None, None),
            (12, "A", "HAZMAT", "Maker", day(12), 3, 3, None, 0),
        ],
    ),
    "packages": (
        "select shipment_id, package_position, cost, round(cost_by_kg, 6), round(billed_kg, 6), round(item_kg, 6), "
        "round(excess_kg, 6), round(excess_cost, 6), void_percent, container_name from marts.packages order by all",
        [
            (1, 1, 10, 10, 2.267962, 0.907185, 1.360777, 6, 20, "BOX"),  # two pieces of 16 oz in 5 lb
            (2, 1, 20, 20, 0.907185, None, None, None, None, None),
            (3, 1, None, None, None, None, None, None, None, None),
            (4, 1, 3, 3, 0.453592, None, None, None, 40, "BOX"),
            (4, 2, 6, 6, 0.907185, None, None, None, None, None),
            (5, 1, 7, 7, 1.814369, None, None, None, None, None),
            (6, 1, 8, 8, 1.814369, None, None, None, None, "BOX"),
        ],
    ),
    "packaging": (
        "select shipment_id, package_position, used_as, packaging_sku, packaging_units "
        "from marts.packaging order by all",
        [
            (1, 1, "container", "BOX", 1),  # once, though it stands there twice
            (1, 1, "infill", "PAPER", 1),
            (1, 1, "other", "LABEL", 2),
            (1, 1, "other", "LABEL", None),
            (4, 1, "container", "BOX", 1),
            (6, 1, "container", "BOX", 1),
        ],
    ),
    "days have no holes, and add up": (
        "select warehouse_name, day, shipments_created, shipments_packed, shipments_due, shipments_on_time, "
        "shipments_shipped, units_shipped, packages, cost from marts.days order by warehouse_name nulls last, day",
        [
            ("East", day(11), 2, 0, 0, 0, 0, None, 0, None),
            ("East", day(12), 6, 4, 3, 2, 3, 13, 3, 15),  # 3, 4 and 12; 6 was due
            ("East", day(13), 0, 1, 0, 0, 1, 3, 1, 8),
            ("East", day(14), 0, 0, 0, 0, 0, None, 0, None),
            ("West", day(9), 1, 1, 1, 1, 1, 2, 1, 10),
            ("West", day(10), 1, 0, 1, 0, 0, None, 0, None),
            ("West", day(11), 1, 1, 0, 0, 1, 1, 1, 20),  # 8 was created on 12 March in UTC
            ("West", day(12), 1, 0, 0, 0, 0, None, 0, None),
            ("West", day(13), 1, 0, 1, 0, 0, None, 0, None),
            ("West", day(14), 0, 0, 0, 0, 0, None, 0, None),  # 9 is due, and the day is not over
            (None, day(13), 1, 1, 1, 1, 1, None, 0, None),
            (None, day(14), 0, 0, 0, 0, 0, None, 0, None),
            (None, day(15), 0, 0, 0, 0, 0, None, 0, None),
        ],
    ),
    "freshness": (
        "select epoch(data_until), hours_old > 1, version, shipments from marts.freshness",
        [(1710471600.0, True, "0", 14)],
    ),
    "kinds of goods and tracking numbers of a shipment": (
        "select shipment_id, shipped_day, goods_types, tracking_refs from marts.shipments "
        "where shipment_id in (4, 6, 12) order by shipment_id",
        [
            (4, day(12), "NORMAL", "T-4-1, T-4-2"),
            (6, day(13), None, "T-6-1"),
            (12, day(12), "HAZMAT, NORMAL", None),
        ],
    ),
    "a status lasts until the next one, whatever else changes": (
        "select object, status, previous_status, strftime(changed_at at time zone 'UTC', '%m-%d %H:%M'), hours, "
        "is_latest from history.status_changes where id = 1 order by object, changed_at",
        [
            ("order", "new", None, "03-08 09:00", None, True),
            ("shipment", "new", None, "03-08 10:00", 6.5, False),
            ("shipment", "picking", "new", "03-08 16:30", 41.5, False),
            ("shipment", "shipped", "picking", "03-10 10:00", None, True),
        ],
    ),
    "no shipment is missing in its mart or there twice": (
        "from (from marts.shipments select shipment_id as id union all from main.shipments select id) "
        "select id group by id having count(*) <> 2",
        [],
    ),
    "a check names what was shipped at an unknown time": (CHECKS["shipped_shipments_say_when"], [(11, 9, "shipped")]),
    "a check names unknown statuses": (CHECKS["statuses_are_known"], [("shipments.status", "mystery")]),
    "unknown values are listed without a meaning": (
        "select column_name, value, is_open, sort, meaning from ops.code_values where not is_known",
        [("shipments.status", "mystery", None, None, None)],
    ),
}
"""What is asked, and the rows."""


@pytest.mark.parametrize("name", SAYS)
def test_what_a_mart_says(name, scenario):
    query, rows = SAYS[name]
    assert scenario.execute(query).fetchall() == rows


@pytest.mark.parametrize("mart", marts(), ids=lambda mart: mart.name)
def test_the_keys_of_a_mart_are_unique(mart, scenario):
    repeated = f"select {sql_files.headers(mart.create)['keys']} from {mart.qualified} group by all having count(*) > 1"
    assert scenario.execute(repeated).fetchall() == []
    assert scenario.execute(f"from {mart.qualified} limit 1").fetchall(), "the scenario has no row for it"


def test_a_name_means_one_thing_in_all_marts(scenario):
    """Each column has one comment and one type, wherever it stands."""
    types = scenario.execute(
        "select column_name, data_type from duckdb_columns() where schema_name = 'marts'"
    ).fetchall()
    meanings: dict[str, set[str]] = {}
    for name, said in (*types, *((column.name, column.comment) for mart in MARTS for column in mart.columns)):
        meanings.setdefault(name, set()).add(said)
    assert {name: said for name, said in meanings.items() if len(said) != 2} == {}


def test_what_is_judged_is_judged_once():
    """What is open, shipped or local is decided in the rows of shipments and orders; the other marts add up."""
    judges = re.compile(r"timezones|code_values|_missing_since|\b(?:status|state)\b")
    queries = {mart.name: re.sub("--.*", "", mart.create) for mart in MARTS}
    assert {name for name, query in queries.items() if judges.search(query)} == {"shipments", "orders", "freshness"}
    assert "windows.state" in queries["freshness"], "only of windows"
