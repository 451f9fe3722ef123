"""The questions that analysts ask: each has a query, and the scenario has its answer, counted by hand."""

from datetime import UTC, datetime

import pytest

from tests.sql.scenario import ACME, BETA, NOW, day
from wms_sync import sql_files

GIVEN = {
    "19_lot_or_serial": {"lot": "SN-7"},
    "23_where_is_order": {"order_ref": "R-3"},
    "25_billing": {"month": day(1)},
}

ANSWERS: dict[str, list[tuple[object, ...]]] = {
    # 1 and 2 of the West; 3, 4 and 6 of the East; 8; 14. 9 is due on a day that is not over
    "01_on_time_share": [
        ("West", day(4), 2, 0.5),
        ("East", day(11), 3, 2 / 3),
        ("West", day(11), 1, 0.0),
        (None, day(11), 1, 1.0),
    ],
    "02_otif_by_retailer": [(ACME, "ACME", 2, 2, 0.5), (BETA, "BETA", 1, 1, 1.0)],
    # the East: 3, 4, 6, 11 and 12, of which 11 has no times
    "03_time_to_delivery": [
        ("East", 5, 1.0, 20.0, 0.0, None),
        ("West", 2, 1.0, 11.5, 0.875, 48.0),
        (None, 1, None, 13.5, 0.0, None),
    ],
    "04_backorders_by_sku": [("Trader", "B", 2, day(11))],
    # Maker lacks one piece of order 8; Trader two of order 4 and four of order 6, and order 7 says no quantity
    "05_fill_rate_by_merchant": [("Maker", 6, 18, 19, 0.9474), ("Trader", 3, 3, 9, 0.3333)],
    # 20 for 2 lb; 10 + 9 + 8 for 5 + 3 + 4 lb; 6 for 12, which has no package. 14 has no carrier
    "06_carrier_cost": [
        ("fedex", 1, 1, 20, 20, 22.0462),
        ("ups", 6, 4, 33, 8.25, 4.9604),
        (None, 1, 0, None, None, None),
    ],
    "07_cost_by_destination": [
        ("DE", "Berlin", 1, 1, 20),
        ("US", "California", 1, 1, 10),
        ("US", "New York", 2, 1, 9),
        (None, None, 4, 2, 14),
    ],
    # 5 lb billed for 2 lb of items: three fifths of 10
    "08_dimensional_weight": [("ups", 1, 1, 1.3608, 6)],
    "09_void_by_box": [("BOX", 2, 30, 40)],
    "10_split_orders": [("Maker", 6, 1, 0.1667), ("Trader", 3, 0, 0)],
    "11_retailer_compliance": [(ACME, "ACME", 2, 1, 1, 1), (BETA, "BETA", 2, 0, 0, 0), (3, None, 1, 0, 0, 0)],
    # 6 in the East, and 5, 10, 11 and 13, which nobody can judge; 1 and 2 in the West, of which 2 was late; 14
    "12_missed_cutoffs": [("East", 1, 1), ("West", 2, 1), (None, 1, 0)],
    "13_sku_velocity": [
        ("Maker", "A", day(4), 1, 1, 2),
        ("Maker", "A", day(11), 5, 3, 14),
        ("Trader", "B", day(11), 1, 1, 3),
    ],
    "14_packaging_used": [
        ("BOX", "container", day(1), 3, 3),
        ("LABEL", "other", day(1), 2, 2),
        ("PAPER", "infill", day(1), 1, 1),
    ],
    "15_hazardous_goods": [(2, "shipped", "HAZMAT"), (12, "shipped", "HAZMAT, NORMAL")],
    "16_customs_value": [("DE", "EUR", 1, 50), ("US", "USD", 1, 100)],
    "17_age_of_open_orders": [
        ("R-10", "Maker", "processing", 0, 3.6),
        ("R-6", "Trader", "processing", 1, 3.0),
        ("R-11", "Trader", "processing", 0, 3.0),
        ("R-8", "Maker", "processing", 0, 2.6),
        ("R-9", "Maker", "processing", 0, 2.6),
        ("R-7", "Trader", "holded", 1, 1.0),
    ],
    "18_packed_per_hour": [
        ("East", 10, 1, 1, 1),
        ("East", 11, 1, 1, 0),
        ("East", 12, 1, 1, 1),
        ("East", 17, 1, 1, 1),
        ("East", 23, 1, 1, 2),
        ("West", 0, 1, 1, 1),
        ("West", 22, 1, 1, 1),
        (None, 23, 1, 1, 0),
    ],
    "19_lot_or_serial": [(1, 1, "Serial", "R-1", "shipped", day(9))],
    "20_cancellations": [("canceled", 1, 0), ("voided", 1, 1)],
    "21_freshness": [(NOW, NOW, pytest.approx((datetime.now(UTC) - NOW).total_seconds() / 3600, abs=1), 14)],
    "22_short_picks": [(6, "B", 5, 3, 2)],
    "23_where_is_order": [
        ("R-3", "S-3", "shipped", True, day(12), "T-3-1"),
        ("R-3", "S-4", "shipped", True, day(12), "T-4-1, T-4-2"),
    ],
    "24_method_asked_and_used": [("ups_GROUND", "fedex_2DAY", 1), ("ups_GROUND", "ups_GROUND", 1)],
    "25_billing": [
        ("maker", day(1), 4, 5, 5, 16, 45, 4),
        ("trader", day(1), 1, 1, 1, 3, 8, 1),
        (None, day(1), 1, 1, 0, None, None, 0),
    ],
}


@pytest.mark.parametrize("path", sql_files.listed("queries/questions"), ids=sql_files.stem)
def test_a_question_is_answered(path, scenario):
    """What has the same name stays apart."""
    query, given, rows = sql_files.read(path), GIVEN.get(sql_files.stem(path)), ANSWERS[sql_files.stem(path)]
    assert scenario.execute(query, given).fetchall() == rows
    scenario.begin()
    for table in ("warehouses", "merchants", "products"):
        scenario.execute(f"update main.{table} set \"name\" = 'the same'")
    of_equal_names = scenario.execute(query, given).fetchall()
    scenario.rollback()
    assert len(of_equal_names) == len(rows)
