"""Read one slice of old shipments, by id, each night, and get the service's counts.

Slices follow each other by id. After some nights every shipment has been read again, and the next round begins. A slice
finds changes that ``updated_at`` does not show. It lands as a window of its own kind, is flattened and merged like any
other, and covers no time. ``compare`` compares it with the tables before it is merged.

A shipment that the tables have and a complete slice does not is *absent*. It may only have moved: to an ``updated_at``
before the start date, or while the pages were read. So each absent shipment is requested once more, by its id and no
other filter; one that still does not come is *missing*. The answer is valid only if it also has a witness, a shipment
that the slice has just shown.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from wms_sync.api.client import GlobalApi
from wms_sync.api.errors import ApiError, ProtocolError
from wms_sync.api.shipments import IDS_PER_REQUEST, IdListing, Page, ShipmentListing
from wms_sync.extract.cleaner import Cleaner
from wms_sync.extract.clocks import served_later
from wms_sync.extract.counts import Counts
from wms_sync.extract.errors import WindowIncomplete
from wms_sync.extract.field_selection import FieldSelection
from wms_sync.extract.listing import listing_of
from wms_sync.extract.page_size import page_size
from wms_sync.extract.progress import Tally
from wms_sync.extract.warnings import Warnings
from wms_sync.extract.window import WindowReader
from wms_sync.grammar import count_of
from wms_sync.intervals import Interval
from wms_sync.lately import was_within
from wms_sync.state.audits import Audit, Audits, MissingShipment
from wms_sync.state.run import Run
from wms_sync.state.store import Window
from wms_sync.whole_numbers import LARGEST_ID

logger = logging.getLogger(__name__)

SLICE_EVERY = timedelta(hours=20)
"""One slice a night, however often a sync runs."""
MOST_ABSENT = 100
"""Up to so many absent shipments are always requested again; more only if they are at most half of the slice."""

Stored = Callable[[int, int], AbstractSet[int]]
"""Returns the ids in the tables that a slice of ``(after, to]`` should hold."""


class SliceReader:
    """Reads one slice through one client. The caller holds the writer's lock.

    ``stored`` returns what the tables have. ``landed`` is called with the window's id once the slice is on disk.
    """

    def __init__(
        self,
        run: Run,
        api: GlobalApi,
        *,
        stored: Stored,
        landed: Callable[[str], None] | None = None,
        warnings: Warnings | None = None,
    ) -> None:
        settings, store = run.settings, run.store
        self._settings = settings
        self._store = store
        self._run_id = run.id
        self._stored = stored
        self._landed = landed
        warned = warnings or Warnings()
        self._listing = listing_of(settings, api, page_size(settings, store, warned), warned)
        self._listing.selection = FieldSelection(settings, store).remembered()
        served_later(api, store)
        self._counts = Counts(self._listing, warned)

    def read(self, horizon: datetime) -> Audit | None:
        """Read the next slice if one is due. An error is reported and affects nothing but the audit.

        ``horizon`` is the end of the sync that has just been read.
        """
        with Audits(self._settings.database_url, self._store.turn) as audits:
            last = audits.last()
            settled = horizon - timedelta(seconds=self._settings.overlap_seconds)
            if not self._is_due(last, settled):
                return None
            after = last.to_id if last is not None and last.to_id < LARGEST_ID else 0
            try:
                audit, missing = self._read(after, settled, audits.missing().keys())
            except (ApiError, WindowIncomplete) as error:
                logger.warning(
                    "The audit of old shipments is skipped this time; nothing else is affected: %(error)s",
                    {"error": error},
                )
                return None
            audits.begin(audit, missing)
        if self._landed is not None:
            self._landed(audit.window_id)
        return audit

    def _is_due(self, last: Audit | None, settled: datetime) -> bool:
        """Return whether a slice is due. After a first sync none is: its shipments have just been read."""
        if not self._settings.audit_pages or not self._store.windows("loaded") or settled <= self._settings.start:
            return False
        return last is None or not was_within(SLICE_EVERY, last.read_at)

    def _read(
        self, after: int, settled: datetime, known_missing: AbstractSet[int]
    ) -> tuple[Audit, tuple[MissingShipment, ...]]:
        for half_read in self._store.windows("reading"):
            if half_read.reason == "audit":
                self._store.abandon(half_read.id)
        highest = self._store.highest_id()
        window = self._begin(after, settled)
        piece = _SliceListing(self._listing, window.from_at, after, highest, self._settings.audit_pages)
        try:
            with ThreadPoolExecutor(1, "ahead") as ahead:
                cleaned = Cleaner(self._store.forgotten(), include_addresses=self._settings.include_addresses)
                layout = self._settings.layout
                WindowReader(piece, self._store, layout, ahead, Tally(), cleaned, self._counts).read(window)
            missing = tuple(self._prove_missing(window.id, piece, known_missing))
            # count last, so that the counts do not include what was just proven missing
            total_counted = _counted(self._listing.count_ids(0, highest, self._settings.start))
            settled_counted = _counted(self._listing.count(self._settings.start, settled)[0])
        except (ApiError, WindowIncomplete):
            self._store.abandon(window.id)
            raise
        audit = Audit(
            window_id=window.id,
            run_id=self._run_id,
            read_at=datetime.now(UTC),
            after_id=after,
            to_id=piece.to_id,
            settled_at=settled,
            settled_counted=settled_counted,
            total_to_id=highest,
            total_counted=total_counted,
        )
        return audit, missing

    def _prove_missing(
        self, window_id: str, piece: _SliceListing, known: AbstractSet[int]
    ) -> Iterator[MissingShipment]:
        """Request the absent shipments by id, except those known to be missing; yield the ones that do not come."""
        stored = self._stored(piece.after, piece.to_id)
        absent = sorted(stored - piece.ids - known)
        if absent and (not piece.ids or len(absent) > max(MOST_ABSENT, len(stored) // 2)):
            logger.warning(
                "The audit found only %(found)d of %(stored)s that the tables have. That so many disappeared "
                "at once is unlikely, so none is marked missing: check whether the token may see all shipments. If "
                "they are gone, raise WMS_AUDIT_PAGES, so that a slice includes more shipments that still exist.",
                {"found": len(stored) - len(absent), "stored": count_of(len(stored), "shipment")},
            )
            return
        for start in range(0, len(absent), IDS_PER_REQUEST - 1):
            part = absent[start : start + IDS_PER_REQUEST - 1]
            try:
                there, asked_at = self._ask_again(part, witness=max(piece.ids))
            except ApiError as error:
                logger.warning(
                    "%(absent)s absent, but not marked missing without proof: %(error)s",
                    {"absent": count_of(len(part), "shipment is", "shipments are"), "error": error},
                )
                continue
            yield from (MissingShipment(one, window_id, asked_at) for one in part if one not in there)

    def _ask_again(self, ids: Sequence[int], *, witness: int) -> tuple[AbstractSet[int], datetime]:
        """Return which of these ids the service has, and when it was asked.

        Raise ``ProtocolError`` if it does not find the witness: then a search by id proves nothing.
        """
        there, asked_at = self._listing.which_of([*ids, witness])
        if witness not in there:
            raise ProtocolError(
                f"The service showed shipment {witness} a moment ago but does not find it by its id. So it proves "
                f"nothing that it does not find {count_of(len(ids), 'other')} either."
            )
        return there, asked_at

    def _begin(self, after: int, settled: datetime) -> Window:
        window = Window.begun(
            f"audit-{settled:%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}",
            Interval(self._settings.start, settled),
            reason="audit",
            run_id=self._run_id,
            signature=f"after={after}&{self._listing.signature}",
            service=self._settings.base_url,
            lost=self._listing.selection.lost,
        )
        self._store.begin_windows([window])
        return window


class _SliceListing:
    """A listing of a limited number of pages after an id.

    ``to_id`` is how far the pages reach, ``ids`` are the ids on them. ``highest`` is the highest id that was read
    before: the last slice is verified only up to there, or up to its own highest id.
    """

    def __init__(self, listing: ShipmentListing, start: datetime, after: int, highest: int, pages: int) -> None:
        self._listing = listing
        self._start = start
        self._highest = highest
        self._left = pages
        self.after = self.to_id = after
        self.ids: set[int] = set()

    def first(self, _: datetime, __: datetime) -> Page:
        """Return the first page. The request has no upper end of time, so that it includes what changed meanwhile."""
        return self._taken(self._listing.first_after(self.after, self._start))

    def at(self, page_cursor: int, _: datetime, __: datetime, *, counted: bool) -> Page:
        """Return the page at a page cursor."""
        return self._taken(self._listing.at_after(page_cursor, self.after, self._start, counted=counted))

    def within(self, _: datetime, __: datetime) -> IdListing:
        """Return a listing of the ids that the service has between the ends of the slice."""
        to_id = min(self.to_id, max((self._highest, *self.ids)))
        return self._listing.within_ids(self.after, to_id, self._start)

    def _taken(self, page: Page) -> Page:
        self._left -= 1
        self.ids.update(page.envelope.ids)
        if not page.envelope.has_more:
            self.to_id = LARGEST_ID
            return page
        self.to_id = max((self.to_id, *page.envelope.ids))
        return page if self._left else replace(page, envelope=replace(page.envelope, has_more=False, next=None))


def _counted(count: int | None) -> int:
    if count is None:
        raise ProtocolError("The service gives no counts (meta.count): without them an audit proves nothing.")
    return count
