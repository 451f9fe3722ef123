"""The type ``Kind``, its columns, and the header of a file. ``kinds`` lists the kinds.

The columns of a kind are derived from its bodies, so that fields and rules are listed only once. The name of a column
is its path in the body, joined by dots. ``wms-sync push --columns`` prints all columns of a kind.

A wrong header is reported together with all other violations, and no row of the file is sent: otherwise every record
would lack the misspelt column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from wms_sync.grammar import count_of
from wms_sync.master_data.csv_file import CUSTOM_FIELD, CsvFile
from wms_sync.master_data.fields import Cell, Refers, letters, measure, number, text
from wms_sync.master_data.json_columns import CustomFields

if TYPE_CHECKING:
    import pandas as pd

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
SHOWN = 60
"""The maximum number of characters that are shown of a cell."""
REASONS = "_rejected_because"
"""The extra column of a file of rejected rows. It is ignored when the file is read."""


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


class KnownColumn(Struct, frozen=True):
    """A column that a file may have: the path of its field in the body, and the rule of its cells.

    The columns for a natural key and for its id have the same path. ``types`` are the types of item that have the
    field. ``required``: each row of these types must fill the column. ``with_group``: a row that fills another column
    of the group must fill this column, such as an amount's currency.
    """

    name: str
    path: tuple[str, ...]
    cell: Cell
    types: tuple[str, ...]
    required: bool = False
    with_group: bool = False

    def parse(self, text: str) -> dict[tuple[str, ...], object]:
        """Return the values of a cell by their path in the body. Raise ``Broken`` if the cell breaks its rule."""
        value = self.cell.parse(text)
        if isinstance(self.cell, CustomFields) and isinstance(value, dict):
            return {(*self.path, code): entry for code, entry in value.items()}
        return {self.path: value}

    def like(self, other: KnownColumn) -> bool:
        """Return whether both columns have the same name, perhaps one of them inside the options of a type."""
        return self.name.split("_options.")[-1] == other.name.split("_options.")[-1]


@cache
def columns_of(kind: Kind) -> tuple[KnownColumn, ...]:
    """Return every column that a file of this kind may have; ``custom_fields.<code>`` stands for one per code."""
    found: dict[str, KnownColumn] = {}
    for type_, body in kind.bodies.items():
        for column in _columns(kind, type_, body, ()):
            known = found.setdefault(column.name, column)
            if known is not column:
                found[column.name] = replace(known, types=(*known.types, type_))
    return tuple(found.values())


def column_named(kind: Kind, name: str) -> KnownColumn | None:
    """Return the column with this canonical name or alias."""
    name = kind.aliases.get(name, name)
    columns = {column.name: column for column in columns_of(kind)}
    code = name.removeprefix(CUSTOM_FIELD)
    template = columns.get(f"{CUSTOM_FIELD}<code>")
    if template and name.startswith(CUSTOM_FIELD) and code:
        return replace(template, name=name, path=(*template.path[:-1], code))
    return columns.get(name)


def nearest(kind: Kind, name: str) -> str | None:
    """Return a name that has an unknown name as a part or its beginning, or else the closest one; None if none does."""
    names = [column.name for column in columns_of(kind)]
    part = [known for known in names if name in known.split(".")]
    begun = [known for known in names if any(end.startswith(f"{name.removesuffix('s')}_") for end in known.split("."))]
    return next(iter(part or begun or get_close_matches(name, names, n=1)), None)


def _columns(kind: Kind, type_: str, fields: Fields, above: tuple[str, ...]) -> Iterator[KnownColumn]:
    for part, cell in fields.items():
        path = (*above, part)
        if not isinstance(cell, Cell):
            yield from _columns(kind, type_, cell, path)
            continue
        name = ".".join(path)
        if isinstance(cell, Refers):
            path = (*above, cell.field)
        yield KnownColumn(name, path, cell, (type_,), required=name in kind.required, with_group=fields in GROUPS)
        if isinstance(cell, CustomFields):
            yield KnownColumn(f"{name}.<code>", (*path, "<code>"), cell.single, (type_,))


class Violation(Struct, frozen=True):
    """A cell or a row that breaks a rule. ``rule`` is a sentence with the mistake and the correction.

    ``column`` is the column's name as written, and ``value`` the cell, or the key in it that breaks the rule.
    """

    line: int
    column: str | None
    value: str
    rule: str

    def __str__(self) -> str:
        if not self.column:
            return self.rule
        value = self.value if len(self.value) <= SHOWN else f"{self.value[:SHOWN]}..."
        return (
            f"{self.column} = {value!r}: {self.rule}"
            if value.strip() not in {"", self.column}
            else f"{self.column}: {self.rule}"
        )


class FileColumn(Struct, frozen=True, eq=False):
    """A column of the file: its position, its name as written, and the column of the kind that it stands for."""

    position: int
    written: str
    column: KnownColumn


Texts = Mapping[FileColumn, "pd.Series[str]"]
"""The cells of each column by line, without surrounding whitespace."""


class Header(Struct, frozen=True):
    """The header of a file: known columns, the violations of other columns, and notes on columns that are not sent."""

    placed: tuple[FileColumn, ...]
    violations: tuple[Violation, ...]
    notes: tuple[str, ...]

    def named(self, name: str) -> FileColumn | None:
        """Return the file's column with this canonical name, however the file writes it."""
        return next((placed for placed in self.placed if placed.column.name == name), None)

    def texts(self, file: CsvFile) -> Texts:
        """Return the cells of the known columns, without surrounding whitespace."""
        return {placed: file.frame.iloc[:, placed.position].str.strip() for placed in self.placed}

    def rows(self, texts: Texts) -> Iterator[tuple[int, dict[FileColumn, str]]]:
        """Yield the line and the filled cells of each row."""
        for row in zip(*[cells.items() for cells in texts.values()], strict=True):
            yield row[0][0], {placed: text for placed, (_, text) in zip(texts, row, strict=True) if text}

    def reading_order(self) -> Callable[[Violation], tuple[int, int]]:
        """Return a sort key: by line, then from left to right; violations outside known columns come last."""
        places = {placed.written: placed.position for placed in self.placed}
        last = max(places.values(), default=0) + 1
        return lambda violation: (violation.line, places.get(violation.column or "", last))


