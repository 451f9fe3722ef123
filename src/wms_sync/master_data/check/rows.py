"""Every row of a file against every rule that can be checked without the service; all offences at once.

A row's cells are nested as the body has them and validated by pydantic against the body of its kind; errors are put
back to the columns of the file. What ``resource_json`` says is laid over the resulting body; the cells in its place are
not looked at. (pandera was tried. It validates a flat frame; here a nested body has to be made of each row as well.)
Empty cells are not sent. Blanks around a cell are not part of it.

What the specification states is an offence when it is broken. Where it leaves open whether the service takes a value,
there is a warning, and the row is sent: the service decides. Values that were damaged on their way, or that can be read
in two ways, are offences too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from wms_sync.master_data.check.across_rows import families, repeated
from wms_sync.master_data.check.header import Header, Placed, read_header
from wms_sync.master_data.check.offences import Offence, Record, Reference
from wms_sync.master_data.fields import resource_json
from wms_sync.master_data.fields.resource_json import Said, is_said, laid_over
from wms_sync.master_data.fields.rules import (
    GIVEN,
    NUMBER,
    Broken,
    Refers,
    has_decimal_comma,
    may_part_thousands,
    no_doubt,
    two_ways,
)
from wms_sync.master_data.file.csv_file import CsvFile
from wms_sync.master_data.file.decode import GUESSED
from wms_sync.master_data.kinds.columns import RAW, Column, columns_of
from wms_sync.master_data.kinds.kind import Kind

_ENGLISH_ERRORS = frozenset({"#N/A", "#NAME?", "#REF!", "#VALUE!", "#DIV/0!", "#NUM!", "#NULL!"})
SPREADSHEET_ERRORS = _ENGLISH_ERRORS | {"#NV", "#BEZUG!", "#WERT!", "#ZAHL!", "#VALEUR!", "#NOM?", "#NOMBRE!"}
"""What Excel writes in place of a value, in English and some other languages."""
_NO_VALUE = frozenset({"null", "(null)", "<null>", "nan"})

__all__ = ["Checked", "Offence", "Record", "Reference", "check"]


@dataclass(frozen=True, eq=False)
class Checked:
    """A file that was checked: parents before children among ``records``; ``offences`` as one reads the file.

    ``warnings`` are about cells that are sent and that the service may refuse.

    Where ``header_is_wrong`` there are no records at all. ``file.cells`` has the cells of each offending line, but of
    those whose quotes cannot be read.
    """

    file: CsvFile
    kind: Kind
    records: tuple[Record, ...]
    offences: tuple[Offence, ...]
    notes: tuple[str, ...]
    warnings: tuple[Offence, ...] = ()

    @property
    def header_is_wrong(self) -> bool:
        """Whether a column is unknown, missing or there twice: no row can be trusted then."""
        return any(offence.line == self.file.header_line for offence in self.offences)


def check(file: CsvFile, kind: Kind) -> Checked:
    """What the rows of ``file`` become as ``kind``, and every rule that they break."""
    header = read_header(file, kind)
    records, offences, warnings = _rows(file, kind, header)
    offences += header.offences
    offences += (Offence(one.line, None, "", one.rule) for one in file.malformed)
    offences += _nul_characters(file, header)
    offences += _spreadsheet_errors(file, header)
    offences += _read_two_ways(file, header)
    keys = _keys(file, kind, header)
    offences += _as_written(file, header, repeated(kind, header.written(kind.key), keys))
    bad = {offence.line for offence in offences}
    rejected = {key: line for line, key in keys.items() if line in bad}
    kept = families(kind, [record for record in records if record.line not in bad], rejected)
    offences += _as_written(file, header, kept.offences)
    return Checked(
        file=file,
        kind=kind,
        records=() if header.offences else kept.records,
        offences=tuple(sorted(offences, key=header.reading_order())),
        notes=(*_guessed(file), *header.notes),
        warnings=tuple(sorted(warnings, key=header.reading_order())),
    )


def _rows(file: CsvFile, kind: Kind, header: Header) -> tuple[list[Record], list[Offence], list[Offence]]:
    """Records, offences and warnings."""
    records: list[Record] = []
    offences: list[Offence] = []
    warnings = list(_texts_for_nothing(file, header))
    rivals, doubtful = _rivals(header), [one for one in header.placed if one.column.cell.doubt is not no_doubt]
    columns = [file.frame.iloc[:, one.position].str.strip().tolist() for one in header.placed]
    for line, texts in zip(file.lines, zip(*columns, strict=True), strict=bool(columns)):
        whole = {one: text for one, text in zip(header.placed, texts, strict=True) if text}
        said, wrong = _said(file, kind, line, whole)
        row = {one: text for one, text in whole.items() if not is_said(said, one.column.path)} if said else whole
        type_ = said.get("type", kind.type_written(_text(row, "type") or kind.type))
        try:
            body = _adapter(kind.body(type_)).validate_python(_nested(kind, row, said))
        except ValidationError as error:
            found = _Row(file, kind, header, line, row, type_)
            offences += (
                one
                for details in error.errors(include_url=False, include_input=False)
                for one in found.offences(details)
            )
        else:
            records.append(_record(kind, line, row, body, said))
        offences += wrong
        offences += _named_twice(file, line, [one for one in rivals if one in row])
        warnings += _doubts(file, line, [(one, row[one]) for one in doubtful if one in row])
    return records, offences, warnings


def _said(file: CsvFile, kind: Kind, line: int, row: dict[Placed, str]) -> tuple[Said, list[Offence]]:
    """What the row says in ``resource_json``, whose cell is taken out of it, and what is wrong with that."""
    placed = next((one for one in row if one.column.name == RAW), None)
    if placed is None:
        return resource_json.NOTHING, []
    text = row.pop(placed)
    try:
        return resource_json.read(text, kind.key, kind.as_stored(_text(row, kind.key))), []
    except Broken as broken:
        return resource_json.NOTHING, [_offence(file, line, placed, str(broken))]


def _text(row: Mapping[Placed, str], name: str) -> str:
    return next((text for placed, text in row.items() if placed.column.name == name), "")


def _rivals(header: Header) -> list[Placed]:
    """Columns that fill the same field as another column of the file."""
    paths = Counter(one.column.path for one in header.placed)
    return [one for one in header.placed if paths[one.column.path] > 1]


def _texts_for_nothing(file: CsvFile, header: Header) -> Iterator[Offence]:
    for placed in header.placed:
        cells = file.frame.iloc[:, placed.position].str.strip()
        for line in cells.index[cells.str.casefold().isin(_NO_VALUE)]:
            rule = f"Is sent as the text {cells[line]}; empty the cell if it stands for nothing."
            yield _offence(file, line, placed, rule)


def _doubts(file: CsvFile, line: int, cells: Iterable[tuple[Placed, str]]) -> Iterator[Offence]:
    for placed, text in cells:
        if doubt := placed.column.cell.doubt(text):
            yield _offence(file, line, placed, doubt)


def _offence(file: CsvFile, line: int, placed: Placed, rule: str) -> Offence:
    return Offence(line, placed.written, file.cells[line][placed.position], rule)


def _named_twice(file: CsvFile, line: int, row: Iterable[Placed]) -> Iterator[Offence]:
    """Cells that fill what another one fills: a natural key and an id, of which nobody says whether they agree."""
    first: dict[tuple[str, ...], Placed] = {}
    for placed in row:
        other = first.setdefault(placed.column.path, placed)
        if other is not placed:
            rule = f"Fills the same field as {other.written}; leave one of them empty."
            yield _offence(file, line, placed, rule)


@cache
def _adapter(shape: type) -> TypeAdapter[dict[str, Any]]:
    return TypeAdapter(shape)


def _nested(kind: Kind, row: Mapping[Placed, str], said: Said) -> dict[str, Any]:
    """The texts of a row, nested as the body has their fields; what they need beside them may be said in JSON."""
    nested: dict[str, Any] = {}
    for placed, text in row.items():
        *above, field = placed.column.place
        inner = nested
        for one in above:
            inner = inner.setdefault(one, {})
        inner[field] = text
    if kind.has_types and "type" not in said:
        nested.setdefault("type", kind.type)
    for column in _needed(kind) if said else ():
        group = _group(nested, column)
        if group is not None and is_said(said, column.path):
            group[column.place[-1]] = GIVEN
    return nested


@cache
def _needed(kind: Kind) -> tuple[Column, ...]:
    return tuple(one for one in columns_of(kind) if one.required or one.with_group)


def _group(nested: dict[str, Any], column: Column) -> dict[str, Any] | None:
    """The object that a column's field stands in, where a row has one."""
    inner: Any = nested
    for one in column.place[:-1]:
        inner = inner.get(one)
        if inner is None:
            return None
    return inner  # type: ignore[no-any-return]  # of texts nested in dicts


