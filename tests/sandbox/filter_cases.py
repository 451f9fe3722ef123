"""The cases of filters (4.4, facts): every operator on every field against a plain reading, and what is refused."""

import json
import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

import httpx

from tests.deferred import deferred
from tests.sandbox.case import has_ids, listing, refused
from tests.sandbox.conftest import Service
from wms_sandbox.filters import OPERATORS

LATER = "fields=id&sort=id&limit=1000&filter="
FILTERABLE: dict[str, tuple[Callable[[Any], list[Any]], Any, Any]] = {
    # what a shipment has of it, and two values that stand in the data, so that the borders are tried
    "id": (lambda shipment: [shipment["id"]], 100919, 100819),
    "unique_id": (lambda shipment: [shipment["unique_id"]], "0799177561", "0798385661"),
    "created_at": (
        lambda shipment: [shipment["created_at"]],
        "2025-04-18T04:19:11Z",
        "2025-04-12T16:53:03+00:00",
    ),
    "updated_at": (
        lambda shipment: [shipment["updated_at"]],
        "2025-04-24T16:06:54Z",
        "2025-04-16T21:19:28+00:00",
    ),
    "packed_at": (
        lambda shipment: [shipment.get("packed_at")],
        "2025-04-20T17:30:53Z",
        "2025-04-30T15:13:00+00:00",
    ),
    "retailer_id": (lambda shipment: [(shipment.get("retailer") or {}).get("id")], 110, 815),
    "tracking_number": (
        lambda shipment: [package.get("tracking_ref") for package in shipment["packages"]],
        "PRO-10100919000",
        "6129910100819000",
    ),
    "alt_tracking_number": (
        lambda shipment: [package.get("alt_tracking_number") for package in shipment["packages"]],
        "ALT 7010100819000%",
        "ALT 7010100063000%",
    ),
}
MEETS: dict[str, Callable[[Any, Any], bool]] = {
    "eq": lambda value, other: in_order(value) == in_order(other),
    "gt": lambda value, other: in_order(value) > in_order(other),
    "lt": lambda value, other: in_order(value) < in_order(other),
    "from": lambda value, other: in_order(value) >= in_order(other),
    "to": lambda value, other: in_order(value) <= in_order(other),
    "in": lambda value, others: in_order(value) in map(in_order, others),
    "start": lambda value, other: str(value).startswith(other),
    "end": lambda value, other: str(value).endswith(other),
    "regex": lambda value, other: re.search(other, str(value)) is not None,
}


def in_order(value: Any) -> Any:
    """A time as such, however it is written; other values as they are."""
    return datetime.fromisoformat(value) if isinstance(value, str) and value.startswith("2025-") else value


def meets(shipment: Any, field: str, operator: str, operand: Any) -> bool:
    """A plain reading of a filter."""
    read, *_ = FILTERABLE[field]
    values = [value for value in read(shipment) if value is not None]
    return (not values) is operand if operator == "null" else any(MEETS[operator](value, operand) for value in values)


def operands(operator: str, value: Any, other: Any) -> tuple[Any, ...]:
    """What is compared with in the two requests of an operator on a field."""
    return {
        "null": (True, False),
        "in": ([value, other], []),
        "start": (str(value)[:3],),
        "end": (str(value)[-2:],),
        "regex": (f"^{re.escape(str(value)[:2])}.*[13579]", r"\d{3}"),
    }.get(operator, (value, other))


@deferred
def has_what(response: httpx.Response, service: Service, field: str, operator: str, operand: Any) -> None:
    """The shipments that meet a filter, which are some unless it cannot be met."""
    found = [shipment["id"] for shipment in response.json()["collection"]]
    assert found == [shipment["id"] for shipment in service.shipments if meets(shipment, field, operator, operand)]
    assert found or operator == "null" or operand == []


