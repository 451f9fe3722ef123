"""Read a CSV file as text: every cell as written, every record with the line on which it starts.

A byte-order mark decides the encoding. Without one the file is read as UTF-8 and, if that fails, as Windows-1252, the
encoding of Excel's plain "CSV" in western Europe and America. This is a guess, and the result says so. A file with
letters in both encodings is damaged, and is refused.

Belongs here: encodings, delimiters, quotes, lines, canonical names of the header. Keep out: the meaning of a column
(``kinds``, ``check``). No value is converted: ``00123``, ``NA`` and ``null`` are text; only accents are encoded anew.
"""

from __future__ import annotations

import csv
import hashlib
import os
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING
from unicodedata import normalize

from msgspec import Struct

from wms_sync.errors import MasterDataError
from wms_sync.grammar import count_of

if TYPE_CHECKING:
    import pandas as pd

import codecs

CUSTOM_FIELD = "custom_fields."
"""The prefix of a column for one custom field. The code after the prefix keeps its case."""
_DELIMITERS = (",", ";", "\t")
MOST_COLUMNS = 2_000
"""The maximum number of columns. A kind has a hundred, and custom fields; a wider file is probably the wrong file."""
LARGEST = 32 * 1024**2
"""The maximum size of a file in bytes. With the limits below, a push takes less than 1 GiB whatever the file is."""
LONGEST_CELL = 65_536
"""The maximum number of characters of a cell: one more than the longest field (8), whose own rule names the cell."""
MOST_ROWS, MOST_CELLS = 100_000, 2_000_000
_TOO_MUCH = (
    f"it has more than {MOST_ROWS:,} rows, {MOST_CELLS:,} cells, or as many lists and objects of JSON. Split it, if it "
    "is the right file."
)
_MISSING = "a cell is missing. If Excel left out empty cells at the end, let a column without empty cells be the last"
_NOTHING = " \t\r\n,;"
_BLANK_LINES = re.compile(r"(?:[ \t,;]*(?:\r\n?|\n))+")
"""The blank rows that a spreadsheet may have before the header."""
_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")
_NAME = re.compile(r"[\w. -]*\w[\w. -]*")
GUESSED = "cp1252"
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16-le"))
_WORKBOOKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
"""The first bytes of .xlsx (a zip archive) and of the older .xls."""


class UnreadableFile(MasterDataError):
    """The file is not CSV, or cannot be read. The message gives the reason and says what to do."""

    exit_code = 2

    def __init__(self, path: Path, reason: str) -> None:
        printable = os.fsencode(path).decode("utf-8", errors="replace")  # the path may not be UTF-8
        super().__init__(f"{printable} cannot be read: {reason}")


class Malformed(Struct, frozen=True):
    """A record that does not fit the header. ``cells`` is empty if the cells could not be separated."""

    line: int
    cells: tuple[str, ...]
    rule: str


class CsvFile(Struct, frozen=True, eq=False):
    """A file that was read. The index of ``frame`` is the 1-based line on which each record starts.

    ``frame`` has the well-formed records; its columns have the ``canonical`` names of ``header``. Two columns with the
    same name remain two columns. ``cells`` has all records by line, including those with too few or too many cells. It
    leaves out records whose quotes cannot be parsed, because they could not be written unchanged. Neither has blank
    records.
    """

    path: Path
    sha256: str
    encoding: str
    delimiter: str
    header_line: int
    header: tuple[str, ...]
    frame: pd.DataFrame
    cells: Mapping[int, tuple[str, ...]]
    malformed: tuple[Malformed, ...]


def read_csv(path: Path) -> CsvFile:
    """Read the file at ``path``. Raise ``UnreadableFile`` if it cannot be read as CSV."""
    raw = _bytes(path)
    text, encoding = decode(path, raw)
    blank = _BLANK_LINES.match(text)
    start, text = (len(blank[0].splitlines()), text[blank.end() :]) if blank else (0, text)
    first = next(_LINE.finditer(text), [""])[0]
    if not first.strip(_NOTHING):
        raise UnreadableFile(path, "it is empty. Its first line must name the columns.")
    if "\0" in first:
        raise UnreadableFile(path, "its header has NUL characters: it is not text. Save it again as 'CSV UTF-8'.")
    if text.count("[") + text.count("{") > MOST_CELLS:  # each takes twenty times the memory of its text
        raise UnreadableFile(path, _TOO_MUCH)
    csv.field_size_limit(LONGEST_CELL)
    delimiter = _delimiter(text)
    records = _records(text, start, delimiter)
    header_line, header, trouble = next(records)
    if trouble:
        raise UnreadableFile(path, f"its header, on line {header_line}, has a quote that is not closed.")
    if len(header) > MOST_COLUMNS:
        raise UnreadableFile(
            path,
            f"its header, on line {header_line}, has {len(header):,} columns; at most {MOST_COLUMNS:,} are allowed. "
            "Check that it is the right file.",
        )
    rows, malformed = _sorted_out(path, records, header)
    return CsvFile(
        path=path,
        sha256=hashlib.sha256(raw).hexdigest(),
        encoding=encoding,
        delimiter=delimiter,
        header_line=header_line,
        header=tuple(header),
        frame=_frame(rows, header),
        cells=rows | {record.line: record.cells for record in malformed if record.cells},
        malformed=tuple(malformed),
    )


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, as in ``CsvFile.sha256``, or the reason why the file cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        return f"unreadable: {error.strerror}"