def _record(kind: Kind, line: int, row: Mapping[Placed, str], body: dict[str, Any], said: Said) -> Record:
    """The record of a row that keeps every rule; its references are taken out of the body."""
    references: list[Reference] = []
    for placed in row:
        (*above, field), cell = placed.column.place, placed.column.cell
        if isinstance(cell, Refers):
            inner = body
            for one in above:
                inner = inner[one]
            path, ids = ".".join(placed.column.path), ".".join((*above, cell.ids)) if cell.ids else ""
            references.append(Reference(path, placed.written, cell.to, inner.pop(field), cell.many, cell.by_id, ids))
    body = laid_over(body, said)
    return Record(line, body[kind.key], body, tuple(references), is_raw=bool(said))


@dataclass(frozen=True)
class _Row:
    """A row that broke rules: puts the errors of pydantic back to the cells of the file."""

    file: CsvFile
    kind: Kind
    header: Header
    line: int
    row: Mapping[Placed, str]
    type: str | None

    def offences(self, error: ErrorDetails) -> Iterator[Offence]:
        """What one error means; a column that the whole file lacks is an offence of the header and not of each row."""
        place = tuple(str(step) for step in error["loc"])
        if error["type"] == "missing":
            yield from self._missing(place)
        elif error["type"] == "extra_forbidden":
            for placed in self.row:
                if placed.column.place[: len(place)] == place:
                    yield self._offence(placed, self._foreign(placed))
        else:
            yield self._broken(place, str(error["ctx"]["error"]))

    def _missing(self, place: tuple[str, ...]) -> Iterator[Offence]:
        column = next(one for one in columns_of(self.kind) if one.place == place)
        placed = next((one for one in self.header.placed if one.column.place == place), None)
        group = ".".join(place[:-1])
        rule = f"Must be filled, since another cell of {group} is." if group else "Must be filled."
        if placed:
            yield self._offence(placed, rule)
        elif group:
            yield Offence(self.line, column.name, "", rule)

    def _foreign(self, placed: Placed) -> str:
        owners = placed.column.types
        whose = owners[0] if len(owners) == 1 else f"{', '.join(owners[:-1])} or {owners[-1]}"
        own = [one for one in columns_of(self.kind) if self.type in one.types and one.like(placed.column)]
        todo = f"The column for it is {own[0].name}." if own else "Empty the cell or correct the type."
        return f"Belongs to {whose}, and this row is a {self.type}. {todo}"

    def _broken(self, place: tuple[str, ...], rule: str) -> Offence:
        """A cell of its own, or the code inside the column of JSON that holds all custom fields."""
        for placed in self.row:
            if placed.column.place == place:
                return self._offence(placed, rule)
        whole = next(one for one in self.row if one.column.name == "custom_fields")
        return self._offence(whole, rule if len(place) == 1 else f"{place[1]}: {rule}")

    def _offence(self, placed: Placed, rule: str) -> Offence:
        return _offence(self.file, self.line, placed, rule)


