"""Export a mart or table to a file for a spreadsheet or another program.

``.xlsx`` and ``.csv`` contain local times of one time zone, because spreadsheets do not support time zones; lists and
structures become JSON. ``.parquet`` keeps every type. No spreadsheet runs a value as a formula: text cells in ``.xlsx``
have the type text, and ``.csv`` has an apostrophe before text that begins like a formula.
"""

from __future__ import annotations

import csv
import os
import secrets
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
from msgspec import Struct

from wms_sync import sql_files
from wms_sync.catalogue import literal, quote
from wms_sync.errors import WmsSyncError
from wms_sync.grammar import count_of
from wms_sync.reports.output import refuse_output
from wms_sync.settings import Settings
from wms_sync.state.engine import refuse_older
from wms_sync.storage.durable import accessing, put_in_place, sync_file
from wms_sync.targets.database import TableColumns, relations_in
from wms_sync.targets.target import target_of
from wms_sync.timezones import checked_zone

if TYPE_CHECKING:
    from xlsxwriter.format import Format
    from xlsxwriter.worksheet import Worksheet

KINDS = (".xlsx", ".csv", ".parquet")
PERSONAL = "pii"
MARK_KEY, MARK = "written_by", "wms-sync export"
"""The mark in the metadata of a workbook and of a Parquet file."""
MOST_ROWS = 1_048_575
"""The maximum number of rows of a sheet below its header."""
MOST_CHARACTERS = 32_767
"""The maximum number of characters in a cell."""
MOST_DIGITS = 15
"""The maximum number of digits of a number that Excel keeps."""
FIRST_YEAR = 1900
"""The first year of Excel's dates."""
BATCH = 5000
WIDEST = 40


class ExportError(WmsSyncError):
    """The relation cannot be exported to this file. An existing file of that name is unchanged."""

    exit_code = 2


class Exported(Struct, frozen=True):
    """The result of an export. ``timezone`` is the zone of its times; None for ``.parquet``, which keeps UTC.

    ``cut`` is the number of values that were cut because they are longer than a cell can be. ``is_personal``: the file
    contains personal data of orders.
    """

    relation: str
    path: Path
    rows: int
    timezone: str | None
    cut: int
    is_personal: bool


class _Exportable(Struct, frozen=True):
    schema: str
    name: str
    comment: str | None
    columns: TableColumns

    @property
    def full_name(self) -> str:
        return f"{self.schema}.{self.name}"

    @property
    def qualified(self) -> str:
        return f"{quote(self.schema)}.{quote(self.name)}"

    def query(self, expressions: Iterable[str]) -> str:
        return f"select {', '.join(expressions)} from {self.qualified}"


def export(settings: Settings, name: str, to: Path, *, timezone: str | None = None, force: bool = False) -> Exported:
    """Write a mart or table, named with or without its schema, to a file; the suffix of ``to`` selects the format.

    ``timezone`` is the zone of the times in ``.xlsx`` and ``.csv``; the default is the ``*`` zone of
    ``WMS_WAREHOUSE_TIMEZONES``. Once complete, the file replaces an earlier export of the same name, or with ``force``
    any file. Only the owner of the file can read it. Raise ``ExportError`` or ``OutputRefused``.
    """
    kind = to.suffix.lower()
    if kind not in KINDS:
        raise ExportError(f"{to} has no known format: end the name with one of {', '.join(KINDS)}.")
    refuse_older(settings.database_url)
    target = target_of(settings)
    if not target.is_published:
        raise ExportError("Nothing can be exported: nothing is published yet. Run `wms-sync sync` first.")
    try:
        zone = None if kind == ".parquet" else checked_zone(timezone or settings.timezones.default)
    except ValueError as error:
        raise ExportError(f"{timezone} {error}.") from None
    with target.published() as connection:
        relation = _named(connection, name)
        refuse_output(settings, to, lambda there: _is_export(there, kind, relation), force=force)
        with _replacing(to) as path:
            rows, cut = _write_file(connection, relation, kind, path, str(zone), to)
    return Exported(relation.full_name, to, rows, zone, cut, relation.schema == PERSONAL)