def canonical(name: str) -> str:
    """Return a column's name in lower case and stripped. Keep the code of a custom field unchanged."""
    name = name.strip()
    folded = name.casefold()
    return CUSTOM_FIELD + name[name.index(".") + 1 :].strip() if folded.startswith(CUSTOM_FIELD) else folded


def _bytes(path: Path) -> bytes:
    """Read a regular file of limited size. Refuse others before opening them: opening a pipe would wait forever."""
    try:
        if path.exists() and not path.is_file():
            raise UnreadableFile(path, "it is a folder, pipe or device. Give one CSV file that is saved on disk.")
        with path.open("rb") as file:
            raw = file.read(LARGEST + 1)
    except FileNotFoundError:
        raise UnreadableFile(path, "the file does not exist. Check the path.") from None
    except OSError as error:
        raise UnreadableFile(path, f"{error.strerror}. Check its permissions.") from error
    if len(raw) > LARGEST:
        raise UnreadableFile(path, f"it has more than {LARGEST // 1024**2} MiB. Split it, if it is the right file.")
    return raw


def _delimiter(text: str) -> str:
    """Return the delimiter that splits the header into the most names. Cells of rows may contain any delimiter."""

    def names(delimiter: str) -> int:
        _, header, trouble = next(_records(text, 0, delimiter))
        return 0 if trouble else sum(_NAME.fullmatch(cell) is not None for cell in header)

    return max(_DELIMITERS, key=names)


def _records(text: str, start: int, delimiter: str) -> Iterator[tuple[int, list[str], str]]:
    """Yield each record, including blank records: its line, its cells, and the error if its quotes cannot be parsed.

    The cells are in Unicode's form NFC. Otherwise the same key, saved by another program, would be another create.
    After a record that cannot be parsed, continue with the next line. But if a quote of the record is open and a later
    line closes one, all lines to there belong to it: they may be lines of a cell, not rows.
    """
    at = begin = 0

    def lines() -> Iterator[str]:
        nonlocal at
        for line in _LINE.finditer(text):
            at = line.end()
            yield line[0]

    rest = lines()
    reader = csv.reader(rest, delimiter=delimiter, strict=True)
    while True:
        first = start + reader.line_num + 1
        try:
            yield first, [normalize("NFC", cell) for cell in next(reader)], ""
        except StopIteration:
            return
        except csv.Error as error:
            later = enumerate(_LINE.finditer(text, at), start=1) if text.count('"', begin, at) % 2 else ()
            within = next((number for number, line in later if line[0].count('"') % 2), 0)
            deque(islice(rest, within), maxlen=0)
            start += within
            yield first, [], _quoting(first, start + reader.line_num, error)
        begin = at


def _quoting(first: int, last: int, error: csv.Error) -> str:
    where, what = (f"Lines {first} to {last} are", "lines") if last > first else ("The line is", "line")
    return (
        f"{where} not readable as one record ({error}). Correct the {what} in the file itself: close the quote that "
        'opens there, and write a quote inside a quoted cell twice: "".'
    )


def _sorted_out(
    path: Path, records: Iterator[tuple[int, list[str], str]], header: Sequence[str]
) -> tuple[dict[int, tuple[str, ...]], list[Malformed]]:
    """Separate rows, by line, from malformed records. Drop blank records, and blank cells beyond the header."""
    rows: dict[int, tuple[str, ...]] = {}
    malformed: list[Malformed] = []
    width, seen = len(header), 0
    for line, cells, trouble in records:
        if not trouble and not any(cell.strip() for cell in cells):
            continue
        seen += len(cells)
        if len(rows) + len(malformed) >= MOST_ROWS or seen > MOST_CELLS:
            raise UnreadableFile(path, _TOO_MUCH)
        if trouble:
            malformed.append(Malformed(line, tuple(cells), trouble))
        elif len(cells) == width or (len(cells) > width and not any(cell.strip() for cell in cells[width:])):
            rows[line] = tuple(cells[:width])
        else:
            how = _MISSING if len(cells) < width else "quote a cell that contains the delimiter"
            rule = f"Has {count_of(len(cells), 'cell')} where the header has {width}: {how}."
            malformed.append(Malformed(line, tuple(cells), rule))
    return rows, malformed


def _frame(rows: Mapping[int, tuple[str, ...]], header: Sequence[str]) -> pd.DataFrame:
    import pandas as pd  # takes a fifth of a second, too long for `wms-sync --help`

    frame: pd.DataFrame = pd.DataFrame(
        list(rows.values()),
        index=pd.Index(list(rows), dtype="int64"),
        columns=[canonical(name) for name in header],
        dtype="str",
    )
    return frame


def decode(path: Path, raw: bytes) -> tuple[str, str]:
    """Return the text without its byte-order mark, and its encoding.

    Files that were joined may have further marks, each at the beginning of a line.
    """
    if raw.startswith(_WORKBOOKS):
        raise UnreadableFile(path, "it is a workbook, not CSV. Save the sheet as 'CSV UTF-8' and give that file.")
    marked = [name for mark, name in _MARKS if raw.startswith(mark)]
    # with other letters in UTF-8, the file is damaged
    encodings = marked or ["utf-8", *([GUESSED] if raw.decode("utf-8", "ignore").isascii() else ())]
    broken = 0
    for encoding in encodings:
        try:
            return raw.decode(encoding).removeprefix("\ufeff").replace("\n\ufeff", "\n"), encoding
        except UnicodeDecodeError as error:
            broken = error.start
    raise UnreadableFile(path, f"byte {broken} is not {' or '.join(encodings)}. Save it again as 'CSV UTF-8'.")
