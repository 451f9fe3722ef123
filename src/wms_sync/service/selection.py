"""Field selection: the fields and related objects to request with shipments, as one table of parameters.

The parameter names follow the vendor's rule ``fields:<path>``. The dot between levels is inferred; for an instance that
differs, change only this module. ``all`` is not recursive: each level has its own parameter, and ``all`` is used only
if specification 4.5 lists it for the kind. Otherwise, and if ``all`` is refused, the names that 4.5 lists are
requested, or, if it lists none, all fields of the kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from msgspec import Struct, field
from msgspec.structs import replace

from wms_sync.privacy.fields import ADDRESS_KEPT, CANDIDATE_KEPT, CONTACT, LOCATION_KEPT, fields_of

ALL = "all"
SHIPMENT = "fields"
PREFIX = "fields:"


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


class Kind(Struct, frozen=True):
    """A kind of object and the values that can be requested for it.

    ``type`` is its type in ``sql/types``, which has all its fields. ``listed`` are the values that specification 4.5
    lists besides ``all``; if 4.5 does not list the kind, ``listed`` is empty and the fields of the type are requested.
    ``brings`` maps a listed value to the fields that it brings under other names; ``always`` are fields that come
    without being requested. ``personal`` values are requested only if addresses are.

    ``table`` holds the rows of the kind; ``parts`` maps a value that is a list to its tables. Objects of a ``shared``
    kind come only if they are requested. Other objects come inside their owner even if they are not requested, as a
    reference or with some of their fields.
    """

    type: str
    table: str
    listed: tuple[str, ...] = ()
    brings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    always: frozenset[str] = frozenset()
    personal: frozenset[str] = frozenset()
    parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    shared: bool = False

    def __hash__(self) -> int:
        return hash((self.type, self.table))  # a mapping has no hash

    @property
    def fields(self) -> tuple[str, ...]:
        """Return all fields of the kind except type and id."""
        return tuple(name for name in fields_of(self.type) if name not in {"type", "id"})

    @property
    def has_all(self) -> bool:
        """Return whether 4.5 lists ``all`` for the kind."""
        return bool(self.listed)

    def names(self, *, include_addresses: bool) -> tuple[str, ...]:
        """Return the values to request instead of ``all``."""
        return tuple(name for name in self.listed or self.fields if include_addresses or name not in self.personal)

    def granted(self, values: Iterable[str]) -> frozenset[str]:
        """Return the fields that these values bring."""
        asked = frozenset(values)
        if ALL in asked:
            return frozenset(self.fields)
        return asked.union(self.always, *(self.brings.get(value, ()) for value in asked))


_SHIPMENT = Kind(
    "shipment",
    "shipments",
    parts={
        "items": ("shipment_items", "shipment_item_reservations"),
        "packages": ("packages", "package_items", "package_packaging", "package_collected_data"),
        "packing_solution": (
            "packing_solutions",
            "packing_solution_containers",
            "packing_solution_container_items",
        ),
    },
)
_SHIPMENT_ITEM = Kind("shipment_item", "shipment_items", parts={"reservations": ("shipment_item_reservations",)})
_PACKAGE = Kind(
    "shipment_package",
    "packages",
    _words(
        "tracking_ref alt_tracking_number alt_tracking_description billable_weight dimensional_weight "
        "dimensional_weight_divisor total_item_volume total_void_percent container_style num_cartons sscc "
        "manifest_courier_code items container infill packaging collected_data gallery created_at updated_at"
    ),
    parts={
        "items": ("package_items",),
        "packaging": ("package_packaging",),
        "collected_data": ("package_collected_data",),
    },
)
_PACKAGE_ITEM = Kind(
    "shipment_package_item",
    "package_items",
    _words(
        "sku name quantity weight hazmat_unit_weight customs_value order_item_id order_item_sku order_item_quantity"
    ),
    brings={"order_item_quantity": ("order_item_qty",)},
)
_PACKING_SOLUTION = Kind(
    "shipment_packing_solution",
    "packing_solutions",
    parts={"containers": ("packing_solution_containers", "packing_solution_container_items")},
)
_GALLERY = Kind(
    "gallery",
    "galleries",
    ("basic", "items"),
    brings={"basic": ("photo_count", "updated_at")},
    parts={"items": ("gallery_items",)},
    shared=True,
)
_GALLERY_ITEM = Kind(
    "gallery_item", "gallery_items", _words("url thumbnail_url caption taken_at device_info media_info created_at")
)
_ORDER = Kind(
    "order",
    "orders",
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
)
_ORDER_ITEM = Kind("order_item", "order_items")
_ADDRESS = Kind(
    "order_address",
    "pii_order_addresses",
    _words("first_name last_name company street city region postcode country telephone email classification is_valid"),
    personal=frozenset(fields_of("order_address")) - frozenset(ADDRESS_KEPT),
)
_CANDIDATE = Kind(
    "order_address_candidate",
    "order_address_candidates",
    _words("address_id street city region_code postal_code country_code classification"),
    personal=frozenset(fields_of("order_address_candidate")) - frozenset(CANDIDATE_KEPT),
)
_HISTORY = Kind(
    "order_status_history",
    "order_status_history",
    _words("status comment notify_merchant user script_id created_at"),
    brings={"user": ("requester",)},
)
_INSTRUCTION = Kind(
    "order_instruction",
    "order_instructions",
    _words("order_id note file_name presentation print_target print_orientation copies_printed"),
)
_BRAND = Kind("brand", "brands", _words("code name is_active is_deleted sort_order"), shared=True)
_MERCHANT = Kind(
    "merchant",
    "merchants",
    _words("code name status created_at updated_at brands default_brand custom_fields"),
    shared=True,
)
_BILLING_GROUP = Kind("third_party_billing_group", "third_party_billing_groups", _words("label status"), shared=True)
_WAREHOUSE = Kind("warehouse", "warehouses", _words("name is_active abbreviation"), shared=True)
_RETAILER = Kind(
    "retailer",
    "retailers",
    _words(
        "code name status fulfillment_model parent_retailer legal_name dba default_duties_payor "
        "default_shipping_method allowed_shipping_methods routing_guide_notes custom_fields created_at updated_at"
    ),
    shared=True,
)
_LOCATION = Kind(
    "retailer_ship_to_location",
    "retailer_ship_to_locations",
    (*LOCATION_KEPT, *CONTACT),
    personal=frozenset(CONTACT),
    parts=dict.fromkeys(CONTACT, ("pii_retailer_ship_to_contacts",)),
    shared=True,
)
_PRODUCT = Kind(
    "product",
    "products",
    ("created_at", "updated_at"),
    always=frozenset(fields_of("product")) - {"type", "id", "created_at", "updated_at"},
    shared=True,
)

_KINDS: dict[str, Kind] = {
    "": _SHIPMENT,
    "warehouse": _WAREHOUSE,
    "items": _SHIPMENT_ITEM,
    "items.product": _PRODUCT,
    "packages": _PACKAGE,
    "packages.items": _PACKAGE_ITEM,
    "packages.packaging.product": _PRODUCT,
    "packages.container": _PRODUCT,
    "packages.infill": _PRODUCT,
    "packages.gallery": _GALLERY,
    "packages.gallery.items": _GALLERY_ITEM,
    "packing_solution": _PACKING_SOLUTION,
    "gallery": _GALLERY,
    "gallery.items": _GALLERY_ITEM,
    "retailer": _RETAILER,
    "retailer.parent_retailer": _RETAILER,
    "retailer_ship_to_location": _LOCATION,
    "retailer_ship_to_location.retailer": _RETAILER,
    "mark_for_location": _LOCATION,
    "mark_for_location.retailer": _RETAILER,
    "order": _ORDER,
    "order.items": _ORDER_ITEM,
    "order.items.product": _PRODUCT,
    "order.brand": _BRAND,
    "order.merchant": _MERCHANT,
    "order.merchant.brands": _BRAND,
    "order.merchant.default_brand": _BRAND,
    "order.shipping_address": _ADDRESS,
    "order.original_address": _ADDRESS,
    "order.address_candidates": _CANDIDATE,
    "order.status_history": _HISTORY,
    "order.instructions": _INSTRUCTION,
    "order.tpb_group": _BILLING_GROUP,
    "order.retailer": _RETAILER,
    "order.retailer.parent_retailer": _RETAILER,
    "order.retailer_ship_to_location": _LOCATION,
    "order.retailer_ship_to_location.retailer": _RETAILER,
    "order.mark_for_location": _LOCATION,
    "order.mark_for_location.retailer": _RETAILER,
}
"""Kinds by the path of the object, starting at the shipment."""

_PERSONAL_PATHS = frozenset({"order.original_address"})


class Parameter(Struct, frozen=True):
    """One query parameter; ``names`` are its single values, ``first`` are the values to try first."""

    path: str
    kind: Kind
    names: tuple[str, ...]
    first: tuple[str, ...]

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
        Parameter(path, kind, names := kind.names(include_addresses=include_addresses), _first(kind, names))
        for path, kind in sorted(_KINDS.items())
        if include_addresses or path not in _PERSONAL_PATHS
    )


def parameter(name: str) -> Parameter:
    """Return the parameter with this name in the query, including its values for personal data."""
    return _BY_NAME[name]


def _first(kind: Kind, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return ``all`` if specification 4.5 lists it for the kind and it adds no personal data; else the names."""
    return (ALL,) if kind.has_all and set(names) == set(kind.listed) else names