def read_header(file: CsvFile, kind: Kind) -> Header:
    """Match the columns of ``file`` with the columns of ``kind``."""
    placed: dict[str, FileColumn] = {}
    violations: list[Violation] = []
    left_out: list[str] = []
    for position, (name, written) in enumerate(zip(file.frame.columns, file.header, strict=True)):
        if name == REASONS:
            continue
        column = column_named(kind, name)
        if column is None and name in kind.not_carried:
            left_out.append(f"{written.strip()} ({count_of(_filled(file, position), 'cell')} filled)")
        elif column is None:
            violations += _unknown(file, kind, position, name)
        elif column.name in placed:
            violations.append(
                _violation(file, written, f"Is the same column as {placed[column.name].written}; keep one.")
            )
        else:
            placed[column.name] = FileColumn(position, written.strip(), column)
    violations += _missing(file, kind, placed)
    text = f"Not sent, because the create endpoint has no such fields: {', '.join(left_out)}."
    return Header(tuple(placed.values()), tuple(violations), (text,) if left_out else ())


def _unknown(file: CsvFile, kind: Kind, position: int, name: str) -> Iterator[Violation]:
    written = file.header[position]
    if name in kind.not_sendable:
        yield _violation(file, written, kind.not_sendable[name])
    elif name in kind.read_only:
        yield _violation(file, written, "Is set by the service and cannot be sent. Remove the column.")
    elif name:
        meant = nearest(kind, name)
        hint = f"Did you mean {meant}?" if meant else "Remove or rename it."
        yield _violation(file, written, f"Is not a column of {kind.plural}. {hint}")
    elif _filled(file, position):
        yield _violation(file, written, f"Column {position + 1} has cells but no name. Name or remove it.")


def _missing(file: CsvFile, kind: Kind, placed: dict[str, FileColumn]) -> Iterator[Violation]:
    for column in columns_of(kind):
        if column.required and column.name not in placed:
            yield Violation(file.header_line, column.name, "", f"The column is missing: {kind.plural} need it.")


def _violation(file: CsvFile, written: str, rule: str) -> Violation:
    return Violation(file.header_line, written.strip(), written, rule)


def _filled(file: CsvFile, position: int) -> int:
    return int(file.frame.iloc[:, position].str.strip().astype(bool).sum())
