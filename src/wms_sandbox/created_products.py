"""Products and packaging items that callers create (specification 2.3), in addition to those of the pool."""

from typing import Any

from wms_sandbox.clock import Clock
from wms_sandbox.errors import ParameterError
from wms_sandbox.identities import PACKAGINGS, PRODUCTS, merchant_id, product_id, reference, sku
from wms_sandbox.kinds import PRODUCT_KINDS
from wms_sandbox.newcomers import Newcomers
from wms_sandbox.pools import Pools

_POOL_SIZE = PRODUCTS + PACKAGINGS * (len(PRODUCT_KINDS) - 1)
_MERCHANT = reference("Merchant", merchant_id(0))
"""Of a product whose body has none."""
_UNITS = {"weight": "lb", "net_weight": "lb", "dimensions": "in", "volume": "in^3"}


class Products:
    """The created products, oldest first. The interface does not promise that a SKU is unique, so it is not."""

    def __init__(self, pools: Pools, newcomers: Newcomers, clock: Clock) -> None:
        self._pools = pools
        self._newcomers = newcomers
        self._clock = clock
        self._skus = {sku(position, is_odd=pools.is_odd) for position in range(_POOL_SIZE)}
        self.created: list[dict[str, Any]] = []

    def create(self, body: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
        """Create a product from a checked resource object. Return it with warnings."""
        position = _POOL_SIZE + len(self.created)
        moment = self._clock.timestamp()
        identity = {"type": body["type"], "id": product_id(position)}
        defaults = {"is_enabled": True, "merchant": _MERCHANT}
        product = identity | defaults | with_units(body) | {"created_at": moment, "updated_at": moment}
        warnings = [f"Another product has the sku {body['sku']!r} too."] if body["sku"] in self._skus else []
        self._skus.add(body["sku"])
        self._pools.add(position, product)
        self._newcomers.add_product(product)
        self.created.append(product)
        return product, warnings

    def conflicts(self, body: dict[str, Any]) -> list[ParameterError]:
        """Return the violations of a checked resource object against existing objects: its merchant must exist."""
        identity = body.get("merchant", _MERCHANT)["id"]
        if self._pools.position("Merchant", identity) is not None:
            return []
        return [ParameterError("resource.merchant", f"There is no Merchant with id {identity}.")]


def with_units(body: dict[str, Any]) -> dict[str, Any]:
    """Return the object as responses show it: measures get a unit (specification 2.0)."""
    nested = {name: with_units(value) for name, value in body.items() if isinstance(value, dict)}
    measures = {name: {"unit": unit} | nested[name] for name, unit in _UNITS.items() if name in nested}
    return body | nested | measures
