"""Content that does not fit: one sync reads a page of each line of tests/content.md.

Each page holds one shipment, altered on its way out of the sandbox; then each case is looked up in the published file.
"""

import json
import math
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import Response

from tests import test_transport
from tests.bench import CONFIG, Bench, asks_for_page, ending, opened_store, queried, settings_in
from tests.services import content_of
from wms_sandbox.app import Sandbox
from wms_sandbox.transport import InProcess
from wms_sync.shipments.load.refresh import RefreshReport

ROOT = Path(__file__).parents[1]
KEPT = "kept"
EMPTY = "null"
PART = "part left out, quarantined"
REMOVED = "record left out, quarantined"
DRIFT = "drift"
CAST = "cast, drift"
QUARANTINE = "quarantined"
UNTOUCHED = 3
LONG = "x" * 10_000_000
DEEP = json.loads("[" * 200 + '"bottom"' + "]" * 200)

Page = dict[str, Any]
Edit = Callable[[Page, Page], object]
"""Is given the page and its shipment, and changes them."""


@dataclass(frozen=True)
class Case:
    """What the service sends, and what becomes of it: in ``column`` stands ``value``.

    ``path`` is in quarantine for its page, ``key`` is listed as drift.
    """

    name: str
    outcome: str
    edit: Edit
    column: str = "status"
    value: object = None
    path: str | None = None
    key: str | None = None
    spoil: Callable[[bytes], bytes] = bytes


def given(**fields: object) -> Edit:
    """The shipment's fields are these."""
    return lambda _, shipment: shipment.update(fields)


def included(value: object) -> Edit:
    """Everything under ``included`` is this."""
    return lambda page, _: page.update(included=value)


def without(key: str) -> Edit:
    """The key is not there."""
    return lambda page, shipment: (page if key == "included" else shipment).pop(key)


def null(name: str, column: str, value: object, *, path: str | None = None, stored_as: str | None = None) -> Case:
    """A field of the shipment that does not fit."""
    return Case(
        name,
        "null, quarantined",
        given(**{column: value}),
        stored_as or column,
        None,
        path or f"$.collection[0].{column}",
    )


def cast(name: str, field: str, value: object, stored: str, *, stored_as: str | None = None) -> Case:
    """A field of the shipment that is taken in another form than it came in."""
    return Case(name, CAST, given(**{field: value}), f"{stored_as or field}::varchar", stored, key=f"Shipment.{field}")


