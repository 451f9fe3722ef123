"""Check every row of a file by every rule that does not need the service, and report all violations at once.

Empty cells are not sent. Whitespace around a cell is stripped.

A value that breaks the specification is a violation, and so is a number that can be read in two ways. A row with a
value that is probably not what was meant (``suspicions``) is not created. If the specification does not say whether
the service accepts a value, the row is sent with a warning, and the service decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Any

from msgspec import Struct

from wms_sync.master_data.columns import FileColumn, Header, KnownColumn, Texts, Violation, columns_of, read_header
from wms_sync.master_data.csv_file import GUESSED, CsvFile
from wms_sync.master_data.errors import UnreadableFile
from wms_sync.master_data.fields import (
    NUMBER,
    Broken,
    Refers,
    has_decimal_comma,
    may_part_thousands,
    two_ways,
)
from wms_sync.master_data.kind import Kind
from wms_sync.master_data.records import Record, Reference, duplicate_keys, parents_first, put
from wms_sync.master_data.suspicions import BARCODE, BECAME_NUMBERS, CODE, became_numbers

_GUESS = (
    "The file is not UTF-8 and was read as Windows-1252: check that letters with accents are right, or save it as 'CSV "
    "UTF-8'."
)
MOST_WRONG = 300_000
"""The maximum number of cells that are wrong, suspicious or sent with a warning."""


class CheckedFile(Struct, frozen=True, eq=False):
    """A checked file: ``records`` with parents before children, ``violations`` in reading order.

    ``warnings`` are about cells that are sent although the service may refuse them. ``suspicions`` are about cells that
    are probably not what was meant; on a line with violations they are violations too. If ``header_is_wrong``, there
    are no records. ``file.cells`` has the cells of each offending line, unless the quotes of the line cannot be parsed.
    """

    file: CsvFile
    kind: Kind
    records: tuple[Record, ...]
    violations: tuple[Violation, ...]
    notes: tuple[str, ...]
    warnings: tuple[Violation, ...] = ()
    suspicions: tuple[Violation, ...] = ()

    @property
    def header_is_wrong(self) -> bool:
        """Return whether a column is unknown, refused, missing or repeated, so that no row can be trusted."""
        return any(violation.line == self.file.header_line for violation in self.violations)


def check(file: CsvFile, kind: Kind, *, as_written: bool = False) -> CheckedFile:
    """Turn the rows of ``file`` into records of ``kind``, and list every rule that they break.

    Look for suspicious cells unless the file is meant ``as_written``.
    """
    header = read_header(file, kind)
    texts = header.texts(file)
    records, violations, warnings = _rows(file, kind, header, texts)
    violations += header.violations
    violations += (Violation(record.line, None, "", record.rule) for record in file.malformed)
    violations += _ambiguous(file, texts)
    lines: dict[str, int] = {}
    if (placed := header.named(kind.key)) is not None:
        keys = texts[placed].map(kind.as_stored)
        keys = keys[keys != ""]
        violations += duplicate_keys(kind, placed.written, keys)
        lines = dict(zip(keys, keys.index, strict=True))
    bad = {violation.line for violation in violations}
    rejected = {key: line for key, line in lines.items() if line in bad}
    ordered, troubled = parents_first(kind, [record for record in records if record.line not in bad], rejected)
    violations += troubled
    suspicions = [] if as_written else _suspicions(file, texts)
    bad, known = {violation.line for violation in violations}, {(found.line, found.column) for found in suspicions}
    violations = [violation for violation in violations if (violation.line, violation.column) not in known]
    violations += (found for found in suspicions if found.line in bad)
    return CheckedFile(
        file=file,
        kind=kind,
        records=() if header.violations else ordered,
        violations=tuple(sorted(violations, key=header.reading_order())),
        notes=(*((_GUESS,) if file.encoding == GUESSED else ()), *header.notes),
        warnings=tuple(sorted(warnings, key=header.reading_order())),
        suspicions=tuple(sorted(suspicions, key=header.reading_order())),
    )


def _rows(
    file: CsvFile, kind: Kind, header: Header, texts: Texts
) -> tuple[list[Record], list[Violation], list[Violation]]:
    """Return the records, violations and warnings that follow from the rules for single rows."""
    records: list[Record] = []
    violations: list[Violation] = []
    warnings: list[Violation] = []
    columns = [cells.tolist() for cells in texts.values()]
    for line, cells in zip(file.frame.index.tolist(), zip(*columns, strict=True), strict=bool(columns)):
        row = {placed: text for placed, text in zip(header.placed, cells, strict=True) if text}
        type_ = next((text for placed, text in row.items() if placed.column.name == "type"), kind.type)
        found = _Row(file, kind, header, line, row, kind.type_written(type_)).check()
        if isinstance(found, Record):
            records.append(found)
        else:
            violations += found
        _refuse_many(file, violations, warnings)
        for placed, text in row.items():
            if doubt := placed.column.cell.doubt(text):
                warnings.append(_violation(file, line, placed, doubt))
    return records, violations, warnings


def _refuse_many(file: CsvFile, *found: Sequence[Violation]) -> None:
    """Refuse a file with more than ``MOST_WRONG`` wrong cells: their reasons would fill the memory."""
    if sum(map(len, found)) > MOST_WRONG:
        first = next(chain(*found))
        raise UnreadableFile(
            file.path, f"more than {MOST_WRONG:,} cells are wrong or doubtful, the first on line {first.line}: {first}"
        )


def _violation(file: CsvFile, line: int, placed: FileColumn, rule: str) -> Violation:
    return Violation(line, placed.written, file.cells[line][placed.position], rule)


@cache
def _needed(kind: Kind) -> tuple[KnownColumn, ...]:
    return tuple(column for column in columns_of(kind) if column.required or column.with_group)


class _Row(Struct, frozen=True):
    """A row of the file: its filled cells, and its type as the service writes it, or any other text."""

    file: CsvFile
    kind: Kind
    header: Header
    line: int
    cells: Mapping[FileColumn, str]
    type: str

    def check(self) -> Record | list[Violation]:
        """Return the record, or the violations of all rules for single rows."""
        body: dict[str, Any] = {"type": self.kind.type} if self.kind.has_types else {}
        references: list[Reference] = []
        violations: list[Violation] = []
        filled: dict[tuple[str, ...], FileColumn] = {}
        for placed, text in self.cells.items():
            column = placed.column
            values: Mapping[tuple[str, ...], Any] = {column.path: None}
            try:
                if not self._has(column):
                    raise Broken(self._foreign(column))
                values = column.parse(text)
            except Broken as broken:
                violations.append(_violation(self.file, self.line, placed, str(broken)))
            for path, value in values.items():
                other = filled.setdefault(path, placed)
                if other is not placed:
                    violations.append(
                        _violation(
                            self.file, self.line, placed, f"Fills the same field as {other.written}; fill it once."
                        )
                    )
                if violations:
                    continue  # there is no record
                if isinstance(column.cell, Refers):
                    references.append(_reference(placed, column.cell, value))
                else:
                    put(body, path, value)
        violations += self._missing(filled)
        if violations:
            return violations
        if self.kind.lists_custom_fields and "custom_fields" in body:
            body["custom_fields"] = [{"code": code, **entry} for code, entry in sorted(body["custom_fields"].items())]
        # without a key the header is wrong, and no record is used
        return Record(self.line, body.get(self.kind.key, ""), body, tuple(references))

    def _has(self, column: KnownColumn) -> bool:
        """Return whether the row's type has a column. If the type is unknown, check every cell."""
        return self.type in column.types or self.type not in self.kind.bodies

    def _foreign(self, column: KnownColumn) -> str:
        owners = column.types
        whose = owners[0] if len(owners) == 1 else f"{', '.join(owners[:-1])} or {owners[-1]}"
        own = [known for known in columns_of(self.kind) if self.type in known.types and known.like(column)]
        todo = f"The column for it is {own[0].name}." if own else "Empty the cell or correct the type."
        return f"Belongs to {whose}, but this row is a {self.type}. {todo}"

    def _missing(self, filled: Mapping[tuple[str, ...], FileColumn]) -> Iterator[Violation]:
        """Yield a violation for each cell that must be filled. A required column that is missing is the header's."""
        groups = {path[:-1] for path in filled}
        for column in _needed(self.kind):
            in_group = column.with_group and column.path[:-1] in groups
            if column.path in filled or not self._has(column) or not (column.required or in_group):
                continue
            group = ".".join(column.path[:-1])
            rule = f"Must be filled, because another cell of {group} is." if in_group else "Must be filled."
            placed = self.header.named(column.name)
            if placed is not None:
                yield _violation(self.file, self.line, placed, rule)
            elif in_group:
                yield Violation(self.line, column.name, "", rule)


