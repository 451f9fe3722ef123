"""Section 8 of the specification, row by row: what is at the limit is taken, what is beyond it is refused."""

import string
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tests.sandbox.conftest import Service, offences
from wms_sandbox.app import LOCATION_TAGS, MERCHANT_API, RETAILERS
from wms_sandbox.config import SandboxConfig

TAG: Mapping[str, Any] = {"name": "Cold", "color": "blue3"}
RETAILER: Mapping[str, Any] = {"code": "ACME", "name": "Acme"}
LOWEST, HIGHEST = -2_147_483_648, 2_147_483_647


def method(length: int) -> str:
    return "ups_".ljust(length, "G")


CREATES: list[tuple[str, Mapping[str, Any], str, list[Any], list[Any]]] = [
    (LOCATION_TAGS, TAG, "name", ["x", "ü" * 230], ["", "ü" * 231]),
    (LOCATION_TAGS, TAG, "description", ["", "ü" * 255], ["ü" * 256]),
    (LOCATION_TAGS, TAG, "sort_order", [LOWEST, HIGHEST], [LOWEST - 1, HIGHEST + 1]),
    (RETAILERS, RETAILER, "code", ["x", "ü" * 64], ["", "ü" * 65]),
    (RETAILERS, RETAILER, "name", ["x", "ü" * 255], ["", "ü" * 256]),
    (RETAILERS, RETAILER, "legal_name", ["", "ü" * 255], ["ü" * 256]),
    (RETAILERS, RETAILER, "dba", ["", "ü" * 255], ["ü" * 256]),
    (RETAILERS, RETAILER, "default_shipping_method", [method(255)], [method(256)]),
    (RETAILERS, RETAILER, "routing_guide_notes", ["", "ü" * 65_535], ["ü" * 65_536]),
]
"""Endpoint, a body, the key; values at the limits and values beyond them. Lengths are characters, not bytes."""


@pytest.mark.parametrize(
    ("path", "body", "key", "taken", "refused"), CREATES, ids=[f"{row[0]} {row[2]}" for row in CREATES]
)
def test_limits_of_creates(
    start: Callable[..., Service], path: str, body: Mapping[str, Any], key: str, taken: list[Any], refused: list[Any]
):
    for value in taken:
        service = start(shipments=0, families=20)
        assert service.post(path, {**body, key: value}).status_code == 201
        (held,) = service.sandbox.location_tags() or service.sandbox.retailers()
        assert held[key] == value
    for value in refused:
        assert list(offences(service.post(path, {**body, key: value}))) == [key]


def test_sort_order_has_a_default(start: Callable[..., Service]):
    assert start(shipments=0, families=20).post(LOCATION_TAGS, TAG).json()["resource"]["sort_order"] == 1


def test_a_stored_name_has_room_for_the_suffix(start: Callable[..., Service]):
    service = start(shipments=0, families=20)
    identity = service.post(LOCATION_TAGS, {**TAG, "name": "n" * 230}).json()["resource"]["id"]
    service.sandbox.delete_location_tag(identity)
    (tag,) = service.sandbox.location_tags()
    assert tag["name"] == "n" * 230 + f" (Deleted ID: {identity})"
    assert len(tag["name"] + "0" * (len(str(HIGHEST)) - len(str(identity)))) <= 255


@pytest.mark.parametrize(
    ("name", "taken", "refused"), [("limit", ["1", "1000"], ["0", "1001"]), ("count", ["0", "1"], ["-1", "2"])]
)
def test_limits_of_listings(service: Service, name: str, taken: list[str], refused: list[str]):
    for value in taken:
        page = service.listing((name, value))
        assert len(page["collection"]) == min(600, int(value) if name == "limit" else 100)
        assert ("count" in page["meta"]) is ((name, value) == ("count", "1"))
    for value in refused:
        assert service.refusal((name, value)) == name


def test_a_session_lives_for_24_hours_and_has_32_hexadecimal_characters(start: Callable[..., Service]):
    service = start(shipments=0, families=20)

    def run(name: str, *params: Any) -> dict[str, Any]:
        envelope = {"jsonrpc": "2.0", "id": 1, "method": name, "params": params}
        return dict(service.stranger().post(MERCHANT_API, json=envelope).json())

    session = run("login", SandboxConfig.merchant_username, SandboxConfig.merchant_api_key)["result"]
    assert len(session) == 32
    assert set(session) <= set(string.hexdigits)
    service.sandbox.advance(seconds=24 * 3600 - 1)
    assert "result" in run("call", session, "warehouse.list", [])
    service.sandbox.advance(seconds=1)
    assert run("call", session, "warehouse.list", [])["error"]["code"] == -32005
