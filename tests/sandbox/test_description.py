"""The published description has every endpoint, and judges bodies as the creates do."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.sandbox.conftest import Service
from tests.sandbox.create_cases import BODIES
from wms_sandbox import app
from wms_sandbox.app import DESCRIPTION, LOCATION_TAGS
from wms_sandbox.kinds import PATHS
from wms_sandbox.location_tags import clean_name


@pytest.fixture(scope="module")
def description(service: Service) -> dict[str, Any]:
    return dict(service.client.get(DESCRIPTION).raise_for_status().json())


def test_every_endpoint_and_parameter_is_described(description: dict[str, Any]):
    endpoints = {app.SHIPMENTS: "get", app.STATUS: "get"}
    endpoints |= dict.fromkeys((app.LOCATION_TAGS, app.RETAILERS, app.PRODUCTS), "post")
    [server] = description["servers"]
    described = {server["url"] + path: list(operations) for path, operations in description["paths"].items()}
    assert described == {path: [method] for path, method in endpoints.items()}
    listing = description["paths"]["/v1/shipping/shipments"]["get"]
    plain = ["filter", "sort", "count", "limit", "cursor_start", "cursor_end", "fields"]
    assert [each["name"] for each in listing["parameters"]] == [*plain, *(f"fields:{path}" for path in PATHS)]


def test_a_create_takes_the_bodies_described(description: dict[str, Any]):
    """But for names of tags, which are measured after they were cleaned."""
    for path, body, taken in BODIES:
        operation = description["paths"][path.removeprefix("/api/global")]["post"]
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        is_valid = Draft202012Validator(schema | {"components": description["components"]}).is_valid(body)
        name = body.get("name") if path == LOCATION_TAGS and isinstance(body, dict) else None
        assert is_valid == taken or (isinstance(name, str) and clean_name(name) != name), body
