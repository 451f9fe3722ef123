"""The type ``Kind``, and the groups of cells that several kinds share. ``kinds`` lists the kinds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from msgspec import Struct, field

from wms_sync.master_data.fields import Cell, letters, measure, number, text

Fields: TypeAlias = Mapping[str, "Cell | Fields"]
"""The columns of an object in a body, and the objects in it by the name of their field, with the rule of each cell."""

MONEY: Fields = {"amount": number(), "currency": letters(3, "USD", "currency code")}
WEIGHT: Fields = {"value": measure()}
"""A weight or volume in a request, which has no unit."""
QUANTITY: Fields = {"value": measure(), "unit": text()}
"""A measure with its unit, among the packaging options."""
DIMENSIONS: Fields = {"length": measure(), "width": measure(), "height": measure()}
"""Three lengths in a request, which have no unit."""
GROUPS = (MONEY, QUANTITY, DIMENSIONS)
"""The objects whose cells a row fills all, or leaves empty all."""


class MerchantMethod(Struct, frozen=True):
    """The method of the Merchant API (4.7) that finds objects by their natural key.

    ``key`` and ``ids`` are fields of a row of the result; the first of ``ids`` that has an id is used. The type of a
    row is used only if it begins with one of ``types``; otherwise the row has the kind's own type.
    """

    name: str
    key: str
    ids: tuple[str, ...]
    types: tuple[str, ...] = ()


class Kind(Struct, frozen=True, eq=False):
    """A kind of master data that can be created in the service."""

    name: str
    """The name of the kind in commands, file names and the ledger: ``location-tags``."""
    type: str
    """The service's word for the kind, in references: ``LocationTag``."""
    key: str
    """The column with the natural key of a record."""
    required: frozenset[str]
    """The columns that each row fills."""
    is_unique: bool
    """Whether the service refuses a second object with the same key (section 2), so that sending it again is safe."""
    endpoint: str
    """The path of the create, as in section 4: ``/v1/inventory/location-tags``."""
    bodies: Mapping[str, Fields]
    """The columns of a row, by its type."""
    wrapped_in: str | None = None
    """The field of the request that contains the body; None if the body is the request."""
    lists_custom_fields: bool = False
    """Whether custom fields are sent as a list of ``{code, value, label?}`` and not as an object by code (2.0)."""
    read_only: frozenset[str] = frozenset()
    """Fields that the service sets: columns of these names are refused."""
    not_sendable: Mapping[str, str] = field(default_factory=dict)
    """Other columns that are refused, each with the reason."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Other names of columns, such as those of the vendor's own files."""
    not_carried: tuple[str, ...] = ()
    """Columns of the vendor's files that are not sent, because the create has no field for them. A note lists them."""
    as_stored: Callable[[str], str] = str.strip
    """Turns a cell of the key into the key that the service stores."""
    inactive: str | None = None
    """The ``status`` of a record that cannot be a parent."""
    query: str | None = None
    """The SQL file that reads the kind's objects from the published file; None if shipments do not refer to them."""
    merchant_method: MerchantMethod | None = None
    """The method of the Merchant API that finds the kind's objects; None if there is none."""

    def __str__(self) -> str:
        return self.name

    @property
    def plural(self) -> str:
        """Return the words for several objects: ``location tags``."""
        return self.name.replace("-", " ")

    @property
    def singular(self) -> str:
        """Return the words for one object: ``location tag``."""
        return self.plural.removesuffix("s")

    @property
    def slug(self) -> str:
        """Return the name of the kind in assets and jobs: ``location_tags``."""
        return self.name.replace("-", "_")

    @property
    def has_types(self) -> bool:
        """Return whether a row has one of several types."""
        return len(self.bodies) > 1

    @property
    def can_be_found(self) -> bool:
        """Return whether a sync or the Merchant API may find the kind's objects."""
        return self.query is not None or self.merchant_method is not None

    def request(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the body of the request that creates an object."""
        return {self.wrapped_in: body} if self.wrapped_in else body

    def type_written(self, text: str) -> str:
        """Return a type as the service writes it, whatever its case. Return any other text unchanged."""
        return next((known for known in self.bodies if known.casefold() == text.casefold()), text)
