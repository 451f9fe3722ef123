"""Creating retailers (specification 2.0, 2.2, 4.2, 7, 8)."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.sandbox.conftest import Service, conflicts, offences
from wms_sandbox.app import RETAILERS
from wms_sandbox.definitions import RETAILER, RETAILER_REQUIRED

LEAST = {"code": "ACME", "name": "Acme Stores"}
WHOLE: dict[str, Any] = {
    "type": "Retailer",
    "code": "WHOLE",
    "name": "Whole & Sons",
    "status": "active",
    "fulfillment_model": "mixed",
    "parent_retailer": {"type": "Retailer", "id": 101},
    "legal_name": "Whole Holdings, LLC",
    "dba": "Whole",
    "default_duties_payor": "third_party",
    "default_shipping_method": "ups_GROUND",
    "allowed_shipping_methods": ["ups_GROUND", "fedex_2DAY"],
    "routing_guide_notes": "Ring the bell.\nTwice.",
    "custom_fields": {
        "is_vip": {"value": True},
        "limit": {"value": 40},
        "note": {"value": "x"},
        "tier": {"id": 1, "label": "Gold"},
        "days": [{"id": 1, "label": "Mon"}, {"id": "2", "label": "Tue"}],
        "none": [],
        "deposit": {"amount": 12.5, "currency": "USD"},
    },
}


@pytest.fixture(scope="module")
def retailers(start: Callable[..., Service]) -> Service:
    return start(shipments=0, families=20)


@pytest.fixture
def fresh(start: Callable[..., Service]) -> Service:
    return start(shipments=0, families=20)


def active_parent(service: Service, status: str = "active") -> int:
    """A retailer created for it."""
    response = service.post(RETAILERS, {"code": f"parent-{status}", "name": "P", "status": status})
    return int(response.json()["resource"]["id"])


@pytest.mark.parametrize("status", [200, 201])
def test_a_retailer_is_created(start: Callable[..., Service], status: int):
    service = start(shipments=0, families=20, create_status=status)
    response = service.post(RETAILERS, LEAST)
    assert response.status_code == status
    body = response.json()
    assert list(body) == ["resource", "meta"]
    assert list(body["resource"]) == ["type", "id"]
    assert body["resource"]["type"] == "Retailer"
    assert list(body["meta"]) == ["processing_time"]
    (held,) = service.sandbox.retailers()
    assert held | LEAST | body["resource"] == held
    assert (held["status"], held["parent_retailer"], held["created_at"]) == ("active", None, "2025-06-01T00:00:00Z")


def test_every_field_is_held(fresh: Service):
    parent = {"type": "Retailer", "id": active_parent(fresh)}
    response = fresh.post(RETAILERS, WHOLE | {"parent_retailer": parent})
    assert response.status_code == 201, response.text
    held = fresh.sandbox.retailers()[-1]
    assert held | WHOLE | {"parent_retailer": parent} == held
    assert set(RETAILER["properties"]) == set(WHOLE)


def each(name: str, *values: Any) -> list[tuple[dict[str, Any], str]]:
    """These wrong values of one key."""
    return [({name: value}, name) for value in values]


REFERENCE = {"type": "Retailer", "id": 101}
WRONG: list[tuple[dict[str, Any], str]] = [
    *each("code", "", None, 5),
    *each("name", "", None, 5),
    *each("status", "ACTIVE", "deleted", "", None),
    *each("fulfillment_model", "retail", "dropship", "", None),
    *each("default_duties_payor", "sender", "", None),
    *each("default_shipping_method", "ups", "_GROUND", "ups_", 5),
    *each("allowed_shipping_methods", "ups_GROUND", {}, None),
    ({"allowed_shipping_methods": ["ups_GROUND", 5]}, "allowed_shipping_methods.1"),
    *(({name: 5}, name) for name in ("legal_name", "dba", "routing_guide_notes")),
    *each("parent_retailer", 101, "RET-0001", [], None),
    ({"parent_retailer": {"type": "Retailer"}}, "parent_retailer.id"),
    ({"parent_retailer": {"id": 101}}, "parent_retailer.type"),
    ({"parent_retailer": REFERENCE | {"type": "Merchant"}}, "parent_retailer.type"),
    ({"parent_retailer": REFERENCE | {"id": "101"}}, "parent_retailer.id"),
    ({"parent_retailer": REFERENCE | {"code": "x"}}, "parent_retailer.code"),
    *each("custom_fields", [], "x", None),
    *(
        ({"custom_fields": {"a": value}}, "custom_fields.a")
        for value in (
            5,
            None,
            {},
            {"value": 1.5},
            {"value": None},
            {"id": 1},
            {"id": 1, "label": "x", "more": 1},
            [{"id": 1}],
            {"amount": "5", "currency": "USD"},
            {"amount": 5, "currency": "usd"},
            {"amount": 5, "currency": "USDT"},
        )
    ),
    *(({name: "x"}, name) for name in ("id", "created_at", "updated_at", "resource", "codes")),
    ({"type": "Merchant"}, "type"),
]


@pytest.mark.parametrize(("change", "key"), WRONG, ids=str)
def test_what_breaks_a_rule_is_refused_and_named(retailers: Service, change: dict[str, Any], key: str):
    assert list(offences(retailers.post(RETAILERS, LEAST | change))) == [key]
    assert retailers.sandbox.retailers() == []


def test_required_fields_and_all_offences_at_once(retailers: Service):
    assert offences(retailers.post(RETAILERS, {})) == dict.fromkeys(RETAILER_REQUIRED, "Required.")
    found = offences(retailers.post(RETAILERS, {"name": "", "status": "x", "more": 1}, params={"fields": "all"}))
    assert list(found) == ["fields", "code", "more", "name", "status"]


@pytest.mark.parametrize("code", ["ACME", "RET-0007"])
def test_codes_are_unique_for_ever(fresh: Service, code: str):
    fresh.post(RETAILERS, LEAST | {"status": "archived"})
    refusal = conflicts(fresh.post(RETAILERS, LEAST | {"code": code}))
    assert list(refusal) == ["code"]
    assert "already in use" in refusal["code"]
    assert len(fresh.sandbox.retailers()) == 1


def test_a_parent_must_exist_and_not_be_archived(fresh: Service):
    archived = active_parent(fresh, "archived")
    for identity, reason in ((archived, "archived"), (100, "no Retailer"), (10**30, "no Retailer")):
        body = LEAST | {"parent_retailer": {"type": "Retailer", "id": identity}}
        refusal = conflicts(fresh.post(RETAILERS, body))
        assert list(refusal) == ["parent_retailer"]
        assert reason in refusal["parent_retailer"]


def test_all_conflicts_are_reported_at_once(fresh: Service):
    fresh.post(RETAILERS, LEAST)
    body = LEAST | {"parent_retailer": {"type": "Retailer", "id": 100}}
    assert set(conflicts(fresh.post(RETAILERS, body))) == {"code", "parent_retailer"}


def test_a_default_method_that_is_not_allowed_is_warned_of(fresh: Service):
    body = LEAST | {"default_shipping_method": "ups_GROUND", "allowed_shipping_methods": ["dhl_EXPRESS"]}
    (warning,) = fresh.post(RETAILERS, body).json()["resource"]["warnings"]
    assert "ups_GROUND" in warning
