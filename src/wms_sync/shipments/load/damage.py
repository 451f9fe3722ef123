"""Find raw pages and Parquet files that are missing or altered, so that they are read or flattened again.

Raw pages are checked before they are used. A Parquet file that cannot be read is deleted.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import duckdb

from wms_sync import sql_files
from wms_sync.catalogue import tables
from wms_sync.layout import Layout, flattened_key, name_of, window_of
from wms_sync.shipments.flatten.page import RecordDamagedError
from wms_sync.shipments.flatten.window import flattened_window, flattened_windows, reflatten
from wms_sync.shipments.read.raw import is_dropped
from wms_sync.state.store import StateStore

logger = logging.getLogger(__name__)
DAMAGED = "%(file)s of window %(window)s is damaged (%(reason)s): the window will be read again"
_AGAIN = "%(file)s was damaged (%(reason)s) and is deleted: its window is flattened again or, without pages, read again"


def take_away_damaged(layout: Layout, store: StateStore) -> int:
    """Delete the Parquet files and the records of windows that cannot be read; return their number with the missing.

    The next load flattens their windows again; if the raw pages were dropped, the next sync reads them again. Raise
    ``OSError`` if the disk fails.
    """
    records = take_away_damaged_records(layout, store)
    damaged = dict.fromkeys(_missing(layout), "it is missing")
    with duckdb.connect() as connection:
        for key in (key for table in tables() for key in layout.parquet_files(table.slug)):
            if (reason := _damage(connection, layout, key)) is not None:
                damaged[key] = reason
    for key, reason in damaged.items():
        _take_away(layout, store, key, reason)
    return records + len(damaged)


def _missing(layout: Layout) -> Iterator[str]:
    """Yield the Parquet files that the record of a window names, but that are gone."""
    for window in (flattened_window(layout, window_id) for window_id in flattened_windows(layout)):
        yield from (key for slug in window.parts for key in window.keys(slug) if layout.files.size(key) is None)


def take_away_damaged_records(layout: Layout, store: StateStore) -> int:
    """Delete the unreadable records of windows' Parquet files; return their number.

    The windows are flattened again, or read again.
    """
    damaged = 0
    for window_id in flattened_windows(layout):
        try:
            flattened_window(layout, window_id)
        except RecordDamagedError:
            _rebuild_file(layout, store, window_id)
            logger.warning(_AGAIN, {"file": flattened_key(window_id), "reason": "it cannot be read"})
            damaged += 1
    return damaged


def _damage(connection: duckdb.DuckDBPyConnection, layout: Layout, key: str) -> str | None:
    [file] = layout.files.local([key])
    try:
        connection.execute(sql_files.read("forget/every_value.sql"), {"file": file}).fetchall()
    except duckdb.OutOfMemoryException:
        raise
    except duckdb.Error as error:
        Path(file).read_bytes()  # a read error of the disk does not prove that the file is damaged
        return str(error).partition("\n")[0]
    finally:
        layout.files.release(key)
    return None


def _take_away(layout: Layout, store: StateStore, key: str, reason: str) -> None:
    _rebuild_file(layout, store, window_of(name_of(key)))
    layout.files.delete(store.turn, key)
    logger.warning(_AGAIN, {"file": key, "reason": reason})


def _rebuild_file(layout: Layout, store: StateStore, window_id: str) -> None:
    reflatten(store.turn, layout, window_id)
    if is_dropped(layout, window_id):
        store.abandon(window_id)
