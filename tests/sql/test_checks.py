"""The checks run, find what they are for, and find nothing in an empty database."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import duckdb
import pytest

from tests.sql.scenario import insert
from wms_sync import sql_files
from wms_sync.catalogue import table, tables
from wms_sync.shipments.load.checking import ask_whole_tables
from wms_sync.shipments.load.checks import checks
from wms_sync.targets.database import create_empty

CHECKS = {check.name: check for check in checks()}
BELONGS = [name for name in CHECKS if "_belong_to_" in name]


@pytest.fixture(scope="module")
def empty():
    with duckdb.connect() as connection:
        connection.execute("set timezone = 'UTC'")
        create_empty(connection)
        yield connection


@pytest.fixture
def database(empty):
    """All that a test writes is undone at its end."""
    empty.begin()
    yield empty
    empty.rollback()


def offenders(database, name):
    return database.execute(CHECKS[name].query).fetchall()


def finding(database, name):
    [result] = ask_whole_tables(database, [CHECKS[name]])
    return result.finding


def load(database, window_id, read_by, loaded_by, loaded_at):
    insert(
        database,
        "ops_loads",
        **{column.name: 0 for column in table("ops_loads").columns if column.type in {"integer", "bigint"}},
        **{column.name: loaded_at for column in table("ops_loads").columns if column.type == "timestamptz"},
        window_id=window_id,
        run_id=read_by,
        load_run_id=loaded_by,
        reason="sync",
    )


@pytest.mark.parametrize("check", CHECKS.values(), ids=lambda check: check.name)
def test_a_check_finds_nothing_in_an_empty_database(check, database):
    assert offenders(database, check.name) == []
    assert check.severity in {"error", "warn"}
    assert check.severity == "error" or not check.blocking
    assert table(check.table)
    assert check.description.endswith(".")
    columns = {row[0] for row in database.execute(f"describe {check.query}").fetchall()}
    named = set(re.findall(r"\{(\w+)\}", check.wrong + check.named))
    assert named
    assert named - {"count"} <= columns - PERSONAL, "it says what is wrong with columns that it returns"
    assert not check.wrong.endswith(".")
    # a check of a share or a sum has one row, whose numbers it gives; any other counts its rows and names a few
    assert ("{count}" in check.wrong) == bool(check.named)


def test_each_table_below_another_is_checked():
    said = {sql_files.headers(sql_files.read(path))["blocking"] for path in sql_files.listed("checks")}
    assert said == {"yes", "no"}
    assert {CHECKS[name].table for name in BELONGS} == {one.slug for one in tables() if not one.is_root}


PERSONAL = {"text", "example", "examples", "message", "said", "body"}
"""Columns that may hold what a person wrote, or what the service said of one."""


def test_a_failed_check_shows_a_few_values(database):
    statuses = "statuses_are_known"
    assert finding(database, statuses) is None
    insert(database, "shipments", id=1, status="Teleported")
    assert finding(database, statuses) == "1 status is unknown: teleported (shipments.status)."
    insert(database, "orders", id=1, state="limbo", status=f"so {'very ' * 20}odd\n")
    found = finding(database, statuses)
    assert found.startswith("3 statuses are unknown: ")
    assert "limbo (orders.state)" in found
    assert f"so {'very ' * 11}v… (orders.status)" in found
    assert found.endswith(".")
    insert(database, "orders", id=2, state="purgatory")
    assert finding(database, statuses).startswith(
        "4 statuses are unknown: limbo (orders.state), purgatory (orders.state), so very "
    )
    assert finding(database, statuses).endswith(", …")


def test_numbers_and_words_of_a_finding_agree(database):
    packed = "shipments_are_packed_after_they_are_created"
    more = (
        "insert into shipments (id, created_at, packed_at, order_id) select i, '2024-01-02', '2024-01-01', 1 from range"
    )
    database.execute(f"{more}(1, 2) as numbers (i)")
    assert finding(database, packed) == "1 shipment was packed before it was created: 1."
    database.execute(f"{more}(2, 3) as numbers (i)")
    assert finding(database, packed) == "2 shipments were packed before they were created: 1, 2."
    database.execute(f"{more}(3, 1201) as numbers (i)")
    assert finding(database, packed) == "1,200 shipments were packed before they were created: 1, 2, 3, …"
    assert finding(database, "few_shipments_refer_to_a_missing_order") == (
        "The service did not send the order of 1,200 of 1,200 shipments (kind Order, requested by fields:order)."
    )


def test_a_finding_names_rows_by_their_keys(database):
    insert(database, "package_items", shipment_id=7, package_position=1, position=2)
    assert finding(database, "package_items_belong_to_packages") == (
        "1 row of package_items belongs to no row of packages: 7/1/2."
    )
    insert(database, "package_items", shipment_id=7, package_position=None, position=2)
    assert finding(database, "package_items_have_unique_keys") == (
        "1 key of package_items is repeated or incomplete: 7/null/2."
    )
    insert(database, "orders", id=1, status="canceled")
    assert finding(database, "history_of_orders_ends_in_the_table") == (
        "1 row of orders differs from its current version in history: 1."
    )


def test_an_audit_says_its_numbers(database):
    audited(database, 1, LAST_ID, changed=1, orders_changed=2, voided=None, absent=3, missing=1, total_in_tables=104)
    assert finding(database, "audits_find_no_change_that_the_sync_missed") == (
        "The latest audit found changes that the sync had missed: 1 shipment and 2 orders that changed without a new "
        "updated_at, 0 shipments that were not in the tables, and 0 objects whose updated_at moved back."
    )
    assert finding(database, "the_service_has_the_shipments_that_the_tables_have") == (
        "The tables differ from the service: the latest audit did not find 3 shipments and proved 1 missing; by the "
        "service's counts 4 are gone and 0 were never read."
    )
    assert finding(database, "after_a_whole_round_the_tables_equal_the_service") == (
        "After the last whole audit round the tables differ from the service: 2 absent shipments are not marked "
        "missing, 4 are gone from the service and 0 were never read."
    )


@pytest.mark.parametrize("one", tables(), ids=lambda one: one.slug)
def test_a_repeated_or_missing_key_is_found(one, database):
    keys = dict.fromkeys(one.keys, "1")
    insert(database, one.slug, **keys)
    assert offenders(database, f"{one.slug}_have_unique_keys") == []

    insert(database, one.slug, **keys)
    insert(database, one.slug, **(keys | {one.keys[0]: None}))

    assert len(offenders(database, f"{one.slug}_have_unique_keys")) == 2


@pytest.mark.parametrize("name", BELONGS)
def test_a_child_without_its_parent_is_found(name, database):
    one = table(CHECKS[name].table)
    insert(database, one.slug, **dict.fromkeys(one.keys, "1"))
    assert len(offenders(database, name)) == 1

    parent = table(one.parent)
    insert(database, parent.slug, **(dict.fromkeys(parent.keys, "1")))
    assert offenders(database, name) == []


def test_quarantine_and_drift_are_of_the_latest_load(database):
    loads = (("w0", "older", "older"), ("w1", "old", "old"), ("w2", "killed", "new"), ("w3", "new", "new"))
    for hour, (window, read_by, loaded_by) in enumerate(loads):
        load(database, window, read_by, loaded_by, f"2024-01-01 {hour:02}:00:00+00")
    insert(database, "ops_quarantine", page_key="w1/00001", position=1, _window_id="w1", path="$.old")
    insert(database, "ops_schema_drift", page_key="w1/00001", path="Order.old", _window_id="w1", occurrences=1)
    assert offenders(database, "nothing_was_quarantined_in_the_latest_load") == []
    assert offenders(database, "no_unknown_key_came_in_the_latest_load") == []

    insert(database, "ops_quarantine", page_key="w2/00001", position=1, _window_id="w2", path="$.new")
    for window in ("w2", "w3"):
        insert(
            database, "ops_schema_drift", page_key=window, path="Order.x", _window_id=window, occurrences=2, example="1"
        )

    assert [row[2] for row in offenders(database, "nothing_was_quarantined_in_the_latest_load")] == ["$.new"]
    assert offenders(database, "no_unknown_key_came_in_the_latest_load") == [("Order.x", None, "1", 4)]


LAST_ID = 2**63 - 1


def audited(database, day, to_id, **values):
    counts = dict.fromkeys(("settled_counted", "settled_in_tables", "total_counted", "total_in_tables"), 100)
    numbers = dict.fromkeys(("after_id", "total_to_id", "compared", "changed", "missed", "absent", "missing"), 0)
    moment = f"2024-01-{day:02} 02:00:00+00"
    given = numbers | {"orders_changed": 0, "read_at": moment, "settled_at": moment, "to_id": to_id} | counts | values
    insert(database, "ops_audits", window_id=f"w{day}", run_id="r", **given)


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
    audited(database, 1, 50, absent=9)
    audited(database, 2, LAST_ID, total_in_tables=999)
    for day, (to_id, values) in enumerate(zip((50, 90, LAST_ID), slices, strict=True), start=3):
        audited(database, day, to_id, **values)
    audited(database, 6, 50, absent=5, total_in_tables=999)
    assert offenders(database, "after_a_whole_round_the_tables_equal_the_service") == found


LONG_AGO = "2024-01-01"
NOW = datetime.now(UTC)
LEDGER: dict[str, object] = {
    "service": "s",
    "kind": "retailers",
    "state": "created",
    "body": "{}",
    "body_sha256": "",
    "run_id": "r",
}
LEDGER |= {"intended_at": LONG_AGO, "attempts": 1}
VERSION: dict[str, object] = {
    "valid_from": "2024-01-05",
    "seen_at": "2024-01-05",
    "last_seen_at": "2024-01-05",
    "status": "new",
}
Rows = tuple[str, list[dict[str, object]]]
FOUND: list[tuple[str, list[Rows], Sequence[object]]] = [
    # the check, the rows of tables, and the first column of what is found
    (
        "few_shipments_refer_to_a_missing_order",
        [("orders", [{"id": 1}]), ("shipments", [{"id": n, "order_id": 1 if n < 200 else 2} for n in range(201)])],
        [],  # a few are normal
    ),
    (
        "few_shipments_refer_to_a_missing_order",
        [("orders", [{"id": 1}]), ("shipments", [{"id": n, "order_id": 1 if n < 200 else 2} for n in range(211)])],
        [211],
    ),
    (
        "products_and_packaging_do_not_share_an_id",
        [
            ("products", [{"id": 1, "type": "Product"}, {"id": 2, "type": "PackagingInfill"}, {"id": 3}]),
            ("shipment_items", [{"product_id": 1, "product_type": "Product"}]),
            ("order_items", [{"product_id": 1, "product_type": "PackagingContainer"}]),
            ("package_packaging", [{"product_id": 3, "product_type": "PackagingSupplies"}]),
            ("packages", [{"container_id": 4, "container_type": "PackagingContainer"}, {"container_id": 1}]),
            ("packages", [{"infill_id": 2, "infill_type": "Product"}]),
        ],
        [1, 2],
    ),
    (
        "shipments_are_packed_after_they_are_created",
        [("shipments", [{"id": 1, "created_at": "2024-01-02", "packed_at": LONG_AGO}, {"id": 2}])],
        [1],
    ),
    (
        "shipments_are_not_from_the_future",
        [("shipments", [{"id": 1}, {"id": 2, "updated_at": "2030-01-01", "_extracted_at": LONG_AGO}])],
        [2],
    ),
    (
        "target_ship_dates_are_near_the_creation",
        [
            (
                "shipments",
                [
                    {"id": n, "created_at": "2024-01-02", "target_ship_date": f"{year}-01-05"}
                    for n, year in ((3, "0024"), (4, "2024"))
                ],
            )
        ],
        [3],
    ),
    (
        "what_was_pushed_shows_up",
        [
            (
                "ops_push_ledger",
                [
                    LEDGER | {"key": "found", "settled_at": LONG_AGO},
                    LEDGER | {"key": "seen", "settled_at": LONG_AGO, "seen_at": "2024-01-02"},
                    LEDGER | {"key": "young", "settled_at": NOW - timedelta(days=29)},
                    LEDGER | {"key": "refused", "settled_at": LONG_AGO, "state": "refused"},
                    LEDGER | {"key": "tag", "settled_at": LONG_AGO, "kind": "location-tags"},
                ],
            )
        ],
        ["found"],
    ),
    (
        "no_create_is_in_doubt",
        [
            (
                "ops_push_ledger",
                [
                    LEDGER | {"key": "doubt", "state": "doubt", "intended_at": NOW},
                    LEDGER | {"key": "killed", "state": "intended"},
                    LEDGER | {"key": "under way", "state": "intended", "intended_at": NOW},
                    LEDGER | {"key": "created"},
                ],
            )
        ],
        ["doubt", "killed"],
    ),
    *(
        (
            f"history_of_{name}_ends_in_the_table",
            [
                (name, [{"id": 1, "status": "new"}, {"id": 2, "status": "new"}, {"id": 3, "status": "packed"}]),
                (
                    f"history_{name}",
                    [
                        VERSION | {"id": number, "version": version, "is_current": current}
                        for number, version, current in ((1, 1, True), (3, 1, False), (3, 2, True))
                    ],
                ),
            ],
            [2, 3],
        )
        for name in ("shipments", "orders")
    ),
]


@pytest.mark.parametrize(("name", "rows", "found"), FOUND)
def test_what_a_check_is_for_is_found(name, rows, found, database):
    for slug, some in rows:
        for values in some:
            insert(database, slug, **values)
    key = 1 if CHECKS[name].table == "ops_push_ledger" else 0
    assert sorted(row[key] for row in offenders(database, name)) == found
