"""Every sort of value in every field of sql/types: a table in tests/content.md, by cell.

Each cell has a page with an object of every kind, in which each field of the cell's type holds its value. Where that
passes the gate, a second page has an unknown key, so it is repaired. All pages are flattened in one batch.
"""

import json
import math
import re
from contextlib import closing
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import pytest

from wms_sync.shipments.flatten.batch import Flattener
from wms_sync.shipments.flatten.page import RawPage
from wms_sync.shipments.flatten.shape import COLLECTION, ListNode, Node, ObjectNode, ValueNode, create_types, shape_of

DOCUMENT = Path(__file__).with_name("content.md").read_text(encoding="utf-8")
NOTHING = object()
VALUES: dict[str, Any] = {
    "no key": NOTHING,
    "null": None,
    "text": "twelve",
    "an empty string": "",
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
WEIGHT, OBJECT, KEYED, TEXTS, OBJECTS = "weight", "object", "object with an id", "list of strings", "list of objects"
ID = "id"
WITH_ROWS = {"packing_solution", "shipping_address", "original_address"}
"""Objects with rows of their own: ``shipments/load/test_omitted.py`` has something else in their place."""
QUARANTINED, DRIFTED = "quarantined", "drifted"
SEEN = {
    QUARANTINED: ("ops_quarantine", "list(path)"),
    DRIFTED: ("ops_schema_drift", "list(path)"),
    "whole number": ("orders", "first(priority)"),
    "decimal": ("orders", "first(total_item_count)"),
    "double": ("shipments", "first(max_package_weight_value)"),
    "flag": ("shipments", "first(is_documents_required)"),
    "day": ("orders", "first(desired_delivery_date)"),
    "time": ("orders", "first(hold_until_time)"),
    "text": ("shipments", "first(scac)"),
    "JSON": ("orders", "first(automation_data)"),
}
"""What is seen of a page: paths, and a column of each type, where a value is kept or null. What it holds is shown by
``flatten/test_odd_values.py``."""
KEPT, NULL, OUT, CAST, DRIFT, ENTRIES, REMOVED = "kept", "null", "out", "cast", "drift", "entries out", "left out"


(_, *NAMED), _under, *ROWS = (line.strip("| ").split(" | ") for line in DOCUMENT.splitlines() if line.count(" | ") > 2)
CELLS = {(value, type_): cell for value, *cells in ROWS for type_, cell in zip(NAMED, cells, strict=True)}
"""What the document says, by value and type."""


def type_of(node: Node) -> str:
    if isinstance(node, ValueNode):
        return TYPES[node.type]
    if isinstance(node, ObjectNode):
        return KEYED if node.keyed else WEIGHT if node.is_measure else OBJECT
    return OBJECTS if isinstance(node.element, ObjectNode) else TEXTS


class Page:
    """A page with an object of every kind. ``paths`` are the fields that hold the value."""

    def __init__(self, kinds: dict[str, Node], number: int, value: Any, altered: str) -> None:
        self.paths: set[str] = set()
        self._value, self._altered = value, altered
        made = {kind: self._record(kind, node, 100 * number + at) for at, (kind, node) in enumerate(kinds.items())}
        self.content = {"collection": [made.pop(COLLECTION)], "included": {kind: [one] for kind, one in made.items()}}

    def _record(self, kind: str, node: Node, id_: int) -> dict[str, Any]:
        assert isinstance(node, ObjectNode)
        path = "$.collection[0]" if kind == COLLECTION else f"$.included.{kind}[0]"
        record = self._fields(node, path) | {"id": id_}
        if kind == COLLECTION and self._altered != "text":
            record["status"] = "new"  # else it would be a stub
        if kind != COLLECTION and self._altered == ID:
            self.paths.add(path)
            is_id = type(self._value) in {int, str} and re.fullmatch(r"-?[0-9]{1,18}", str(self._value))
            record["id"] = type(self._value)(id_) if is_id else self._value
        return {key: value for key, value in record.items() if value is not NOTHING}

    def _fields(self, node: ObjectNode, path: str) -> dict[str, Any]:
        below = {key: child for key, child in node.fields.items() if not (node.keyed and key == "id")}
        made = {key: self._field(child, f"{path}.{key}") for key, child in below.items()}
        return {key: value for key, value in made.items() if value is not NOTHING} | ({"id": 1} if node.keyed else {})

    def _field(self, node: Node, path: str) -> Any:
        if type_of(node) == self._altered and path.rpartition(".")[2] not in WITH_ROWS:
            self.paths.add(path)
            return self._value
        if isinstance(node, ObjectNode):
            return self._fields(node, path)
        if isinstance(node, ListNode) and isinstance(node.element, ObjectNode):
            return [self._fields(node.element, f"{path}[0]")]
        return NOTHING


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> dict[tuple[str, str, bool], tuple[set[str], dict[str, Any]]]:
    """The fields that hold the value, and what is seen; by its cell, and by whether the page is repaired."""
    folder = tmp_path_factory.mktemp("clashes")
    with duckdb.connect() as connection:
        create_types(connection)
        kinds = dict(shape_of(connection).kinds)
        cells = [(*cell, False) for cell in CELLS]
        cells += [(*cell, True) for cell, says in CELLS.items() if says in {KEPT, NULL}]
        made = [Page(kinds, number, VALUES[value], type_) for number, (value, type_, _) in enumerate(cells)]
        raw = []
        for number, (page, (_, _, repaired)) in enumerate(zip(made, cells, strict=True)):
            content = json.dumps(page.content | ({"unheard_of": 1} if repaired else {})).encode()
            (path := folder / f"page-{number:05d}.json").write_bytes(content)
            raw.append(RawPage(path, number, 1, datetime(2026, 2, 1, tzinfo=UTC), len(content)))
        with closing(Flattener(work_dir=folder / "work")) as flattener:
            files = flattener.flatten(raw, window_id="w", part=1, parquet_dir=folder / "parquet").files
        query = "select _page, {} from read_parquet(?) group by _page"
        seen = {
            name: dict(connection.execute(query.format(value), [str(files[table])]).fetchall())
            for name, (table, value) in SEEN.items()
        }
    return {
        cell: (page.paths, {name: by_page[number] for name, by_page in seen.items() if number in by_page})
        for number, (cell, page) in enumerate(zip(cells, made, strict=True))
    }


def test_the_document_has_every_cell():
    assert set(CELLS) == set(product(VALUES, (*TYPES.values(), WEIGHT, OBJECT, KEYED, TEXTS, OBJECTS, ID)))


@pytest.mark.parametrize("value", VALUES)
def test_a_value_becomes_what_its_cells_say(value, pages):
    """In every field of the type. Nothing else is quarantined, and each page has its shipment."""
    wrong = [cell for cell, page in pages.items() if cell[0] == value and not is_right(*page, *cell[:2])]
    assert wrong == [], [sorted({*pages[cell][1].get(QUARANTINED, ())} ^ pages[cell][0])[:9] for cell in wrong[:3]]


def is_right(paths: set[str], seen: dict[str, Any], value: str, type_: str) -> bool:
    says = CELLS[value, type_]
    records = {path[: path.index("]") + 1] for path in paths}
    out = {OUT: paths, REMOVED: records, ENTRIES: {f"{path}[0]" for path in paths}}.get(says, set())
    is_there = says in {KEPT, CAST} and VALUES[value] is not None
    return (
        {*seen.get(QUARANTINED, ())} == out
        and bool({*seen.get(DRIFTED, ())} - {"Page.unheard_of"}) == (says in {DRIFT, CAST})
        and ("text" in seen) == ("$.collection[0]" not in out)
        and (type_ not in SEEN or (seen.get(type_) is not None) == is_there)
    )
