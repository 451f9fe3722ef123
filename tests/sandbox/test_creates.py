"""Creates that need more than one request (2.1, 4.2, 4.3); ``create_cases.py`` has all others."""

from __future__ import annotations

from tests.sandbox.case import conflicts
from tests.sandbox.conftest import Service
from tests.sandbox.create_bodies import LEAST, MOMENT, WHOLE_PRODUCT, WHOLE_RETAILER
from tests.sandbox.create_cases import body
from wms_sandbox.app import DELETE_TAG, LOCATION_TAGS, PRODUCTS, RETAILERS
from wms_sandbox.definitions import PALETTE, RETAILER
from wms_sandbox.definitions import PRODUCTS as DEFINITIONS


def test_the_cases_have_every_field_and_color():
    assert set(RETAILER["properties"]) == set(WHOLE_RETAILER)
    assert set(DEFINITIONS["Product"]["properties"]) == set(WHOLE_PRODUCT)
    assert {"black1", "brown2", "gray3", "green4", "orange5", "purple1", "red2", "blue5", "yellow5"} < set(PALETTE)
    assert len(set(PALETTE)) == 45


def test_what_is_odd_is_taken_with_a_warning(fresh: Service):
    odd = {"default_shipping_method": "ups_GROUND", "allowed_shipping_methods": ["dhl_EXPRESS"]}
    [warning] = fresh.post(RETAILERS, body(RETAILERS, odd)).json()["resource"]["warnings"]
    assert "ups_GROUND" in warning
    first, second = (fresh.post(PRODUCTS, body(PRODUCTS, {})).json()["resource"] for _ in range(2))
    assert "warnings" not in first
    assert "SKU-1" in second["warnings"][0]
    assert first["id"] != second["id"]
    referring = {"type": "PackagingInstruction", "instruction_options": {"associated_products": [{**first}]}}
    assert fresh.post(PRODUCTS, body(PRODUCTS, referring)).status_code == 201


def test_a_deleted_tag_stays_and_frees_its_name(fresh: Service):
    named = body(LOCATION_TAGS, {"name": "n" * 230})
    other, first = (fresh.post(LOCATION_TAGS, sent).json()["resource"]["id"] for sent in (LEAST[LOCATION_TAGS], named))
    conflicts("name")(fresh.post(LOCATION_TAGS, named), fresh)
    fresh.sandbox.advance(seconds=60)
    assert fresh.client.post(DELETE_TAG, json={"id": first}).status_code == 200
    assert fresh.post(LOCATION_TAGS, named).status_code == 201
    conflicts("name")(fresh.post(LOCATION_TAGS, named), fresh)
    tags = fresh.sandbox.location_tags()
    assert [tag["id"] for tag in tags[:2]] == [other, first]
    name = f"{'n' * 230} (Deleted ID: {first})"
    deleted = MOMENT | {"updated_at": "2025-06-01T00:01:00Z", "name": name, "is_deleted": True}
    assert tags[1] | deleted == tags[1]
    assert fresh.client.post(DELETE_TAG, json={"id": first}).status_code == 404
