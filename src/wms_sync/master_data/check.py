"""Check every row of a file by every rule that does not need the service, and report all violations at once.

The cells of a row are nested like the body of its kind and validated by pydantic; errors are mapped back to the columns
of the file. (pandera validates a flat frame, but a nested body has to be built from each row as well.) Empty cells are
not sent. Whitespace around a cell is stripped.

A value that breaks the specification is a violation. So is a value that was damaged before the push, or that can be
read in two ways. If the specification does not say whether the service accepts a value, the row is sent with a warning,
and the service decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace
from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from wms_sync.master_data.columns import FileColumn, Header, Texts, Violation, columns_of, read_header
from wms_sync.master_data.csv_file import GUESSED, CsvFile
from wms_sync.master_data.fields import (
    NUMBER,
    Refers,
    has_decimal_comma,
    may_part_thousands,
    no_doubt,
    two_ways,
)
from wms_sync.master_data.kind import Kind
from wms_sync.master_data.records import Record, Reference, duplicate_keys, parents_first

if TYPE_CHECKING:
    import pandas as pd


_ERROR = r"#(N/A|NV|NAME\?|NOM\?|(DIV/0|NULL|NUM|REF|VALUE|BEZUG|WERT|ZAHL|NUL|VALEUR|NOMBRE)!)|(Err|Fehler):5\d\d"
"""The error values of Excel in English, German and French, and those of LibreOffice in English and German."""
_NO_VALUE = "null"
"""The word, in any case, that databases export for a missing value."""


class Checked(Struct, frozen=True, eq=False):
    """A checked file: ``records`` with parents before children, ``violations`` in reading order.

    ``warnings`` are about cells that are sent although the service may refuse them. If ``header_is_wrong``, there are
    no records. ``file.cells`` has the cells of each offending line, unless the quotes of the line cannot be parsed.
    """

    file: CsvFile
    kind: Kind
    records: tuple[Record, ...]
    violations: tuple[Violation, ...]
    notes: tuple[str, ...]
    warnings: tuple[Violation, ...] = ()

    @property
    def header_is_wrong(self) -> bool:
        """Return whether a column is unknown, refused, missing or repeated, so that no row can be trusted."""
        return any(violation.line == self.file.header_line for violation in self.violations)


def check(file: CsvFile, kind: Kind) -> Checked:
    """Turn the rows of ``file`` into records of ``kind``, and list every rule that they break."""
    header = read_header(file, kind)
    texts = header.texts(file)
    records, violations, warnings = _rows(file, kind, header, texts)
    violations += header.violations
    violations += (Violation(record.line, None, "", record.rule) for record in file.malformed)
    violations += _damaged(file, texts)
    warnings = [*_texts_for_nothing(file, texts), *warnings]
    lines: dict[str, int] = {}
    if (placed := header.named(kind.key)) is not None:
        keys = _keys(kind, texts[placed])
        violations += _as_written(file, header, duplicate_keys(kind, placed.written, keys))
        lines = dict(zip(keys, keys.index, strict=True))
    bad = {violation.line for violation in violations}
    rejected = {key: line for key, line in lines.items() if line in bad}
    ordered = parents_first(kind, [record for record in records if record.line not in bad], rejected)
    violations += _as_written(file, header, ordered.violations)
    return Checked(
        file=file,
        kind=kind,
        records=() if header.violations else ordered.records,
        violations=tuple(sorted(violations, key=header.reading_order())),
        notes=(*_guessed(file), *header.notes),
        warnings=tuple(sorted(warnings, key=header.reading_order())),
    )


def _rows(
    file: CsvFile, kind: Kind, header: Header, texts: Texts
) -> tuple[list[Record], list[Violation], list[Violation]]:
    """Return the records, violations and warnings that follow from the rules for single rows."""
    records: list[Record] = []
    violations: list[Violation] = []
    warnings: list[Violation] = []
    rivals, doubtful = _rivals(header), [placed for placed in header.placed if placed.column.cell.doubt is not no_doubt]
    columns = [cells.tolist() for cells in texts.values()]
    for line, cells in zip(file.lines, zip(*columns, strict=True), strict=bool(columns)):
        row = {placed: text for placed, text in zip(header.placed, cells, strict=True) if text}
        type_ = kind.type_written(_text(row, "type") or kind.type)
        try:
            body = _adapter(kind.body(type_)).validate_python(_nested(kind, row))
        except ValidationError as error:
            found = _ErrorsOfRow(file, kind, header, line, row, type_)
            violations += (
                violation
                for details in error.errors(include_url=False, include_input=False)
                for violation in found.violations(details)
            )
        else:
            records.append(_record(kind, line, row, body))
        violations += _named_twice(file, line, [placed for placed in rivals if placed in row])
        warnings += _doubts(file, line, [(placed, row[placed]) for placed in doubtful if placed in row])
    return records, violations, warnings


def _text(row: Mapping[FileColumn, str], name: str) -> str:
    return next((text for placed, text in row.items() if placed.column.name == name), "")


def _rivals(header: Header) -> list[FileColumn]:
    """Return columns that fill the same field as another column of the file."""
    paths = Counter(placed.column.path for placed in header.placed)
    return [placed for placed in header.placed if paths[placed.column.path] > 1]


def _doubts(file: CsvFile, line: int, cells: Iterable[tuple[FileColumn, str]]) -> Iterator[Violation]:
    for placed, text in cells:
        if doubt := placed.column.cell.doubt(text):
            yield _violation(file, line, placed, doubt)


def _violation(file: CsvFile, line: int, placed: FileColumn, rule: str) -> Violation:
    return Violation(line, placed.written, file.cells[line][placed.position], rule)


def _named_twice(file: CsvFile, line: int, row: Iterable[FileColumn]) -> Iterator[Violation]:
    """Refuse cells of a row that fill the same field, such as a natural key and an id: they may disagree."""
    first: dict[tuple[str, ...], FileColumn] = {}
    for placed in row:
        other = first.setdefault(placed.column.path, placed)
        if other is not placed:
            rule = f"Fills the same field as {other.written}; leave one of them empty."
            yield _violation(file, line, placed, rule)


@cache
def _adapter(shape: type) -> TypeAdapter[dict[str, Any]]:
    return TypeAdapter(shape)


def _nested(kind: Kind, row: Mapping[FileColumn, str]) -> dict[str, Any]:
    """Nest the cells of a row like the fields of its body."""
    nested: dict[str, Any] = {}
    for placed, text in row.items():
        *above, field = placed.column.place
        inner = nested
        for part in above:
            inner = inner.setdefault(part, {})
        inner[field] = text
    if kind.has_types:
        nested.setdefault("type", kind.type)
    return nested


def _record(kind: Kind, line: int, row: Mapping[FileColumn, str], body: dict[str, Any]) -> Record:
    """Return the record of a valid row. Move its references out of the body."""
    references: list[Reference] = []
    for placed in row:
        (*above, field), cell = placed.column.place, placed.column.cell
        if isinstance(cell, Refers):
            inner = body
            for part in above:
                inner = inner[part]
            path, ids = ".".join(placed.column.path), ".".join((*above, cell.ids)) if cell.ids else ""
            references.append(Reference(path, placed.written, cell.to, inner.pop(field), cell.many, cell.by_id, ids))
    return Record(line, body[kind.key], body, tuple(references))


class _ErrorsOfRow(Struct, frozen=True):
    """Maps pydantic's errors for one row back to the cells of the file."""

    file: CsvFile
    kind: Kind
    header: Header
    line: int
    row: Mapping[FileColumn, str]
    type: str | None

    def violations(self, error: ErrorDetails) -> Iterator[Violation]:
        """Yield the violations of an error. A column that the file lacks counts once, as a violation of the header."""
        place = tuple(str(step) for step in error["loc"])
        if error["type"] == "missing":
            yield from self._missing(place)
        elif error["type"] == "extra_forbidden":
            for placed in self.row:
                if placed.column.place[: len(place)] == place:
                    yield self._violation(placed, self._foreign(placed))
        else:
            yield self._broken(place, str(error["ctx"]["error"]))

    def _missing(self, place: tuple[str, ...]) -> Iterator[Violation]:
        column = next(column for column in columns_of(self.kind) if column.place == place)
        placed = next((placed for placed in self.header.placed if placed.column.place == place), None)
        group = ".".join(place[:-1])
        rule = f"Must be filled, because another cell of {group} is." if group else "Must be filled."
        if placed:
            yield self._violation(placed, rule)
        elif group:
            yield Violation(self.line, column.name, "", rule)

    def _foreign(self, placed: FileColumn) -> str:
        owners = placed.column.types
        whose = owners[0] if len(owners) == 1 else f"{', '.join(owners[:-1])} or {owners[-1]}"
        own = [column for column in columns_of(self.kind) if self.type in column.types and column.like(placed.column)]
        todo = f"The column for it is {own[0].name}." if own else "Empty the cell or correct the type."
        return f"Belongs to {whose}, but this row is a {self.type}. {todo}"

    def _broken(self, place: tuple[str, ...], rule: str) -> Violation:
        """Return the violation for the field's own cell, or for its code in the JSON column of all custom fields."""
        for placed in self.row:
            if placed.column.place == place:
                return self._violation(placed, rule)
        whole = next(placed for placed in self.row if placed.column.name == "custom_fields")
        return self._violation(whole, rule if len(place) == 1 else f"{place[1]}: {rule}")

    def _violation(self, placed: FileColumn, rule: str) -> Violation:
        return _violation(self.file, self.line, placed, rule)


