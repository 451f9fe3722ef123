"""The columns of each kind of master data, derived from its bodies, so that fields and rules are listed once.

A column is named after the place of its field in the body, joined by dots. A reference has two columns: one for the
natural key, one for the id. ``wms-sync push --columns`` prints them.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache
from typing import Annotated, Any, Required, get_args, get_origin

from msgspec import Struct
from msgspec.structs import replace
from typing_extensions import get_type_hints, is_typeddict

from wms_sync.master_data.csv_file import CUSTOM_FIELD
from wms_sync.master_data.fields.json_columns import RAW, WHOLE, CustomFields, overlay_cell
from wms_sync.master_data.fields.rules import Cell, Refers
from wms_sync.master_data.kinds.kind import Kind

_GROUP_ENDS = (".value", ".amount", "_code", "_codes", "_skus", "_id", "_ids")


class Column(Struct, frozen=True):
    """A column that a file may have: its field's place in the body and the rule of its cells.

    ``types`` are the types of item that have the field; ``required`` says that each of their rows must fill it,
    ``with_group`` that a row must which fills another column of its group (the currency of an amount).
    """

    name: str
    place: tuple[str, ...]
    cell: Cell
    types: tuple[str, ...]
    required: bool
    with_group: bool

    @property
    def path(self) -> tuple[str, ...]:
        """The place in the body that is sent; a natural key and an id share it."""
        field = self.cell.field if isinstance(self.cell, Refers) else ""
        return (*self.place[:-1], field) if field else self.place

    @property
    def type(self) -> str:
        """The word for what a cell holds."""
        return self.cell.type

    @property
    def rule(self) -> str:
        """What a cell may hold, in words."""
        return self.cell.rule

    def like(self, other: Column) -> bool:
        """Whether both are the same field, once in the options of some type and once elsewhere."""
        return _inside(self.place) == _inside(other.place)


@cache
def columns_of(kind: Kind) -> tuple[Column, ...]:
    """Return every column that a file of this kind may have; ``custom_fields.<code>`` is one column per code."""
    found: dict[str, Column] = {}
    for type_, body in kind.bodies.items():
        for column in _columns(body, (), type_):
            known = found.setdefault(column.name, column)
            if known is not column:
                found[column.name] = replace(known, types=(*known.types, type_))
    raw = Column(RAW, (RAW,), overlay_cell(), tuple(kind.bodies), required=False, with_group=False)
    return (*found.values(), raw)


def column_named(kind: Kind, name: str) -> Column | None:
    """Return the column with this canonical name or alias."""
    name = kind.aliases.get(name, name)
    columns = _by_name(kind)
    code = name.removeprefix(CUSTOM_FIELD)
    template = columns.get(f"{CUSTOM_FIELD}<code>")
    if template and name.startswith(CUSTOM_FIELD) and code:
        return replace(template, name=name, place=("custom_fields", code))
    return columns.get(name)


def nearest(kind: Kind, name: str) -> str | None:
    """Guess which column an unknown name was meant to be."""
    names = [column.name for column in columns_of(kind)]
    close = get_close_matches(name, names, n=1)
    same_end = [known for known in names if _bare(known) == name or known.endswith(f".{name}")]
    return next(iter(same_end or close or get_close_matches(name, map(_bare, names), n=1)), None)


@cache
def _by_name(kind: Kind) -> dict[str, Column]:
    return {column.name: column for column in columns_of(kind)}


def _inside(place: tuple[str, ...]) -> tuple[str, ...]:
    """Strip the options object, if there is one, from a place."""
    return place[1:] if place[0].endswith("_options") else place


def _bare(name: str) -> str:
    """Return the last meaningful part: ``weight_capacity`` of ``container_options.weight_capacity.value``."""
    for end in _GROUP_ENDS:
        name = name.removesuffix(end)
    return name.rsplit(".", 1)[-1]


def _columns(body: type, above: tuple[str, ...], type_: str) -> Iterator[Column]:
    hints: dict[str, Any] = get_type_hints(body, include_extras=True)
    total: bool = body.__total__  # type: ignore[attr-defined]  # __required_keys__ misses those in quoted annotations
    for field, hint in hints.items():
        annotation = get_args(hint)[0] if get_origin(hint) is Required else hint
        place = (*above, field)
        required = get_origin(hint) is Required or total
        if is_typeddict(annotation):
            yield from _columns(annotation, place, type_)
            continue
        cell = _cell(annotation)
        name = ".".join((*above, cell.column) if isinstance(cell, Refers) else place)
        if isinstance(cell, CustomFields):
            yield Column(name, (*place, WHOLE), cell, (type_,), required=False, with_group=False)
            name, place, cell = f"{name}.<code>", (*place, "<code>"), cell.single
        yield Column(name, place, cell, (type_,), required and not above, required and bool(above) and len(hints) > 1)


def _cell(annotation: object) -> Cell:
    assert get_origin(annotation) is Annotated, annotation  # noqa: S101 - a field of a body without a rule
    return next(rule for rule in get_args(annotation) if isinstance(rule, Cell))
