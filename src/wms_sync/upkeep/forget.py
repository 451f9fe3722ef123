"""``wms-sync forget``: remove the personal data of some orders from every file, and keep it out.

The ids are recorded first; from then on pages land without personal data of these orders. Then every file that may
contain such data is searched, every raw page too, and rewritten without it. Raw pages lose the personal data. Parquet
files and tables lose the orders' rows in schema ``pii``, their destination, and personal data in free-form values of
their other rows (``Target.erase``). This includes the tables that ``WMS_ANALYTICS`` named earlier. Each step can be
repeated, so the next run of any kind finishes an interrupted ``forget``.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Collection, Sequence
from pathlib import Path

import duckdb
from msgspec import Struct
from msgspec.structs import replace

from wms_sync import sql_files
from wms_sync.catalogue import Table, literal, quote
from wms_sync.grammar import count_of
from wms_sync.layout import RAW, Layout, name_of, parquet_key, raw_key, spill, suffix_of, window_of
from wms_sync.privacy.scrub import without_orders
from wms_sync.service.body import packed
from wms_sync.shipments.flatten.page import PageDamagedError, unpacked_page
from wms_sync.shipments.flatten.window import (
    ParquetPart,
    flattened_window,
    give_up,
    is_flattened,
    take_away_damaged,
    take_away_damaged_records,
    write_flattened,
)
from wms_sync.shipments.read.raw import damage
from wms_sync.state.leases import Lease
from wms_sync.state.store import LandedPage, Run, StateStore
from wms_sync.storage.durable import accessing, sync_file
from wms_sync.storage.files import unmarked
from wms_sync.targets.database import number_in
from wms_sync.targets.errors import DatabaseOpenError, refusals_explained
from wms_sync.targets.persons import concerned_tables, forgotten_in, kept_rows, persons, prepare
from wms_sync.targets.target import Target, former_target, target_of
from wms_sync.upkeep.forgotten_orders import add_to_list

logger = logging.getLogger(__name__)
REFUSED = ("Forgetting orders could not be finished", "data already removed stays removed, and the next run continues")


class Forgotten(Struct, frozen=True):
    """The result of a forget: the numbers of cleaned files and databases. All are 0 if no data was left to remove.

    ``rows`` counts rows that were deleted from the tables, or lost the personal data in a value.
    """

    orders: tuple[int, ...]
    pages: int
    parquet_files: int
    databases: int
    rows: int


@refusals_explained(*REFUSED)
def forget(run: Run, order_ids: Collection[int]) -> Forgotten:
    """Remove the personal data of these orders and of all orders forgotten earlier. Needs the writer's lock."""
    settings, store, layout = run.settings, run.store, run.layout
    layout.files.refuse_versions()
    former = former_target(settings)
    all_ids = add_to_list(layout, store, order_ids)
    # copies and spill files of readers, and renamed foreign logs: each may contain personal data
    for path in (*layout.work.glob("*.duckdb*"), spill(layout.work), layout.copies, *layout.foreign_logs()):
        store.lease.take_away(path)
    try:
        pages, parquet_files = _clean_files(layout, store, all_ids)
    except duckdb.Error as error:  # a damaged file may be about these orders too
        if isinstance(error, duckdb.OutOfMemoryException) or not take_away_damaged(layout, store):
            raise
        pages, parquet_files = _clean_files(layout, store, all_ids)
    unfinished = bool(store.forgotten(unfinished=True))
    targets = [target for target in (former, target_of(settings)) if target is not None]
    rows = [target.erase(store.lease, all_ids, anyway=unfinished or are_older(target, all_ids)) for target in targets]
    store.mark_forgotten()
    return Forgotten(tuple(sorted(order_ids)), pages, parquet_files, sum(map(bool, rows)), sum(rows))


def are_older(target: Target, order_ids: Collection[int]) -> bool:
    """Return whether the published tables are from before one of these orders was forgotten."""
    if not (order_ids and target.is_published):
        return False
    try:
        with target.published() as connection:
            return not set(order_ids) <= forgotten_in(connection)
    except (duckdb.Error, DatabaseOpenError):
        return False  # the step that needs the tables reports the error


def _clean_files(layout: Layout, store: StateStore, order_ids: Collection[int]) -> tuple[int, int]:
    """Clean raw pages, then Parquet files; return how many of each were rewritten. This can be repeated."""
    pages = _clean_pages(layout, store, order_ids)
    with duckdb.connect() as connection:
        prepare(connection, order_ids)
        parquet_files = _clean_parquet(layout, store, connection)
    logger.info("rewrote %(files)s", {"files": count_of(parquet_files, "Parquet file")})
    return pages, parquet_files


def _clean_pages(layout: Layout, store: StateStore, order_ids: Collection[int]) -> int:
    """Search every raw page, whatever the state store knows of it; return the number of rewritten pages."""
    if not order_ids:
        return 0
    rewritten, window_ids, folders = 0, set(layout.windows()), layout.files.names(RAW)  # copies by persons too
    for number, window_id in enumerate(folders, start=1):
        landed = {page.file: page for page in (store.pages(window_id) if window_id in window_ids else ())}
        for name in layout.pages(window_id):
            key = raw_key(window_id, name)
            try:
                rewritten += _clean_page(layout, store, key, landed.get(name), order_ids)
            except PageDamagedError as error:  # it may be about these orders: delete it
                if name in landed:
                    give_up(store, window_id, error)
                else:
                    logger.warning("%(file)s cannot be searched and is deleted: no window needs it", {"file": key})
                layout.files.delete(store.lease, key)
        logger.info(
            "searched %(searched)d of %(windows)s, rewrote %(pages)s",
            {"searched": number, "windows": count_of(len(folders), "window"), "pages": count_of(rewritten, "page")},
        )
    return rewritten