def _nul_characters(file: CsvFile, header: Header) -> Iterator[Offence]:
    for placed in header.placed:
        cells = file.frame.iloc[:, placed.position]
        for line in cells.index[cells.str.contains("\0", regex=False)]:
            yield Offence(
                line, placed.written, cells[line], "Holds a NUL character, which no text has. Enter the cell again."
            )


def _spreadsheet_errors(file: CsvFile, header: Header) -> Iterator[Offence]:
    for placed in header.placed:
        cells = file.frame.iloc[:, placed.position]
        for line in cells.index[cells.str.strip().isin(SPREADSHEET_ERRORS)]:
            yield _offence(file, line, placed, "Is an error of a spreadsheet's formula. Enter the value again.")


def _read_two_ways(file: CsvFile, header: Header) -> Iterator[Offence]:
    """Points that may part thousands, in a file of which another number shows that its commas are decimal."""
    columns = [
        (one, file.frame.iloc[:, one.position].str.strip()) for one in header.placed if one.column.type == NUMBER
    ]
    if any(cells.map(has_decimal_comma).any() for _, cells in columns):
        for placed, cells in columns:
            for line in cells.index[cells.map(may_part_thousands).astype(bool)]:
                yield _offence(file, line, placed, str(two_ways(cells[line])))


def _as_written(file: CsvFile, header: Header, offences: Iterable[Offence]) -> Iterator[Offence]:
    """Offences between rows, which name a key, with the whole cell that it stands in."""
    positions = {placed.written: placed.position for placed in header.placed}
    for one in offences:
        yield replace(one, value=file.cells[one.line][positions[one.column or ""]])


def _keys(file: CsvFile, kind: Kind, header: Header) -> dict[int, str]:
    """The key of each row by its line, as the service would store it."""
    position = next((one.position for one in header.placed if one.column.name == kind.key), None)
    if position is None:
        return {}
    cells = file.frame.iloc[:, position]
    keys = (kind.as_stored(cell) for cell in cells)
    return {line: key for line, key in zip(file.lines, keys, strict=True) if key}


def _guessed(file: CsvFile) -> Iterator[str]:
    if file.encoding == GUESSED:
        yield (
            "The file is not UTF-8 and was read as Windows-1252: look whether letters with accents came through, or "
            "save it as 'CSV UTF-8'."
        )
