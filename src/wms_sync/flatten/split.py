"""Split a page into the bytes of its objects, by kind, without decoding them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Raw

from wms_sync.flatten.shape import COLLECTION, INCLUDED, PRODUCTS

SHARED = frozenset(
    {*PRODUCTS, "Brand", "Merchant", "Retailer", "RetailerShipToLocation", "ThirdPartyBillingGroup", "Warehouse"}
)
"""Kinds that many shipments refer to: page after page repeats their objects, byte for byte."""
ObjectBytes = Mapping[str, Sequence[Any]]
"""The bytes of each object, by kind."""
Seen = dict[str, dict[bytes, Any]]
"""The objects of shared kinds on earlier pages of a batch: their ids by kind and bytes."""


class Splitter:
    """Splits pages of which nothing but the objects of these kinds is wanted."""

    def __init__(self, kinds: Iterable[str]) -> None:
        lists: Any = list[Raw] | None
        self._kinds = tuple(kinds)
        included = msgspec.defstruct("Included", [(kind, lists, None) for kind in self._kinds if kind != COLLECTION])
        page = msgspec.defstruct("Page", [(COLLECTION, lists, None), (INCLUDED, included | None, None)])
        self._decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(page)

    def split(self, content: bytes) -> ObjectBytes:
        """Return the objects of a page that is known to be valid JSON of the right shape."""
        return dict(lists_of(self._decoder.decode(content), self._kinds))


def lists_of(page: Any, kinds: Iterable[str]) -> Iterator[tuple[str, Sequence[Any]]]:  # noqa: ANN401 - a generated struct
    """Yield each kind that has objects on the page, and these."""
    for kind in kinds:
        objects = page.collection if kind == COLLECTION else getattr(page.included, kind, None)
        if objects:
            yield kind, objects