CASES = [
    *(
        listing("facts", f"{LATER}{field}{{{operator}:{json.dumps(operand)}}}", has_what(field, operator, operand))
        for field, (_, value, other) in FILTERABLE.items()
        for operator in OPERATORS
        for operand in operands(operator, value, other)
    ),
    *(
        listing("facts", f"{LATER}{field}:{operand}", has_what(field, "eq", operand))
        for field, (_, *values) in FILTERABLE.items()
        for operand in values
    ),
    *(
        listing(
            "facts",
            f'{LATER}created_at{{gt:"{moment}"}}',
            has_what("created_at", "gt", "2025-05-01T00:00:00Z"),
        )
        for moment in (
            "2025-05-01",
            "2025-05-01T00:00:00",
            "2025-05-01 00:00:00",
            "2025-05-01T02:00:00+02:00",
            "2025-05-01T00:00:00.000Z",
        )
    ),
    *(
        listing("facts", f"{LATER}{text}", has_ids(lambda ids: [key for key in ids if key > 101000]))
        for text in (
            "id{gt:101000}",
            'id{"gt":101000}',
            'id{gt:"101000"}',
            "id { gt : 101000 }",
            "id[{gt:101000}]",
            "id{gt:101000,null:false}",
        )
    ),
    listing(
        "facts", f"{LATER}id{{gt:101000,lt:101500}}", has_ids(lambda ids: [key for key in ids if 101000 < key < 101500])
    ),
    listing(
        "facts",
        f"{LATER}id[{{lt:100500}},{{gt:101500}}]",
        has_ids(lambda ids: [key for key in ids if not 100500 <= key <= 101500]),
    ),
    listing(
        "facts",
        f"{LATER}id{{gt:100500}}&filter=id{{lt:101000}}",
        has_ids(lambda ids: [key for key in ids if 100500 < key < 101000]),
    ),
    *(
        listing("4.4", f"filter={text}", refused(key))
        for text, key in (
            ("weight{gt:1}", "filter.weight"),
            ("status:new", "filter.status"),
            ("tracking_ref:1", "filter.tracking_ref"),
            ("id{GT:1}", "filter.id.GT"),
            ("id{gt:abc}", "filter.id"),
            ("id{gt:1", "filter.id"),
            ("id{gt 1}", "filter.id"),
            ("id{gt:1}x", "filter.id"),
            ('id{gt:"1}', "filter.id"),
            ("id{'gt':1}", "filter.id"),
            ("id{gt:1,}", "filter.id"),
            ("id{1:2}", "filter.id"),
            ("id{gt:1 lt:2}", "filter.id"),
            ("id[,]", "filter.id"),
            ("id{}", "filter.id"),
            ("id[]", "filter.id"),
            ("id[1,2]", "filter.id"),
            ("id{gt:{}}", "filter.id.gt"),
            ("id{gt:null}", "filter.id.gt"),
            ("id{gt:true}", "filter.id.gt"),
            ("id{gt:1.5}", "filter.id.gt"),
            ("id{in:1}", "filter.id.in"),
            ('id{in:["x"]}', "filter.id.in"),
            ("id{null:1}", "filter.id.null"),
            ("id:", "filter.id.eq"),
            ("id:x", "filter.id.eq"),
            ("retailer_id:null", "filter.retailer_id.eq"),
            ("updated_at{gt:5}", "filter.updated_at.gt"),
            ('updated_at{gt:"yesterday"}', "filter.updated_at.gt"),
            ('updated_at{gt:"2025-13-01T00:00:00Z"}', "filter.updated_at.gt"),
            ('unique_id{regex:"("}', "filter.unique_id.regex"),
            ("unique_id{start:true}", "filter.unique_id.start"),
            ("id", "filter"),
            ("id=1", "filter"),
            ("", "filter"),
            ("{gt:1}", "filter"),
        )
    ),
    *(
        listing("facts", f"filter=id{{{operator}:1}}", refused(f"filter.id.{operator}"))
        for operator in ("gteq", "lteq", "gte", "lte", "neq", "nin")
    ),
]