_BY_NAME = {parameter.name: parameter for parameter in parameters(include_addresses=True)}


class Selection(Struct, frozen=True):
    """The requested values by parameter, in the order of ``parameters``.

    ``said`` has the service's reasons for refusing other parameters or values.
    """

    asked: tuple[tuple[str, tuple[str, ...]], ...]
    include_addresses: bool
    said: Mapping[str, str] = {}

    @classmethod
    def whole(cls, *, include_addresses: bool) -> Selection:
        """Return the selection of everything that the tables have columns for."""
        return cls(
            tuple((parameter.name, parameter.first) for parameter in parameters(include_addresses=include_addresses)),
            include_addresses,
        )

    @property
    def params(self) -> tuple[tuple[str, str], ...]:
        """Return the query parameters."""
        return tuple((name, ",".join(values)) for name, values in self.asked)

    def values(self, name: str) -> tuple[str, ...]:
        """Return the requested values of a parameter; empty if it is left out."""
        return next((values for each, values in self.asked if each == name), ())

    def asking(self, name: str, values: Iterable[str]) -> Selection:
        """Return the selection with these values for one parameter; without values the parameter is left out."""
        wanted = tuple(values)
        return replace(
            self,
            asked=tuple(
                (each, wanted if each == name else known) for each, known in self.asked if each != name or wanted
            ),
        )

    def dropping(self, name: str) -> Selection:
        """Return the selection without a parameter, and without those below it if their objects then do not come."""
        below = [each for each, _ in self.asked if each.startswith(f"{name}.")] if parameter(name).kind.shared else []
        return self.without([name, *below])

    def without(self, names: Iterable[str]) -> Selection:
        """Return the selection without these parameters."""
        out = set(names)
        return replace(self, asked=tuple(pair for pair in self.asked if pair[0] not in out))

    def until(self, count: int) -> Selection:
        """Return the selection with only its first ``count`` parameters, which depend on none of the others."""
        return replace(self, asked=self.asked[:count])

    @property
    def omitted(self) -> dict[str, str]:
        """Return the names of data that has columns in the tables but is not requested, each with its refusal.

        ``fields:order.brand``: no such object is requested; ``fields:order=carrier``: one field is not requested. The
        refusal is empty if only a parameter above the name was refused.
        """
        return {name: self.said.get(name.partition("=")[0], "") for name in self._omitted()}

    def _omitted(self) -> Iterator[str]:
        for parameter in parameters(include_addresses=self.include_addresses):
            values = self.values(parameter.name)
            if not values:
                yield parameter.name
                continue
            granted = parameter.kind.granted(values)
            yield from (f"{parameter.name}={value}" for value in fields_wanted(parameter) if value not in granted)


def fields_wanted(parameter: Parameter) -> tuple[str, ...]:
    """Return the fields that a parameter brings if nothing is refused."""
    granted = parameter.kind.granted(parameter.first)
    return tuple(name for name in parameter.kind.fields if name in granted)


def expanded(omitted: Iterable[str]) -> frozenset[str]:
    """Return the names of omitted data, with the names of all fields of each omitted parameter."""
    found = set(omitted)
    for name in found & _BY_NAME.keys():
        found.update(f"{name}={value}" for value in fields_wanted(_BY_NAME[name]))
    return frozenset(found)


def data_of(names: Iterable[str]) -> str:
    """Describe the data that these names of one parameter bring: tables, or columns of a table."""
    fields: list[str] = []
    for name in names:
        path, _, value = name.partition("=")
        kind = _BY_NAME[path].kind
        if not value:
            return f"the rows of {kind.table}" if kind.shared else f"the data of {kind.table}"
        fields.append(value)
    if not fields:
        return ""
    columns = [field for field in fields if field not in kind.parts]
    parts = [table for field in fields for table in kind.parts.get(field, ())]
    return " and ".join([*([f"{', '.join(columns)} of {kind.table}"] if columns else []), *parts])
