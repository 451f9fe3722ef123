"""Check every row of a file by every rule that does not need the service, and report all violations at once.

Empty cells are not sent. Whitespace around a cell is stripped.

A value that breaks the specification is a violation, and so is a number that can be read in two ways. A row with a
value that is probably not what was meant (``suspicions``) is not created. If the specification does not say whether
the service accepts a value, the row is sent with a warning, and the service decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from msgspec import Struct

from wms_sync.master_data.csv_file import GUESSED, CsvFile, UnreadableFile, canonical
from wms_sync.master_data.fields import (
    NUMBER,
    Broken,
    Refers,
    has_decimal_comma,
    may_part_thousands,
    two_ways,
)
from wms_sync.master_data.kind import (
    REASONS,
    FileColumn,
    Header,
    Kind,
    KnownColumn,
    Texts,
    Violation,
    columns_of,
    read_header,
)
from wms_sync.master_data.records import Record, Reference, duplicate_keys, parents_first, put
from wms_sync.master_data.suspicions import BARCODE, BECAME_NUMBERS, CODE, HS_CODE, became_numbers

_GUESS = (
    "The file is not UTF-8 and was read as Windows-1252: check that letters with accents are right, or save it as 'CSV "
    "UTF-8'."
)
LONGEST_KEY = 1_000
"""The maximum number of bytes of a natural key: an index of PostgreSQL takes 2,704, also for the service and kind."""
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
    violations = [*header.violations, *(Violation(record.line, None, "", record.rule) for record in file.malformed)]
    lines: dict[str, int] = {}
    if (placed := header.named(kind.key)) is not None:
        # only the key is compared: a header in a file of rejected rows has its reason in front
        is_header = texts[placed].map(canonical) == canonical(placed.written)
        violations += (
            Violation(line, None, "", "Repeats the header. Remove the line.") for line in texts[placed].index[is_header]
        )
        texts = {column: cells[~is_header] for column, cells in texts.items()}
        keys = texts[placed].map(kind.as_stored)
        keys = keys[keys != ""]
        violations += duplicate_keys(kind, placed.written, keys)
        lines = dict(zip(keys, keys.index, strict=True))
    checker = _Checker(file, kind, header, texts, as_written=as_written)
    records = [record for line, row in header.rows(texts) if (record := checker.record(line, row)) is not None]
    violations += checker.violations
    bad = {violation.line for violation in violations}
    rejected = {key: line for key, line in lines.items() if line in bad}
    ordered, troubled = parents_first(kind, [record for record in records if record.line not in bad], rejected)
    violations += troubled
    bad, known = (
        {violation.line for violation in violations},
        {(found.line, found.column) for found in checker.suspicions},
    )
    violations = [violation for violation in violations if (violation.line, violation.column) not in known]
    violations += (found for found in checker.suspicions if found.line in bad)
    return CheckedFile(
        file=file,
        kind=kind,
        records=() if header.violations else ordered,
        violations=tuple(sorted(violations, key=header.reading_order())),
        notes=(*((_GUESS,) if file.encoding == GUESSED else ()), *header.notes),
        warnings=tuple(sorted(checker.warnings, key=header.reading_order())),
        suspicions=tuple(sorted(checker.suspicions, key=header.reading_order())),
    )


class _Checker:
    """Checks row after row by the rules for single rows, and collects what is wrong, suspicious or doubtful in them."""

    def __init__(self, file: CsvFile, kind: Kind, header: Header, texts: Texts, *, as_written: bool) -> None:
        self._file, self._kind, self._header, self._as_written = file, kind, header, as_written
        self._needed = [column for column in columns_of(kind) if column.required or column.with_group]
        is_rejects = REASONS in file.frame.columns  # which lacks the rows beside which its own were rejected
        self._became_numbers = {
            placed
            for placed, cells in texts.items()
            if placed.column.cell.holds in {CODE, BARCODE, HS_CODE}
            and became_numbers(cells[cells != ""].tolist(), enough=1 if is_rejects else 2)
        }
        numbers = [cells for placed, cells in texts.items() if placed.column.cell.type == NUMBER]
        self._has_commas = is_rejects or any(cells.map(has_decimal_comma).any() for cells in numbers)
        self.violations: list[Violation] = []
        self.warnings: list[Violation] = []
        self.suspicions: list[Violation] = []

    def record(self, line: int, row: Mapping[FileColumn, str]) -> Record | None:
        """Return the record of a row, whose filled cells are given; None if the row breaks a rule."""
        type_ = next((text for placed, text in row.items() if placed.column.name == "type"), self._kind.type)
        type_ = next((known for known in self._kind.bodies if known.casefold() == type_.casefold()), type_)
        body: dict[str, Any] = {"type": self._kind.type} if len(self._kind.bodies) > 1 else {}
        references: list[Reference] = []
        filled: dict[tuple[str, ...], FileColumn] = {}
        violations: list[Violation] = []
        for placed, text in row.items():
            column, cell = placed.column, placed.column.cell
            values: Mapping[tuple[str, ...], Any] = {column.path: None}
            if doubt := cell.doubt(text):
                self.warnings.append(self._violation(line, placed, doubt))
            suspicion = BECAME_NUMBERS if placed in self._became_numbers else cell.suspicion(text)
            if suspicion and not self._as_written:
                self.suspicions.append(self._violation(line, placed, suspicion))
            try:
                if not self._has(type_, column):
                    raise Broken(self._foreign(type_, column))
                if self._has_commas and cell.type == NUMBER and may_part_thousands(text):
                    raise two_ways(text)
                if "\0" in text:
                    raise Broken("Has a NUL character, which no text has. Remove it.")
                if column.name == self._kind.key and len(text.encode()) > LONGEST_KEY:
                    raise Broken(f"Has more than {LONGEST_KEY:,} bytes, too many for a {self._kind.key}. Shorten it.")
                values = column.parse(text)
            except Broken as broken:
                violations.append(self._violation(line, placed, str(broken)))
            for path, value in values.items():
                other = filled.setdefault(path, placed)
                if other is not placed:
                    rule = f"Fills the same field as {other.written}; fill it once."
                    violations.append(self._violation(line, placed, rule))
                elif not violations:
                    if isinstance(cell, Refers):
                        references.append(_reference(placed, cell, value))
                    else:
                        put(body, path, value)
        violations += self._missing(line, type_, filled)
        self.violations += violations
        self._refuse_many()
        if violations:
            return None
        if self._kind.lists_custom_fields and "custom_fields" in body:
            body["custom_fields"] = [{"code": code, **entry} for code, entry in sorted(body["custom_fields"].items())]
        # without a key the header is wrong, and no record is used
        return Record(line, body.get(self._kind.key, ""), body, tuple(references))

    def _refuse_many(self) -> None:
        """Refuse a file with more than ``MOST_WRONG`` such cells: their reasons would fill the memory."""
        if len(self.violations) + len(self.warnings) + len(self.suspicions) > MOST_WRONG:
            first = next(chain(self.violations, self.suspicions, self.warnings))
            raise UnreadableFile(
                self._file.path,
                f"more than {MOST_WRONG:,} cells are wrong or doubtful, the first on line {first.line}: {first}",
            )

    def _violation(self, line: int, placed: FileColumn, rule: str) -> Violation:
        return Violation(line, placed.written, self._file.cells[line][placed.position], rule)

    def _has(self, type_: str, column: KnownColumn) -> bool:
        """Return whether rows of a type have a column. If the type is unknown, check every cell."""
        return type_ in column.types or type_ not in self._kind.bodies

    def _foreign(self, type_: str, column: KnownColumn) -> str:
        *others, last = column.types
        whose = f"{', '.join(others)} or {last}" if others else last
        own = [known for known in columns_of(self._kind) if type_ in known.types and known.like(column)]
        todo = f"The column for it is {own[0].name}." if own else "Empty the cell or correct the type."
        return f"Belongs to {whose}, but this row is a {type_}. {todo}"

    def _missing(self, line: int, type_: str, filled: Mapping[tuple[str, ...], FileColumn]) -> Iterator[Violation]:
        """Yield a violation for each cell that must be filled. A required column that is missing is the header's."""
        groups = {path[:-1] for path in filled}
        for column in self._needed:
            in_group = column.with_group and column.path[:-1] in groups
            if column.path in filled or not self._has(type_, column) or not (column.required or in_group):
                continue
            group = ".".join(column.path[:-1])
            rule = f"Must be filled, because another cell of {group} is." if in_group else "Must be filled."
            placed = self._header.named(column.name)
            if placed is not None:
                yield self._violation(line, placed, rule)
            elif in_group:
                yield Violation(line, column.name, "", rule)


def _reference(placed: FileColumn, cell: Refers, keys: tuple[str, ...]) -> Reference:
    path = placed.column.path
    ids = ".".join((*path[:-1], cell.ids)) if cell.ids else ""
    return Reference(".".join(path), placed.written, cell.to, keys, cell.many, cell.by_id, ids)