def _clean_page(
    layout: Layout, store: StateStore, key: str, recorded: LandedPage | None, order_ids: Collection[int]
) -> bool:
    """Rewrite a page without the personal data of these orders; return whether it had any.

    Raise ``PageDamagedError``, and change nothing, if the page differs from its record. The exception is a page whose
    rewrite was recorded but interrupted: it is rewritten now.
    """
    harm = None if recorded is None else damage(layout, recorded)
    [path] = map(Path, layout.files.local([key]))  # in a bucket, the copy that was just compared
    try:
        with accessing(path):
            content = without_orders(unpacked_page(path.read_bytes(), Path(key)), order_ids)
    except ValueError:
        raise PageDamagedError(Path(key), harm or "it is not JSON") from None
    layout.files.release(key)
    body = None if content is None else packed(content, suffix_of(key))
    sha256 = None if body is None else hashlib.sha256(body.landed).hexdigest()
    if recorded is not None and harm is not None and sha256 != recorded.sha256:
        raise PageDamagedError(Path(key), harm)
    if content is None or body is None or sha256 is None:
        return False
    if recorded is not None and harm is None:  # record first, so that a repetition writes the recorded file
        size, name = len(body.landed), name_of(layout.files.named(key, body.landed))
        store.rewrite_page(replace(recorded, file=name, bytes=size, content_bytes=len(content), sha256=sha256))
    _replaced(store.lease, layout, key, layout.files.put(store.lease, key, body.landed))
    return True


def _replaced(lease: Lease, layout: Layout, key: str, put: str) -> None:
    """Delete a file that was rewritten under a different key."""
    if put != key:
        layout.files.delete(lease, key)


def _clean_parquet(layout: Layout, store: StateStore, connection: duckdb.DuckDBPyConnection) -> int:
    take_away_damaged_records(layout, store)
    rewritten = 0
    for table in concerned_tables():
        holding = _holding(layout, connection, table)
        for key in holding:
            _clean_file(store.lease, layout, connection, table, key)
        rewritten += len(holding)
    return rewritten


def _holding(layout: Layout, connection: duckdb.DuckDBPyConnection, table: Table) -> list[str]:
    """Return the keys of the Parquet files of a table that contain personal data of the forgotten orders."""
    names = layout.parquet_files(table.slug)
    keys = dict(zip(layout.files.local(names), names, strict=True))
    if not (files := list(keys)):
        return []
    query = sql_files.read("forget/holding.sql").format(
        key=quote(table.root_key), personal=persons(table, _columns_of(connection, files))
    )
    return [keys[file] for (file,) in connection.execute(query, {"files": files}).fetchall()]


def _columns_of(connection: duckdb.DuckDBPyConnection, files: Sequence[str]) -> set[str]:
    return {
        column
        for (column,) in connection.execute(sql_files.read("forget/parquet_columns.sql"), {"files": files}).fetchall()
    }


def _clean_file(lease: Lease, layout: Layout, connection: duckdb.DuckDBPyConnection, table: Table, key: str) -> None:
    """Rewrite a Parquet file, or delete it if none of its rows is left or no record names it.

    The record is updated first: after a kill, the file either is as recorded or still holds the data and is rewritten
    again. The records of all other files stay, so that ``verify`` still finds damage in them.
    """
    window_id = window_of(name_of(key))
    flattened = flattened_window(layout, window_id) if is_flattened(layout, window_id) else None
    parts = [] if flattened is None else flattened.parts.get(table.slug, [])
    number = _number_of(layout, parts, table, key)
    if flattened is None or number is None:
        layout.files.delete(lease, key)
        return
    temporary = lease.temporary(name_of(key))
    held = layout.files.local([key])
    kept = kept_rows(table, _columns_of(connection, held), f"read_parquet({literal(held[0])})")
    rows = number_in(connection.execute(f"copy ({kept}) to $temporary (format parquet)", {"temporary": str(temporary)}))
    content = temporary.read_bytes()
    after = [
        *parts[:number],
        *([ParquetPart.of(name_of(layout.files.named(key, content)), rows, content)] if rows else []),
        *parts[number + 1 :],
    ]
    write_flattened(lease, layout, window_id, replace(flattened, parts=flattened.parts | {table.slug: after}))
    if rows:
        sync_file(temporary)
        _replaced(lease, layout, key, layout.files.put_file(lease, key, temporary))
    else:
        layout.files.delete(lease, key)


def _number_of(layout: Layout, parts: Sequence[ParquetPart], table: Table, key: str) -> int | None:
    """Return the position of a file in the record of its window; None if the record does not name it.

    In a bucket, a killed rewrite may have recorded the name of a file that it did not put.
    """
    names, name = [part.name for part in parts], name_of(key)
    if name in names:
        return names.index(name)
    for number, other in enumerate(names):
        if unmarked(other) == unmarked(name) and layout.files.size(parquet_key(table.slug, other)) is None:
            return number
    return None