def _reference(placed: FileColumn, cell: Refers, keys: tuple[str, ...]) -> Reference:
    path = placed.column.path
    ids = ".".join((*path[:-1], cell.ids)) if cell.ids else ""
    return Reference(".".join(path), placed.written, cell.to, keys, cell.many, cell.by_id, ids)


def _suspicions(file: CsvFile, texts: Texts) -> list[Violation]:
    """Return a violation for each cell that is probably not what was meant."""
    found: list[Violation] = []
    for placed, cells in texts.items():
        cell = placed.column.cell
        filled = {line: text for line, text in zip(cells.index.tolist(), cells.tolist(), strict=True) if text}
        became = cell.holds in {CODE, BARCODE} and became_numbers(filled.values())
        for line, text in filled.items():
            if rule := BECAME_NUMBERS if became else cell.suspicion(text):
                found.append(_violation(file, line, placed, rule))
        _refuse_many(file, found)
    return found


def _ambiguous(file: CsvFile, texts: Texts) -> Iterator[Violation]:
    """Refuse numbers whose point may separate thousands, in a file that has decimal commas."""
    numbers = {placed: cells for placed, cells in texts.items() if placed.column.cell.type == NUMBER}
    if any(cells.map(has_decimal_comma).any() for cells in numbers.values()):
        for placed, cells in numbers.items():
            for line, text in cells[cells.map(may_part_thousands)].items():
                yield _violation(file, int(str(line)), placed, str(two_ways(text)))
