"""The checks run, find what they are for, and find nothing in an empty database."""

from datetime import UTC, datetime, timedelta

import duckdb
import pytest

from wms_sync import sql_files
from wms_sync.analytics.checks import checks
from wms_sync.analytics.database import create_empty
from wms_sync.catalogue import quote, table, tables

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


def insert(database, slug, **values):
    names = ", ".join(quote(name) for name in values)
    marks = ", ".join("?" for _ in values)
    database.execute(f"insert into {table(slug).qualified} ({names}) values ({marks})", list(values.values()))


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


@pytest.mark.parametrize("name", CHECKS)
def test_a_check_finds_nothing_in_an_empty_database(name, database):
    assert offenders(database, name) == []


@pytest.mark.parametrize("check", CHECKS.values(), ids=lambda check: check.name)
def test_a_check_says_what_it_is(check):
    assert check.severity in {"error", "warn"}
    assert check.severity == "error" or not check.blocking
    assert table(check.table)
    assert check.description.endswith(".")


@pytest.mark.parametrize("one", tables(), ids=lambda one: one.slug)
def test_a_repeated_or_missing_key_is_found_in_every_table(one, database):
    keys = dict.fromkeys(one.keys, "1")
    insert(database, one.slug, **keys)
    assert offenders(database, f"{one.slug}_have_unique_keys") == []

    insert(database, one.slug, **keys)
    insert(database, one.slug, **(keys | {one.keys[0]: None}))

    assert len(offenders(database, f"{one.slug}_have_unique_keys")) == 2


@pytest.mark.parametrize("path", sql_files.listed("checks"))
def test_a_file_says_yes_or_no(path):
    assert sql_files.headers(sql_files.read(path))["blocking"] in {"yes", "no"}


@pytest.mark.parametrize("name", BELONGS)
def test_a_child_without_its_parent_is_found(name, database):
    one = table(CHECKS[name].table)
    insert(database, one.slug, **dict.fromkeys(one.keys, "1"))
    assert len(offenders(database, name)) == 1

    parent = table(one.parent)
    insert(database, parent.slug, **(dict.fromkeys(parent.keys, "1")))
    assert offenders(database, name) == []


def test_every_table_that_hangs_on_another_is_checked_for_its_parent():
    checked = {CHECKS[name].table for name in BELONGS}
    assert checked == {one.slug for one in tables() if not one.is_root}


def test_a_few_dangling_references_are_normal_and_many_are_not(database):
    insert(database, "orders", id=1)
    for number in range(200):
        insert(database, "shipments", id=number, order_id=1)
    insert(database, "shipments", id=1000, order_id=2)
    assert offenders(database, "few_shipments_refer_to_a_missing_order") == []

    for number in range(10):
        insert(database, "shipments", id=2000 + number, order_id=3)
    assert offenders(database, "few_shipments_refer_to_a_missing_order") == [(211, 11)]


def test_a_product_that_something_names_as_another_kind_is_found(database):
    for number, kind in ((1, "Product"), (2, "PackagingInfill"), (3, None)):
        insert(database, "products", id=number, type=kind)
    insert(database, "shipment_items", product_id=1, product_type="Product")
    insert(database, "order_items", product_id=1, product_type="PackagingContainer")
    insert(database, "package_packaging", product_id=3, product_type="PackagingSupplies")
    insert(
        database, "packages", container_id=4, container_type="PackagingContainer", infill_id=2, infill_type="Product"
    )
    insert(database, "packages", container_id=1)
    found = offenders(database, "products_and_packaging_do_not_share_an_id")
    assert sorted(found) == [(1, "Product", "PackagingContainer"), (2, "PackagingInfill", "Product")]


def test_all_of_the_latest_load_is_asked_for_quarantine_and_drift_whoever_read_it_and_nothing_else(database):
    loads = (("w0", "older", None), ("w1", "old", "old"), ("w2", "killed", "new"), ("w3", "new", "new"))
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


def test_dates_that_cannot_be_are_found(database):
    insert(database, "shipments", id=1, created_at="2024-01-02", packed_at="2024-01-01")
    insert(database, "shipments", id=2, updated_at="2030-01-01", _extracted_at="2024-01-01")
    insert(database, "shipments", id=3, created_at="2024-01-02", target_ship_date="0024-01-05")
    insert(database, "shipments", id=4, created_at="2024-01-02", target_ship_date="2024-01-05")

    assert [row[0] for row in offenders(database, "shipments_are_packed_after_they_are_created")] == [1]
    assert [row[0] for row in offenders(database, "shipments_are_not_from_the_future")] == [2]
    assert [row[0] for row in offenders(database, "target_ship_dates_are_near_the_creation")] == [3]


def ledger_row(database, key, **values):
    given = {"kind": "retailers", "state": "created", "body": "{}", "intended_at": "2024-01-01"} | values
    insert(database, "ops_push_ledger", service="s", key=key, body_sha256="", run_id="r", attempts=1, **given)


def test_what_was_pushed_long_ago_and_never_seen_is_found(database):
    ledger_row(database, "found", settled_at="2024-01-01")
    ledger_row(database, "seen", settled_at="2024-01-01", seen_at="2024-01-02")
    ledger_row(database, "young", settled_at=datetime.now(UTC) - timedelta(days=29))
    ledger_row(database, "refused", settled_at="2024-01-01", state="refused")
    ledger_row(database, "tag", settled_at="2024-01-01", kind="location-tags")
    assert [row[1] for row in offenders(database, "what_was_pushed_shows_up")] == ["found"]


def test_creates_in_doubt_are_found(database):
    ledger_row(database, "doubt", state="doubt", intended_at=datetime.now(UTC))
    ledger_row(database, "killed", state="intended")
    ledger_row(database, "under way", state="intended", intended_at=datetime.now(UTC))
    ledger_row(database, "created")
    assert sorted(row[1] for row in offenders(database, "no_create_is_in_doubt")) == ["doubt", "killed"]


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
def test_at_the_end_of_a_round_the_tables_must_equal_the_service(database, slices, found):
    """The rounds before and after do not count."""
    audited(database, 1, 50, absent=9)
    audited(database, 2, LAST_ID, total_in_tables=999)
    for day, (to_id, values) in enumerate(zip((50, 90, LAST_ID), slices, strict=True), start=3):
        audited(database, day, to_id, **values)
    audited(database, 6, 50, absent=5, total_in_tables=999)
    assert offenders(database, "after_a_whole_round_the_tables_equal_the_service") == found


@pytest.mark.parametrize("name", ["shipments", "orders"])
def test_history_that_does_not_end_in_the_table_is_found(database, name):
    moment = "2024-01-05 00:00:00+00"
    for number, status in ((1, "new"), (2, "new"), (3, "packed")):
        insert(database, name, id=number, status=status)
    for number, version, current in ((1, 1, True), (3, 1, False), (3, 2, True)):
        seen = {"valid_from": moment, "seen_at": moment, "last_seen_at": moment}
        insert(database, f"history_{name}", id=number, version=version, is_current=current, status="new", **seen)
    found = offenders(database, f"history_of_{name}_ends_in_the_table")
    assert sorted(found) == [(2, False), (3, True)]
