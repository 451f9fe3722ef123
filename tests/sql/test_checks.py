"""The checks run, find what they are for, and find nothing in an empty database."""

import re
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime, timedelta

import duckdb
import pytest

from tests.sql.scenario import Row, insert, write
from wms_sync.catalogue import table, tables
from wms_sync.shipments.load.checks import MOST_ROWS, check_tables, checks
from wms_sync.targets.database import create_empty

CHECKS = {check.name: check for check in checks()}
BELONGS = [name for name in CHECKS if "_belong_to_" in name]
PERSONAL = {"text", "example", "examples", "message", "said", "body"}
"""Columns that may hold what a person wrote, or what the service said of one."""
LAST_ID = 2**63 - 1


def offenders(database, name):
    return database.execute(CHECKS[name].query).fetchall()


@pytest.mark.parametrize("check", CHECKS.values(), ids=lambda check: check.name)
def test_a_check_finds_nothing_in_an_empty_database(check, database):
    assert offenders(database, check.name) == []
    assert check.severity == "error" or not check.blocking
    columns = {row[0] for row in database.execute(f"describe {check.query}").fetchall()}
    named = set(re.findall(r"\{(\w+)\}", check.wrong + check.named))
    assert named - {"count"} <= columns - PERSONAL, "it says what is wrong with columns that it returns"
    # a check of a share or a sum has one row, whose numbers it gives; any other counts its rows and names a few
    assert ("{count}" in check.wrong) == bool(check.named)


def test_each_table_below_another_is_checked():
    assert {CHECKS[name].table for name in BELONGS} == {table.slug for table in tables() if not table.is_root}


@pytest.mark.parametrize("keyed", tables(), ids=lambda keyed: keyed.slug)
def test_a_repeated_or_missing_key_is_found(keyed, database):
    keys: dict[str, object] = dict.fromkeys(keyed.keys, "1")
    insert(database, keyed.slug, **keys)
    assert offenders(database, f"{keyed.slug}_have_unique_keys") == []
    write(database, [(keyed.slug, keys), (keyed.slug, keys | {keyed.keys[0]: None})])
    assert len(offenders(database, f"{keyed.slug}_have_unique_keys")) == 2


@pytest.mark.parametrize("name", BELONGS)
def test_a_child_without_its_parent_is_found(name, database):
    child = table(CHECKS[name].table)
    insert(database, child.slug, **dict.fromkeys(child.keys, "1"))
    assert len(offenders(database, name)) == 1

    parent = table(child.parent)
    insert(database, parent.slug, **(dict.fromkeys(parent.keys, "1")))
    assert offenders(database, name) == []


def loaded(window_id, read_by, loaded_by, hour) -> Row:
    of_type = {"integer": 0, "bigint": 0, "timestamptz": f"2024-01-01 {hour}:00:00+00"}
    values = {column.name: of_type[column.type] for column in table("ops_loads").columns if column.type in of_type}
    return "ops_loads", values | {
        "window_id": window_id,
        "run_id": read_by,
        "load_run_id": loaded_by,
        "reason": "sync",
    }


def audited(day, to_id, **values) -> Row:
    return "ops_audits", {
        "window_id": f"w{day}",
        "run_id": "r",
        **dict.fromkeys(("read_at", "settled_at"), f"2024-01-{day:02} 02:00:00+00"),
        "to_id": to_id,
        **dict.fromkeys(("settled_counted", "settled_in_tables", "total_counted", "total_in_tables"), 100),
        **dict.fromkeys(("after_id", "total_to_id", "compared", "changed", "orders_changed"), 0),
        **dict.fromkeys(("missed", "absent", "missing"), 0),
        **values,
    }


