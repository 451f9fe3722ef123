"""Every sort of value in every field of sql/types: a table in docs/explanation/guarantees-content.md, by cell.

Three pages are made for each value: with it in each field that holds no object and no list, in place of the objects and
lists, and as the id of every object under ``included``. All are read and flattened in one window or more.
Then each cell says what must be found.
"""

from __future__ import annotations

import gzip
import json
import math
import re
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest
from starlette.requests import Request
from starlette.responses import Response

from tests.conftest import CONFIG, Bench, asks_for_page, opened_store, settings_in
from tests.shipments.flatten.test_workers import read_with_ahead
from tests.taught import rebuilt_elsewhere
from tests.test_content import DOCUMENT
from wms_sandbox.app import Sandbox
from wms_sandbox.transport import InProcess
from wms_sync.shipments.flatten.shape import (
    SHIPMENT,
    ListNode,
    Node,
    ObjectNode,
    Shape,
    ValueNode,
    create_types,
    shape_of,
)

NOTHING = object()
FAR = 10**12
VALUES: dict[str, Any] = {
    "no key": NOTHING,
    "null": None,
    "text": "twelve",
    "an empty text": "",
    "a number as text": "12",
    "a day": "2026-02-28",
    "a time": "2026-02-28T10:20:30Z",
    "a whole number": 7,
    "a fraction": 1.5,
    "a number beyond 64 bits": 2**70,
    "true": True,
    "`NaN`": math.nan,
    "`Infinity`": math.inf,
    "`{}`": {},
    "an object": {"unheard_of": 1},
    "`[]`": [],
    "a list of text": ["a"],
    "a list of null": [None],
}
TYPES = {
    "BIGINT": "whole number",
    "DECIMAL(18,4)": "decimal",
    "DOUBLE": "double",
    "BOOLEAN": "flag",
    "DATE": "day",
    "TIMESTAMP WITH TIME ZONE": "time",
    "VARCHAR": "text",
    "JSON": "JSON",
}
WEIGHT, OBJECT, KEYED, TEXTS, OBJECTS = "weight", "object", "object with an id", "list of texts", "list of objects"
ID = "id"
PAGES = {"fields": tuple(TYPES.values()), "objects and lists": (WEIGHT, OBJECT, KEYED, TEXTS, OBJECTS), "ids": (ID,)}
"""What is altered on each page of a value."""
SHOWN = {
    "whole number": ("orders", "priority"),
    "decimal": ("orders", "total_item_count"),
    "double": ("shipments", "max_package_weight_value"),
    "flag": ("shipments", "is_documents_required"),
    "day": ("orders", "desired_delivery_date"),
    "time": ("orders", "hold_until_time"),
    "text": ("shipments", "scac"),
    "JSON": ("orders", "automation_data"),
}
"""A column of each type, in which the value itself is looked at."""


def written() -> dict[tuple[str, str], str]:
    """What the document says, by value and type."""
    lines = [line.strip("| ").split(" | ") for line in DOCUMENT.splitlines() if line.count(" | ") > 2]
    (_, *types), _, *rows = lines
    return {(value, type_): cell for value, *cells in rows for type_, cell in zip(types, cells, strict=True)}


CELLS = written()
KEPT, NULL, OUT, CAST, DRIFT, ENTRIES, REMOVED = "kept", "null", "out", "cast", "drift", "entries out", "left out"


class Made:
    """The objects of a page, and the paths at which each type got the value."""

    def __init__(self, value: Any, altered: str) -> None:
        self.paths: dict[str, set[str]] = {}
        self._value = value
        self._altered = altered

    def record(self, node: ObjectNode, path: str, id_: int) -> dict[str, Any]:
        """One object of a list of its own."""
        made = self._thing(node, path)
        made["id"] = id_
        if self._altered != "fields" and node.name == SHIPMENT:
            made["status"] = "new"  # else it would be a stub
        if self._altered == "ids" and "included" in path:
            self._note(ID, path)
            made["id"] = {int: id_, str: str(id_)}[type(self._value)] if is_whole(self._value) else self._value
        return {key: value for key, value in made.items() if value is not NOTHING}

    def _thing(self, node: ObjectNode, path: str) -> dict[str, Any]:
        below = {key: child for key, child in node.fields.items() if not (node.keyed and key == "id")}
        made = {key: self._field(child, f"{path}.{key}") for key, child in below.items()}
        return {key: value for key, value in made.items() if value is not NOTHING} | ({"id": 1} if node.keyed else {})

    def _field(self, node: Node, path: str) -> Any:
        type_ = _type_of(node)
        if type_ in PAGES[self._altered]:
            self._note(type_, path)
            return self._value
        if self._altered == "fields" and isinstance(node, ObjectNode):
            return self._thing(node, path)
        if self._altered == "fields" and isinstance(node, ListNode) and isinstance(node.element, ObjectNode):
            return [self._thing(node.element, f"{path}[0]")]
        return NOTHING

    def _note(self, type_: str, path: str) -> None:
        self.paths.setdefault(type_, set()).add(path)


