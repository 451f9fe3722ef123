"""The field selection (specification 4.5) of list shipments, as one table of parameters.

The parameter names follow the vendor's rule ``fields:<path>``. The dot between levels is inferred; for an instance that
differs, change only this module. ``all`` is not recursive: each level has its own parameter. ``all`` is requested where
specification 4.5 lists it for the kind and it brings no personal data that is not wanted; elsewhere, each field of the
kind by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from msgspec import Struct, field
from msgspec.structs import replace

from wms_sync.privacy.fields import ADDRESS_KEPT, CANDIDATE_KEPT, CONTACT, fields_of

ALL = "all"
SHIPMENT = "fields"
PREFIX = "fields:"
_PERSONAL_PATHS = frozenset({"order.original_address"})


class RequestedKind(Struct, frozen=True):
    """A kind of object and the values that can be requested for it.

    ``type`` is its type in ``sql/types``, which has all its fields. ``has_all``: 4.5 lists ``all`` for the kind.
    ``personal`` fields are requested only if addresses are.

    ``table`` holds the rows of the kind; ``parts`` maps a field that is a list to its tables. Objects of a ``shared``
    kind come only if they are requested. Other objects come inside their owner even if they are not requested, as a
    reference or with some of their fields.
    """

    type: str
    table: str
    has_all: bool = True
    personal: frozenset[str] = frozenset()
    parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    shared: bool = False

    @property
    def fields(self) -> tuple[str, ...]:
        """Return all fields of the kind except type and id."""
        return tuple(name for name in fields_of(self.type) if name not in {"type", "id"})

    def values(self, *, include_addresses: bool) -> tuple[str, ...]:
        """Return the values to request."""
        if self.has_all and (include_addresses or not self.personal):
            return (ALL,)
        return tuple(name for name in self.fields if include_addresses or name not in self.personal)


_GALLERY = RequestedKind("gallery", "galleries", parts={"items": ("gallery_items",)}, shared=True)
_GALLERY_ITEM = RequestedKind("gallery_item", "gallery_items")
_ADDRESS = RequestedKind(
    "order_address", "pii_order_addresses", personal=frozenset(fields_of("order_address")) - frozenset(ADDRESS_KEPT)
)
_BRAND = RequestedKind("brand", "brands", shared=True)
_RETAILER = RequestedKind("retailer", "retailers", shared=True)
_LOCATION = RequestedKind(
    "retailer_ship_to_location",
    "retailer_ship_to_locations",
    personal=frozenset(CONTACT),
    parts=dict.fromkeys(CONTACT, ("pii_retailer_ship_to_contacts",)),
    shared=True,
)
_PRODUCT = RequestedKind("product", "products", shared=True)

_KINDS: dict[str, RequestedKind] = {
    "": RequestedKind(
        "shipment",
        "shipments",
        has_all=False,
        parts={
            "items": ("shipment_items", "shipment_item_reservations"),
            "packages": ("packages", "package_items", "package_packaging", "package_collected_data"),
            "packing_solution": (
                "packing_solutions",
                "packing_solution_containers",
                "packing_solution_container_items",
            ),
        },
    ),
    "warehouse": RequestedKind("warehouse", "warehouses", shared=True),
    "items": RequestedKind(
        "shipment_item", "shipment_items", has_all=False, parts={"reservations": ("shipment_item_reservations",)}
    ),
    "items.product": _PRODUCT,
    "packages": RequestedKind(
        "shipment_package",
        "packages",
        parts={
            "items": ("package_items",),
            "packaging": ("package_packaging",),
            "collected_data": ("package_collected_data",),
        },
    ),
    "packages.items": RequestedKind("shipment_package_item", "package_items"),
    "packages.packaging.product": _PRODUCT,
    "packages.container": _PRODUCT,
    "packages.infill": _PRODUCT,
    "packages.gallery": _GALLERY,
    "packages.gallery.items": _GALLERY_ITEM,
    "packing_solution": RequestedKind(
        "shipment_packing_solution",
        "packing_solutions",
        has_all=False,
        parts={
            "containers": ("packing_solution_containers", "packing_solution_container_items"),
            "containers.items": ("packing_solution_container_items",),
        },
    ),
    "gallery": _GALLERY,
    "gallery.items": _GALLERY_ITEM,
    "retailer": _RETAILER,
    "retailer.parent_retailer": _RETAILER,
    "retailer_ship_to_location": _LOCATION,
    "retailer_ship_to_location.retailer": _RETAILER,
    "mark_for_location": _LOCATION,
    "mark_for_location.retailer": _RETAILER,
    "order": RequestedKind(
        "order",
        "orders",
        has_all=False,
        personal=frozenset({"original_address"}),
        parts={
            "items": ("order_items",),
            "status_history": ("order_status_history",),
            "instructions": ("order_instructions",),
            "address_candidates": ("order_address_candidates", "pii_order_address_candidates"),
            "shipping_address": ("pii_order_addresses",),
            "original_address": ("pii_order_addresses",),
        },
        shared=True,
    ),
    "order.items": RequestedKind("order_item", "order_items", has_all=False),
    "order.items.product": _PRODUCT,
    "order.brand": _BRAND,
    "order.merchant": RequestedKind("merchant", "merchants", shared=True),
    "order.merchant.brands": _BRAND,
    "order.merchant.default_brand": _BRAND,
    "order.shipping_address": _ADDRESS,
    "order.original_address": _ADDRESS,
    "order.address_candidates": RequestedKind(
        "order_address_candidate",
        "order_address_candidates",
        personal=frozenset(fields_of("order_address_candidate")) - frozenset(CANDIDATE_KEPT),
    ),
    "order.status_history": RequestedKind("order_status_history", "order_status_history"),
    "order.instructions": RequestedKind("order_instruction", "order_instructions"),
    "order.tpb_group": RequestedKind("third_party_billing_group", "third_party_billing_groups", shared=True),
    "order.retailer": _RETAILER,
    "order.retailer.parent_retailer": _RETAILER,
    "order.retailer_ship_to_location": _LOCATION,
    "order.retailer_ship_to_location.retailer": _RETAILER,
    "order.mark_for_location": _LOCATION,
    "order.mark_for_location.retailer": _RETAILER,
}
"""Kinds by the path of the object, starting at the shipment."""


class Parameter(Struct, frozen=True):
    """One query parameter, with the values that it requests."""

    path: str
    kind: RequestedKind
    values: tuple[str, ...]

    @property
    def name(self) -> str:
        """Return the name of the parameter in the query."""
        return PREFIX + self.path if self.path else SHIPMENT


@cache
def parameters(*, include_addresses: bool) -> tuple[Parameter, ...]:
    """Return all parameters, each after those that it depends on.

    Unless ``include_addresses``, none of them requests personal data.
    """
    return tuple(
        Parameter(path, kind, kind.values(include_addresses=include_addresses))
        for path, kind in sorted(_KINDS.items())
        if include_addresses or path not in _PERSONAL_PATHS
    )


class Selection(Struct, frozen=True):
    """Everything that the tables have columns for, without ``omitted``.

    ``omitted`` has the names of the parameters that are left out, each with the service's reason for refusing it.
    """

    include_addresses: bool
    omitted: Mapping[str, str] = {}

    @property
    def asked(self) -> tuple[Parameter, ...]:
        """Return the requested parameters, each after those that it depends on."""
        return tuple(
            parameter
            for parameter in parameters(include_addresses=self.include_addresses)
            if parameter.name not in self.omitted
        )

    @property
    def params(self) -> tuple[tuple[str, str], ...]:
        """Return the query parameters."""
        return tuple((parameter.name, ",".join(parameter.values)) for parameter in self.asked)

    def until(self, count: int) -> Selection:
        """Return the selection with only its first ``count`` parameters, which depend on none of the others."""
        return self._without((parameter.name for parameter in self.asked[count:]), "")

    def without(self, refused: Parameter, said: str) -> Selection:
        """Return the selection without a parameter, and without those below it if their objects then do not come."""
        below = [
            parameter.name
            for parameter in self.asked
            if refused.kind.shared and parameter.name.startswith(f"{refused.name}.")
        ]
        return self._without([refused.name, *below], said)

    def _without(self, names: Iterable[str], said: str) -> Selection:
        return replace(self, omitted={**self.omitted, **dict.fromkeys(names, said)})


class ObjectList(Struct, frozen=True):
    """A list of objects inside an object: the name of field selection that brings it, and its ``tables``.

    The elements of some lists have no parameter of their own; the name is then made in the same way.
    """

    name: str
    tables: tuple[str, ...]


@cache
def object_lists() -> Mapping[str, ObjectList]:
    """Return the lists by the kind of their owner and their key: ``Order.items``."""
    found: dict[str, ObjectList] = {}
    for path, kind in sorted(_KINDS.items()):
        owner = "".join(map(str.capitalize, kind.type.split("_")))
        for key, tables in kind.parts.items():
            found.setdefault(f"{owner}.{key}", ObjectList(PREFIX + f"{path}.{key}".lstrip("."), tables))
    return found


def data_of(name: str) -> str:
    """Describe the data that the parameter or list with this name brings."""
    kind = _KINDS.get(name.partition(":")[2])
    if kind is not None:
        return f"the {'rows' if kind.shared else 'data'} of {kind.table}"
    return next(f"the data of {listed.tables[0]}" for listed in object_lists().values() if listed.name == name)
