"""What each mart says of the scenario, counted by hand. Nothing depends on the client's time zone."""

import pytest

from tests.sql.scenario import day
from wms_sync import sql_files
from wms_sync.catalogue import marts
from wms_sync.shipments.load.checks import checks

MARCH = day(1)
CHECKS = {check.name: check.query for check in checks()}


SAYS: dict[str, tuple[str, list[tuple[object, ...]]]] = {
    "when each shipment left and whether that was on time": (
        "select shipment_id, left_local::varchar, left_at_source, days_after_target, was_due, is_live, verdict "
        "from marts.shipment_timeline order by shipment_id",
        [
            (1, "2024-03-09 23:30:00", "order", 0, True, True, "on_time"),  # 10 March in UTC
            (2, "2024-03-11 00:15:00", "order", 1, True, True, "late"),  # 10 March in winter time
            (3, "2024-03-12 10:00:00", "packed", 0, True, True, "on_time"),  # its order was shipped with 4
            (4, "2024-03-12 23:30:00", "packed", 0, True, True, "on_time"),
            (5, None, None, None, True, False, "none"),  # voided
            (6, "2024-03-13 16:00:00", "order", 1, True, True, "late"),  # the only one of its order that left
            (7, None, None, None, True, False, "none"),  # canceled
            (8, None, None, 1, True, True, "open"),
            (9, None, None, 0, False, True, "open"),  # due on 14 March, which is not over in the West
            (10, None, None, None, True, True, "unknown"),
            (11, None, "unknown", None, True, True, "unknown"),
            (12, "2024-03-12 11:00:00", "packed", None, False, True, "none"),  # promised for no day
            (13, None, None, None, True, False, "none"),  # deleted
            (14, "2024-03-13 23:30:00", "packed", 0, True, True, "on_time"),  # no warehouse: the default zone
        ],
    ),
    "days and hours of a shipment": (
        "select timezone, order_created_day, created_day, packed_day, left_day, hours_order_to_created, "
        "hours_created_to_packed, hours_packed_to_left, hours_order_to_left, hours_left_to_delivered "
        "from marts.shipment_timeline where shipment_id = 1",
        [("America/Los_Angeles", day(9), day(9), day(9), day(9), 1.0, 12.0, 1.5, 14.5, 48.0)],
    ),
    "due per day": (
        "select day, warehouse_name, merchant_name, shipping_carrier_code, is_over, shipments, due, on_time, late, "
        "still_open, canceled, deleted, unknown, share_on_time from marts.due_per_day order by all",
        [
            (day(9), "West", "Maker", "ups", True, 1, 1, 1, 0, 0, 0, 0, 0, 1.0),
            (day(10), "West", "Maker", "fedex", True, 1, 1, 0, 1, 0, 0, 0, 0, 0.0),
            (day(12), "East", "Maker", "ups", True, 4, 2, 2, 0, 0, 0, 0, 2, 1.0),  # 3 and 4; 10 and 11 are unknown
            (day(12), "East", "Trader", "ups", True, 2, 1, 0, 1, 0, 1, 0, 0, 0.0),  # 6; 5 was voided
            (day(12), "East", "Trader", None, True, 1, 0, 0, 0, 0, 0, 1, 0, None),  # 13 is deleted
            (day(13), "West", "Trader", "ups", True, 2, 1, 0, 0, 1, 1, 0, 0, 0.0),  # 8; 7 was canceled
            (day(13), None, None, None, True, 1, 1, 1, 0, 0, 0, 0, 0, 1.0),
            (day(14), "West", "Trader", "ups", False, 1, 1, 0, 0, 1, 0, 0, 0, None),  # not over
        ],
    ),
    "order fulfillment": (
        "select order_id, units_ordered, units_shipped, units_backordered, units_canceled, live_shipments, is_split, "
        "in_full, on_time, otif, age_days from marts.order_fulfillment order by order_id",
        [
            (1, 2, 2, None, None, 1, False, True, True, True, None),
            (2, 1, 1, None, None, 1, False, True, False, False, None),
            (3, 10, 10, None, None, 2, True, True, True, True, None),
            (4, 5, 3, None, None, 1, False, False, False, False, None),  # the voided shipment makes it no split order
            (5, 2, 0, None, 2, 0, False, None, None, None, None),  # canceled: nothing is owed
            (6, 4, 0, 2, None, 1, False, None, False, False, 3.0),  # open past its day: late whatever comes
            (7, None, None, None, None, 1, False, None, None, None, 1.0),
            (8, 1, 0, None, None, 1, False, None, None, None, None),
            (9, 1, 1, None, None, 1, False, True, None, None, None),
            (10, 4, 4, None, None, 1, False, True, None, None, None),
            (11, None, None, None, None, 0, False, None, None, None, None),
        ],
    ),
    "package costs": (
        "select shipment_id, package_position, has_left, cost, round(billable_lb, 6), round(billable_kg, 6), "
        "round(item_lb, 6), round(excess_lb, 6), round(excess_kg, 6), void_percent, box_name "
        "from marts.package_costs order by all",
        [
            (1, 1, True, 10, 5, 2.267962, 2, 3, 1.360777, 20, "BOX"),  # two pieces of 16 oz
            (2, 1, True, 20, 2, 0.907185, None, None, None, None, None),
            (3, 1, True, None, None, None, None, None, None, None, None),
            (4, 1, True, 3, 1, 0.453592, None, None, None, 40, "BOX"),
            (4, 2, True, 6, 2, 0.907185, None, None, None, None, None),
            (5, 1, False, 7, 4, 1.814369, None, None, None, None, None),
            (6, 1, True, 8, 4, 1.814369, None, None, None, None, "BOX"),
            (12, None, True, 6, None, None, None, None, None, None, None),  # no package to share it
        ],
    ),
    "shipped per day sums what left and not what was planned": (
        "select day, warehouse_name, shipping_carrier_code, shipments, packages, shipments_late, quantity "
        "from marts.shipped_per_day order by all",
        [
            (day(9), "West", "ups", 1, 1, 0, 2),
            (day(11), "West", "fedex", 1, 1, 1, 1),
            (day(12), "East", "ups", 3, 3, 0, 13),  # 6 of 3, 4 of 4, 3 of 12, whose other item does not say
            (day(13), "East", "ups", 1, 1, 1, 3),  # five were planned
            (day(13), None, None, 1, 0, 0, None),  # no item came
        ],
    ),
    "open shipments past their target": (
        "select shipment_id, days_late from marts.open_shipments_past_target",
        [(8, 1)],  # 9 is due on a day that is not over, 13 is deleted
    ),
    "a shipment beside its order, retailer, warehouse and totals": (
        "select shipment_id, order_unique_id, retailer_code, warehouse_name, merchant_name, items, quantity, packages, "
        "billable_weight_value, billable_weight_unit, is_open from marts.shipment_overview "
        "where shipment_id in (4, 8, 13) order by shipment_id",
        [
            (4, "O-3", "BETA", "East", "Maker", 1, 4, 2, 3, "lb", False),
            (8, "O-6", None, "West", "Trader", 1, 2, 0, None, None, True),
            (13, "O-11", None, "East", "Trader", 0, None, 0, None, None, False),  # deleted
        ],
    ),
    "sku per week": (
        "select merchant_name, sku, week, lines, orders, units, units_short, units_backordered "
        "from marts.sku_per_week order by all",
        [
            ("Maker", "A", day(4), 1, 1, 2, 0, 0),
            ("Maker", "A", day(11), 5, 3, 14, 0, 0),  # both products with this sku
            ("Trader", "B", day(11), 1, 1, 3, 2, 2),
        ],
    ),
    "retailer compliance": (
        "select shipment_id, retailer_code, is_late, is_method_allowed, packages_without_sscc, is_sscc_required, "
        "is_sscc_missing from marts.retailer_compliance order by shipment_id",
        [
            (1, "ACME", False, True, 0, True, False),
            (2, "ACME", True, False, 1, True, True),
            (3, "BETA", False, None, 1, False, False),  # BETA names no methods, and the order wants no SSCC
            (4, "BETA", False, None, 2, False, False),
            (14, None, False, None, 0, None, None),
        ],
    ),
    "packaging per month": (
        "select merchant_name, packaging_sku, used_as, month, uses, quantity "
        "from marts.packaging_per_month order by all",
        [
            ("Maker", "BOX", "container", MARCH, 2, 2),  # once of shipment 1, though it stands there twice
            ("Maker", "LABEL", "other", MARCH, 2, 2),
            ("Maker", "PAPER", "infill", MARCH, 1, 1),
            ("Trader", "BOX", "container", MARCH, 1, 1),
        ],
    ),
    "merchant per month": (
        "select merchant_code, month, orders, shipments, packages, lines, units, lines_without_quantity, "
        "carrier_shipping_cost, shipments_without_cost from marts.merchant_per_month order by all",
        [
            ("maker", MARCH, 4, 5, 5, 6, 16, 1, 45, 1),
            ("trader", MARCH, 1, 1, 1, 1, 3, 0, 8, 0),  # the voided shipment is not billed
            (None, MARCH, 1, 1, 0, 0, None, 0, None, 1),
        ],
    ),
    "packed per hour": (
        "select warehouse_name, day, hour, shipments, packages, units from marts.packed_per_hour order by all",
        [
            ("East", day(12), 10, 1, 1, 6),
            ("East", day(12), 11, 1, 0, 3),
            ("East", day(12), 17, 1, 1, 5),  # packed, and voided afterwards
            ("East", day(12), 23, 1, 2, 4),
            ("East", day(13), 12, 1, 1, 5),
            ("West", day(9), 22, 1, 1, 2),
            ("West", day(11), 0, 1, 1, 1),
            (None, day(13), 23, 1, 0, None),
        ],
    ),
    "freshness": (
        "select epoch(data_until), hours_behind, version, shipments from marts.freshness",
        [(1710471600.0, 0.0, "0", 14)],
    ),
    "kinds of goods and tracking numbers of a shipment": (
        "select shipment_id, shipped_day, goods_types, tracking_refs from marts.shipment_overview "
        "where shipment_id in (4, 6, 12) order by shipment_id",
        [
            (4, day(12), ["NORMAL"], ["T-4-1", "T-4-2"]),
            (6, day(13), None, ["T-6-1"]),
            (12, day(12), ["HAZMAT", "NORMAL"], None),
        ],
    ),
    "retailers without shipments, and shipments without their retailer": (
        "select retailer_id, retailer_code, shipments, shipments_open, shipments_shipped, shipped_late, "
        "share_shipped_late, open_late, due, share_on_time from marts.retailer_performance order by retailer_id",
        [
            (1, "ACME", 2, 0, 2, 1, 0.5, 0, 2, 0.5),
            (2, "BETA", 2, 0, 2, 0, 0, 0, 2, 1.0),
            (3, None, 1, 0, 1, 0, 0, 0, 1, 1.0),
            (4, "IDLE", 0, 0, 0, 0, None, 0, 0, None),
        ],
    ),
    "a status lasts until the next one, whatever else changes": (
        "select object, status, previous_status, strftime(changed_at at time zone 'UTC', '%m-%d %H:%M'), hours, "
        "is_latest from history.status_changes order by object, changed_at",
        [
            ("order", "new", None, "03-08 09:00", None, True),
            ("shipment", "new", None, "03-08 10:00", 6.5, False),
            ("shipment", "picking", "new", "03-08 16:30", 41.5, False),
            ("shipment", "shipped", "picking", "03-10 10:00", None, True),
        ],
    ),
    "no shipment is missing in the timeline or there twice": (CHECKS["every_shipment_is_in_the_timeline_once"], []),
    "a check names what left at an unknown time": (CHECKS["shipments_that_left_say_when"], [(11, 9, "shipped")]),
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
    keys = sql_files.headers(mart.create)["keys"]
    repeated = f"select {keys} from {mart.qualified} group by all having count(*) > 1"
    assert scenario.execute(repeated).fetchall() == []
    assert scenario.execute(f"from {mart.qualified} limit 1").fetchall(), "the scenario has no row for it"