CASES = [
    Case("a status that was never seen", KEPT, given(status="teleported"), value="teleported"),
    Case("a number written as text", KEPT, given(carrier_shipping_cost="12.5"), "carrier_shipping_cost::double", 12.5),
    Case("an id written as text", KEPT, lambda _, one: one.update(id=str(one["id"])), "true", True),
    Case("a flag written as 1", KEPT, given(is_international=1), "is_international", True),
    Case(
        "a date with midnight after it",
        KEPT,
        given(target_ship_date="2026-03-04T00:00:00Z"),
        "day(target_ship_date)",
        4,
    ),
    Case("a number where text is expected", KEPT, given(infill_product_id=7), "infill_product_id", "7"),
    Case("PHP's `[]` for an empty object", KEPT, given(item_weight=[]), "item_weight_value", None),
    Case("10 MB in one field", KEPT, given(unique_id=LONG), "len(unique_id)", len(LONG)),
    Case("a leap second", KEPT, given(packed_at="2026-01-31T23:59:60Z"), "epoch(packed_at)", 1769904000.0),
    Case(
        "a control character in text",
        KEPT,
        given(unique_id="tab-here"),
        "unique_id",
        "tab\there",
        spoil=lambda content: content.replace(b"tab-here", b"tab\there"),
    ),
    cast("more than four decimals of a price", "carrier_shipping_cost", 12.34567, "12.3457"),
    cast("a weight that is a bare number", "item_weight", 2.5, "2.5", stored_as="item_weight_value"),
    cast("a time where a date is expected", "target_ship_date", "2026-03-04T23:30:00-05:00", "2026-03-04"),
    cast("a time without an offset", "packed_at", "2026-03-04 23:30:00", "2026-03-04 23:30:00+00"),
    replace(
        cast("a number with a fraction or an exponent where text is expected", "scac", 17.25, "9.4001118992231974e+21"),
        spoil=lambda content: content.replace(b"17.25", b"9.4001118992231974e+21"),
    ),
    Case(
        "the records as an object, as PHP writes a list with gaps",
        CAST,
        lambda page, shipment: page.update(collection={"1": shipment}),
        "true",
        True,
        key="Page.collection",
    ),
    Case(
        "a list under `included` as an object by id, as PHP writes it",
        CAST,
        lambda page, _: page["included"].update(Order=dict(zip("7", page["included"]["Order"], strict=False))),
        "order_id in (select id from orders)",
        True,
        key="included.Order",
    ),
    Case("a missing key", EMPTY, without("status")),
    Case("a null", EMPTY, given(status=None)),
    Case("no `updated_at`", EMPTY, without("updated_at"), "updated_at"),
    Case("no `included`", KEPT, without("included"), "order_id is not null", True),
    Case("`included` is null", KEPT, included(None), "order_id is not null", True),
    Case("`included` is `[]`", KEPT, included([]), "order_id is not null", True),
    Case("`included` is text", PART, included("none"), "order_id is not null", True, "$.included"),
    null("text where a number is expected", "carrier_shipping_cost", "twelve"),
    null("text where a flag is expected", "is_international", "perhaps"),
    null("5 where a flag is expected", "is_international", 5),
    null("an object where text is expected", "unique_id", {"a": 1}),
    null("text where an object is expected", "item_weight", "heavy", stored_as="item_weight_value"),
    null(
        "a fraction where a whole number is expected",
        "order",
        {"id": 1.5},
        path="$.collection[0].order.id",
        stored_as="order_id",
    ),
    null(
        "a whole number beyond 64 bits", "order", {"id": 2**70}, path="$.collection[0].order.id", stored_as="order_id"
    ),
    null("more than 14 digits before the point", "carrier_shipping_cost", 10**15),
    null("`NaN`", "carrier_shipping_cost", math.nan),
    null(
        "`Infinity`",
        "item_weight",
        {"value": math.inf},
        path="$.collection[0].item_weight.value",
        stored_as="item_weight_value",
    ),
    replace(
        null(
            "a number beyond a double",
            "item_weight",
            {"value": 17.25},
            path="$.collection[0].item_weight.value",
            stored_as="item_weight_value",
        ),
        spoil=lambda content: content.replace(b"17.25", b"1e400"),
    ),
    null("a day that does not exist", "target_ship_date", "2026-02-31"),
    null("a garbled time", "created_at", "yesterday"),
    null("a time in a zone that has a name", "packed_at", "2026-01-01T00:00:00 EST"),
    null("a time that is `infinity`", "packed_at", "infinity"),
    null("a time that is `epoch`", "packed_at", "epoch"),
    null("a date that is `infinity`", "target_ship_date", "infinity"),
    null("underscores in a number", "carrier_shipping_cost", "1_000"),
    replace(
        null("a number of 5,000 digits", "carrier_shipping_cost", 17.25),
        spoil=lambda content: content.replace(b"17.25", b"1" * 5000),
    ),
    null("half of a Unicode pair", "unique_id", "\ud83d"),
    Case("an object where a list is expected", REMOVED, given(packages={"a": 1}), path="$.collection[0]"),
    Case(
        "a list with gaps as an object, as PHP writes it",
        REMOVED,
        lambda _, shipment: shipment.update(packages={"0": {"num_cartons": 1}, "2": {"num_cartons": 3}}),
        path="$.collection[0]",
    ),
    Case("text where a list is expected", REMOVED, given(packages=[{"items": "none"}]), path="$.collection[0]"),
    Case(
        "text where an object with rows of its own is expected",
        REMOVED,
        given(packing_solution="none"),
        path="$.collection[0]",
    ),
    Case("a null in a list of objects", PART, given(items=[None]), "true", True, "$.collection[0].items[0]"),
    Case("an item without an id", PART, given(items=[{"sku": "a"}]), "true", True, "$.collection[0].items[0]"),
    Case(
        "an item that a list names twice",
        PART,
        given(items=[{"type": "ShipmentItem", "id": id_} for id_ in (77, 78, 77)]),
        "(select list(item.id order by item.id) from shipment_items as item where item.shipment_id = shipments.id)",
        [77, 78],
        "$.collection[0].items[2]",
    ),
    Case(
        "a product and a packaging item with one id",
        PART,
        included({"Product": [{"id": 9}], "PackagingInfill": [{"id": 9}]}),
        "(select count(*) from products where id = 9)",
        1,
        "$.included.PackagingInfill[0]",
    ),
    Case(
        "an object twice under `included`, the older one first",
        f"newer kept, {QUARANTINE}",
        included(
            {
                "Order": [
                    {"id": 9, "batch_tag": "older", "updated_at": "2026-03-01T00:00:00Z"},
                    {"id": 9, "batch_tag": "newer", "updated_at": "2026-03-03T00:00:00Z"},
                ]
            }
        ),
        "(select batch_tag from orders where id = 9)",
        "newer",
        "$.included.Order[0]",
    ),
    Case("an unknown key", DRIFT, given(gift_wrap="blue"), "true", True, key="Shipment.gift_wrap"),
    Case(
        "an unknown key of a package",
        DRIFT,
        given(packages=[{"ribbon": 1}]),
        "true",
        True,
        key="ShipmentPackage.ribbon",
    ),
    Case("an unknown kind under `included`", DRIFT, included({"Zone": [{"id": 1}]}), "true", True, key="included.Zone"),
    Case(
        "an unknown key of the page",
        DRIFT,
        lambda page, _: page.update(warnings=["slow"]),
        "true",
        True,
        key="Page.warnings",
    ),
    Case(
        "an unknown key with a quotation mark",
        DRIFT,
        given(**{'gift"wrap\n': "blue"}),
        "true",
        True,
        key='Shipment.gift"wrap\n',
    ),
    Case("an unknown key, nested 200 deep", DRIFT, given(deep=DEEP), "true", True, key="Shipment.deep"),
    Case(
        "an unknown key, nested 900 deep",
        DRIFT,
        given(chasm="ground"),
        "true",
        True,
        key="Shipment.chasm",
        spoil=lambda content: content.replace(b'"ground"', b"[" * 900 + b"]" * 900),
    ),
    Case(
        "an unknown key, nested 100,000 deep",
        f"cut to 256 levels and {DRIFT}, page quarantined",
        given(abyss="bottom"),
        "true",
        True,
        "$",
        "Shipment.abyss",
        spoil=lambda content: content.replace(b'"bottom"', b"[" * 100_000 + b"]" * 100_000),
    ),
    Case("no id", REMOVED, without("id"), path="$.collection[0]"),
    Case("an id that is null", REMOVED, given(id=None), path="$.collection[0]"),
    Case("an id that is text", REMOVED, given(id="first"), path="$.collection[0]"),
    Case("an id beyond 64 bits", REMOVED, given(id=2**70), path="$.collection[0]"),
    Case("an id beyond 64 bits, below zero", REMOVED, given(id=-(2**70)), path="$.collection[0]"),
    Case(
        "a record that is no object", REMOVED, lambda page, _: page.update(collection=["lost"]), path="$.collection[0]"
    ),
    Case(
        "a stub that says that the shipment is deleted",
        REMOVED,
        lambda page, one: page.update(
            collection=[{key: one[key] for key in ("type", "id", "updated_at")} | {"is_deleted": True}]
        ),
        path="$.collection[0]",
    ),
    Case(
        "a shipment without status, order and items",
        REMOVED,
        given(status=None, order=None, items=[]),
        path="$.collection[0]",
    ),
    Case(
        "bytes that are not UTF-8",
        "kept with U+FFFD, quarantined",
        given(unique_id="na-ve"),
        "unique_id",
        "na\ufffdve",
        "$",
        spoil=lambda content: content.replace(b"na-ve", b"na\xefve"),
    ),
    Case(
        "a key that stands twice in one object",
        "last kept, quarantined",
        given(status="first"),
        "status",
        "last",
        "$",
        spoil=lambda content: content.replace(b'"status":"first"', b'"status":"first","status":"last"').replace(
            b'"status": "first"', b'"status": "first", "status": "last"'
        ),
    ),
    Case(
        "a byte order mark",
        KEPT,
        given(status="marked"),
        value="marked",
        spoil=lambda content: b"\xef\xbb\xbf" + content,
    ),
]


