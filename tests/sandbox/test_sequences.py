"""What takes more than one request; the tables of cases have all others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.sandbox.conftest import Service
from tests.sandbox.merchant_cases import API_KEY, EXPIRED, LIST, USERNAME
from wms_sandbox.app import MERCHANT_API

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
    pages = [result(service, "retailer.list", None, {"page": page}) for page in (1, 2, 3)]
    ids = {retailer["retailer_id"] for page in pages for retailer in page["results"]}
    archived = result(service, "retailer.list", {"status": "archived"})["totalCount"]
    assert [page["numPages"] for page in pages] == [3, 3, 3]
    assert len(ids) == sum(len(page["results"]) for page in pages) == pages[0]["totalCount"] == 300 - archived


def test_a_shipment_is_the_one_listed(service: Service):
    listed = service.shipments[0]
    shipment = result(service, "shipment.info", listed["unique_id"])
    assert (shipment["id"], shipment["status"]) == (listed["id"], listed["status"])
    assert [item["id"] for item in shipment["items"]] == [item["id"] for item in listed["items"]]
    assert all("quantity" in item for item in shipment["items"])


def test_equal_seeds_give_equal_bytes(start: Callable[..., Service]):
    query = (("fields:order", "all"), ("fields:order.items", "all"), ("fields:retailer", "all"), ("count", "1"))
    one, equal, other = (start(shipments=300, families=60, seed=seed) for seed in (7, 7, 8))
    assert one.get(*query).content == equal.get(*query).content != other.get(*query).content
    for service in (one, equal):
        service.sandbox.advance(changed=50, new=10, orders=5, retailers=3)
    assert one.get(*query).content == equal.get(*query).content