@pytest.mark.parametrize(
    ("slices", "found"),
    [
        ([{}, {}, {}], []),
        ([{"absent": 3, "missing": 3}, {"total_in_tables": 120}, {}], []),
        ([{}, {}, {"total_in_tables": 102}], [("w5", 0, 2, 0)]),
        ([{}, {}, {"settled_counted": 104, "missed": 1}], [("w5", 0, 0, 3)]),
        ([{"absent": 3, "missing": 1}, {}, {}], [("w5", 2, 0, 0)]),
    ],
)
def test_after_an_audit_round_tables_equal_the_service(database, slices, found):
    """The rounds before and after do not count."""
    first, second, third = slices
    write(
        database,
        [
            audited(1, 50, absent=9),
            audited(2, LAST_ID, total_in_tables=999),
            audited(3, 50, **first),
            audited(4, 90, **second),
            audited(5, LAST_ID, **third),
            audited(6, 50, absent=5, total_in_tables=999),
        ],
    )
    assert offenders(database, "after_a_whole_round_the_tables_equal_the_service") == found


def packed_early(count) -> list[Row]:
    return [
        ("shipments", {"id": number, "order_id": 1, "created_at": "2024-01-02", "packed_at": "2024-01-01"})
        for number in range(1, count + 1)
    ]


AUDIT = audited(1, LAST_ID, changed=1, orders_changed=2, voided=None, absent=3, missing=1, total_in_tables=104)
SAID: list[tuple[str, list[Row], str]] = [
    # the check, the rows of tables, and the finding
    (
        "statuses_are_known",
        [("shipments", {"id": 1, "status": "Teleported"})],
        "1 status is unknown: teleported (shipments.status).",
    ),
    (
        "statuses_are_known",
        [
            ("shipments", {"id": 1, "status": "Teleported"}),
            ("orders", {"id": 1, "state": "limbo", "status": f"so {'very ' * 20}odd\n"}),
            ("orders", {"id": 2, "state": "purgatory"}),
        ],
        "4 statuses are unknown: limbo (orders.state), purgatory (orders.state), "
        f"so {'very ' * 11}v… (orders.status), …",
    ),
    (
        "shipments_are_packed_after_they_are_created",
        packed_early(1),
        "1 shipment was packed before it was created: 1.",
    ),
    (
        "shipments_are_packed_after_they_are_created",
        packed_early(4),
        "4 shipments were packed before they were created: 1, 2, 3, …",
    ),
    (
        "few_shipments_refer_to_a_missing_order",
        packed_early(4),
        "The service did not send the order of 4 of 4 shipments (kind Order, requested by fields:order).",
    ),
    (
        "package_items_belong_to_packages",
        [("package_items", {"shipment_id": 7, "package_position": 1, "position": 2})],
        "1 row of package_items belongs to no row of packages: 7/1/2.",
    ),
    (
        "package_items_have_unique_keys",
        [("package_items", {"shipment_id": 7, "package_position": None, "position": 2})],
        "1 key of package_items is repeated or incomplete: 7/null/2.",
    ),
    (
        "history_of_orders_ends_in_the_table",
        [("orders", {"id": 1, "status": "canceled"})],
        "1 row of orders differs from its current version in history: 1.",
    ),
    (
        "audits_find_no_change_that_the_sync_missed",
        [AUDIT],
        "The latest audit found changes that the sync had missed: 1 shipment that changed without a new updated_at, "
        "2 orders that changed without one of their shipments, 0 shipments that were not in the tables, and 0 objects "
        "whose updated_at moved back.",
    ),
    (
        "the_service_has_the_shipments_that_the_tables_have",
        [AUDIT],
        "The tables differ from the service: the latest audit did not find 3 shipments and proved 1 missing; by the "
        "service's counts 4 are gone and 0 were never read.",
    ),
    (
        "after_a_whole_round_the_tables_equal_the_service",
        [AUDIT],
        "After the last whole audit round the tables differ from the service: 2 absent shipments are not marked "
        "missing, 4 are gone from the service and 0 were never read.",
    ),
]


@pytest.mark.parametrize(("name", "rows", "finding"), SAID)
def test_what_a_finding_says(name, rows, finding, database):
    """A number agrees with its words; a few rows are named by their keys, and long texts are cut."""
    write(database, rows)
    assert [result.finding for result in check_tables(lambda: nullcontext(database)) if result.check.name == name] == [
        finding
    ]


