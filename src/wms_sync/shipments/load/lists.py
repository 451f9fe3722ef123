"""List the Parquet files of each load, for data warehouses that load them: ``parquet/_loads/<time>.json``.

``docs/how-to/load-elsewhere.md`` is the contract. A list is written after its load is published. Its content follows
from ``ops.loads.listed_at``, which is published with the load, so the load after a kill writes missing lists. If no
list is on disk (at first, or after a restore or a ``forget``), the next list starts over and names every window. So
does the list of a rebuild.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Any

import duckdb
import msgspec
from msgspec import Struct
from msgspec.structs import replace

from wms_sync import sql_files
from wms_sync.catalogue import table, tables
from wms_sync.layout import LOADS, load_list_key
from wms_sync.shipments.flatten.window import flattened_window, is_flattened
from wms_sync.shipments.load.filling import SETS
from wms_sync.shipments.load.merge import PERSONAL
from wms_sync.shipments.load.omitted import Omitted, omitted_by_window, omitted_data
from wms_sync.state.audits import Audits, MissingShipment
from wms_sync.state.store import Run
from wms_sync.targets.database import records

logger = logging.getLogger(__name__)

ONE = timedelta(microseconds=1)


class ListedWindow(Struct, frozen=True):
    """A window in a list. ``files`` are the file names in the folder of each table, ``rows`` the numbers of rows.

    ``omitted`` are the omitted columns by table, and ``omitted_sets`` the tables in which an object may have rows that
    were not sent.
    """

    window_id: str
    reason: str
    from_at: datetime
    to_at: datetime
    records: int
    files: Mapping[str, Sequence[str]]
    rows: Mapping[str, int]
    omitted: Mapping[str, Sequence[str]]
    omitted_sets: Sequence[str]


class ListedTable(Struct, frozen=True):
    """The facts that a loader needs about a table: the headers of its file in ``sql/tables``, and its columns' types.

    ``set_keys`` and ``same`` are for windows that omit data, as in ``filling``.
    """

    keys: Sequence[str]
    root: str
    root_key: str
    newer: str | None
    parent: str | None
    parent_key: Sequence[str]
    set_keys: Sequence[str]
    same: Sequence[str]
    columns: Mapping[str, str]


class Missing(Struct, frozen=True):
    """A shipment that the service no longer has."""

    shipment_id: int
    missing_since: datetime


class About(Struct, frozen=True):
    """Facts that rarely change; a list omits them if they are the same as in the previous list."""

    tables: Mapping[str, ListedTable]
    missing_shipments: Sequence[Missing]


class LoadList(Struct, frozen=True):
    """The list of a load. The names of its fields are part of the contract."""

    listed_at: datetime
    starts_over: bool
    run_id: str
    windows: Sequence[ListedWindow]
    about_digest: str
    about: About | None = None


class _Newest(Struct):
    """The fields of the newest list that the next list needs."""

    listed_at: datetime
    about_digest: str


_NEWEST = msgspec.json.Decoder(_Newest)


class LoadLists:
    """The lists of a load: ``note`` them in its last transaction, and ``write`` them once it is published."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._layout = run.layout
        self._noted: list[LoadList] = []

    def note(self, connection: duckdb.DuckDBPyConnection, audits: Audits) -> None:
        """Note every merged window that is not in a list yet."""
        newest = self._newest()
        since = newest.listed_at if newest else None
        listed_at = max(datetime.now(UTC), since + ONE) if since else datetime.now(UTC)
        connection.execute(
            sql_files.read("merge/list_loads.sql"), {"listed_at": listed_at, "from_scratch": since is None}
        )
        found = records(connection.execute(sql_files.read("merge/unwritten_lists.sql"), {"since": since}))
        about = _about(audits.missing().values())
        digest = hashlib.sha256(msgspec.json.encode(about)).hexdigest()[:16]
        omitted = omitted_by_window(connection)
        self._noted = [
            LoadList(moment, starts_over, self._run.id, list(self._listed(named, omitted)), digest)
            for (moment, starts_over), named in groupby(found, key=lambda row: (row["listed_at"], row["starts_over"]))
        ]
        if self._noted and (self._noted[0].starts_over or newest is None or newest.about_digest != digest):
            self._noted[-1] = replace(self._noted[-1], about=about)

    def write(self) -> None:
        """Write the noted lists, oldest first, so that after a kill only the newest are missing."""
        for noted in self._noted:
            self._layout.files.put(self._run.turn, load_list_key(noted.listed_at), msgspec.json.encode(noted))

    def _newest(self) -> _Newest | None:
        """Return the newest list. If it is damaged, delete all lists, as ``forget`` does: the next list starts over."""
        files = self._layout.files
        names = files.names(LOADS)
        if not names:
            return None
        key = f"{LOADS}/{names[-1]}"
        try:
            return _NEWEST.decode(files.get(key))
        except ValueError:
            files.delete(self._run.turn, LOADS)
            logger.warning("%(file)s was damaged: the next list of a load starts over", {"file": key})
            return None

    def _listed(self, receipts: Iterable[Mapping[str, Any]], omitted: Omitted) -> Iterator[ListedWindow]:
        for receipt in receipts:
            if not is_flattened(self._layout, receipt["window_id"]):
                continue
            flattened = flattened_window(self._layout, receipt["window_id"])
            data = omitted_data(omitted.get(receipt["window_id"], ()))
            yield ListedWindow(
                window_id=receipt["window_id"],
                reason=receipt["reason"],
                from_at=receipt["from_at"],
                to_at=receipt["to_at"],
                records=receipt["records"],
                files={table: parts for table, parts in flattened.parts.items() if self._is_offered(table)},
                rows={table: rows for table, rows in flattened.rows.items() if rows and self._is_offered(table)},
                omitted={table: sorted(columns) for table, columns in data.columns.items() if self._is_offered(table)},
                omitted_sets=[table for table in sorted(data.sets) if self._is_offered(table)],
            )

    def _is_offered(self, slug: str) -> bool:
        return self._run.settings.include_addresses or table(slug).schema != PERSONAL


def _about(missing: Iterable[MissingShipment]) -> About:
    return About(
        tables={
            listed.slug: ListedTable(
                keys=listed.keys,
                root=listed.root,
                root_key=listed.root_key,
                newer=listed.newer,
                parent=listed.parent,
                parent_key=listed.parent_key,
                set_keys=SETS.get(listed.slug, (listed.root_key,)),
                same=listed.same,
                columns={column.name: column.type for column in listed.columns},
            )
            for listed in tables()
        },
        missing_shipments=[Missing(shipment.shipment_id, shipment.missing_since) for shipment in missing],
    )
