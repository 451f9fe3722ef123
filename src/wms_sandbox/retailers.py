"""Retailers that callers create (specification 2.2), in addition to those of the pool."""

from typing import Any

from wms_sandbox.clock import Clock
from wms_sandbox.errors import ParameterError
from wms_sandbox.identities import RETAILERS, retailer_code, retailer_id
from wms_sandbox.newcomers import Newcomers
from wms_sandbox.pools import Pools

_DEFAULTS: dict[str, Any] = {
    "status": "active",
    "fulfillment_model": "wholesale",
    "parent_retailer": None,
    "legal_name": None,
    "dba": None,
    "default_duties_payor": None,
    "default_shipping_method": None,
    "allowed_shipping_methods": [],
    "routing_guide_notes": None,
    "custom_fields": {},
}
"""Defaults for fields that a body does not set; the specification does not show them."""


class Retailers:
    """The created retailers, oldest first. A code can be used only once, even if its retailer is archived."""

    def __init__(self, pools: Pools, newcomers: Newcomers, clock: Clock) -> None:
        self._pools = pools
        self._newcomers = newcomers
        self._clock = clock
        self._codes = {retailer_code(position) for position in range(RETAILERS)}
        self.created: list[dict[str, Any]] = []

    def create(self, body: dict[str, Any]) -> dict[str, Any]:
        """Create a retailer from a checked body."""
        position = RETAILERS + len(self.created)
        moment = self._clock.timestamp()
        identity = {"type": "Retailer", "id": retailer_id(position), "code": body["code"], "name": body.get("name")}
        retailer = identity | _DEFAULTS | body | {"created_at": moment, "updated_at": moment}
        self._codes.add(body["code"])
        self._pools.add(position, retailer)
        self._newcomers.add_retailer(retailer)
        self.created.append(retailer)
        return retailer

    def conflicts(self, body: dict[str, Any]) -> list[ParameterError]:
        """Return the violations of a checked body against existing retailers."""
        found: list[ParameterError] = []
        if body["code"] in self._codes:
            found.append(ParameterError("code", f"The code {body['code']!r} is already in use."))
        parent = body.get("parent_retailer")
        if isinstance(parent, dict):
            found += self._parent_conflicts(parent["id"])
        return found

    def _parent_conflicts(self, identity: int) -> list[ParameterError]:
        retailer = self._pools.find("Retailer", identity)
        if retailer is None:
            return [ParameterError("parent_retailer", f"There is no Retailer with id {identity}.")]
        if retailer["status"] == "archived":
            return [ParameterError("parent_retailer", f"Retailer {identity} is archived and cannot be a parent.")]
        return []