@pytest.mark.proof
def test_large_tables_are_opened_anew():
    """As DuckDB keeps memory for each row of a table with deletions, a night of three million shipments failed."""
    opened: list[int] = []
    with duckdb.connect() as connection:  # rows that are not committed, as elsewhere, are in no estimate
        connection.execute("set timezone = 'UTC'")
        create_empty(connection)

        def open_again() -> AbstractContextManager[duckdb.DuckDBPyConnection]:
            opened.append(1)
            return nullcontext(connection)

        check_tables(open_again)
        assert len(opened) == 1
        connection.execute("insert into ops.schema_drift (path) select 'x' from range(?)", [MOST_ROWS])
        check_tables(open_again)
        assert len(opened) > 2


LONG_AGO = "2024-01-01"
NOW = datetime.now(UTC)


def pushed(key, state="created", kind="retailers", intended_at=LONG_AGO, **values) -> Row:
    return "ops_push_ledger", {
        "service": "s",
        "kind": kind,
        "key": key,
        "state": state,
        "body": "{}",
        "body_sha256": "",
        "run_id": "r",
        "intended_at": intended_at,
        "attempts": 1,
        **values,
    }


def version(name, number, version, *, is_current) -> Row:
    return f"history_{name}", {
        "id": number,
        "version": version,
        "is_current": is_current,
        "status": "new",
        **dict.fromkeys(("valid_from", "seen_at", "last_seen_at"), "2024-01-05"),
    }


def of_order(number, order_id=1) -> Row:
    return "shipments", {"id": number, "order_id": order_id}


OF_AN_ORDER: list[Row] = [("orders", {"id": 1}), *(of_order(number) for number in range(99))]
"""99 shipments whose order came."""


