"""What takes more than one request, or is not in the JSON of an answer; the tables of cases have all others."""

import gzip
from typing import Any

import pytest

from tests.sandbox.conftest import Service, start
from tests.sandbox.merchant_cases import API_KEY, EXPIRED, LIST, USERNAME
from wms_sandbox.app import MERCHANT_API, SHIPMENTS


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


@pytest.mark.parametrize(
    ("accepted", "is_compressed"),
    [("gzip", True), ("deflate, gzip;q=0.5", True), ("identity", False)],
)
def test_gzip_only_when_it_is_offered(service: Service, accepted: str, is_compressed: bool):
    """And every answer has the date of the sandbox."""
    with service.client.stream("GET", SHIPMENTS, headers={"Accept-Encoding": accepted}) as response:
        raw = b"".join(response.iter_raw())
    assert (response.headers.get("content-encoding") == "gzip") is is_compressed
    assert response.headers.get_list("date") == ["Sun, 01 Jun 2025 00:00:00 GMT"]
    plain = service.client.get(SHIPMENTS, headers={"Accept-Encoding": "identity"}).content
    assert (gzip.decompress(raw) if is_compressed else raw) == plain
