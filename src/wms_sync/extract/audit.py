"""The audit's share of a night: a slice of old shipments by id, read again, and the service's counts.

Slices follow each other by id, so that after some nights every shipment was read again, and then begin anew. A slice
finds what ``updated_at`` does not tell. It lands as a window of its own kind, is flattened and merged like any, and
covers no time. ``analytics.audit`` compares it with the tables before it is merged.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from wms_sync.api.client import GlobalApi
from wms_sync.api.errors import ApiError
from wms_sync.api.shipments import Page, ShipmentListing
from wms_sync.extract.cleaner import Cleaner
from wms_sync.extract.progress import Tally
from wms_sync.extract.window import WindowReader
from wms_sync.intervals import Interval
from wms_sync.layout import Layout
from wms_sync.settings import Settings
from wms_sync.state.audits import Audit, Audits
from wms_sync.state.store import StateStore, Window

EVERY = timedelta(hours=20)
"""One slice a night, however often a sync runs."""
THE_LAST_ID = 2**63 - 1


class AuditReading:
    """Reads one slice over one client. The caller holds the writer's lock and has read ``horizon`` just before."""

    def __init__(
        self,
        settings: Settings,
        store: StateStore,
        api: GlobalApi,
        *,
        run_id: str,
        say: Callable[[str], object],
        landed: Callable[[str], None] | None = None,
    ) -> None:
        self._settings = settings
        self._store = store
        self._run_id = run_id
        self._say = say
        self._landed = landed
        self._listing = ShipmentListing(api, page_size=settings.page_size, include_addresses=settings.include_addresses)

    def read(self, horizon: datetime) -> Audit | None:
        """The next slice, where one is due. What goes wrong is said and harms nothing but the audit."""
        with Audits(self._settings.database_url, self._store.turn) as audits:
            last = audits.last()
            settled = horizon - timedelta(seconds=self._settings.overlap_seconds)
            if not self._is_due(last, settled):
                return None
            after = last.to_id if last is not None and last.to_id < THE_LAST_ID else 0
            try:
                audit = self._read(after, settled)
            except ApiError as error:
                self._say(f"The audit of old shipments is left out this time, and nothing else: {error}")
                return None
            audits.begin(audit)
        if self._landed is not None:
            self._landed(audit.window_id)
        return audit

    def _is_due(self, last: Audit | None, settled: datetime) -> bool:
        """Shipments that were read for the first time a moment ago need no second look."""
        if not self._settings.audit_pages or not self._store.windows("loaded") or settled <= self._settings.start:
            return False
        return last is None or datetime.now(UTC) - last.read_at >= EVERY

    def _read(self, after: int, settled: datetime) -> Audit:
        for half_read in self._store.windows("reading"):
            if half_read.reason == "audit":
                self._store.abandon(half_read.id)
        to_id = self._store.highest_id()
        total_counted = self._listing.count_ids(to_id, self._settings.start)
        settled_counted, _ = self._listing.count(self._settings.start, settled)
        window = self._begin(after, settled)
        piece = _Slice(self._listing, after, self._settings.audit_pages)
        try:
            with ThreadPoolExecutor(1, "ahead") as ahead:
                cleaned = Cleaner(self._store.forgotten(), include_addresses=self._settings.include_addresses)
                layout = Layout(self._settings.data_dir)
                WindowReader(piece, self._store, layout, ahead, Tally(), cleaned).read(window)
        except ApiError:
            self._store.abandon(window.id)
            raise
        return Audit(
            window_id=window.id,
            run_id=self._run_id,
            read_at=datetime.now(UTC),
            after_id=after,
            to_id=piece.to_id,
            settled_at=settled,
            settled_counted=settled_counted,
            total_to_id=to_id,
            total_counted=total_counted,
        )

    def _begin(self, after: int, settled: datetime) -> Window:
        window = Window.begun(
            f"audit-{settled:%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}",
            Interval(self._settings.start, settled),
            reason="audit",
            run_id=self._run_id,
            signature=f"after={after}&{self._listing.signature}",
        )
        self._store.begin_windows([window])
        return window


class _Slice:
    """So many pages behind an id, as a listing that ends with them. ``to_id`` is how far they reach."""

    def __init__(self, listing: ShipmentListing, after: int, pages: int) -> None:
        self._listing = listing
        self._after = after
        self._left = pages
        self.to_id = after

    def first(self, start: datetime, _: datetime) -> Page:
        """The first page; without an upper end of time, so that what has moved on is seen and not missed."""
        return self._taken(self._listing.first_after(self._after, start))

    def at(self, page_cursor: str) -> Page:
        """A page that follows."""
        return self._taken(self._listing.at(page_cursor))

    def count(self, _: datetime | None, __: datetime | None) -> tuple[int, datetime]:
        """Nothing is promised: a slice is as long as its pages."""
        return 0, datetime.now(UTC)

    def _taken(self, page: Page) -> Page:
        self._left -= 1
        if not page.envelope.has_more:
            self.to_id = THE_LAST_ID
            return page
        self.to_id = max((self.to_id, *page.envelope.ids))
        return page if self._left else replace(page, envelope=replace(page.envelope, has_more=False, next=None))
