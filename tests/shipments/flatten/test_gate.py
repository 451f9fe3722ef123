"""The gate passes what DuckDB reads without a loss, and nothing on which DuckDB would be silent."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from wms_sync.shipments.flatten.gate import Gate
from wms_sync.shipments.flatten.shape import shape_of


@pytest.fixture
def gate(connection):
    return Gate(shape_of(connection))


def page(*shipments, **envelope):
    """A page of shipments, each with a status: one without would be a stub."""
    return json.dumps({"collection": [{"status": "new", **one} for one in shipments], **envelope}).encode()


FIT: list[tuple[str, object]] = [
    ("infill_product_id", 7),
    ("infill_product_id", True),
    ("is_international", 1),
    ("order", {"type": "Order", "id": "12"}),
    ("order", None),
    ("carrier_shipping_cost", "12.34"),
    ("target_ship_date", "2024-01-31T00:00:00Z"),
    ("items", []),
    ("items", None),
    ("packing_solution_providers", ["a", None]),
]
UNFIT: list[tuple[str, object]] = [
    ("infill_product_id", 1.5),
    ("packed_at", "2024-01-31T10:00:00"),
    ("id", None),
    ("id", 1.5),
    ("id", 2**63),
    ("order", {"id": 1.5}),
    ("order", {"id": "1.5"}),
    ("order", {"id": True}),
    ("order", {"id": 1, "status": "new"}),
    ("is_international", 5),
    ("is_international", "yes"),
    ("target_ship_date", "2024-01-31T10:00:00Z"),
    ("target_ship_date", "2024-01-31x"),
    ("unique_id", {"a": 1}),
    ("unique_id", ["a"]),
    ("target_ship_date", "infinity"),
    ("packed_at", "infinity"),
    ("packed_at", "epoch"),
    ("packed_at", "2026-01-01T00:00:00 EST"),
    ("carrier_shipping_cost", True),
    ("carrier_shipping_cost", "1_000"),
    ("created_at", 1704067200),
    ("items", [None]),
    ("items", [{"sku": "no id"}]),
    ("no_such_key", None),
]


@pytest.mark.parametrize(
    ("key", "fit", "unfit"),
    [
        (
            "carrier_shipping_cost",
            [7, 0.1, 10**14 - 1, 7, "7.25", 12345678.1234, None],
            [0.00001, 10**14, 1e14, "1e3", True],
        ),
        (
            "target_ship_date",
            ["2024-01-31", "2024-01-31T00:00:00Z", "2024-01-31", None, "2024-02-29 00:00:00"],
            ["2024-01-31T00:00:01Z", "0000-00-00", "2024-1-31", "", 20240131, True],
        ),
    ],
)
def test_each_value_is_checked_whatever_the_same_field_held_before(gate, key, fit, unfit):
    for values, expected in ((fit, True), (unfit, False), (fit, True), (unfit, False)):
        assert [
            value
            for value in values
            if gate.examine(page({"id": 1, key: fit[0]}, {"id": 2, key: value})).fits != expected
        ] == []


TWICE = [{"id": 4}, {"id": 4}]
STUBS: list[dict[str, object]] = [{"status": "Deleted"}, {"status": None}, {"status": "", "order": None, "items": []}]
DO_NOT_PASS = [
    # what DuckDB would take silently
    *(page({"id": 1, key: value}) for key, value in UNFIT),
    # no page
    *(b"", b"<html>", b"[]", b"{}", b'{"collection": null}', b'{"collection": []} {}', b'{"collection": [NaN]}'),
    # an object that a list names twice
    page(included={"Order": [{"id": 1}, {"id": 1}], "Brand": [{"id": 1}, {"id": 2}]}),
    page({"id": 1, "items": [{"id": 7}, {"id": 8}, {"id": 7}]}),
    page({"id": 1, "items": [{"id": 7}, {"id": "07"}]}),
    page({"id": 1, "gallery": {"id": 3, "items": TWICE}}),
    page({"id": 1, "packages": [{}, {"gallery": {"id": 3, "items": TWICE}}]}),
    page(included={"Order": [{"id": 1}, {"id": 2, "items": TWICE}]}),
    page(included={"Gallery": [{"id": 2, "items": TWICE}]}),
    page(included={"Order": [{"id": 1}, {"id": "1"}]}),
    page(included={"Product": [{"id": 1}], "PackagingSupplies": [{"id": 2}, {"id": "1"}]}),
    # what may be a stub
    *(page({"id": 1, "order": {"id": 4}}, {"id": 2, **says}) for says in STUBS),
]
PASS = [
    *(page({"id": 1, key: value}) for key, value in FIT),
    page(
        *({"id": id_, "items": [{"id": 7}, {"id": 8}]} for id_ in (1, 2)),
        included={
            "Order": [{"id": 1, "items": [{"id": 5}]}, {"id": 2, "items": [{"id": 5}]}, {"id": 3, "items": None}]
        },
    ),
    *(
        page({"id": 1, "order": {"id": 4}}, {"id": 2, "status": None, **shows})
        for shows in ({"items": [{"id": 5}]}, {"order": {"id": 4}})
    ),
]


@pytest.mark.parametrize(
    ("content", "passes"), [*((content, False) for content in DO_NOT_PASS), *((content, True) for content in PASS)]
)
def test_a_page_passes_that_loses_nothing_and_holds_each_object_once_and_no_stub(gate, content, passes):
    assert gate.examine(content).fits == passes


def test_an_object_twice_on_a_page_does_not_pass_also_where_another_page_showed_it(gate):
    acme = {"id": 7, "name": "Acme"}
    first = gate.examine(page({"id": 1}, included={"Retailer": [acme]}), {"Retailer": {}})
    assert gate.examine(page({"id": 2}, included={"Retailer": [acme]}), first.shared).fits
    assert not gate.examine(page({"id": 3}, included={"Retailer": [acme, acme]}), first.shared).fits


def test_gates_of_several_threads_make_their_types_at_once(connection):
    """If they shared types, msgspec would end the process by a segmentation fault."""
    shape, before, lanes = shape_of(connection), sys.getswitchinterval(), 8
    barrier = Barrier(lanes)

    def fits(number: int) -> bool:
        barrier.wait()
        return Gate(shape).examine(page({"type": "Shipment", "id": number})).fits

    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(lanes) as pool:
            assert all(pool.map(fits, range(4 * lanes)))
    finally:
        sys.setswitchinterval(before)
