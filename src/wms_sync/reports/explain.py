"""Explain shipments: every version that was read, the version in the table, and the pages that the parts came from.

A shipment is selected by its own id or unique_id, by its order, or by the tracking number of a package.

The sources are the Parquet files, which have every flattened version, and the published file. This module sends no
requests and does not wait for a lock.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

import duckdb
from msgspec import Struct

from wms_sync import sql_files
from wms_sync.grammar import count_of, moment
from wms_sync.intervals import Interval, subtract
from wms_sync.json_values import identity
from wms_sync.layout import is_of_window
from wms_sync.settings import Settings
from wms_sync.shipments.flatten.values import SAYS_DELETED
from wms_sync.state.snapshot_files import is_behind
from wms_sync.state.store import StateStore
from wms_sync.targets.database import records
from wms_sync.targets.errors import UnknownShipmentError
from wms_sync.targets.target import target_of

SELECTED = {
    "order": (
        "explain/shipments_of_order",
        "No shipment in the tables is of an order with the id, unique_id or order_ref {}. Orders come with their "
        "shipments: an order without a shipment is not in this data.",
    ),
    "tracking": (
        "explain/shipments_with_tracking_number",
        "No package in the tables has the tracking number {}. A shipment gets its packages when it is packed; the "
        "next sync reads every change since the last one.",
    ),
}
"""The queries that find shipments by a name that is not theirs, each with the message if they find none."""


class Origin(Struct, frozen=True):
    """A raw page. ``file`` is its path below the data folder; None if the page is not on disk.

    ``run_id`` is None if the state store has no record of the window.
    """

    window_id: str
    page: int
    file: str | None
    run_id: str | None
    extracted_at: datetime


class Version(Struct, frozen=True):
    """A shipment as shown on one page. ``verdict`` explains why this version is in the table or not.

    ``changed`` are the columns of ``shipments`` whose values differ from those of the version before it, if any.
    """

    status: str | None
    updated_at: datetime | None
    origin: Origin
    reason: str | None
    window: Interval | None
    is_stored: bool
    verdict: str
    changed: tuple[str, ...]


class Part(Struct, frozen=True):
    """The rows of one object of a shipment. ``origin`` is their page; None if the service did not send the object."""

    what: str
    id: int | None
    rows: int
    origin: Origin | None


class QuarantinedValue(Struct, frozen=True):
    """A value of the shipment that did not fit its type and was quarantined, or the shipment's whole record."""

    path: str
    why: str
    origin: Origin


class Absence(Struct, frozen=True):
    """A period in which the service did not have the shipment. ``returned_at`` is None while the period lasts.

    ``window_id`` and ``run_id`` name the audit that proved the absence or, if ``is_stub``, the window whose page showed
    the shipment as a stub marked as deleted.
    """

    window_id: str
    run_id: str | None
    missing_since: datetime
    returned_at: datetime | None
    is_stub: bool


class Explanation(Struct, frozen=True):
    """The origin of one shipment and its parts. Times are UTC."""

    shipment_id: int
    unique_id: str | None
    versions: tuple[Version, ...]
    missing: tuple[Absence, ...]
    parts: tuple[Part, ...]
    misfits: tuple[QuarantinedValue, ...]


def explain(settings: Settings, store: StateStore, name: str, what: str = "shipment") -> tuple[Explanation, ...]:
    """Explain the shipment with this id or unique_id, or each one that a query of ``SELECTED`` finds by the name.

    Raise ``UnknownShipmentError``, which says where the shipment may be, if none is found.
    """
    target = target_of(settings)
    if not target.is_published:
        raise UnknownShipmentError("Nothing can be explained: nothing is published yet. Run `wms-sync sync` first.")
    with target.published() as connection:
        explaining = _Explaining(settings, store, connection)
        if what not in SELECTED:
            return (explaining.shipment(explaining.named(name)),)
        query, not_found = SELECTED[what]
        if found := explaining.rows(query, name=name):
            return tuple(explaining.shipment(row["id"]) for row in found)
    raise UnknownShipmentError(not_found.format(name))


