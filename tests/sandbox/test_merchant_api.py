"""The Merchant API where it takes more than one request (5.2, 8); ``merchant_cases.py`` has all others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.sandbox.conftest import Service
from tests.sandbox.merchant_cases import API_KEY, EXPIRED, LIST, USERNAME
from wms_sandbox.app import MERCHANT_API, PRODUCTS, RETAILERS

DAY = 86_400
BASIC = (USERNAME, API_KEY)


def asked(service: Service, method: str, params: list[Any], **options: Any) -> dict[str, Any]:
    envelope = LIST | {"method": method, "params": params}
    with service.stranger() as client:
        return dict(client.post(MERCHANT_API, json=envelope, **options).json())


def result(service: Service, name: str, *arguments: Any) -> Any:
    return asked(service, "call", [None, name, list(arguments)], auth=BASIC)["result"]


@pytest.mark.parametrize("long", [False, True])
def test_a_session_serves_calls_for_a_day(start: Callable[..., Service], long: bool):
    service = start(shipments=0, families=20, rpc_long_codes=long)
    first = asked(service, "login", [*BASIC])["result"]
    service.sandbox.advance(seconds=DAY - 1)
    second = asked(service, "login", [*BASIC])["result"]
    assert first != second
    assert "result" in asked(service, "call", [first, "warehouse.list", []])
    service.sandbox.advance(seconds=1)
    assert asked(service, "call", [first, "warehouse.list", []])["error"]["code"] == EXPIRED
    assert "result" in asked(service, "call", [second, "warehouse.list", []])
    assert service.sandbox.logins == 2
    result(service, "warehouse.list")
    assert service.sandbox.logins == 2


def test_pages_hold_every_active_retailer_once(service: Service):
    first = result(service, "retailer.list")
    pages = [result(service, "retailer.list", None, {"page": page})["results"] for page in (1, 2, 3)]
    ids = [retailer["retailer_id"] for page in pages for retailer in page]
    archived = result(service, "retailer.list", {"status": "archived"})["totalCount"]
    assert (len(set(ids)), first["numPages"]) == (len(ids), 3)
    assert len(ids) == first["totalCount"] == 300 - archived


def test_what_was_created_is_found(fresh: Service):
    for body in ({"code": "OLD", "name": "Old", "status": "archived"}, {"code": "NEW", "name": "New"}):
        fresh.post(RETAILERS, body).raise_for_status()
    resource = {"type": "PackagingSupplies", "sku": "NEW-1", "name": "Tape"}
    created = fresh.post(PRODUCTS, {"resource": resource}).json()["resource"]
    [product] = result(fresh, "product.search", {"sku": "NEW-1"})
    assert (product["product_id"], product["type"]) == (created["id"], "PackagingSupplies")
    codes = {"code": {"in": ["OLD", "NEW"]}}
    assert [each["code"] for each in result(fresh, "retailer.list", codes)["results"]] == ["NEW"]


def test_one_shipment(service: Service):
    [listed] = service.listing(("limit", "1"))["collection"]
    shipment = result(service, "shipment.info", listed["unique_id"])
    assert (shipment["id"], shipment["status"]) == (listed["id"], listed["status"])
    assert [each["id"] for each in shipment["items"]] == [each["id"] for each in listed["items"]]
    assert all("quantity" in each for each in shipment["items"])
