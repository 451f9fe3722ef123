"""The inner methods of `call` that wms-sync uses, over the same data as listings and creates.

The specification shows none of their results; these follow the vendor's public documentation. Those that search take
filters and options:

    {"sku": "X"}                    equals
    {"sku": {"in": ["X", "Y"]}}     any of them
    {"limit": 50, "page": 2}
"""

from collections.abc import Callable
from typing import Any

from wms_sandbox.kinds import PRODUCT_KINDS
from wms_sandbox.pools import Pools

Row = dict[str, Any]

UNKNOWN_METHOD, INVALID_PARAMS = -32601, -32602
NOT_FOUND, INVALID_FILTERS = 101, 108
"""The vendor's own codes (service-facts, "JSON-RPC"); the specification does not show them."""


class RpcError(Exception):
    """An answer `{code, message}`."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


class Methods:
    """The inner methods: each takes its arguments and returns the result, or raises RpcError."""

    def __init__(self, pools: Pools) -> None:
        self._pools = pools
        self._methods: dict[str, Callable[..., Any]] = {
            "product.search": self._search_products,
            "product.info": self._product,
            "retailer.list": self._list_retailers,
            "warehouse.list": self._list_warehouses,
        }

    def call(self, name: str, arguments: list[Any]) -> Any:  # noqa: ANN401 - any JSON value
        """Call the named method. Return its result."""
        if name not in self._methods:
            raise RpcError(UNKNOWN_METHOD, f"Method not found: {name}.")
        try:
            return self._methods[name](*arguments)
        except (AttributeError, TypeError) as error:  # too many or too few arguments, or of wrong types
            raise RpcError(INVALID_PARAMS, f"Invalid params: {error}.") from None

    def _search_products(self, filters: Row | None = None, options: Row | None = None) -> list[Row]:
        return _page(_matching(self._products(), filters or {}), **(options or {}))

    def _product(self, sku: str) -> Row:
        for product in self._products():
            if product["sku"] == sku:
                return product
        raise RpcError(NOT_FOUND, f"Product {sku} does not exist.")

    def _list_retailers(self, filters: Row | None = None, options: Row | None = None) -> Row:
        """Return retailers; archived ones are hidden unless a filter asks for a status (specification 2.2)."""
        found = _matching([_retailer(each) for each in self._pools.all("Retailer")], filters or {})
        if "status" not in (filters or {}):
            found = [retailer for retailer in found if retailer["status"] != "archived"]
        options = {"limit": 100} | (options or {})
        results = _page(found, **options)
        return {"results": results, "totalCount": len(found), "numPages": -(-len(found) // options["limit"])}

    def _list_warehouses(self) -> list[Row]:
        return [
            {"warehouse_id": each["id"], "name": each.get("name"), "is_active": int(bool(each.get("is_active")))}
            for each in self._pools.all("Warehouse")
        ]

    def _products(self) -> list[Row]:
        return [_product(each) for kind in PRODUCT_KINDS for each in self._pools.all(kind)]


def _matching(rows: list[Row], filters: Row) -> list[Row]:
    known = rows[0]
    for name, condition in filters.items():
        if name not in known:
            raise RpcError(INVALID_FILTERS, f"Invalid filters given. Unknown field {name}.")
        wanted = _wanted(condition)
        rows = [row for row in rows if row[name] in wanted]
    return rows


def _wanted(condition: object) -> list[Any]:
    match condition:
        case {"in": list(wanted), **others} if not others:
            return wanted
        case dict():
            raise RpcError(INVALID_FILTERS, f"Invalid filters given. Unknown operator in {condition}.")
    return [condition]


def _page(found: list[Row], limit: int | None = None, page: int = 1) -> list[Row]:
    limit = limit or max(1, len(found))
    return found[limit * (page - 1) : limit * page]


def _product(product: Row) -> Row:
    """Return a product in flat form, as the Merchant API shows it; a packaging item has fewer fields."""
    weight = product.get("weight") or {}
    return {
        "product_id": product["id"],
        "type": product["type"],
        "sku": product["sku"],
        "name": product.get("name"),
        "status": 1 if product.get("is_enabled") else 2,
        "vendor_sku": product.get("vendor_sku"),
        "external_id": product.get("external_id"),
        "goods_type": product.get("goods_type"),
        "weight": weight.get("value"),
        "weight_unit": weight.get("unit"),
        "created_at": product.get("created_at"),
        "updated_at": product.get("updated_at"),
    }


def _retailer(retailer: Row) -> Row:
    parent = retailer.get("parent_retailer")
    return {
        "retailer_id": retailer["id"],
        "code": retailer["code"],
        "name": retailer["name"],
        "status": retailer["status"],
        "fulfillment_model": retailer.get("fulfillment_model"),
        "parent_retailer_id": parent and parent["id"],
        "created_at": retailer.get("created_at"),
        "updated_at": retailer.get("updated_at"),
    }
