"""Created retailers and products that wait for a new shipment to refer to them.

A new shipment takes one retailer and as many products as an order has room for. It gets a family of its own, so that
everything compiled for other families stays valid.
"""

from collections import deque
from typing import Any

from wms_sandbox.heads import Newcomer, OrderedProduct
from wms_sandbox.slots import ORDER_ITEMS


class Newcomers:
    """The created objects that no shipment refers to yet, oldest first."""

    def __init__(self) -> None:
        self._retailers: deque[int] = deque()
        self._products: deque[OrderedProduct] = deque()

    def add_retailer(self, retailer: dict[str, Any]) -> None:
        """Queue a retailer; an archived one cannot be assigned to new orders and is ignored."""
        if retailer["status"] != "archived":
            self._retailers.append(retailer["id"])

    def add_product(self, product: dict[str, Any]) -> None:
        """Queue a product of any kind."""
        self._products.append(OrderedProduct(product["sku"], product["type"], product["id"]))

    def take(self, most: int) -> list[Newcomer]:
        """Return and remove what up to `most` new shipments refer to, one entry per shipment."""
        taken: list[Newcomer] = []
        while len(taken) < most and (self._retailers or self._products):
            retailer = self._retailers.popleft() if self._retailers else None
            products = [self._products.popleft() for _ in range(min(ORDER_ITEMS, len(self._products)))]
            taken.append(Newcomer(retailer, tuple(products)))
        return taken
