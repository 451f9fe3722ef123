"""The inner methods of `call`, over the same data as listings and creates.

The specification shows none of their results; these follow the vendor's public documentation.
"""

import json
from collections.abc import Callable
from typing import Any

from wms_sandbox.kinds import PRODUCT_KINDS
from wms_sandbox.pages import Pages
from wms_sandbox.pools import Pools
from wms_sandbox.query import read_query
from wms_sandbox.rpc_errors import invalid_params, not_found, unknown_method
from wms_sandbox.rpc_search import Row, Search

_RETAILERS_A_PAGE = 100
_SHIPMENT = (("fields", "all"), ("fields:items", "all"), ("fields:packages", "all"), ("fields:packages.items", "all"))


class Methods:
    """The inner methods: each takes the array of arguments and returns the result, or raises RpcError."""

    def __init__(self, pools: Pools, pages: Pages) -> None:
        self._pools = pools
        self._pages = pages
        self._methods: dict[str, Callable[[list[Any]], Any]] = {
            "product.search": self._search_products,
            "product.info": self._product,
            "retailer.list": self._list_retailers,
            "warehouse.list": self._list_warehouses,
            "store.list": self._list_stores,
            "shipment.info": self._shipment,
        }

    def call(self, name: str, arguments: list[Any]) -> Any:  # noqa: ANN401 - any JSON value
        """Call the named method. Return its result."""
        if name not in self._methods:
            raise unknown_method(name)
        return self._methods[name](arguments)

    def _search_products(self, arguments: list[Any]) -> list[Row]:
        search = Search.read(arguments)
        return search.page(search.matches(self._products()))

    def _product(self, arguments: list[Any]) -> Row:
        sku = _only_text(arguments, "sku")
        for product in self._products():
            if product["sku"] == sku:
                return product
        raise not_found(f"Product {sku}")

    def _list_retailers(self, arguments: list[Any]) -> dict[str, Any]:
        """Return retailers; archived ones are hidden unless a filter asks for a status (specification 2.2)."""
        search = Search.read(arguments)
        found = search.matches([_retailer(each) for each in self._pools.all("Retailer")])
        if "status" not in search.filters:
            found = [retailer for retailer in found if retailer["status"] != "archived"]
        limit = search.limit(_RETAILERS_A_PAGE) or _RETAILERS_A_PAGE
        results = search.page(found, _RETAILERS_A_PAGE)
        return {"results": results, "totalCount": len(found), "numPages": -(-len(found) // limit)}

    def _list_warehouses(self, arguments: list[Any]) -> list[Row]:
        return [
            {"warehouse_id": each["id"], "name": each.get("name"), "is_active": int(bool(each.get("is_active")))}
            for each in self._pools.all("Warehouse")
        ]

    def _list_stores(self, arguments: list[Any]) -> list[Row]:
        """Return the brands, under their old name."""
        return [
            {
                "store_id": each["id"],
                "code": each["code"],
                "name": each["name"],
                "sort_order": each.get("sort_order"),
                "is_active": int(bool(each.get("is_active"))),
            }
            for each in self._pools.all("Brand")
        ]

    def _shipment(self, arguments: list[Any]) -> Row:
        unique_id = _only_text(arguments, "unique_id")
        query = read_query([*_SHIPMENT, ("filter", f"unique_id:{unique_id}")])
        envelope = json.loads(b"".join(self._pages.write("", query)))
        if not envelope["collection"]:
            raise not_found(f"Shipment {unique_id}")
        shipment: Row = envelope["collection"][0]
        return shipment | {"items": envelope["included"].get("ShipmentItem", [])}

    def _products(self) -> list[Row]:
        return [_product(each) for kind in PRODUCT_KINDS for each in self._pools.all(kind)]


def _only_text(arguments: list[Any], name: str) -> str:
    if not arguments or not isinstance(arguments[0], str):
        raise invalid_params(f"{name}, a string, is expected.")
    return arguments[0]


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
