"""Match the header of a file with the columns of a kind, and say what is wrong with it.

A wrong header is reported together with everything else, and no row of the file is sent: otherwise a misspelt column
would be missing from every record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from wms_sync.grammar import count_of
from wms_sync.master_data.csv_file import CsvFile
from wms_sync.master_data.fields.json_columns import RAW
from wms_sync.master_data.kinds.columns import Column, column_named, columns_of, nearest
from wms_sync.master_data.kinds.kind import Kind

if TYPE_CHECKING:
    import pandas as pd

REASONS = "_rejected_because"
"""The extra column in a file of rejected rows; it is ignored when the file is read."""


class Offence(Struct, frozen=True):
    """A cell or a row that breaks a rule; ``rule`` is a sentence that says what is wrong and what to do.

    ``column`` is named as the file writes it; ``value`` is the cell as it was written.
    """

    line: int
    column: str | None
    value: str
    rule: str


class FileColumn(Struct, frozen=True, eq=False):
    """A column of the file: its position, its name as written, and what it is."""

    position: int
    written: str
    column: Column


Texts = Mapping[FileColumn, "pd.Series[str]"]
"""The cells of each column by line, without the blanks around them."""


class Header(Struct, frozen=True):
    """The columns that are understood, what is wrong with the others, and notes on columns that are left out."""

    placed: tuple[FileColumn, ...]
    offences: tuple[Offence, ...]
    notes: tuple[str, ...]

    def named(self, name: str) -> FileColumn | None:
        """Return the column that the file has under this name, or under another one that means the same."""
        return next((placed for placed in self.placed if placed.column.name == name), None)

    def texts(self, file: CsvFile) -> Texts:
        """Return the cells of the columns that are understood, stripped."""
        return {placed: file.frame.iloc[:, placed.position].str.strip() for placed in self.placed}

    def reading_order(self) -> Callable[[Offence], tuple[int, int]]:
        """Sort by line and from left to right; what stands in no column that is understood comes last."""
        places = {placed.written: placed.position for placed in self.placed}
        last = max(places.values(), default=0) + 1
        return lambda offence: (offence.line, places.get(offence.column or "", last))


def read_header(file: CsvFile, kind: Kind) -> Header:
    """Match the columns of ``file`` with those of ``kind``."""
    placed: dict[str, FileColumn] = {}
    offences: list[Offence] = []
    left_out: list[str] = []
    for position, (name, written) in enumerate(zip(file.frame.columns, file.header, strict=True)):
        if name == REASONS:
            continue
        column = column_named(kind, name)
        if column is None and name in kind.not_carried:
            left_out.append(f"{written.strip()} ({count_of(_filled(file, position), 'cell')} filled)")
        elif column is None:
            offences += _unknown(file, kind, position, name)
        elif column.name in placed:
            offences.append(_offence(file, written, f"Is the same column as {placed[column.name].written}; keep one."))
        else:
            placed[column.name] = FileColumn(position, written.strip(), column)
    offences += _missing(file, kind, placed)
    return Header(tuple(placed.values()), tuple(offences), tuple(_not_sent(left_out)))


def _unknown(file: CsvFile, kind: Kind, position: int, name: str) -> Iterator[Offence]:
    written = file.header[position]
    if name in kind.not_sendable:
        yield _offence(file, written, kind.not_sendable[name])
    elif name in kind.read_only:
        yield _offence(file, written, "Is set by the service and cannot be sent. Remove the column.")
    elif name:
        meant = nearest(kind, name)
        hint = f"Did you mean {meant}?" if meant else f"Remove or rename it; {RAW} can hold what has no column."
        yield _offence(file, written, f"Is no column of {kind.many}. {hint}")
    elif _filled(file, position):
        yield _offence(file, written, f"Column {position + 1} has cells but no name. Name or remove it.")


def _missing(file: CsvFile, kind: Kind, placed: dict[str, FileColumn]) -> Iterator[Offence]:
    for column in columns_of(kind):
        if column.required and column.name not in placed:
            yield Offence(file.header_line, column.name, "", f"The column is missing: {kind.many} need it.")


def _offence(file: CsvFile, written: str, rule: str) -> Offence:
    return Offence(file.header_line, written.strip(), written, rule)


def _not_sent(left_out: Sequence[str]) -> Iterator[str]:
    if left_out:
        yield f"Not sent, since the create endpoint has no such fields: {', '.join(left_out)}."


def _filled(file: CsvFile, position: int) -> int:
    return int(file.frame.iloc[:, position].str.strip().astype(bool).sum())
