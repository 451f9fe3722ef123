"""Export tables and marts as files for a spreadsheet or another program, with DuckDB's ``COPY``, ordered by key.

``.parquet`` keeps every type. ``.csv`` contains local times of one time zone, because spreadsheets do not support time
zones, and an apostrophe before text that a spreadsheet would run as a formula.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
from msgspec import Struct

from wms_sync import sql_files
from wms_sync.catalogue import Relation, literal, marts, quote, relations
from wms_sync.errors import WmsSyncError
from wms_sync.reports.output import OutputRefused, is_marked, refuse_kept, refuse_output
from wms_sync.settings import Settings
from wms_sync.state.engine import refuse_older
from wms_sync.storage.durable import accessing, put_in_place, sync, sync_file
from wms_sync.targets.database import Session, number_in
from wms_sync.targets.target import target_of
from wms_sync.timezones import checked_zone

CSV, PARQUET = ".csv", ".parquet"
PERSONAL = "pii"
MARK_KEY, MARK = "written_by", "wms-sync export"
"""The mark in the metadata of a Parquet file."""
BYTE_ORDER_MARK = "\ufeff"
"""The first character of a ``.csv`` file: without it Excel takes UTF-8 for the encoding of the system."""


class ExportError(WmsSyncError):
    """Nothing was exported. An existing file or folder of that name is unchanged."""

    exit_code = 2


class Exported(Struct, frozen=True):
    """The result of an export: ``what`` was written to ``path``, and the number of rows.

    ``timezone`` is the zone of the times in ``.csv``; None for ``.parquet``, which keeps UTC. ``is_personal``: the file
    contains personal data of orders.
    """

    what: str
    path: Path
    rows: int
    timezone: str | None = None
    is_personal: bool = False


def export(settings: Settings, name: str, to: Path, *, timezone: str | None = None, force: bool = False) -> Exported:
    """Write a mart or table, named with or without its schema, to a file; the suffix of ``to`` selects the format.

    ``timezone`` is the zone of the times in ``.csv``; the default is the ``*`` zone of ``WMS_WAREHOUSE_TIMEZONES``.
    Once complete, the file replaces an earlier export of the same name, or with ``force`` any file. Only the owner of
    the file can read it. Raise ``ExportError`` or ``OutputRefused``.
    """
    kind = to.suffix.lower()
    if kind not in (CSV, PARQUET):
        raise ExportError(f"{to} has no known format: end the name with {CSV} or {PARQUET}.")
    relation = _named(name)
    try:
        zone = checked_zone(timezone or settings.timezones.default) if kind == CSV else None
    except ValueError as error:
        raise ExportError(f"{timezone} {error}.") from None
    is_ours = _is_marked if kind == PARQUET else partial(is_marked, mark=f"{_header(relation)}\n")
    refuse_output(settings, to, is_ours, force=force)
    with _published(settings, to) as (connection, beside):
        rows = _copied(connection, relation, beside / to.name, zone)
        put_in_place(beside / to.name, to)
    return Exported(relation.title, to, rows, zone, relation.schema == PERSONAL)


def export_all(settings: Settings, folder: Path) -> Exported:
    """Write every table and mart, except those of schema ``pii``, to a Parquet file in a folder.

    Once complete, the folder replaces the folder of an earlier export, which stays if the export fails or is killed.
    Raise ``ExportError``, or ``OutputRefused`` for a folder with other files.
    """
    folder = folder.resolve()
    refuse_kept(settings, folder)
    if folder.exists() and not all(map(_is_marked, folder.iterdir())):
        raise OutputRefused(
            f"{folder} is not written: it has files that `wms-sync export --all` did not write. Nothing was changed. "
            "Name another folder."
        )
    exported = [relation for relation in relations() if relation.schema != PERSONAL]
    with _published(settings, folder) as (connection, beside):
        whole = beside / "whole"
        whole.mkdir()
        rows = sum(_copied(connection, relation, whole / f"{relation.slug}{PARQUET}") for relation in exported)
        sync(whole)
        folder.mkdir(exist_ok=True)
        earlier = folder.rename(beside.with_suffix(".earlier"))  # a rename replaces no folder with files
        put_in_place(whole, folder)
        shutil.rmtree(earlier)
    return Exported(f"{len(exported)} tables and marts", folder, rows)


def _named(name: str) -> Relation:
    found = [relation for relation in relations() if name.lower() in (relation.name, ".".join(relation.place))]
    if not found:
        listed = ", ".join(sorted(mart.name for mart in marts() if mart.schema == "marts"))
        raise ExportError(f"There is no mart or table {name}. The marts are {listed}; `show all tables` lists all.")
    return min(found, key=lambda relation: relation.schema != "main")  # as in SQL without a schema


def _header(relation: Relation) -> str:
    """Return the first line of a ``.csv`` file, which is the mark of an export, too."""
    return BYTE_ORDER_MARK + ",".join(relation.column_names)


def _is_marked(path: Path) -> bool:
    """Return whether the file is a Parquet file with the mark of an export."""
    try:
        with duckdb.connect() as connection:
            return connection.execute(
                sql_files.read("queries/parquet_is_marked.sql"), {"file": str(path), "key": MARK_KEY, "value": MARK}
            ).fetchall() == [(True,)]
    except duckdb.Error:  # a folder, or a file of a different format
        return False


@contextmanager
def _published(settings: Settings, path: Path) -> Iterator[tuple[duckdb.DuckDBPyConnection, Path]]:
    """Open the published tables in one transaction, so that all files are of one load.

    Yield the connection and a private folder next to ``path``, on the same file system, which is deleted at the end.
    """
    refuse_older(settings.database_url)
    target = target_of(settings)
    if not target.is_published:
        raise ExportError("Nothing can be exported: nothing is published yet. Run `wms-sync sync` first.")
    if not path.parent.is_dir():
        raise ExportError(f"{path} cannot be written: its folder does not exist.")
    with target.published(memory_limit=settings.memory_limit) as connection, Session(connection).transaction():
        try:
            with accessing(path), TemporaryDirectory(prefix=".wms-sync-export-", dir=path.parent) as beside:
                yield connection, Path(beside)
        except (duckdb.Error, FileNotFoundError) as error:  # accessing handles any other OSError
            raise ExportError(f"{path} cannot be written: {error}") from None


def _copied(connection: duckdb.DuckDBPyConnection, relation: Relation, path: Path, zone: str | None = None) -> int:
    """Write the rows, ordered by key, and return their number; ``zone`` is the zone of the times in ``.csv``."""
    columns, options = "*", f"format parquet, compression zstd, kv_metadata {{{MARK_KEY}: {literal(MARK)}}}"
    if zone is not None:
        columns, options = _columns(connection, relation, zone), "format csv, header"
    keys = ", ".join(f"relation.{quote(key)}" for key in relation.keys)
    query = f"select {columns} from {relation.qualified} as relation order by {keys}"
    rows = number_in(connection.execute(f"copy ({query}) to {literal(str(path))} ({options})"))
    sync_file(path)
    return rows


def _columns(connection: duckdb.DuckDBPyConnection, relation: Relation, zone: str) -> str:
    """Return the columns of a ``.csv`` file, named as its header."""
    found = connection.sql(f"from {relation.qualified}")
    kinds = dict(zip(found.columns, map(str, found.types), strict=True))
    shown = zip(relation.column_names, _header(relation).split(","), strict=True)
    return ", ".join(f"{_plain(name, kinds.get(name), zone)} as {quote(title)}" for name, title in shown)


def _plain(name: str, kind: str | None, zone: str) -> str:
    """Return an expression for the values of a column in ``.csv``."""
    value = f"relation.{quote(name)}"
    if kind == "TIMESTAMP WITH TIME ZONE":
        return f"{value} at time zone {literal(zone)}"
    return f"regexp_replace({value}, '^([=+@\\t\\r-])', '''\\1')" if kind == "VARCHAR" else value
