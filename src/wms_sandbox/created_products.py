"""Products and packaging items that callers create (specification 2.3), in addition to those of the pool."""

from collections.abc import Iterator
from typing import Any

from wms_sandbox.clock import Clock
from wms_sandbox.errors import ParameterError
from wms_sandbox.identities import (
    LOT_TYPES,
    PACKAGINGS,
    PRODUCTS,
    REGULATIONS,
    merchant_id,
    product_id,
    reference,
    sku,
)
from wms_sandbox.kinds import PRODUCT_KINDS
from wms_sandbox.newcomers import Newcomers
from wms_sandbox.options import OPTIONS
from wms_sandbox.pools import Pools

_POOL_SIZE = PRODUCTS + PACKAGINGS * (len(PRODUCT_KINDS) - 1)
_BARE_KINDS = {"LotType": LOT_TYPES, "Regulation": REGULATIONS}
_UNITS = {"weight": "lb", "net_weight": "lb", "dimensions": "in", "volume": "in^3"}


class Products:
    """The created products, oldest first. The interface does not promise that a SKU is unique, so it is not."""

    def __init__(self, pools: Pools, newcomers: Newcomers, clock: Clock) -> None:
        self._pools = pools
        self._newcomers = newcomers
        self._clock = clock
        self._skus = {sku(position) for position in range(_POOL_SIZE)}
        self.created: list[dict[str, Any]] = []

    def create(self, body: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
        """Create a product from a checked resource object. Return it with warnings."""
        position = _POOL_SIZE + len(self.created)
        moment = self._clock.timestamp()
        identity = {"type": body["type"], "id": product_id(position)}
        defaults = {"is_enabled": True, "merchant": reference("Merchant", merchant_id(0))}
        product = identity | defaults | with_units(body) | {"created_at": moment, "updated_at": moment}
        warnings = [f"Another product has the sku {body['sku']!r} too."] if body["sku"] in self._skus else []
        self._skus.add(body["sku"])
        self._pools.add(position, product)
        self._newcomers.add_product(product)
        self.created.append(product)
        return product, warnings

    def conflicts(self, body: dict[str, Any]) -> list[ParameterError]:
        """Return the violations of a checked resource object against existing objects."""
        return [
            ParameterError(f"resource.{path}", f"There is no {kind} with id {identity}.")
            for path, kind, identity in _references(body, "")
            if not self._exists(kind, identity)
        ]

    def _exists(self, kind: str, identity: int) -> bool:
        if kind in _BARE_KINDS:
            return 1 <= identity <= _BARE_KINDS[kind]
        return self._pools.position(kind, identity) is not None


def with_units(body: dict[str, Any]) -> dict[str, Any]:
    """Return the object as responses show it: measures get a unit (specification 2.0)."""
    nested = {"regulated_goods", *(name for name, _ in OPTIONS.values())}
    shown: dict[str, Any] = {}
    for name, value in body.items():
        if not isinstance(value, dict):
            shown[name] = value
        elif name in nested:
            shown[name] = with_units(value)
        else:
            shown[name] = {"unit": _UNITS[name]} | value if name in _UNITS else value
    return shown


def _references(value: object, path: str) -> Iterator[tuple[str, str, int]]:
    """Yield path, kind and id of every reference, except in custom fields, which may contain anything."""
    if isinstance(value, dict):
        if set(value) == {"type", "id"}:
            yield path, value["type"], value["id"]
        for name, each in value.items():
            if name != "custom_fields":
                yield from _references(each, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for position, each in enumerate(value):
            yield from _references(each, f"{path}.{position}")