class _Explaining:
    """Explains shipments from the published file, the Parquet files, and the state store's windows."""

    def __init__(self, settings: Settings, store: StateStore, connection: duckdb.DuckDBPyConnection) -> None:
        self._settings = settings
        self._store = store
        self._layout = layout = settings.layout
        self._connection = connection
        self._files = layout.files.local([key for key in layout.parquet_files("shipments") if is_of_window(key)])
        self._windows = {window.id: window for window in store.windows()}

    def shipment(self, shipment: int) -> Explanation:
        """Return the explanation of the shipment with this id."""
        versions = self.rows("explain/versions", id=shipment, files=self._files)
        unique_ids = [row["unique_id"] for row in versions]
        missing = self.rows("explain/missing", id=shipment, says_deleted=SAYS_DELETED)
        return Explanation(
            shipment_id=shipment,
            unique_id=unique_ids[-1] if unique_ids else None,
            versions=tuple(self._version(row) for row in versions),
            missing=tuple(Absence(**row) for row in missing),
            parts=tuple(
                Part(row["what"], row["object_id"], row["row_count"], self._origin(row) if row["window_id"] else None)
                for row in self.rows("explain/parts", id=shipment)
            ),
            misfits=tuple(
                QuarantinedValue(row["path"], row["why"], self._origin(row))
                for row in self.rows("explain/quarantine", id=shipment)
            ),
        )

    def named(self, name: str) -> int:
        """Return the id of the shipment with this id or unique_id."""
        given = identity(name)
        if given is not None and self._files and self.rows("explain/stored", id=given):  # an id wins over a unique_id
            return given
        found = self.rows("explain/named", id=given, unique_id=name, files=self._files)
        if len(found) == 1:
            return int(found[0]["id"])
        if found:
            ids = ", ".join(str(row["id"]) for row in found)
            raise UnknownShipmentError(f"Several shipments have the unique_id {name}. Use the id of one: {ids}.")
        if given is not None and self.rows("explain/quarantine", id=given):
            return given
        raise UnknownShipmentError(" ".join(self._not_found(name)))

    def _not_found(self, name: str) -> Iterator[str]:
        """Yield sentences on where a shipment may be if no page has it."""
        covered = self._store.covered(("loaded",))
        yield f"No page read so far has a shipment with the id or unique_id {name}."
        if not self._files:
            yield "There are no Parquet files: run `wms-sync rebuild` to write them from the raw pages."
        if is_behind(self._settings.layout, self._store):
            yield "The covered time is unknown: the state store was lost or is an old copy. Run `wms-sync sync`."
            return
        if not covered:
            yield "No time is covered yet: run `wms-sync sync`."
            return
        yield f"The tables cover shipments last changed in: {', '.join(map(_shown, covered))}."
        for gap in subtract((Interval(covered[0].start, covered[-1].end),), covered):
            yield f"Not covered: {_shown(gap)}; the next sync reads it."
        yield (
            f"If it was last changed before {self._settings.start_date}, set WMS_START_DATE earlier; if it was changed "
            f"after {moment(covered[-1].end)}, the next sync reads it."
        )
        [nameless] = self.rows("explain/nameless")
        if count := nameless["records"]:
            yield f"ops.quarantine has {count_of(count, 'record')} without a usable id, perhaps of this shipment."

    def _version(self, row: dict[str, Any]) -> Version:
        window = self._windows.get(row["window_id"])
        return Version(
            status=row["status"],
            updated_at=row["updated_at"],
            origin=self._origin(row),
            reason=window.reason if window else None,
            window=window.interval if window and window.from_at < window.to_at else None,
            is_stored=row["is_stored"],
            verdict=row["verdict"],
            changed=tuple(row["changed"] or ()),
        )

    def _origin(self, row: dict[str, Any]) -> Origin:
        window_id, page = row["window_id"], row["page"]
        window = self._windows.get(window_id)
        return Origin(
            window_id,
            page,
            self._layout.page(window_id, page),
            window.run_id if window else None,
            row["extracted_at"],
        )

    def rows(self, query: str, **parameters: object) -> list[dict[str, Any]]:
        """Return the rows of a query; none if it reads Parquet files and there are none."""
        if parameters.get("files") == []:
            return []
        return records(self._connection.execute(sql_files.read(f"{query}.sql"), parameters))


def explanation_lines(found: Explanation) -> Iterator[str]:
    """Yield the lines of text of an explanation."""
    yield f"shipment      {found.shipment_id}" + (f" ({found.unique_id})" if found.unique_id else "")
    for version in found.versions:
        changed = moment(version.updated_at) if version.updated_at else "at an unknown time"
        yield f"{'* ' if version.is_stored else '  '}version     changed {changed}, status {version.status}"
        yield f"              {version.verdict}"
        if version.changed:
            yield f"              changed since the version before: {', '.join(version.changed)}"
        window = _shown(version.window) if version.window else "window"
        yield from _origin_lines(version.origin, f"{version.reason or 'unknown'} {window}")
    for absence in found.missing:
        yield from _absence_lines(absence)
    for value in found.misfits:
        yield f"  quarantine  {value.path}: {value.why}"
        yield from _origin_lines(value.origin)
    if not any(version.is_stored for version in found.versions):
        yield "  table       the shipment is not in the table"
    for part in found.parts:
        yield from _part_lines(part)


def _part_lines(part: Part) -> Sequence[str]:
    what = part.what if part.id is None else f"{part.what} {part.id}"
    if part.origin is None:
        return (f"  from        {what}: the service did not send it",)
    return (f"  from        {what}, {count_of(part.rows, 'row')}", *_origin_lines(part.origin))


def _absence_lines(absence: Absence) -> Iterator[str]:
    until = f"until {moment(absence.returned_at)}, when a page showed it again" if absence.returned_at else "until now"
    yield f"{'  ' if absence.returned_at else '* '}missing     since {moment(absence.missing_since)}, {until}"
    if absence.is_stub:
        yield "              a page showed it as a stub marked deleted"
        proof = "window"
    else:
        yield "              an audit did not find it, neither among the old shipments that it read again nor by id"
        proof = "audit"
    yield f"              {proof} {absence.window_id} of run {absence.run_id or 'unknown'}"


def _origin_lines(origin: Origin, window: str = "") -> Iterator[str]:
    where = origin.file or f"{origin.window_id}, page {origin.page} (the raw page is not on disk)"
    yield f"              {where}"
    read = f"read {moment(origin.extracted_at)} by run {origin.run_id or 'unknown'}"
    yield f"              {read}, {window}" if window else f"              {read}"


def _shown(interval: Interval) -> str:
    return f"{moment(interval.start)} to {moment(interval.end)}"
