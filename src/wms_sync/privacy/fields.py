"""The one table of what is personal: the same fields that schema ``pii`` holds.

Of the kinds listed, every field but those named here is personal, also one that the service adds later. Any other
object that has one of the ``PERSON`` keys speaks of a person as a whole, but for what its type knows: an order with an
email address is still an order. Custom fields and free texts (notes, comments) are the company's own and kept as they
came.
"""

from __future__ import annotations

from wms_sync.privacy.types import fields_of

ADDRESS = "OrderAddress"
CANDIDATE = "OrderAddressCandidate"
LOCATION = "RetailerShipToLocation"

REFERENCE = ("type", "id")
CONTACT = ("telephone", "email")
PERSON = frozenset({"first_name", "last_name", *CONTACT})
CANDIDATE_KEPT = ("address_id", "region_code", "country_code", "classification")
LOCATION_KEPT = tuple(name for name in fields_of("retailer_ship_to_location") if name not in {*REFERENCE, *CONTACT})

KEPT: dict[str, frozenset[str]] = {
    ADDRESS: frozenset(REFERENCE),
    CANDIDATE: frozenset({*REFERENCE, *CANDIDATE_KEPT}),
    LOCATION: frozenset({*REFERENCE, *LOCATION_KEPT}),
}
"""What is not personal of each kind that holds personal fields."""

OF_ADDRESSES = frozenset({*fields_of("order_address"), *fields_of("order_address_candidate")}) - KEPT[CANDIDATE]
"""The fields that make an address or candidate, which may not say that it is one."""

PLACES = {
    "shipping_address": ADDRESS,
    "original_address": ADDRESS,
    "address_candidates": CANDIDATE,
    "retailer_ship_to_location": LOCATION,
    "mark_for_location": LOCATION,
}
"""The kind of what stands under these keys, where the object itself does not say it."""

COMPANYS_OWN = frozenset({"custom_fields"})
"""Their keys are made up by whoever runs the instance."""

SHARED = frozenset(kind for kind in fields_of("included") if not kind.startswith(("Order", "Shipment")))
"""Kinds that no order has to itself: who stands there is the company's, whatever order refers to it."""
