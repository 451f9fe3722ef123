"""Created retailers and products on their way into shipments: each waits for a new shipment that refers to it.

A new shipment takes one retailer and as many products as an order has room for. It gets a family of its own, so that
what was compiled for other families stays as it is.
"""

from collections import deque
from typing import Any

from wms_sandbox.heads import Newcomer, OrderedProduct
from wms_sandbox.slots import ORDER_ITEMS


class Newcomers:
    """Those that no shipment refers to yet, the oldest first."""

    def __init__(self) -> None:
        self._retailers: deque[int] = deque()
        self._products: deque[OrderedProduct] = deque()

    def add_retailer(self, retailer: dict[str, Any]) -> None:
        """An archived one cannot be assigned to new orders and never shows up."""
        if retailer["status"] != "archived":
            self._retailers.append(retailer["id"])

    def add_product(self, product: dict[str, Any]) -> None:
        """Of any kind."""
        self._products.append(OrderedProduct(product["sku"], product["type"], product["id"]))

    def take(self, most: int) -> list[Newcomer]:
        """What so many new shipments refer to at most, one entry a shipment; it waits no longer."""
        taken: list[Newcomer] = []
        while len(taken) < most and (self._retailers or self._products):
            retailer = self._retailers.popleft() if self._retailers else None
            products = [self._products.popleft() for _ in range(min(ORDER_ITEMS, len(self._products)))]
            taken.append(Newcomer(retailer, tuple(products)))
        return taken