class Service(InProcess):
    """A sandbox that alters the n-th shipment, which is alone on its page, as the n-th case says."""

    def __init__(self) -> None:
        super().__init__(Sandbox(replace(CONFIG, shipments=len(CASES) + UNTOUCHED)))
        self.numbers = {id_: number for number, id_ in enumerate(sorted(self.sandbox._store.ids.tolist()))}
        self.sandbox.intercept = self._altered

    async def _altered(self, request: Request) -> Response | None:
        if not asks_for_page(request.url.query):
            return None
        page = json.loads(content_of(await self.sandbox._serve(request)))
        number = self.numbers[page["collection"][0]["id"]] if page["collection"] else len(CASES)
        if number >= len(CASES):
            return None
        page["meta"]["case"] = number
        CASES[number].edit(page, page["collection"][0])
        return Response(CASES[number].spoil(json.dumps(page).encode()), media_type="application/json")


@dataclass
class Loaded:
    """What one sync left behind: the column of each case; with its case, each path in quarantine and key of drift."""

    data: Path
    report: RefreshReport
    ends: int
    values: Mapping[int, list[tuple[object, ...]]]
    quarantined: set[tuple[int, str]]
    drift: set[tuple[int, str]]


@pytest.fixture(scope="module")
def loaded(tmp_path_factory) -> Loaded:
    service = Service()
    settings = settings_in(tmp_path_factory.mktemp("content"), service, page_size=1, max_parallel_requests=1)
    with closing(opened_store(settings)) as store:
        bench = Bench(settings, store, service)
        bench.read()
        report = bench.load()
        of_page = {
            place: int(mark[1])
            for place, content in bench.landed_contents()
            if (mark := re.search(rb'"case": (\d+)', content))
        }
    with bench.published() as connection:
        values = {
            number: connection.execute(f"select {CASES[number].column} from shipments where id = {id_}").fetchall()
            for id_, number in service.numbers.items()
            if number < len(CASES)
        }
        quarantined, drift = (
            {
                (of_page[window, page], path)
                for path, window, page in connection.execute(f"select path, _window_id, _page from {table}").fetchall()
            }
            for table in ("ops.quarantine", "ops.schema_drift")
        )
    return Loaded(settings.data_dir, report, ending(settings, None, report), values, quarantined, drift)


