"""A kind of master data as one value, and the cells and groups of cells that the bodies of several kinds have.

The fields of a kind, with the rule of each cell, are its bodies. ``table`` lists the kinds that there are. A group such
as ``Money`` is complete or absent.
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
    """How the Merchant API (4.7) is asked for things by their natural key.

    ``key`` and ``ids`` are fields of a row of its result, of ``ids`` the first that has an id. A row says its type only
    where that begins with one of ``types``; otherwise the kind's own counts.
    """

    name: str
    key: str
    ids: tuple[str, ...]
    types: tuple[str, ...] = ()


class Kind(Struct, frozen=True, eq=False):
    """A kind of master data that the service lets us create."""

    name: str
    """The word of the command line, of file names and of the ledger: ``location-tags``."""
    type: str
    """The service's word for it in a reference: ``LocationTag``."""
    key: str
    """The column that names a record in the company's own data."""
    is_unique: bool
    """Whether the service refuses a second one of the same key (section 2), so that sending again is safe."""
    endpoint: str
    """The path of the create, as in section 4: ``/v1/inventory/location-tags``."""
    bodies: Mapping[str, Body]
    """The bodies of the create by the type that a row may have."""
    body_of_unknown_type: Body | None = None
    """Checks the other cells of a row with a wrong type, if there are several types."""
    wrapped_in: str | None = None
    """The field of the request that holds the body; None if the body is the request."""
    read_only: frozenset[str] = frozenset()
    """Fields that the service sets: columns of these names are refused."""
    not_sendable: Mapping[str, str] = field(default_factory=dict)
    """Other columns that are refused, each with the reason."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Other names of columns, such as those of the vendor's own files."""
    not_carried: tuple[str, ...] = ()
    """Columns of such files that are left out with a note, since the create has no field for them."""
    as_stored: Callable[[str], str] = str.strip
    """Turns a cell of the key into the key that the service stores."""
    inactive: str | None = None
    """The ``status`` of a record that cannot be anybody's parent."""
    query: str | None = None
    """The SQL file that reads it from the published file; None if shipments do not show it."""
    merchant_method: MerchantMethod | None = None
    """How to ask the Merchant API for it; None if that is not possible."""

    def __str__(self) -> str:
        return self.name

    @property
    def many(self) -> str:
        """The words for several: ``location tags``."""
        return self.name.replace("-", " ")

    @property
    def one(self) -> str:
        """The words for one: ``location tag``."""
        return self.many.removesuffix("s")

    @property
    def slug(self) -> str:
        """Its name in names of assets and jobs: ``location_tags``."""
        return self.name.replace("-", "_")

    @property
    def has_types(self) -> bool:
        """Whether its body says which of several types it is."""
        return len(self.bodies) > 1

    @property
    def can_be_found(self) -> bool:
        """Whether a sync or the Merchant API may show it."""
        return self.query is not None or self.merchant_method is not None

    def body(self, type_: str) -> Body:
        """Return the body for a row of this type."""
        return self.bodies.get(type_, self.body_of_unknown_type or self.bodies[self.type])

    def type_written(self, text: str) -> str:
        """Return a type, given in any case, as the service writes it; any other text as it is."""
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
"""For the outermost body: a cell that has no place there is an offence."""


class Money(TypedDict):
    """``{amount, currency}``."""

    amount: Number
    currency: Currency


class Weight(TypedDict):
    """A weight or volume as a request has it: without its unit."""

    value: Measure


class Quantity(TypedDict):
    """A measure with its unit, among the packaging options."""

    value: Measure
    unit: Text


class Dimensions(TypedDict):
    """Three lengths as a request has them: without their unit."""

    length: Measure
    width: Measure
    height: Measure