OLD = [
    loaded("w0", "older", "older", "00"),
    loaded("w1", "old", "old", "01"),
    loaded("w2", "killed", "new", "02"),
    loaded("w3", "new", "new", "03"),
    ("ops_quarantine", {"page_key": "w1/00001", "position": 1, "_window_id": "w1", "path": "$.old"}),
    ("ops_schema_drift", {"page_key": "w1/00001", "path": "Order.old", "_window_id": "w1", "occurrences": 1}),
]
"""What came in an earlier load than the latest."""
FOUND: list[tuple[str, list[Row], str, Sequence[object]]] = [
    # the check, the rows of tables, a column, and what is found in it
    ("nothing_was_quarantined_in_the_latest_load", OLD, "path", []),
    (
        "nothing_was_quarantined_in_the_latest_load",
        [*OLD, ("ops_quarantine", {"page_key": "w2/00001", "position": 1, "_window_id": "w2", "path": "$.new"})],
        "path",
        ["$.new"],
    ),
    ("no_unknown_key_came_in_the_latest_load", OLD, "path", []),
    (
        "no_unknown_key_came_in_the_latest_load",
        [
            *OLD,
            ("ops_schema_drift", {"page_key": "w2", "_window_id": "w2", "path": "Order.x", "occurrences": 2}),
            ("ops_schema_drift", {"page_key": "w3", "_window_id": "w3", "path": "Order.x", "occurrences": 2}),
        ],
        "occurrences",
        [4],
    ),
    ("few_shipments_refer_to_a_missing_order", [*OF_AN_ORDER, of_order(100, 2)], "dangling", []),  # a few are normal
    ("few_shipments_refer_to_a_missing_order", [*OF_AN_ORDER, of_order(100, 2), of_order(101, 2)], "dangling", [2]),
    (
        "products_and_packaging_do_not_share_an_id",
        [
            ("products", {"id": 1, "type": "Product"}),
            ("products", {"id": 2, "type": "PackagingInfill"}),
            ("products", {"id": 3}),
            ("shipment_items", {"product_id": 1, "product_type": "Product"}),
            ("order_items", {"product_id": 1, "product_type": "PackagingContainer"}),
            ("package_packaging", {"product_id": 3, "product_type": "PackagingSupplies"}),
            ("packages", {"container_id": 4, "container_type": "PackagingContainer"}),
            ("packages", {"container_id": 1}),
            ("packages", {"infill_id": 2, "infill_type": "Product"}),
        ],
        "id",
        [1, 2],
    ),
    (
        "each_time_has_one_offset_in_a_time_zone",
        [
            ("ops_timezones", {"timezone": zone, "from_at": start, "to_at": end, "utc_offset_seconds": 0})
            for zone, start, end in [
                ("continues", "2026-01-01", "2026-01-03"),
                ("continues", "2026-01-03", "2026-01-05"),
                ("overlaps", "2026-01-01", "2026-01-03"),
                ("overlaps", "2026-01-02", "2026-01-05"),
                ("leaves a gap", "2026-01-01", "2026-01-03"),
                ("leaves a gap", "2026-01-04", "2026-01-05"),
            ]
        ],
        "timezone",
        ["leaves a gap", "overlaps"],
    ),
    *(
        (
            f"{name}_come_from_a_loaded_window",
            [*OLD, (name, {"id": 1, "_window_id": "w1"}), (name, {"id": 2, "_window_id": "lost"})],
            "_window_id",
            ["lost"],
        )
        for name in ("shipments", "orders")
    ),
    (
        "items_have_more_than_an_id",
        [
            ("shipment_items", {"id": 1, "sku": "A"}),
            ("shipment_items", {"id": 2, "quantity": 0}),
            ("shipment_items", {"id": 3}),
            ("order_items", {"id": 4, "_window_id": "w1"}),
            ("order_items", {"id": 5, "_window_id": "w2"}),
            ("ops_omitted", {"window_id": "w1", "name": "fields:items", "reason": "refused", "data": ""}),
        ],
        "id",
        [3, 5],
    ),
    (
        "quantities_are_not_negative",
        [("shipment_items", {"id": 1, "quantity": 0}), ("shipment_items", {"id": 2, "qty_picked": -1})],
        "id",
        [2],
    ),
    (
        "shipments_are_packed_after_they_are_created",
        [*packed_early(1), ("shipments", {"id": 2})],
        "id",
        [1],
    ),
    (
        "shipments_are_not_from_the_future",
        [
            ("shipments", {"id": 1}),
            ("shipments", {"id": 2, "updated_at": "2030-01-01", "_extracted_at": LONG_AGO}),
        ],
        "id",
        [2],
    ),
    (
        "target_ship_dates_are_near_the_creation",
        [
            ("shipments", {"id": 3, "created_at": "2024-01-02", "target_ship_date": "0024-01-05"}),
            ("shipments", {"id": 4, "created_at": "2024-01-02", "target_ship_date": "2024-01-05"}),
        ],
        "id",
        [3],
    ),
    (
        "what_was_pushed_shows_up",
        [
            pushed("found", settled_at=LONG_AGO),
            pushed("seen", settled_at=LONG_AGO, seen_at="2024-01-02"),
            pushed("young", settled_at=NOW - timedelta(days=29)),
            pushed("refused", "refused", settled_at=LONG_AGO),
            pushed("tag", kind="location-tags", settled_at=LONG_AGO),
        ],
        "key",
        ["found"],
    ),
    (
        "no_create_is_in_doubt",
        [
            pushed("doubt", "doubt", intended_at=NOW),
            pushed("killed", "intended"),
            pushed("under way", "intended", intended_at=NOW),
            pushed("created"),
        ],
        "key",
        ["doubt", "killed"],
    ),
    *(
        (
            f"history_of_{name}_ends_in_the_table",
            [
                (name, {"id": 1, "status": "new"}),
                (name, {"id": 2, "status": "new"}),
                (name, {"id": 3, "status": "packed"}),
                version(name, 1, 1, is_current=True),
                version(name, 3, 1, is_current=False),
                version(name, 3, 2, is_current=True),
            ],
            "id",
            [2, 3],
        )
        for name in ("shipments", "orders")
    ),
]


@pytest.mark.parametrize(("name", "rows", "column", "found"), FOUND)
def test_what_a_check_is_for_is_found(name, rows, column, found, database):
    write(database, rows)
    assert database.execute(f"select {column} from ({CHECKS[name].query}) order by all").fetchall() == [
        (value,) for value in found
    ]
