"""One frozen sandbox for all tests that only read, and fresh ones for those that let time pass; all without a socket.

On a socket it serves tests of the product.
"""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

import httpx
import pytest

from wms_sandbox.app import LOCATION_TAGS, PRODUCTS, RETAILERS, SHIPMENTS, Sandbox
from wms_sandbox.config import SandboxConfig
from wms_sandbox.transport import InProcess

TOKEN = "a-token"
CONFIG = SandboxConfig(token=TOKEN, now=datetime(2025, 6, 1, tzinfo=UTC), odd_values=True)
AUTHORISED = {"Authorization": f"Bearer {TOKEN}"}
LONGEST_NAME = "n" * 230


@dataclass
class Service:
    """A sandbox with an authorised client."""

    sandbox: Sandbox
    client: httpx.Client

    def stranger(self) -> httpx.Client:
        """A client without a token."""
        return httpx.Client(base_url=InProcess.base_url, transport=InProcess(self.sandbox))

    def get(self, **parameters: str) -> httpx.Response:
        """List shipments."""
        return self.client.get(SHIPMENTS, params=parameters).raise_for_status()

    @cached_property
    def shipments(self) -> list[dict[str, Any]]:
        """All shipments of a service that nobody changes, at most 1,000, in rising order of their ids."""
        page = self.get(**{"fields": "all", "fields:packages": "all", "sort": "id", "limit": "1000"}).json()
        assert page["has_more"] is False
        return list(page["collection"])

    @property
    def ids(self) -> list[int]:
        """Their ids."""
        return [shipment["id"] for shipment in self.shipments]

    def post(self, path: str, body: Any) -> httpx.Response:
        """What must be taken."""
        return self.client.post(path, json=body).raise_for_status()


def start(**settings: Any) -> Service:
    """A sandbox of a configuration."""
    within = InProcess(Sandbox(replace(CONFIG, **settings)))
    return Service(within.sandbox, httpx.Client(base_url=within.base_url, headers=AUTHORISED, transport=within))


@pytest.fixture(scope="session")
def service() -> Service:
    """600 shipments that nobody changes."""
    return start(shipments=600, families=400)


@pytest.fixture
def fresh() -> Service:
    """Nothing was created in it, and there are no shipments."""
    return start(shipments=0, families=20)


@pytest.fixture
def used(fresh: Service) -> Service:
    """Has two tags, of which the second has the name of a deleted one; a retailer, an archived one, and a product."""
    for name in ("Cold", LONGEST_NAME):
        fresh.post(LOCATION_TAGS, {"name": name, "color": "blue3"})
    fresh.sandbox.advance(seconds=60)
    fresh.sandbox.delete_location_tag(2)
    for path, body in (
        (LOCATION_TAGS, {"name": LONGEST_NAME, "color": "blue3"}),
        (RETAILERS, {"code": "ACME", "name": "Acme Stores"}),
        (RETAILERS, {"code": "OLD", "name": "Old", "status": "archived"}),
        (PRODUCTS, {"resource": {"type": "PackagingSupplies", "sku": "SKU-1", "name": "Tape"}}),
    ):
        fresh.post(path, body)
    return fresh
