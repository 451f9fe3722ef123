"""Read one window to its end, page by page, each page a checkpoint; then prove that the window is complete.

The next page is fetched while a page is written. After a kill the window resumes at its last recorded page cursor. If a
listing cannot be followed the window is abandoned, because a page cursor that led astray, or that the service refuses,
must not be requested again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Executor
from datetime import UTC, datetime
from time import monotonic
from typing import Protocol

from msgspec.structs import replace

from wms_sync.api.errors import PagingBroken, Rejected
from wms_sync.api.page_cursor import page_cursor
from wms_sync.api.shipments import IdListing, Page, Pager
from wms_sync.extract import proof
from wms_sync.extract.counts import Counts
from wms_sync.extract.errors import WindowIncomplete
from wms_sync.extract.progress import Tally
from wms_sync.extract.raw import Manifest, delete_unrecorded, land, write_manifest
from wms_sync.layout import Layout
from wms_sync.state.store import LandedPage, StateStore, Window


class Stopped(Exception):
    """Reading stopped before the window was complete, because the run ends."""


class Listing(Protocol):
    """The source of a window: all shipments of its time, or a slice of them."""

    def first(self, start: datetime, end: datetime, /) -> Page:
        """Return the first page."""

    def at(self, page_cursor: int, start: datetime, end: datetime, /, *, counted: bool) -> Page:
        """Return a later page, with the service's count of the whole window if ``counted``."""

    def within(self, start: datetime, end: datetime, /) -> IdListing:
        """Return a listing of the ids that must have been landed."""


class WindowReader:
    """Reads windows; the threads of one run share it."""

    def __init__(
        self,
        listing: Listing,
        store: StateStore,
        layout: Layout,
        ahead: Executor,
        tally: Tally,
        cleaned: Callable[[Page], Page],
        counts: Counts,
    ) -> None:
        self._listing = listing
        self._store = store
        self._layout = layout
        self._ahead = ahead
        self._tally = tally
        self._cleaned = cleaned
        self._counts = counts
        self._stop = threading.Event()

    def stop(self) -> None:
        """Stop every window after its current page."""
        self._stop.set()

    def read(self, window: Window) -> None:
        """Read the rest of a window and mark it landed.

        Raises leaves of ``ApiError``, ``WindowIncomplete``, and ``Stopped``.
        """
        started = monotonic()
        landed = self._store.pages(window.id)
        last = landed[-1] if landed else None
        try:
            counted_last = None
            if last is None or last.next_cursor is not None:
                counted_last = self._read_on(window, len(landed), _resumed(last))
            self._complete(self._store.window(window.id), counted_last)
        except (PagingBroken, Rejected, WindowIncomplete):
            self._store.abandon(window.id)
            raise
        read = self._store.window(window.id)
        seconds = monotonic() - started
        complete = replace(read, state="landed", landed_at=datetime.now(UTC), read_seconds=seconds)
        pages = self._store.pages(window.id)
        delete_unrecorded(self._store.turn, self._layout, window.id, pages)
        write_manifest(self._store.turn, self._layout, Manifest(complete, pages))
        self._store.mark_landed(window.id, read_seconds=seconds)
        self._tally.add(windows_done=1)

    def _read_on(self, window: Window, number: int, pager: Pager) -> int | None:
        """Read to the end. Return the service's count with the last page, or None.

        A count is requested only with the first page and with the one that should be the last, since counting costs
        the service time (specification 4.4).
        """
        page = self._first(window) if pager.next is None else self._at(window, pager.next, counted=True)
        expected = window.count_reported if page.envelope.count is None else page.envelope.count
        read = window.records
        while True:
            number += 1
            pager.accept(page)
            read += page.envelope.records
            following = self._fetch_ahead(window, pager.next, counted=(expected or 0) - read <= page.envelope.records)
            self._land(window, number, page, pager.next)
            if following is None:
                return page.envelope.count
            if self._stop.is_set():
                raise Stopped
            page = following()

    def _first(self, window: Window) -> Page:
        page = self._listing.first(window.from_at, window.to_at)
        if page.envelope.count != window.count_reported:
            self._store.set_count(window.id, page.envelope.count)
        return page

    def _at(self, window: Window, next_cursor: int, *, counted: bool) -> Page:
        return self._listing.at(next_cursor, window.from_at, window.to_at, counted=counted)

    def _fetch_ahead(self, window: Window, next_cursor: int | None, *, counted: bool) -> Callable[[], Page] | None:
        if next_cursor is None:
            return None
        return self._ahead.submit(self._at, window, next_cursor, counted=counted).result

    def _land(self, window: Window, number: int, page: Page, next_cursor: int | None) -> None:
        landed = land(self._store.turn, self._layout, window.id, number, self._cleaned(page), next_cursor)
        self._store.record_page(landed)
        self._tally.add(pages=1, records=landed.records, bytes=landed.bytes)

    def _complete(self, window: Window, counted_last: int | None) -> None:
        """Prove the window complete; land records that were left off as extra pages. Raises ``WindowIncomplete``."""
        if proof.agrees(window, counted_last):
            return
        there = self._listing.within(window.from_at, window.to_at)
        unlanded = proof.not_landed(window, self._layout, self._store.pages(window.id), there, self._counts)
        for number, page in enumerate(proof.fetched(window, unlanded, there), start=window.pages + 1):
            self._land(window, number, page, None)


def _resumed(last: LandedPage | None) -> Pager:
    """Return the position at which to resume. Earlier releases stored all of ``next``, perhaps without page cursor."""
    if last is None:
        return Pager()
    following = page_cursor(last.next_cursor)
    if following is None:
        raise PagingBroken("The page cursor of a half-read window is not known.")
    return Pager(following, last.last_id)
