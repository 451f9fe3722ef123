"""The filter grammar (service-facts): every operator on every filterable field, against a plain reading of the data."""

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from wms_sandbox.filters import FIELDS, OPERATORS

Shipment = dict[str, Any]

READ: dict[str, Callable[[Shipment], list[Any]]] = {
    "id": lambda shipment: [shipment["id"]],
    "unique_id": lambda shipment: [shipment["unique_id"]],
    "created_at": lambda shipment: [shipment["created_at"]],
    "updated_at": lambda shipment: [shipment["updated_at"]],
    "packed_at": lambda shipment: [shipment.get("packed_at")],
    "retailer_id": lambda shipment: [(shipment.get("retailer") or {}).get("id")],
    "tracking_number": lambda shipment: [package.get("tracking_ref") for package in shipment["packages"]],
    "alt_tracking_number": lambda shipment: [package.get("alt_tracking_number") for package in shipment["packages"]],
}
TIMES = ("created_at", "updated_at", "packed_at")


def comparable(field: str, value: Any) -> Any:
    return datetime.fromisoformat(value) if field in TIMES else value


MEETS: dict[str, Callable[[str, Any, Any], bool]] = {
    "eq": lambda field, value, other: comparable(field, value) == comparable(field, other),
    "gt": lambda field, value, other: comparable(field, value) > comparable(field, other),
    "lt": lambda field, value, other: comparable(field, value) < comparable(field, other),
    "from": lambda field, value, other: comparable(field, value) >= comparable(field, other),
    "to": lambda field, value, other: comparable(field, value) <= comparable(field, other),
    "in": lambda field, value, others: any(comparable(field, value) == comparable(field, each) for each in others),
    "start": lambda field, value, other: str(value).startswith(other),
    "end": lambda field, value, other: str(value).endswith(other),
    "regex": lambda field, value, other: re.search(other, str(value)) is not None,
}


def expected(shipments: list[Shipment], field: str, operator: str, operand: Any) -> list[int]:
    found = []
    for shipment in shipments:
        values = [value for value in READ[field](shipment) if value is not None]
        if operator == "null":
            is_met = (not values) is operand
        else:
            is_met = any(MEETS[operator](field, value, operand) for value in values)
        if is_met:
            found.append(shipment["id"])
    return found


def written(operand: Any) -> str:
    if isinstance(operand, bool):
        return "true" if operand else "false"
    if isinstance(operand, list):
        return "[" + ",".join(written(each) for each in operand) + "]"
    return str(operand) if isinstance(operand, int) else "'" + operand.replace("\\", "\\\\") + "'"


@pytest.fixture(scope="module")
def known(service) -> list[Shipment]:
    page = service.listing(
        ("fields", "all"), ("fields:packages", "all"), ("sort", "id"), ("limit", "1000"), ("count", "1")
    )
    assert page["meta"]["count"] == 600
    return list(page["collection"])


