"""What takes more than one request; the tables of cases have all others."""

from typing import Any

from tests.sandbox.conftest import Service, start
from tests.sandbox.merchant_cases import API_KEY, EXPIRED, LIST, USERNAME
from wms_sandbox.app import MERCHANT_API


def asked(service: Service, method: str, *params: Any) -> Any:
    """An answer of the Merchant API."""
    with service.stranger() as client:
        return client.post(MERCHANT_API, json=LIST | {"method": method, "params": params}).json()


def test_a_session_serves_calls_for_a_day(fresh: Service):
    first = asked(fresh, "login", USERNAME, API_KEY)["result"]
    fresh.sandbox.advance(seconds=86_400 - 1)
    second = asked(fresh, "login", USERNAME, API_KEY)["result"]
    assert "result" in asked(fresh, "call", first, "warehouse.list", [])
    fresh.sandbox.advance(seconds=1)
    assert asked(fresh, "call", first, "warehouse.list", [])["error"]["code"] == EXPIRED
    assert "result" in asked(fresh, "call", second, "warehouse.list", [])


def test_equal_seeds_give_equal_bytes():
    query = {"fields:order": "all", "fields:order.items": "all", "fields:retailer": "all", "count": "1"}
    first, equal, other = (start(shipments=300, families=60, seed=seed) for seed in (7, 7, 8))
    assert first.get(**query).content == equal.get(**query).content != other.get(**query).content
    for service in (first, equal):
        service.sandbox.advance(changed=50, new=10, orders=5, retailers=3)
    assert first.get(**query).content == equal.get(**query).content
