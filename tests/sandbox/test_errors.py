"""Section 7.1 and 7.2 of the specification: which violation has which status and type, all in one form of body."""

from collections.abc import Callable
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.sandbox.conftest import Service
from wms_sandbox.app import DESCRIPTION, LOCATION_TAGS, PRODUCTS, RETAILERS, SHIPMENTS
from wms_sandbox.identities import RETAILERS as POOL
from wms_sandbox.identities import merchant_id, retailer_id

TAG = {"name": "Cold", "color": "blue3"}
RETAILER = {"code": "ACME", "name": "Acme"}
PRODUCT = {"type": "Product", "sku": "S", "name": "N"}
ARCHIVED = {"type": "Retailer", "id": retailer_id(POOL + 1)}
"""The second one that the fixture creates."""

NOBODY = {"type": "Merchant", "id": merchant_id(0) - 1}
JSON = {"Content-Type": "application/json"}

Request = dict[str, Any]


def post(path: str, body: Any) -> Request:
    return {"method": "POST", "url": path, "json": body}


VIOLATIONS: dict[str, tuple[Request, int, str]] = {
    "no JSON": ({"method": "POST", "url": RETAILERS, "content": b"{", "headers": JSON}, 400, "parser"),
    "not said to be JSON": ({"method": "POST", "url": RETAILERS, "content": b"{}"}, 400, "parser"),
    "no object": (post(LOCATION_TAGS, []), 400, "parameters"),
    "length": (post(RETAILERS, RETAILER | {"code": ""}), 400, "parameters"),
    "enum": (post(LOCATION_TAGS, TAG | {"color": "pink1"}), 400, "parameters"),
    "range": (post(LOCATION_TAGS, TAG | {"sort_order": 2**31}), 400, "parameters"),
    "type": (post(PRODUCTS, {"resource": PRODUCT | {"weight": 5}}), 400, "parameters"),
    "required field": (post(RETAILERS, {"code": "X"}), 400, "parameters"),
    "unknown property": (post(LOCATION_TAGS, TAG | {"colour": "x"}), 400, "parameters"),
    "read-only field": (post(RETAILERS, RETAILER | {"id": 1}), 400, "parameters"),
    "unwrapped body": (post(PRODUCTS, PRODUCT), 400, "parameters"),
    "unknown parameter": ({"method": "GET", "url": f"{SHIPMENTS}?page=2"}, 400, "parameters"),
    "unknown filter field": ({"method": "GET", "url": f"{SHIPMENTS}?filter=name:x"}, 400, "parameters"),
    "name of a live tag": (post(LOCATION_TAGS, TAG), 422, "unable_to_process"),
    "code in use": (post(RETAILERS, RETAILER), 422, "unable_to_process"),
    "archived parent": (
        post(RETAILERS, {"code": "C", "name": "C", "parent_retailer": ARCHIVED}),
        422,
        "unable_to_process",
    ),
    "reference to nothing": (post(PRODUCTS, {"resource": PRODUCT | {"merchant": NOBODY}}), 422, "unable_to_process"),
}


@pytest.fixture(scope="module")
def used(start: Callable[..., Service]) -> Service:
    """Has the tag and the retailer already, and an archived one."""
    service = start(shipments=10, families=20)
    service.post(LOCATION_TAGS, TAG).raise_for_status()
    service.post(RETAILERS, RETAILER).raise_for_status()
    archived = service.post(RETAILERS, {"code": "OLD", "name": "Old", "status": "archived"}).json()["resource"]
    assert archived == ARCHIVED
    return service


@pytest.fixture(scope="module")
def form(used: Service) -> Draft202012Validator:
    return Draft202012Validator(used.client.get(DESCRIPTION).json()["components"]["schemas"]["Errors"])


@pytest.mark.parametrize("violation", VIOLATIONS)
def test_every_violation_has_its_status_and_type(used: Service, form: Draft202012Validator, violation: str):
    request, status, kind = VIOLATIONS[violation]
    before = (used.sandbox.location_tags(), used.sandbox.retailers(), used.sandbox.products())
    response = used.client.request(**request)
    assert response.status_code == status
    form.validate(response.json())
    (error,) = response.json()["errors"]
    assert error["type"] == kind
    assert error["message"].endswith(".")
    assert ("details" in error) is (kind != "parser")
    assert (used.sandbox.location_tags(), used.sandbox.retailers(), used.sandbox.products()) == before