@pytest.mark.parametrize(("number", "case"), [*enumerate(CASES)], ids=[case.name for case in CASES])
def test_it_becomes_what_the_table_says(number, case, loaded):
    value = [] if case.outcome == REMOVED else [(case.value,)]
    quarantined, drift = ({path for of, path in found if of == number} for found in (loaded.quarantined, loaded.drift))
    assert (loaded.values[number], quarantined, drift) == (value, {case.path} - {None}, {case.key} - {None})
    assert (QUARANTINE in case.outcome, DRIFT in case.outcome) == (case.path is not None, case.key is not None)


def test_other_shipments_are_there_and_the_sync_warns(loaded):
    report = loaded.report
    assert (report.published, loaded.ends) == (True, 3)
    assert (report.rows["shipments"], report.quarantined, report.drift) == (
        UNTOUCHED + sum(case.outcome != REMOVED for case in CASES),
        sum(case.path is not None for case in CASES),
        sum(case.key is not None for case in CASES),
    )
    warned = {outcome.check.name for outcome in report.checks if not outcome.passed}
    assert warned >= {"nothing_was_quarantined_in_the_latest_load", "no_unknown_key_came_in_the_latest_load"}
    assert not [outcome for outcome in report.checks if outcome.blocks_publishing]


@pytest.mark.parametrize(("document", "cases"), [("content.md", CASES), ("transport.md", test_transport.CASES)])
def test_a_document_lists_its_cases_and_no_others(document, cases):
    text = (ROOT / "tests" / document).read_text(encoding="utf-8")
    listed = re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", text, re.MULTILINE)
    assert listed[2:] == [(case.name, case.outcome) for case in cases]


