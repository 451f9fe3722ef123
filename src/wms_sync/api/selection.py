"""Which fields and related objects a list of shipments is asked for: one table.

The parameter names follow the vendor's rule ``fields:<path>`` (the dot between levels is inferred, so this is the one
place to edit for an instance that differs). ``all`` is not recursive: each level is asked for by its own parameter.
Values: specification 4.5.
"""

from __future__ import annotations

from collections.abc import Iterator

from wms_sync.privacy.fields import CANDIDATE_KEPT, LOCATION_KEPT

_RETAILER_PATHS = ("retailer", "retailer_ship_to_location.retailer", "mark_for_location.retailer", "order.retailer")
_LOCATION_PATHS = (
    "retailer_ship_to_location",
    "mark_for_location",
    "order.retailer_ship_to_location",
    "order.mark_for_location",
)
_ALL_PATHS = (
    "warehouse",
    "items",
    "items.product",
    "packages",
    "packages.items",
    "packages.gallery",
    "packages.gallery.items",
    "packing_solution",
    "gallery",
    "gallery.items",
    *_RETAILER_PATHS,
    "retailer.parent_retailer",
    "order.retailer.parent_retailer",
    "order",
    "order.items",
    "order.items.product",
    "order.brand",
    "order.merchant",
    "order.merchant.brands",
    "order.status_history",
    "order.instructions",
    "order.tpb_group",
)
_ADDRESS_PATHS = ("order.shipping_address", "order.original_address")
_CANDIDATE_PATH = "order.address_candidates"
_CANDIDATE_FIELDS_NOT_PERSONAL = ",".join(CANDIDATE_KEPT)
_LOCATION_FIELDS_NOT_PERSONAL = ",".join(LOCATION_KEPT)


def selection(*, include_addresses: bool) -> tuple[tuple[str, str], ...]:
    """The query parameters, in a fixed order. Without addresses nothing personal is asked for."""
    return (("fields", "all"), *sorted(_related(include_addresses)))


def _related(include_addresses: bool) -> Iterator[tuple[str, str]]:
    for path in _ALL_PATHS:
        yield f"fields:{path}", "all"
    for path in _LOCATION_PATHS:
        yield f"fields:{path}", "all" if include_addresses else _LOCATION_FIELDS_NOT_PERSONAL
    yield f"fields:{_CANDIDATE_PATH}", "all" if include_addresses else _CANDIDATE_FIELDS_NOT_PERSONAL
    if include_addresses:
        for path in _ADDRESS_PATHS:
            yield f"fields:{path}", "all"
