"""Explain shipments: every version that was read, the version in the table, and the pages that the parts came from.

A shipment is selected by its own id or unique_id, by its order, or by the tracking number of a package.

The sources are the Parquet files, which have every flattened version, and the published file. This module sends no
requests and does not wait for a lock.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import duckdb
from msgspec import Struct

from wms_sync import sql_files
from wms_sync.grammar import count_of
from wms_sync.intervals import Interval, subtract
from wms_sync.json_values import identity
from wms_sync.settings import Settings
from wms_sync.shipments.flatten.values import SAYS_DELETED
from wms_sync.state.snapshot_files import is_behind
from wms_sync.state.store import StateStore
from wms_sync.targets.database import records
from wms_sync.targets.errors import UnknownOrderError, UnknownShipmentError
from wms_sync.targets.target import target_of


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


class OrderExplanation(Struct, frozen=True):
    """An order in the tables, with the explanation of each of its shipments."""

    order_id: int
    unique_id: str | None
    order_ref: str | None
    shipments: tuple[Explanation, ...]


def explain(settings: Settings, store: StateStore, name: str) -> Explanation:
    """Explain the shipment with this id or unique_id.

    Raise ``UnknownShipmentError``, which says where the shipment may be, if it is not found.
    """
    with _explaining(settings, store) as explaining:
        return explaining.shipment(name)


def explain_orders(settings: Settings, store: StateStore, name: str) -> tuple[OrderExplanation, ...]:
    """Explain the shipments of each order with this id, unique_id or order_ref, which several merchants may use.

    Raise ``UnknownOrderError`` if there is no such order.
    """
    with _explaining(settings, store) as explaining:
        found = explaining.rows("queries/named_orders", names=[name])
        if not found:
            raise UnknownOrderError(
                f"No order in the tables has the id, unique_id or order_ref {name}. Orders come with their shipments: "
                "an order without a shipment is not in this data."
            )
        return tuple(
            OrderExplanation(
                order_id=row["id"],
                unique_id=row["unique_id"],
                order_ref=row["order_ref"],
                shipments=explaining.found_by("explain/shipments_of_order", order_id=row["id"]),
            )
            for row in found
        )


def explain_tracking(settings: Settings, store: StateStore, number: str) -> tuple[Explanation, ...]:
    """Explain each shipment that has a package with this tracking number.

    Raise ``UnknownShipmentError`` if there is no such shipment.
    """
    with _explaining(settings, store) as explaining:
        if found := explaining.found_by("explain/shipments_with_tracking_number", number=number):
            return found
    raise UnknownShipmentError(
        f"No package in the tables has the tracking number {number}. A shipment gets its packages when it is packed; "
        "the next sync reads every change since the last one."
    )


@contextmanager
def _explaining(settings: Settings, store: StateStore) -> Iterator[_Explaining]:
    target = target_of(settings)
    if not target.is_published:
        raise UnknownShipmentError("Nothing can be explained: nothing is published yet. Run `wms-sync sync` first.")
    with target.published() as connection:
        yield _Explaining(settings, store, connection)


class _Explaining:
    """Explains shipments from the published file, the Parquet files, and the state store's windows."""

    def __init__(self, settings: Settings, store: StateStore, connection: duckdb.DuckDBPyConnection) -> None:
        self._settings = settings
        self._store = store
        self._layout = layout = settings.layout
        self._connection = connection
        self._files = layout.files.local(layout.parquet_files("shipments"))
        self._windows = {window.id: window for window in store.windows()}

    def shipment(self, name: str) -> Explanation:
        """Return the explanation of the shipment with this id or unique_id."""
        shipment = self._named(name)
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

    def found_by(self, query: str, **parameters: object) -> tuple[Explanation, ...]:
        """Return the explanations of the shipments that a query finds."""
        return tuple(self.shipment(str(row["id"])) for row in self.rows(query, **parameters))

    def _named(self, name: str) -> int:
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
            f"after {_moment(covered[-1].end)}, the next sync reads it."
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
        run_id = window.run_id if window else None
        return Origin(window_id, page, self._layout.page(window_id, page), run_id, row["extracted_at"])

    def rows(self, query: str, **parameters: object) -> list[dict[str, Any]]:
        """Return the rows of a query; none if it reads Parquet files and there are none."""
        if parameters.get("files") == []:
            return []
        return records(self._connection.execute(sql_files.read(f"{query}.sql"), parameters))


def order_lines(found: OrderExplanation) -> Iterator[str]:
    """Yield the lines of text of an order and its shipments."""
    names = [found.unique_id, found.order_ref and f"order_ref {found.order_ref}"]
    shown = ", ".join(filter(None, names))
    yield f"order         {found.order_id}" + (f" ({shown})" if shown else "")
    if not found.shipments:
        yield "              no shipment of this order is in the tables"
    for shipment in found.shipments:
        yield from explanation_lines(shipment)


def explanation_lines(found: Explanation) -> Iterator[str]:
    """Yield the lines of text of an explanation."""
    yield f"shipment      {found.shipment_id}" + (f" ({found.unique_id})" if found.unique_id else "")
    for version in found.versions:
        changed = _moment(version.updated_at) if version.updated_at else "at an unknown time"
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
    until = f"until {_moment(absence.returned_at)}, when a page showed it again" if absence.returned_at else "until now"
    yield f"{'  ' if absence.returned_at else '* '}missing     since {_moment(absence.missing_since)}, {until}"
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
    read = f"read {_moment(origin.extracted_at)} by run {origin.run_id or 'unknown'}"
    yield f"              {read}, {window}" if window else f"              {read}"


def _shown(interval: Interval) -> str:
    return f"{_moment(interval.start)} to {_moment(interval.end)}"


def _moment(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"