def _damaged(file: CsvFile, texts: Texts) -> Iterator[Violation]:
    """Refuse cells that were damaged before the push, whatever the rule of the column.

    In a file with decimal commas a point may separate thousands, so such a number can be read in two ways.
    """
    lost = "Has NUL or U+FFFD, which stands for a letter that was lost in a conversion. Enter the text again."
    yield from _each(file, texts, lambda cells: cells.str.contains("[\0\ufffd]"), lambda _: lost)
    formula = "Is the error of a spreadsheet formula. Enter the value again."
    yield from _each(file, texts, lambda cells: cells.str.fullmatch(_ERROR), lambda _: formula)
    numbers = {placed: cells for placed, cells in texts.items() if placed.column.type == NUMBER}
    if any(cells.map(has_decimal_comma).any() for cells in numbers.values()):
        yield from _each(file, numbers, lambda cells: cells.map(may_part_thousands), lambda text: str(two_ways(text)))


def _texts_for_nothing(file: CsvFile, texts: Texts) -> Iterator[Violation]:
    """Warn of each cell with the word that databases export for a missing value."""
    rule = "Is sent as the text {}; empty the cell if it means a missing value."
    yield from _each(file, texts, lambda cells: cells.str.casefold() == _NO_VALUE, rule.format)


def _each(
    file: CsvFile,
    texts: Texts,
    is_marked: Callable[[pd.Series[str]], pd.Series[bool]],
    rule: Callable[[str], str],
) -> Iterator[Violation]:
    """Yield a violation for each cell that ``is_marked`` selects; ``rule`` turns the cell's text into the sentence."""
    for placed, cells in texts.items():
        for line in cells.index[is_marked(cells).astype(bool)]:
            yield _violation(file, line, placed, rule(cells[line]))


def _as_written(file: CsvFile, header: Header, violations: Iterable[Violation]) -> Iterator[Violation]:
    """Yield violations that involve several rows, with the whole cell in place of the key that it contains."""
    positions = {placed.written: placed.position for placed in header.placed}
    for violation in violations:
        yield replace(violation, value=file.cells[violation.line][positions[violation.column or ""]])


def _keys(kind: Kind, cells: pd.Series[str]) -> pd.Series[str]:
    """Return the key of each row that has a key, by line, in the form that the service stores."""
    keys = cells.map(kind.as_stored)
    return keys[keys != ""]


def _guessed(file: CsvFile) -> Iterator[str]:
    if file.encoding == GUESSED:
        yield (
            "The file is not UTF-8 and was read as Windows-1252: check that letters with accents are right, or save it "
            "as 'CSV UTF-8'."
        )