def operands(shipments: list[Shipment], field: str, operator: str) -> list[Any]:
    """Values that stand in the data, so that the borders of every comparison are tried."""
    values = [value for shipment in shipments for value in READ[field](shipment) if value is not None]
    middle, other = sorted(values)[len(values) // 2], values[len(values) // 3]
    match operator:
        case "null":
            return [True, False]
        case "in":
            return [[middle, other], []]
        case "start":
            return [str(middle)[:3]]
        case "end":
            return [str(middle)[-2:]]
        case "regex":
            return [f"^{re.escape(str(middle)[:2])}.*[13579]", r"\d{3}"]
        case _:
            return [middle, other]


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("field", FIELDS)
def test_every_operator_on_every_field(service, known: list[Shipment], field: str, operator: str):
    for operand in operands(known, field, operator):
        found = service.ids(("filter", f"{field}{{{operator}:{written(operand)}}}"))
        assert found == expected(known, field, operator, operand), (field, operator, operand)


@pytest.mark.parametrize("field", FIELDS)
def test_a_colon_means_equals(service, known: list[Shipment], field: str):
    for operand in operands(known, field, "eq"):
        assert service.ids(("filter", f"{field}:{operand}")) == expected(known, field, "eq", operand)


def test_conditions_in_one_object_are_all_met(service, known: list[Shipment]):
    low, high = known[100]["id"], known[200]["id"]
    assert service.ids(("filter", f"id{{gt:{low},lt:{high}}}")) == [each["id"] for each in known[101:200]]


def test_objects_in_an_array_are_alternatives(service, known: list[Shipment]):
    low, high = known[3]["id"], known[-3]["id"]
    found = service.ids(("filter", f"id[{{lt:{low}}},{{gt:{high}}}]"))
    assert found == [each["id"] for each in (*known[:3], *known[-2:])]


def test_several_filters_are_all_met(service, known: list[Shipment]):
    middle = known[300]
    found = service.ids(
        ("filter", f"id{{gt:{middle['id']}}}"),
        ("filter", "packed_at{null:false}"),
        ("filter", "unique_id{regex:'^0'}"),
    )
    assert found == [
        each["id"] for each in known[301:] if each.get("packed_at") is not None and each["unique_id"].startswith("0")
    ]
    assert found


def test_a_window_of_updates(service, known: list[Shipment]):
    after, before = "2025-05-01T00:00:00Z", "2025-05-08T00:00:00Z"
    found = service.ids(("filter", f'updated_at{{gt:"{after}",lt:"{before}"}}'))
    lowest, highest = datetime.fromisoformat(after), datetime.fromisoformat(before)
    inside = [each for each in known if lowest < datetime.fromisoformat(each["updated_at"]) < highest]
    assert found == [each["id"] for each in inside]
    assert 0 < len(found) < len(known)


@pytest.mark.parametrize(
    "moment",
    [
        "2025-05-01",
        "2025-05-01T00:00:00",
        "2025-05-01 00:00:00",
        "2025-05-01T02:00:00+02:00",
        "2025-05-01T00:00:00.000Z",
    ],
)
def test_times_may_be_written_in_several_ways(service, moment: str):
    plain = service.ids(("filter", "created_at{gt:'2025-05-01T00:00:00Z'}"))
    assert service.ids(("filter", f"created_at{{gt:'{moment}'}}")) == plain


@pytest.mark.parametrize(
    "text",
    [
        "id{gt:ID}",
        "id{'gt':ID}",
        'id{"gt":ID}',
        "id{gt:'ID'}",
        "id { gt : ID , }",
        "id[{gt:ID}]",
        "id[{gt:ID,},]",
        "id{gt:ID,null:false}",
        "id{\n\tgt: +ID}",
    ],
)
def test_json5_in_its_ways_of_writing(service, known: list[Shipment], text: str):
    written_out = text.replace("ID", str(known[590]["id"]))
    assert service.ids(("filter", written_out)) == [each["id"] for each in known[591:]]


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("weight{gt:1}", "filter.weight"),
        ("status:new", "filter.status"),
        ("tracking_ref:1", "filter.tracking_ref"),
        *(
            (f"id{{{operator}:1}}", f"filter.id.{operator}")
            for operator in ("gteq", "lteq", "gte", "lte", "neq", "nin")
        ),
        ("id{GT:1}", "filter.id.GT"),
        ("id{gt:abc}", "filter.id"),
        ("id{gt:1", "filter.id"),
        ("id{gt 1}", "filter.id"),
        ("id{gt:1}x", "filter.id"),
        ("id{gt:'1}", "filter.id"),
        ("id{}", "filter.id"),
        ("id[]", "filter.id"),
        ("id[1,2]", "filter.id"),
        ("id{gt:{}}", "filter.id.gt"),
        ("id{gt:null}", "filter.id.gt"),
        ("id{gt:true}", "filter.id.gt"),
        ("id{gt:1.5}", "filter.id.gt"),
        ("id{in:1}", "filter.id.in"),
        ("id{in:['x']}", "filter.id.in"),
        ("id{null:1}", "filter.id.null"),
        ("id:", "filter.id.eq"),
        ("id:x", "filter.id.eq"),
        ("retailer_id:null", "filter.retailer_id.eq"),
        ("updated_at{gt:5}", "filter.updated_at.gt"),
        ("updated_at{gt:'yesterday'}", "filter.updated_at.gt"),
        ("updated_at{gt:'2025-13-01T00:00:00Z'}", "filter.updated_at.gt"),
        ("unique_id{regex:'('}", "filter.unique_id.regex"),
        ("unique_id{start:true}", "filter.unique_id.start"),
        ("id", "filter"),
        ("id=1", "filter"),
        ("", "filter"),
        ("{gt:1}", "filter"),
    ],
)
def test_bad_filters_are_refused_and_named(service, text: str, key: str):
    assert service.refusal(("filter", text)) == key
    assert service.refusal(("filter", "id{gt:1}"), ("filter", text)) == key
