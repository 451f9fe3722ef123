"""The type ``Kind``, and the cells and groups of cells that several kinds share.

The bodies of a kind define its fields, with the rule of each cell. ``kinds`` lists the kinds. A row fills all cells of
a group such as ``Money``, or none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, TypeAlias

from msgspec import Struct, field
from pydantic import ConfigDict
from typing_extensions import TypedDict

from wms_sync.json_values import INT64
from wms_sync.master_data.fields import (
    flag,
    flag_or_text,
    letters,
    listed,
    measure,
    number,
    text,
    whole,
)

Body: TypeAlias = type
"""A typed dict whose fields are annotated with ``Cell``."""


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
    is_unique: bool
    """Whether the service refuses a second object with the same key (section 2), so that sending it again is safe."""
    endpoint: str
    """The path of the create, as in section 4: ``/v1/inventory/location-tags``."""
    bodies: Mapping[str, Body]
    """The bodies of the create, by the type of a row."""
    body_of_unknown_type: Body | None = None
    """The body that checks the other cells of a row whose type is wrong, if there are several types."""
    wrapped_in: str | None = None
    """The field of the request that contains the body; None if the body is the request."""
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

    def body(self, type_: str) -> Body:
        """Return the body for a row of this type."""
        return self.bodies.get(type_, self.body_of_unknown_type or self.bodies[self.type])

    def type_written(self, text: str) -> str:
        """Return a type as the service writes it, whatever its case. Return any other text unchanged."""
        return next((known for known in self.bodies if known.casefold() == text.casefold()), text)


Text = Annotated[str, text()]
Text255 = Annotated[str, text(255)]
Texts = Annotated[list[str], listed(text())]
Flag = Annotated[bool, flag()]
FlagOrText = Annotated[bool | str, flag_or_text()]
Integer = Annotated[int, whole(INT64)]
Number = Annotated[float, number()]
Measure = Annotated[float, measure()]
Currency = Annotated[str, letters(3, "USD", "currency code")]
Country = Annotated[str, letters(2, "US", "country code")]

CLOSED = ConfigDict(extra="forbid")
"""The configuration of an outermost body: a cell that has no field in it is a violation."""


class Money(TypedDict):
    """An amount with its currency."""

    amount: Number
    currency: Currency


class Weight(TypedDict):
    """A weight or volume in a request, which has no unit."""

    value: Measure


class Quantity(TypedDict):
    """A measure with its unit, among the packaging options."""

    value: Measure
    unit: Text


class Dimensions(TypedDict):
    """Three lengths in a request, which have no unit."""

    length: Measure
    width: Measure
    height: Measure
