"""The published description says what the sandbox does: schemathesis fuzzes the one against the other."""

import os
import subprocess
import sys
from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tests.sandbox.conftest import TOKEN, Service
from wms_sandbox import app
from wms_sandbox.app import DESCRIPTION
from wms_sandbox.kinds import PATHS

ROOT = Path(__file__).parents[2]
EXAMPLES = 10
"""Random requests for each operation, beside those that walk along every limit."""


@pytest.fixture(scope="module")
def description(service: Service) -> dict[str, Any]:
    return dict(service.client.get(DESCRIPTION).raise_for_status().json())


def fuzz(service: Service, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Checks answers, refusals, tokens and methods; positive and negative data."""
    command = [
        str(Path(sys.executable).with_name("st")),
        "run",
        f"{str(service.client.base_url).rstrip('/')}{DESCRIPTION}",
        f"--header=Authorization: Bearer {TOKEN}",
        f"--max-examples={EXAMPLES}",
        "--seed=1",
        "--phases=coverage,fuzzing",
        "--continue-on-failure",
        "--suppress-health-check=all",
        *options,
    ]
    environment = os.environ | {"SCHEMATHESIS_HOOKS": "tests.sandbox.schemathesis_hooks", "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_fuzzing_finds_nothing(on_socket: Callable[..., Service], tmp_path: Path):
    service = on_socket(shipments=60, families=40)
    run = fuzz(service, tmp_path)
    assert run.returncode == 0, run.stdout
    sandbox = service.sandbox
    created = (len(sandbox.location_tags()), len(sandbox.retailers()), len(sandbox.products()))
    assert min(created) > 10, created
    statuses = {(request.method, request.status) for request in sandbox.requests}
    assert statuses >= {("GET", 200), ("GET", 400), ("POST", 201), ("POST", 400), ("POST", 401)}
    assert ("PUT", 405) in statuses


WRONG = {
    "Response violates schema": JSONResponse({"status": 5}),
    "Undocumented status code": JSONResponse({"status": "ok"}, status_code=202),
    "Server error": Response(status_code=500),
}
"""What a run finds, and an answer in which it is."""


def test_fuzzing_would_find_something(on_socket: Callable[..., Service], tmp_path: Path):
    service = on_socket(shipments=0, families=20)
    given = cycle(WRONG.values())

    def wrong(request: Request) -> Response | None:
        return next(given) if request.url.path == app.STATUS else None

    service.sandbox.intercept = wrong
    run = fuzz(service, tmp_path, "--include-path=/v1/system/status")
    assert run.returncode == 1
    assert [found for found in WRONG if found not in run.stdout] == []


def test_every_endpoint_is_described(description: dict[str, Any]):
    endpoints = {app.SHIPMENTS: "get", app.STATUS: "get"}
    endpoints |= dict.fromkeys((app.LOCATION_TAGS, app.RETAILERS, app.PRODUCTS), "post")
    (server,) = description["servers"]
    described = {server["url"] + path: list(operations) for path, operations in description["paths"].items()}
    assert described == {path: [method] for path, method in endpoints.items()}


def test_every_parameter_of_the_listing_is_described(description: dict[str, Any]):
    listing = description["paths"]["/v1/shipping/shipments"]["get"]
    names = [parameter["name"] for parameter in listing["parameters"]]
    plain = ["filter", "sort", "count", "limit", "cursor_start", "cursor_end", "fields"]
    assert names == [*plain, *(f"fields:{path}" for path in PATHS)]


def test_every_schema_is_one_and_every_reference_leads_to_one(description: dict[str, Any]):
    schemas = description["components"]["schemas"]
    for schema in schemas.values():
        Draft202012Validator.check_schema(schema)
    for reference in references(description):
        assert reference.removeprefix("#/components/schemas/") in schemas


def references(value: Any) -> list[str]:
    if isinstance(value, list):
        return [found for each in value for found in references(each)]
    if not isinstance(value, dict):
        return []
    own = [value["$ref"]] if "$ref" in value else []
    return own + [found for each in value.values() for found in references(each)]