def is_whole(value: Any) -> bool:
    """Whether it is an id, or written as one."""
    return type(value) in {int, str} and re.fullmatch(r"-?[0-9]{1,18}", str(value)) is not None


def _type_of(node: Node) -> str:
    if isinstance(node, ValueNode):
        return TYPES[node.type]
    if isinstance(node, ObjectNode):
        return KEYED if node.keyed else WEIGHT if node.is_measure else OBJECT
    return OBJECTS if isinstance(node.element, ObjectNode) else TEXTS


def kinds(shape: Shape) -> dict[str, ObjectNode]:
    """Everything that stands in lists of its own: shipments and the kinds under ``included``, by path."""
    lists = {"$.collection": shape.collection, **{f"$.included.{kind}": node for kind, node in shape.included.items()}}
    found = {path: node.element for path, node in lists.items() if isinstance(node, ListNode)}
    return {path: thing for path, thing in found.items() if isinstance(thing, ObjectNode)}


Case = tuple[str, str]
"""A value, and what was altered."""


class Service:
    """A sandbox that gives a page of one shipment for each value and what is altered."""

    def __init__(self, shape: Shape) -> None:
        self._kinds = kinds(shape)
        cases = [(value, altered) for altered in PAGES for value in VALUES]
        self.sandbox = Sandbox(replace(CONFIG, shipments=len(cases)))
        self.ids = dict(zip(cases, sorted(self.sandbox._store.ids.tolist()), strict=True))
        self.made = {(value, altered): Made(VALUES[value], altered) for value, altered in cases}
        self.cases = {id_: case for case, id_ in self.ids.items()}
        self.sandbox.intercept = self._altered

    async def _altered(self, request: Request) -> Response | None:
        if not asks_for_page(request.url.query):
            return None
        answer = await self.sandbox._serve(request)
        page = json.loads(gzip.decompress(answer.body) if "content-encoding" in answer.headers else bytes(answer.body))
        for shipment in page["collection"]:
            made = self._records(self.cases[shipment["id"]])
            page["collection"] = [made.pop("$.collection")]
            page["included"] = {path.rpartition(".")[2]: [record] for path, record in made.items()}
        return Response(json.dumps(page), media_type="application/json")

    def _records(self, case: Case) -> dict[str, Any]:
        """An object of every kind. The six kinds of products have their ids together, so no two kinds get the same."""
        return {
            path: self.made[case].record(node, f"{path}[0]", self.ids[case] + number * FAR)
            for number, (path, node) in enumerate(self._kinds.items())
        }


@dataclass(frozen=True)
class Flattened:
    """What the Parquet files say of each page."""

    quarantined: dict[Case, set[str]]
    unknown: dict[Case, set[str]]
    shown: dict[str, dict[Case, object]]


def flattened(data: Path, cases: dict[int, Case]) -> Flattened:
    with duckdb.connect() as connection:
        connection.execute("set timezone = 'UTC'")

        def rows_of(slug: str) -> str:
            return f"read_parquet('{data}/parquet/{slug}/*.parquet', union_by_name = true)"

        def found(slug: str) -> dict[Case, set[str]]:
            query = f"""
                select shipments.id, list(found.path)
                from {rows_of("shipments")} as shipments
                left join {rows_of(slug)} as found using (_window_id, _page) group by all
            """
            return {cases[id_]: set(paths) - {None} for id_, paths in connection.execute(query).fetchall()}

        def column(table: str, name: str) -> dict[Case, object]:
            rows = connection.execute(f"select id % {FAR}, {name} from {rows_of(table)}").fetchall()
            return {cases[id_]: value for id_, value in rows if id_ in cases}

        shown = {type_: column(*place) for type_, place in SHOWN.items()}
        return Flattened(found("ops_quarantine"), found("ops_schema_drift"), shown)


@dataclass
class Loaded:
    """What one run left behind."""

    service: Service
    data: Path
    flattened: Flattened


@pytest.fixture(scope="module")
def loaded(tmp_path_factory) -> Loaded:
    with duckdb.connect() as connection:
        create_types(connection)
        service = Service(shape_of(connection))
    within = InProcess(service.sandbox)
    settings = settings_in(tmp_path_factory.mktemp("clashes"), within, page_size=1, include_addresses=True)
    with closing(opened_store(settings)) as store:
        read_with_ahead(Bench(settings, store, within))
    return Loaded(service, settings.data_dir, flattened(settings.data_dir, service.cases))


