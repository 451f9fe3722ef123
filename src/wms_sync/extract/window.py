"""Reading one window to its end: page by page, each a checkpoint, then the proof that it is complete.

While a page is written the next is fetched. After a kill the window goes on at its last recorded page cursor. Where a
listing cannot be followed the window is given up: a page cursor that led astray, or that the service refuses, must not
be asked for again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import replace
from datetime import UTC, datetime
from time import monotonic
from typing import Protocol

from wms_sync.api.errors import PagingBroken, Rejected
from wms_sync.api.page_cursor import page_cursor
from wms_sync.api.shipments import IdListing, Page, Pager
from wms_sync.extract import proof
from wms_sync.extract.counting import Counts
from wms_sync.extract.errors import WindowIncomplete
from wms_sync.extract.progress import Tally
from wms_sync.extract.raw import Manifest, land, write_manifest
from wms_sync.layout import Layout
from wms_sync.state.store import LandedPage, StateStore, Window


class Stopped(Exception):
    """This window was left as it is because the run ends."""


class Listing(Protocol):
    """What a window is read from: all shipments of its time, or a slice of them."""

    def first(self, start: datetime, end: datetime, /) -> Page:
        """The first page."""

    def at(self, page_cursor: int, start: datetime, end: datetime, /, *, counted: bool) -> Page:
        """A page that follows, with the service's count of all where it is to be ``counted``."""

    def within(self, start: datetime, end: datetime, /) -> IdListing:
        """What must have been landed of it, to be listed by ids."""


class WindowReader:
    """Reads windows; shared by the threads of one run."""

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
        """Let every window end after the page it is at."""
        self._stop.set()

    def read(self, window: Window) -> None:
        """Read the rest of a window and mark it landed. Raises leaves of ``ApiError`` and ``WindowIncomplete``."""
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
        folder = self._layout.window(window.id)
        write_manifest(self._store.turn, folder, Manifest(complete, self._store.pages(window.id)))
        self._store.mark_landed(window.id, read_seconds=seconds)
        self._tally.add(windows_done=1)

    def _read_on(self, window: Window, number: int, pager: Pager) -> int | None:
        """Read to the end; returns what the service counted with the last page, where it did.

        It is asked to count with the first page and with the one that should be the last: counting costs it
        (specification 4.4).
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
        if page.envelope.count is not None:
            self._store.set_count(window.id, page.envelope.count)
        return page

    def _at(self, window: Window, next_cursor: int, *, counted: bool) -> Page:
        return self._listing.at(next_cursor, window.from_at, window.to_at, counted=counted)

    def _fetch_ahead(self, window: Window, next_cursor: int | None, *, counted: bool) -> Callable[[], Page] | None:
        if next_cursor is None:
            return None
        return self._ahead.submit(self._at, window, next_cursor, counted=counted).result

    def _land(self, window: Window, number: int, page: Page, next_cursor: int | None) -> None:
        folder = self._layout.window(window.id)
        landed = land(self._store.turn, folder, number, self._cleaned(page), next_cursor)
        self._store.record_page(landed)
        self._tally.add(pages=1, records=landed.records, bytes=landed.bytes)

    def _complete(self, window: Window, counted_last: int | None) -> None:
        """Prove that nothing was left off; what was is landed as pages of their own. Raises ``WindowIncomplete``."""
        if proof.agrees(window, counted_last):
            return
        there, folder = self._listing.within(window.from_at, window.to_at), self._layout.window(window.id)
        lacking = proof.not_landed(window, folder, self._store.pages(window.id), there, self._counts)
        for number, page in enumerate(proof.fetched(window, lacking, there), start=window.pages + 1):
            self._land(window, number, page, None)


def _resumed(last: LandedPage | None) -> Pager:
    """Where a half-read window goes on. Earlier releases kept a whole ``next``, which may have no page cursor."""
    if last is None:
        return Pager()
    following = page_cursor(last.next_cursor)
    if following is None:
        raise PagingBroken("Of a half-read window it is not known where its next page begins.")
    return Pager(following, last.last_id)