def _is_export(path: Path, kind: str, relation: _Exportable) -> bool:
    """Return whether an earlier export wrote the file: it has the mark or, in ``.csv``, the header of the relation."""
    try:
        if kind == ".csv":
            with path.open(encoding="utf-8", newline="") as file:
                return next(csv.reader(file), None) == list(relation.columns)
        if kind == ".xlsx":
            with zipfile.ZipFile(path) as book:
                return MARK.encode() in book.read("docProps/core.xml")
        with duckdb.connect() as connection:
            marked = {"file": str(path), "key": MARK_KEY, "value": MARK}
            row = connection.execute(sql_files.read("queries/parquet_is_marked.sql"), marked).fetchone()
            return bool(row and row[0])
    except (ValueError, csv.Error, zipfile.BadZipFile, KeyError, duckdb.Error):  # a file of a different format
        return False


def _write_file(
    connection: duckdb.DuckDBPyConnection, relation: _Exportable, kind: str, path: Path, zone: str, to: Path
) -> tuple[int, int]:
    """Write the rows; return the number of rows, and the number of values that were cut."""
    if kind == ".xlsx":
        return _write_workbook(connection, relation, path, zone, to)
    if kind == ".parquet":
        marked = f"kv_metadata {{{MARK_KEY}: {literal(MARK)}}}"
        return _copied(connection, relation.query(["*"]), path, f"format parquet, compression zstd, {marked}"), 0
    expressions = [
        _without_formula(name, type_, _plain(name, type_, zone)) for name, (type_, _) in relation.columns.items()
    ]
    return _copied(connection, relation.query(expressions), path, "format csv, header"), 0


@contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path. After the block, rename the file there to ``path``, or delete it if the block failed."""
    if not path.absolute().parent.is_dir():
        raise ExportError(f"{path} cannot be written: its folder does not exist.")
    temporary = path.with_name(f".{secrets.token_hex(4)}-{path.name}")
    with accessing(path):
        try:
            yield temporary
            sync_file(temporary)
            put_in_place(temporary, path)
        except duckdb.IOException as error:  # no room, or no right to write; accessing handles an OSError
            raise ExportError(f"{path} cannot be written: {error}") from None
        except BaseException:
            with suppress(OSError):
                os.truncate(temporary, 0)  # or a workbook's archive reports another error on a full disk when it ends
            raise
        finally:
            temporary.unlink(missing_ok=True)


def _named(connection: duckdb.DuckDBPyConnection, name: str) -> _Exportable:
    found = relations_in(connection)
    meant = [place for place in found if name.lower() in (place[1], ".".join(place))]
    meant = [place for place in meant if place[0] == "main"] or meant  # as in SQL without a schema
    if len(meant) > 1:
        raise ExportError(f"{name} may be {' or '.join(map('.'.join, meant))}: name the schema, too.")
    if not meant:
        marts = ", ".join(relation for schema, relation in found if schema == "marts")
        raise ExportError(f"There is no mart or table {name}. The marts are {marts}; `show all tables` lists the rest.")
    [place] = meant
    return _Exportable(*place, found[place].comment, found[place].columns)


def _plain(name: str, kind: str, zone: str) -> str:
    """Return an expression that turns a column into values that a spreadsheet can store."""
    value = quote(name)
    if kind == "TIMESTAMP WITH TIME ZONE":
        return f"{value} at time zone {literal(zone)} as {value}"
    if kind.endswith("]") or kind.startswith(("STRUCT", "MAP")):
        return f"to_json({value})::varchar as {value}"
    return value


def _without_formula(name: str, kind: str, expression: str) -> str:
    if kind != "VARCHAR":
        return expression
    value = quote(name)
    return f"regexp_replace({value}, '^([=+@\\t\\r-])', '''\\1') as {value}"


def _copied(connection: duckdb.DuckDBPyConnection, query: str, path: Path, options: str) -> int:
    row = connection.execute(f"copy ({query}) to {literal(str(path))} ({options})").fetchone()
    return int(row[0]) if row else 0


def _write_workbook(
    connection: duckdb.DuckDBPyConnection, relation: _Exportable, path: Path, zone: str, to: Path
) -> tuple[int, int]:
    """Write a sheet with the rows and a sheet that explains the columns.

    Return the number of rows, and the number of values that were cut.
    """
    import xlsxwriter  # only needed here

    counted = connection.execute(f"select count(*) from {relation.qualified}").fetchone()
    if counted is not None and counted[0] > MOST_ROWS:
        raise ExportError(
            f"{relation.full_name} has {count_of(counted[0], 'row')}, but a sheet has room for {MOST_ROWS:,}. Export "
            "to .csv or .parquet."
        )
    rows = connection.execute(relation.query(_plain(name, kind, zone) for name, (kind, _) in relation.columns.items()))
    with _naming_file(to), xlsxwriter.Workbook(path, {"constant_memory": True}) as book:
        book.set_properties({"comments": MARK})
        bold = book.add_format({"bold": True})
        formats = {
            datetime: book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"}),
            date: book.add_format({"num_format": "yyyy-mm-dd"}),
        }
        sheet = book.add_worksheet(relation.name[:31])
        sheet.freeze_panes(1, 0)
        for at, column in enumerate(relation.columns):
            sheet.set_column(at, at, min(WIDEST, max(12, len(column) + 2)))
            sheet.write_string(0, at, column, bold)
        written = cut = 0
        while batch := rows.fetchmany(BATCH):
            for row in batch:
                written += 1
                cut += sum(_write(sheet, written, at, value, formats) for at, value in enumerate(row))
        sheet.autofilter(0, 0, written, len(relation.columns) - 1)
        about = book.add_worksheet("columns")
        about.set_column(0, 0, WIDEST)
        about.set_column(1, 1, 3 * WIDEST)
        about.write_string(0, 0, relation.full_name, bold)
        about.write_string(0, 1, f"{relation.comment or ''} Times are local times of {zone}.".strip())
        for number, (column, (_, comment)) in enumerate(relation.columns.items(), start=2):
            about.write_string(number, 0, column)
            about.write_string(number, 1, comment or "")
    return written, cut


@contextmanager
def _naming_file(path: Path) -> Iterator[None]:
    """Raise ``ExportError`` if there is no room for the workbook, at its path or in the temporary folder."""
    from xlsxwriter.exceptions import FileCreateError

    try:
        yield
    except (FileCreateError, OSError) as error:
        raise ExportError(
            f"{path} cannot be written: {error}. Its folder and the temporary folder {tempfile.gettempdir()} (TMPDIR) "
            "both need room for the file."
        ) from None


def _write(sheet: Worksheet, row: int, at: int, value: object, formats: Mapping[type[date], Format]) -> bool:
    """Write a value with its type; return whether the value was cut."""
    if value is None:
        return False
    if isinstance(value, bool):
        sheet.write_boolean(row, at, value)
    elif isinstance(value, (int, float, Decimal)) and _keeps_digits(value):
        sheet.write_number(row, at, value)
    elif isinstance(value, date) and value.year >= FIRST_YEAR:
        sheet.write_datetime(row, at, value, formats[datetime if isinstance(value, datetime) else date])
    else:
        text = str(value)
        sheet.write_string(row, at, text[:MOST_CHARACTERS])
        return len(text) > MOST_CHARACTERS
    return False


def _keeps_digits(value: float | Decimal) -> bool:
    if isinstance(value, float):
        return abs(value) < float("inf")  # Excel has neither infinity nor NaN
    return len(Decimal(value).normalize().as_tuple().digits) <= MOST_DIGITS