OWN = """    _window_id varchar, -- The window. Source: wms-sync
    _page integer, -- The page. Source: wms-sync
    _extracted_at timestamptz -- When that page was received. Source: wms-sync
)
"""
COST = "try_cast(replace(carrier_shipping_cost, 'twelve', '-12') as decimal(18, 4))"
TAUGHT = {
    "types/60_shipments.sql": {
        "    unique_id varchar,": "    unique_id varchar,\n    gift_wrap varchar,\n    deep json,",
        "    carrier_shipping_cost decimal(18, 4),": "    carrier_shipping_cost varchar,",
        "    tracking_ref varchar,": "    tracking_ref varchar,\n    ribbon bigint,",
    },
    "types/65_zones.sql": {"": "-- Zones.\ncreate type zone as struct(\n    id bigint\n);\n"},
    "types/70_included.sql": {'"Warehouse" warehouse[]': '"Warehouse" warehouse[],\n    "Zone" zone[]'},
    "flatten/shipments.sql": {
        "    unique_id,": "    unique_id,\n    gift_wrap,\n    deep,",
        "    carrier_shipping_cost,": f"    {COST} as carrier_shipping_cost,",
    },
    "flatten/packages.sql": {"    tracking_ref,": "    tracking_ref,\n    ribbon,"},
    "flatten/zones.sql": {"": '-- grain: one row a zone\n-- needs: Zone\nselect id, _page\nfrom page."Zone"\n'},
    "tables/shipments.sql": {
        "    scac varchar, --": "    gift_wrap varchar, -- Paper.\n    deep json, -- Deep.\n    scac varchar, --",
    },
    "tables/packages.sql": {
        "    tracking_ref varchar, --": "    ribbon bigint, -- Ribbon.\n    tracking_ref varchar, --"
    },
    "tables/zones.sql": {
        "": "-- grain: one row a zone\n-- keys: id\n-- root: zones by id\n-- newer: _extracted_at\n"
        f"create table zones (\n    id bigint, -- The zone. Source: Zone.id\n{OWN}"
    },
}
"""Keys of a shipment and of a package, a kind with a table of its own, and a word for a number."""


@pytest.mark.proof
def test_a_rebuild_brings_it_in(loaded, tmp_path):
    """By a copy of the program that was taught what the pages hold."""
    for copied in ("src/wms_sync", "sql"):
        shutil.copytree(ROOT / copied, tmp_path / copied)
    for name, changes in TAUGHT.items():
        file = tmp_path / "sql" / name
        for before, after in changes.items():
            text = file.read_text(encoding="utf-8").replace(before, after) if before else after
            file.write_text(text, encoding="utf-8")
    shutil.copytree(loaded.data, tmp_path / "data")
    subprocess.run(
        [sys.executable, "-c", "from wms_sync.cli.main import main; main()", "rebuild"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path / "src")},
        check=False,
    )

    published = tmp_path / "data" / "analytics.duckdb"
    holds = {
        "gift_wrap from shipments": {None, "blue"},
        "deep::varchar from shipments": {None, json.dumps(DEEP)},
        "ribbon from packages": {None, 1},
        "id from zones": {1},
        "min(carrier_shipping_cost) from shipments": {-12},
        "path from ops.schema_drift": {case.key for case in CASES if case.key}
        - {"Shipment.gift_wrap", "Shipment.deep", "ShipmentPackage.ribbon", "included.Zone"},
    }
    for column, values in holds.items():
        assert {value for (value,) in queried(published, f"select {column}")} == values
