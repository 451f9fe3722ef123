"""The three kinds of master data that the service lets us create, and the words for them."""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    """A kind of master data; its value is the word of the command line."""

    LOCATION_TAGS = "location-tags"
    RETAILERS = "retailers"
    PRODUCTS = "products"

    @property
    def many(self) -> str:
        """The words for several: ``location tags``."""
        return self.value.replace("-", " ")

    @property
    def one(self) -> str:
        """The words for one: ``location tag``."""
        return self.many.removesuffix("s")

    @property
    def key(self) -> str:
        """The column that names a record in the company's own data."""
        return {Kind.LOCATION_TAGS: "name", Kind.RETAILERS: "code", Kind.PRODUCTS: "sku"}[self]

    @property
    def type(self) -> str:
        """The word that the service uses for it in a reference; every packaging kind is found as a product."""
        return {Kind.LOCATION_TAGS: "LocationTag", Kind.RETAILERS: "Retailer", Kind.PRODUCTS: "Product"}[self]
