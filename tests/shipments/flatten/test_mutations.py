"""Whatever a page holds, each value ends as a value, a row of quarantine or a line of drift; and no shipment is lost.

Golden pages are mutated at random places and read; then the page is walked beside what was read of it.
"""

import json
import math
from pathlib import Path

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.survival.counts import MUTATED_PAGES
from wms_sync.catalogue import table
from wms_sync.shipments.flatten.batch import PageReader
from wms_sync.shipments.flatten.page import RawPage
from wms_sync.shipments.flatten.shape import ListNode, ObjectNode, create_types, shape_of
from wms_sync.shipments.flatten.write import CONTENT_ERRORS

from .conftest import page_of

pytestmark = pytest.mark.proof

GOLDEN = Path(__file__).parent / "golden"
BASES = [
    json.loads((GOLDEN / scenario / "page-00001.json").read_text(encoding="utf-8"))
    for scenario in (
        "a_shipment_with_every_field",
        "an_order_with_every_field",
        "everything_inline",
        "everything_by_reference",
        "packages_with_and_without_ids",
        "packaging_kinds",
        "nested_retailers",
        "personal_data",
    )
]
TELLING = st.sampled_from(
    ["", "12", "-7", "1.5", "abc", "true", "2024-01-31", "2024-01-31T00:00:00Z", "2024-02-31", "2024-01-01T25:00:00Z"]
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=-(2**80), max_value=2**80)
    | st.floats()
    | TELLING
    | st.text(max_size=5)
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["id", "type", "x"]), inner)
)


@st.composite
def mutated_pages(draw):
    page = json.loads(json.dumps(draw(st.sampled_from(BASES))))
    for _ in range(draw(st.integers(min_value=1, max_value=4))):
        _mutate(draw, page)
    return page


def _mutate(draw, page):
    holder = page
    while True:
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        if not keys:
            return
        key = draw(st.sampled_from(keys))
        below = holder[key]
        if isinstance(below, dict | list) and below and draw(st.integers(min_value=0, max_value=4)):
            holder = below
            continue
        break
    how = draw(st.sampled_from(["replace", "replace", "replace", "remove", "add", "repeat"]))
    if how == "replace":
        holder[key] = draw(VALUES)
    elif how == "remove":
        del holder[key]
    elif how == "add" and isinstance(holder, dict):
        holder["unheard_of"] = draw(VALUES)
    elif how == "repeat" and isinstance(holder, list):
        holder.append(holder[key])


class Fixture:
    """A reader on a connection of its own, and what it read."""

    def __init__(self, work_dir):
        self.connection = duckdb.connect()
        self.connection.execute("set timezone = 'UTC'")
        create_types(self.connection)
        self.connection.execute("create schema ops")
        for slug in ("ops_quarantine", "ops_schema_drift"):
            self.connection.execute(table(slug).create)
        self.reader = PageReader(self.connection, work_dir)
        self.shape = shape_of(self.connection)
        self.path = work_dir / "page-00001.json"

    def read(self, content: bytes):
        """The page, what it cost to read, and what was read of it."""
        self.path.write_bytes(content)
        page: RawPage = page_of(self.path)
        cost = self.reader.read([page], "w")
        try:
            return page, cost, self.objects()
        except CONTENT_ERRORS:
            cost = self.reader.read([page], "w", repairing_all=True)
            return page, cost, self.objects()

    def objects(self):
        kinds = ["collection", *(kind for kind, node in self.shape.included.items() if isinstance(node, ListNode))]
        return {kind: [json.loads(row) for (row,) in self.rows(kind)] for kind in kinds}

    def rows(self, kind):
        read = f"select * exclude (_page) from {self.reader.kinds.reads[kind]}"
        return self.connection.execute(f"select to_json(object) from ({read}) as object").fetchall()

    def column(self, query):
        return {value for (value,) in self.connection.execute(query).fetchall()}


@pytest.fixture(scope="module")
def fixture(tmp_path_factory):
    return Fixture(tmp_path_factory.mktemp("mutations"))


def test_every_value_of_a_mutated_page_is_accounted_for(fixture, request):
    @settings(max_examples=MUTATED_PAGES.of(soak=request.config.getoption("--soak")), deadline=None)
    @given(document=mutated_pages())
    def each_is(document):
        is_accounted_for(document, fixture)

    each_is()


def is_accounted_for(document, fixture):
    page, cost, read = fixture.read(json.dumps(document).encode())

    quarantined = fixture.column("select path from ops.quarantine")
    assert len(quarantined) <= cost.quarantined
    assert len(read["collection"]) + sum(cost.removed.values()) == page.records
    if "$" in quarantined:
        assert not any(read.values())
        return
    told = Told(quarantined, fixture.column("select path from ops.schema_drift"))
    records = document["collection"]
    records = list(records.values()) if isinstance(records, dict) else records
    told.many(records, read["collection"], fixture.shape.collection, "$.collection")
    included = document.get("included")
    if "$.included" in quarantined or not included:
        return
    for kind, objects in included.items():
        node = fixture.shape.included.get(kind)
        if node is None:
            assert f"included.{kind}" in told.drift
        elif isinstance(node, ListNode):
            told.value(without_repeated(objects), read[kind], node, f"$.included.{kind}")


def without_repeated(objects):
    """Objects as they are; none at all where an id stands twice, since then places shift."""
    if not isinstance(objects, list):
        return objects
    ids = [str(found.get("id")) for found in objects if isinstance(found, dict)]
    return None if len(set(ids)) < len(ids) else objects


class Told:
    """Walks a document beside what was read of it."""

    def __init__(self, quarantined, drift):
        self.quarantined, self.drift = quarantined, drift

    def value(self, given_value, read, node, path):
        if path in self.quarantined:
            assert not read
        elif given_value is None:
            return
        elif isinstance(node, ListNode):
            self.many(given_value, read, node, path)
        elif isinstance(node, ObjectNode):
            self.thing(given_value, read, node, path)
        else:
            assert_same(given_value, read, node.type, path)

    def many(self, given_values, read, node, path):
        kept = [(index, value) for index, value in enumerate(given_values)]
        if isinstance(node.element, ObjectNode):
            kept = [(index, value) for index, value in kept if f"{path}[{index}]" not in self.quarantined]
        assert len(read) == len(kept), path
        for (index, value), found in zip(kept, read, strict=True):
            self.value(value, found, node.element, f"{path}[{index}]")

    def thing(self, given_value, read, node, path):
        if given_value in ([], {}):
            return
        if not isinstance(given_value, dict):
            assert node.is_measure
            assert node.name in self.drift
            assert read["value"] == float(given_value), path
            return
        for key, value in given_value.items():
            if key in node.fields:
                self.value(value, read[key], node.fields[key], f"{path}.{key}")
            else:
                assert f"{node.name}.{key}" in self.drift


def assert_same(given_value, read, type_, path):
    match type_:
        case "BIGINT":
            assert int(given_value) == read, path
        case "BOOLEAN":
            assert bool(given_value) == read, path
        case "DECIMAL(18,4)":
            assert math.isclose(float(given_value), read, rel_tol=1e-15, abs_tol=0.00005), path
        case "DOUBLE":
            assert float(given_value) == read, path
        case "DATE":
            assert given_value[:10] == read, path
        case "TIMESTAMP WITH TIME ZONE":
            assert read is not None, path
        case "JSON":
            assert given_value == read, path
        case "VARCHAR" if isinstance(given_value, bool):
            assert read == str(given_value).lower(), path
        case "VARCHAR" if isinstance(given_value, int | float):
            assert float(read) == given_value, path
        case _:
            assert given_value == read, path
