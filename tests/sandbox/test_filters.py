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