def test_the_document_has_a_cell_for_every_value_and_type():
    assert set(CELLS) == {(value, type_) for value in VALUES for types in PAGES.values() for type_ in types}


@pytest.mark.parametrize(("value", "type_"), CELLS)
def test_a_value_becomes_what_the_cell_says_in_every_field_of_its_type(value, type_, loaded):
    altered = next(altered for altered, types in PAGES.items() if type_ in types)
    case = (value, altered)
    cell, paths = CELLS[value, type_], loaded.service.made[case].paths[type_]
    quarantined, unknown = loaded.flattened.quarantined[case], loaded.flattened.unknown[case]
    assert quarantined & paths == (paths if cell in {OUT, REMOVED} else set())
    assert {f"{path}[0]" for path in paths} <= quarantined or cell != ENTRIES
    assert bool(unknown) == (not {DRIFT, CAST}.isdisjoint(CELLS[value, other] for other in PAGES[altered]))
    if type_ in SHOWN:
        assert same(loaded.flattened.shown[type_][case], VALUES[value] if cell in {KEPT, CAST} else None, type_)


def same(found: object, value: Any, type_: str) -> bool:
    """Whether the column of this type holds the value that came."""
    if value is None or type_ == "flag":
        return found is value
    if type_ == "JSON":
        return isinstance(found, str) and json.loads(found) == value
    if type_ in {"day", "time"}:
        return str(found).startswith(value[:10])
    if type_ == "text":
        return found == (value if isinstance(value, str) else json.dumps(value))
    numbers: dict[str, Callable[[str], object]] = {"whole number": int, "decimal": Decimal, "double": float}
    return bool(found == numbers[type_](str(value)))


def test_nothing_else_is_told_and_nothing_is_lost(loaded):
    """Every finding is of a cell that says so, and each page has its shipment."""
    for case, made in loaded.service.made.items():
        paths = {path for found in made.paths.values() for path in found}
        assert loaded.flattened.quarantined[case] <= paths | {f"{path}[0]" for path in paths}, case
    assert set(loaded.flattened.shown["text"]) == set(loaded.service.ids), "shipments"


TAUGHT = {
    "types/50_orders.sql": {
        "    priority bigint": "    priority json",
        "    total_item_count decimal(18, 4)": "    total_item_count json",
        "    desired_delivery_date date": "    desired_delivery_date json",
        "    hold_until_time timestamptz": "    hold_until_time json",
    },
    "types/60_shipments.sql": {
        "    is_documents_required boolean": "    is_documents_required json",
        "    scac varchar": "    scac json",
        "    max_package_weight measure": "    max_package_weight json",
    },
    "flatten/shipments.sql": {
        'max_package_weight."value" as': "coalesce(max_package_weight -> 'value', max_package_weight) as",
        "max_package_weight.unit as": "max_package_weight ->> 'unit' as",
    },
    "tables/orders.sql": {
        "    priority bigint": "    priority json",
        "    total_item_count decimal(18, 4)": "    total_item_count json",
        "    desired_delivery_date date": "    desired_delivery_date json",
        "    hold_until_time timestamptz": "    hold_until_time json",
    },
    "history/orders.sql": {
        "    priority bigint": "    priority json",
        "    total_item_count decimal(18, 4)": "    total_item_count json",
        "    desired_delivery_date date": "    desired_delivery_date json",
        "    hold_until_time timestamptz": "    hold_until_time json",
    },
    "tables/shipments.sql": {
        "    is_documents_required boolean": "    is_documents_required json",
        "    scac varchar": "    scac json",
        "    max_package_weight_value double": "    max_package_weight_value json",
    },
}
"""Columns of every type take whatever comes."""


@pytest.mark.proof
def test_once_the_types_are_taught_a_rebuild_brings_every_value_in(loaded, tmp_path):
    """But for what is no JSON, which no type can take."""
    after = flattened(rebuilt_elsewhere(tmp_path, loaded.data, TAUGHT), loaded.service.cases)
    was_out = [
        (case, type_, VALUES[case[0]])
        for case in loaded.service.ids
        for type_ in SHOWN
        if CELLS.get((case[0], type_ if case[1] == "fields" else WEIGHT)) == OUT and CELLS[case[0], "JSON"] == KEPT
        if case[1] == "fields" or (case[1], type_) == ("objects and lists", "double")
    ]
    assert {type_ for _, type_, _ in was_out} == set(SHOWN) - {"JSON"}
    for case, type_, value in was_out:
        assert same(after.shown[type_][case], value, "JSON"), (case, type_)
