"""One frozen sandbox for all tests that only read, and fresh ones for those that let time pass; all without a socket.

HTTP itself is tested in both forms (``test_transport.py``).
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from wms_sandbox.app import LOCATION_TAGS, RETAILERS, SHIPMENTS, Sandbox
from wms_sandbox.config import SandboxConfig
from wms_sandbox.kinds import PATHS
from wms_sandbox.server import SandboxServer
from wms_sandbox.transport import InProcess

TOKEN = "a-token"
NOW = datetime(2025, 6, 1, tzinfo=UTC)
CONFIG = SandboxConfig(token=TOKEN, now=NOW)
AUTHORISED = {"Authorization": f"Bearer {TOKEN}"}
EVERYTHING: tuple[tuple[str, str], ...] = (("fields", "all"), *((f"fields:{path}", "all") for path in PATHS))


@dataclass
class Service:
    """A sandbox with an authorised client."""

    sandbox: Sandbox
    client: httpx.Client
    transport: httpx.BaseTransport | None = None

    def stranger(self) -> httpx.Client:
        """A client without a token."""
        return httpx.Client(base_url=self.client.base_url, transport=self.transport)

    def get(self, *parameters: tuple[str, Any]) -> httpx.Response:
        return self.client.get(SHIPMENTS, params=list(parameters))

    def listing(self, *parameters: tuple[str, Any]) -> dict[str, Any]:
        """An envelope that must have come with 200."""
        response = self.get(*parameters)
        assert response.status_code == 200, response.text
        return dict(response.json())

    def ids(self, *parameters: tuple[str, Any]) -> list[int]:
        """The ids of a listing of at most 1,000 shipments, without anything else selected."""
        page = self.listing(("fields", "id"), ("sort", "id"), ("limit", "1000"), *parameters)
        assert page["has_more"] is False
        return [shipment["id"] for shipment in page["collection"]]

    def pages(self, *parameters: tuple[str, Any]) -> Iterator[dict[str, Any]]:
        """All pages, by following `next`."""
        page = self.listing(*parameters)
        yield page
        while page["has_more"]:
            page = dict(self.client.get(page["next"]).raise_for_status().json())
            yield page

    def post(self, path: str, body: Any, **options: Any) -> httpx.Response:
        return self.client.post(path, json=body, **options)


@pytest.fixture(scope="session")
def start() -> Callable[..., Service]:
    """Makes a sandbox of a configuration."""

    def _start(**settings: Any) -> Service:
        within = InProcess(Sandbox(replace(CONFIG, **settings)))
        client = httpx.Client(base_url=within.base_url, headers=AUTHORISED, transport=within)
        return Service(within.sandbox, client, within)

    return _start


@pytest.fixture(scope="session")
def on_socket() -> Iterator[Callable[..., Service]]:
    """Serves a sandbox of a configuration until the end."""
    with ExitStack() as running:

        def _start(**settings: Any) -> Service:
            server = running.enter_context(SandboxServer(Sandbox(replace(CONFIG, **settings))))
            client = httpx.Client(base_url=server.base_url, headers=AUTHORISED, timeout=30)
            return Service(server.sandbox, running.enter_context(client))

        yield _start


@pytest.fixture(scope="session")
def service(start: Callable[..., Service]) -> Service:
    """600 shipments that nobody changes."""
    return start(shipments=600, families=400)


@pytest.fixture
def fresh(start: Callable[..., Service]) -> Service:
    """Nothing was created in it, and there are no shipments."""
    return start(shipments=0, families=20)


@pytest.fixture(scope="session")
def bare(start: Callable[..., Service]) -> Service:
    """The same; nothing is ever created in it."""
    return start(shipments=0, families=20)


@pytest.fixture(scope="session")
def used(start: Callable[..., Service]) -> Service:
    """Has a tag and a retailer, and an archived one."""
    service = start(shipments=0, families=20)
    service.post(LOCATION_TAGS, {"name": "Cold", "color": "blue3"}).raise_for_status()
    for body in ({"code": "ACME", "name": "Acme Stores"}, {"code": "OLD", "name": "Old", "status": "archived"}):
        service.post(RETAILERS, body).raise_for_status()
    return service


@pytest.fixture(scope="session")
def small(start: Callable[..., Service]) -> Service:
    """Few shipments, for tests with a selection of their own each: every selection compiles every family anew."""
    return start(shipments=120, families=100)


@pytest.fixture(scope="session")
def everything(start: Callable[..., Service]) -> list[dict[str, Any]]:
    """All pages of a larger sandbox with all fields of all objects."""
    return list(start(shipments=2400).pages(*EVERYTHING, ("sort", "id"), ("limit", "1000")))


@pytest.fixture(scope="session")
def shipments(everything: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [shipment for page in everything for shipment in page["collection"]]


@pytest.fixture(scope="session")
def included(everything: list[dict[str, Any]]) -> dict[str, dict[int, dict[str, Any]]]:
    """Every included object by kind and id."""
    found: dict[str, dict[int, dict[str, Any]]] = {}
    for page in everything:
        for kind, things in page["included"].items():
            found.setdefault(kind, {}).update({thing["id"]: thing for thing in things})
    return found


@pytest.fixture(scope="session")
def objects(
    shipments: list[dict[str, Any]], included: dict[str, dict[int, dict[str, Any]]]
) -> dict[str, list[dict[str, Any]]]:
    """Every object by kind, inline ones too."""
    packages = [package for shipment in shipments for package in shipment["packages"]]
    return {kind: list(things.values()) for kind, things in included.items()} | {
        "Shipment": shipments,
        "ShipmentPackage": packages,
        "ShipmentPackageItem": [item for package in packages for item in package["items"]],
    }
