"""Read one slice of old shipments, by id, each night, and get the service's counts.

Slices follow each other by id. After some nights every shipment has been read again, and the next round begins. A slice
finds changes that ``updated_at`` does not show. It lands as a window with reason ``audit``, is flattened and merged
like any other, and covers no time. ``load.audits`` compares it with the tables before it is merged.

A slice is listed by id alone, so it also finds shipments that a filter on ``updated_at`` hides. It leaves out shipments
dated before the start date.

A shipment that is in the tables but not in a complete slice is *absent*. It may still exist, for example with an
``updated_at`` before the start date. So absent shipments are requested once more, only by id, unless implausibly many
are absent; a shipment that the answer lacks too is *missing*. The answer is valid only if it also has a witness, a
shipment from the slice.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence, Set as AbstractSet
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from wms_sync.grammar import count_of
from wms_sync.intervals import Interval
from wms_sync.json_values import LARGEST_ID
from wms_sync.service.client import GlobalApi
from wms_sync.service.envelope import Envelope, change_times, changed_before
from wms_sync.service.errors import ApiError, ProtocolError
from wms_sync.service.query import Page
from wms_sync.service.shipments import IDS_PER_REQUEST, ShipmentListing
from wms_sync.shipments.load.audits import stored_shipments
from wms_sync.shipments.read.clocks import served_later
from wms_sync.shipments.read.counts import Counts
from wms_sync.shipments.read.listing import is_recent, listing_of, remembered
from wms_sync.shipments.read.progress import Tally, Warnings
from wms_sync.shipments.read.raw import WindowIncomplete
from wms_sync.shipments.read.shortfall import BEFORE_START, UNDATED_MISSED
from wms_sync.shipments.read.window import WindowReader, new_window
from wms_sync.state.audits import Audit, MissingShipment
from wms_sync.state.store import Run
from wms_sync.targets.errors import DatabaseOpenError
from wms_sync.targets.target import target_of

logger = logging.getLogger(__name__)

SLICE_EVERY = timedelta(hours=20)
"""The minimum interval between slices, so that one slice is read a night, however often a sync runs."""
SKIPPED_FOR = timedelta(days=3)
"""How long audits may be skipped before a finding says so."""
MOST_ABSENT = 100
"""More absent shipments than this are requested again only if they are at most half of the slice in the tables."""

SKIPPED = (ApiError, WindowIncomplete, DatabaseOpenError)
"""Errors that only skip the slice: if it is incomplete, or cannot be compared with the tables, it proves nothing."""


class SliceReader:
    """Reads one slice through one client. The caller holds the writer's lock.

    ``landed`` is called with the window's id once the slice is on disk.
    """

    def __init__(
        self,
        run: Run,
        api: GlobalApi,
        *,
        landed: Callable[[str], None],
        warnings: Warnings,
    ) -> None:
        self._run = run
        self._settings = settings = run.settings
        self._store = store = run.store
        self._landed = landed
        self._warnings = warnings
        self._listing = listing_of(settings, api)
        self._listing.learned.selection = remembered(settings, store)
        served_later(api, store)
        self._counts = Counts(self._listing, self._warnings)

    def read(self, horizon: datetime) -> Audit | None:
        """Read the next slice if it is due. On one of the errors in ``SKIPPED``, warn and return None.

        ``horizon`` is that of the sync that has just been read.
        """
        audits = self._store.audits
        last = audits.last()
        settled = horizon - timedelta(seconds=self._settings.overlap_seconds)
        if not self._is_due(last, settled):
            return None
        try:
            after = last.to_id if last is not None and last.to_id < LARGEST_ID else self._before_first()
            after = self._given_up(audits.all(), after)
            audit, missing = self._read(after, settled, audits.missing().keys())
        except SKIPPED as error:
            text = f"The audit of old shipments is skipped this time; nothing else is affected: {error}"
            logger.warning(text)
            if last is None or not is_recent(SKIPPED_FOR, last.read_at):
                self._store.record_warnings({"audit-skipped": text}, from_scratch=False)
            return None
        audits.begin(audit, missing)
        self._landed(audit.window_id)
        return audit

    def _given_up(self, audits: Sequence[Audit], after: int) -> int:
        """Return where a slice begins whose pages were damaged, if no later one reads it; otherwise ``after``."""
        abandoned = {window.id for window in self._store.windows("abandoned")}
        again = (
            audit.after_id
            for number, audit in enumerate(audits, start=1)
            if audit.window_id in abandoned
            and not any(later.after_id <= audit.after_id < later.to_id for later in audits[number:])
        )
        return min(again, default=after)

    def _before_first(self) -> int:
        """Return an id just below the first id that a round reads: years of older shipments may have lower ids."""
        older = self._store.observation(BEFORE_START)
        undated = self._store.observation(UNDATED_MISSED)
        if (older is not None and not older.value) or (undated is not None and undated.value):
            return 0
        lowest = self._listing.lowest_id(self._settings.start)
        return 0 if lowest is None else min((lowest, *stored_shipments(self._settings, 0, lowest - 1))) - 1

    def _is_due(self, last: Audit | None, settled: datetime) -> bool:
        """Return whether a slice is due: never before there are tables, or while they lack what earlier runs read.

        A shipment that is gone, but only in a pending window, would be overlooked until the next round.
        """
        if not self._settings.audit_pages or settled <= self._settings.start:
            return False
        if last is not None and is_recent(SLICE_EVERY, last.read_at):
            return False
        pending = any(window.run_id != self._run.id for window in self._store.windows("landed"))
        return not pending and target_of(self._settings).is_published

    def _read(
        self, after: int, settled: datetime, known_missing: AbstractSet[int]
    ) -> tuple[Audit, tuple[MissingShipment, ...]]:
        # an interrupted audit starts over, because the ids that it had found were only in memory
        for half_read in self._store.windows("reading"):
            if half_read.reason == "audit":
                self._store.abandon(half_read.id)
        highest = self._store.highest_id()
        window = new_window(self._run, self._listing, "audit", Interval(self._settings.start, settled))
        self._store.begin_windows([window])
        piece = _Slice(self._listing, window.from_at, after, highest, self._settings.audit_pages)
        try:
            with ThreadPoolExecutor(1, "ahead") as ahead, self._listing.cut_by_interrupts():
                reader = WindowReader(self._settings, self._store, ahead, Tally(), self._counts, self._warnings, {})
                reader.read(window, piece)
            missing = tuple(self._prove_missing(window.id, piece, known_missing))
            # count last, so that the counts exclude shipments that were just proven missing
            everything = _counted(self._listing.count_ids(0, highest))
            before_start = 0  # if the filter on updated_at is ignored, the tables have them too
            if self._counts.are_reliable():
                before_start = _counted(self._listing.count_ids(0, highest, None, self._settings.start))
            settled_counted = _counted(self._listing.count(self._settings.start, settled).count)
        except SKIPPED:
            self._store.abandon(window.id)
            raise
        self._store.observe(BEFORE_START, before_start, self._settings.start.isoformat())
        audit = Audit(
            window_id=window.id,
            run_id=self._run.id,
            read_at=datetime.now(UTC),
            after_id=after,
            to_id=piece.to_id,
            settled_at=settled,
            settled_counted=settled_counted,
            total_to_id=highest,
            total_counted=everything - before_start,
        )
        return audit, missing

    def _prove_missing(self, window_id: str, piece: _Slice, known: AbstractSet[int]) -> Iterator[MissingShipment]:
        """Request the absent shipments by id, except those known to be missing; yield those not in the answer."""
        stored = stored_shipments(self._settings, piece.after, piece.to_id)
        absent = sorted(stored - piece.ids - known)
        if absent and (not piece.ids or len(absent) > max(MOST_ABSENT, len(stored) // 2)):
            logger.warning(
                "Of %(stored)s in the tables, the audit found only %(found)d. It is unlikely that so many disappeared "
                "at once, so none is marked missing: check whether the token may see all shipments. If they are gone, "
                "raise WMS_AUDIT_PAGES, so that a slice includes more shipments that still exist.",
                {"found": len(stored & piece.ids), "stored": count_of(len(stored), "shipment")},
            )
            return
        for start in range(0, len(absent), IDS_PER_REQUEST - 1):
            part = absent[start : start + IDS_PER_REQUEST - 1]
            try:
                there, asked_at = self._repeat(part, witness=max(piece.ids))
            except ApiError as error:
                logger.warning(
                    "%(absent)s absent, but not marked missing without proof: %(error)s",
                    {"absent": count_of(len(part), "shipment is", "shipments are"), "error": error},
                )
                continue
            yield from (MissingShipment(missing, window_id, asked_at) for missing in part if missing not in there)

    def _repeat(self, ids: Sequence[int], *, witness: int) -> tuple[AbstractSet[int], datetime]:
        """Return which of these ids the service has, and the time of the answer.

        Raise ``ProtocolError`` if the service does not find the witness: then a search by id proves nothing.
        """
        there, asked_at = self._listing.which_of([*ids, witness])
        if witness not in there:
            raise ProtocolError(
                f"The service listed shipment {witness} a moment ago but does not find it by its id. So its failure to "
                f"find {count_of(len(ids), 'other')} proves nothing."
            )
        return there, asked_at


class _Slice:
    """At most ``pages`` pages of shipments with ids above ``after``, without those dated before ``start``.

    The shipments are listed without a filter on ``updated_at``, because a filter may hide some. ``to_id`` is the id up
    to which the pages reach, ``ids`` are the ids on them. ``highest`` is the highest id of earlier reads: the last
    slice is verified only up to that id or to its own highest id, whichever is higher.
    """

    def __init__(self, listing: ShipmentListing, start: datetime, after: int, highest: int, pages: int) -> None:
        self._listing = listing
        self._query = listing.between(after)
        self._start = start
        self._highest = highest
        self._left = pages
        self._reached = after
        self._has_ended = False
        self._old: set[int] = set()
        self._parts: dict[int, Page] = {}
        self.per_request = self._query.per_request
        self.after = self.to_id = after
        self.ids: set[int] = set()

    def first(self) -> Page:
        """Return the first page."""
        return self._taken(self._query.first())

    def at(self, page_cursor: int, *, counted: bool) -> Page:
        """Return the page at a page cursor."""
        part = self._parts.pop(page_cursor, None)
        return part or self._taken(self._query.at(page_cursor, counted=counted))

    def rest(self, last_id: int) -> Page | None:
        """Return the first page after the end of the list; None if there is none or the slice is full."""
        if not self._has_ended or self.to_id == LARGEST_ID:
            return None
        page = self._query.rest(self._reached)
        if page is None:
            self.to_id = LARGEST_ID
        return None if page is None or self._left <= 0 else self._taken(page)

    def listed(self) -> Iterator[Page]:
        """Yield pages with the service's ids between the ends of the slice, except those of old shipments."""
        to_id = min(self.to_id, max((self._highest, *self.ids)))
        for page in self._listing.between(self.after, to_id).listed():
            ids = tuple(shipment for shipment in page.envelope.ids if shipment not in self._old)
            yield replace(page, envelope=replace(page.envelope, ids=ids))

    def these(self, ids: Sequence[int]) -> Page:
        """Return a page with the records that the service has under these ids."""
        return self._query.these(ids)

    def which(self, ids: Sequence[int]) -> frozenset[int]:
        """Return which of these ids the service has."""
        return self._query.which(ids)

    def _taken(self, page: Page) -> Page:
        self._left -= 1
        envelope = page.envelope
        times = change_times(page.body.content)
        old = {shipment for shipment in envelope.ids if changed_before(times.get(shipment), self._start)}
        begins, self._reached = self._reached, max((self._reached, *envelope.ids))
        self._has_ended = not envelope.has_more
        self.to_id = self._reached if envelope.ids or envelope.has_more else LARGEST_ID
        self._old |= old
        if self._left <= 0:
            envelope = replace(envelope, has_more=False, next=None)
        kept = [shipment for shipment in envelope.ids if shipment not in old]
        self.ids.update(kept)
        return self._without_old(kept, begins, envelope) if old else replace(page, envelope=envelope)

    def _without_old(self, kept: Sequence[int], begins: int, envelope: Envelope) -> Page:
        """Request the kept records of a page by id, as one or more pages; return the first."""
        starts = range(0, len(kept), self.per_request)
        pages = [self.these(kept[start : start + self.per_request]) for start in starts]
        if not pages:  # an empty page, as received
            pages = [self._listing.between(begins, self._reached, since=self._start).first()]
        cursors = [kept[start] for start in starts[1:]]
        ends = [*((True, cursor) for cursor in cursors), (envelope.has_more, envelope.next)]
        parts = [
            replace(page, envelope=replace(page.envelope, count=envelope.count, has_more=has_more, next=following))
            for page, (has_more, following) in zip(pages, ends, strict=True)
        ]
        self._parts |= zip(cursors, parts[1:], strict=True)
        return parts[0]


def _counted(count: int | None) -> int:
    if count is None:
        raise ProtocolError("The service gives no counts (meta.count): without them an audit proves nothing.")
    return count
