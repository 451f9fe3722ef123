"""Read one window to its end, page by page, each page a checkpoint; then prove that the window is complete.

Personal data that must not be stored is removed from a page before it is written.

The next page is fetched while a page is written. After a kill the window resumes at its last recorded page cursor. If a
listing cannot be followed, the window is abandoned, because a page cursor that is wrong or refused must not be
requested again.
"""

from __future__ import annotations

import threading
from array import array
from concurrent.futures import Executor
from time import monotonic

from msgspec.structs import replace

from wms_sync.intervals import Interval
from wms_sync.privacy.scrub import without_orders, without_persons
from wms_sync.service.body import packed
from wms_sync.service.errors import FilterIgnored, PagingBroken, Rejected
from wms_sync.service.query import Page, Pager
from wms_sync.service.shipments import ShipmentListing
from wms_sync.settings import Settings
from wms_sync.shipments.read import proof
from wms_sync.shipments.read.counts import UNKNOWN, Counts
from wms_sync.shipments.read.plan import new_name
from wms_sync.shipments.read.progress import Tally, Warnings
from wms_sync.shipments.read.proof import Source
from wms_sync.shipments.read.raw import WindowIncomplete, delete_unrecorded, land
from wms_sync.state.store import Reason, Run, StateStore, Window


class Stopped(Exception):
    """Reading stopped before the window was complete, because the run is ending."""


def new_window(run: Run, listing: ShipmentListing, reason: Reason, part: Interval, expected: int = UNKNOWN) -> Window:
    """Return a new window with its expected number of records, so that a run that resumes it knows what remains."""
    return Window(
        id=new_name(reason, part),
        from_at=part.start,
        to_at=part.end,
        reason=reason,
        run_id=run.id,
        signature=listing.signature,
        service=run.settings.base_url,
        omitted=listing.learned.selection.omitted,
        count_reported=expected or None,
    )


class WindowReader:
    """Reads windows; the threads of one run share it and add to ``ids``: those on the pages, by window."""

    def __init__(
        self,
        settings: Settings,
        store: StateStore,
        ahead: Executor,
        tally: Tally,
        counts: Counts,
        warnings: Warnings,
        ids: dict[str, array[int]],
    ) -> None:
        self._ids = ids
        self._store = store
        self._layout = settings.layout
        self._include_addresses = settings.include_addresses
        self._forgotten = store.forgotten()
        self._ahead = ahead
        self._tally = tally
        self._counts = counts
        self._warnings = warnings
        self._stop = threading.Event()

    def stop(self) -> None:
        """Stop every window after its current page."""
        self._stop.set()

    def read(self, window: Window, source: Source) -> None:
        """Read the rest of a window and mark it landed.

        Raise a leaf of ``ApiError``, ``WindowIncomplete`` or ``Stopped``.
        """
        started = monotonic()
        landed = self._store.pages(window.id)
        last = landed[-1] if landed else None
        try:
            self._ids[window.id] = array("q", proof.landed_ids(window, self._layout, landed))
            counted_last = None
            if last is None:
                page = source.first()
                if page.envelope.count != window.count_reported:
                    self._store.set_count(window.id, page.envelope.count)
                counted_last = self._read_on(window, source, Pager(), page)
            elif last.next_cursor is not None:
                page = source.at(last.next_cursor, counted=True)
                counted_last = self._read_on(window, source, Pager(last.next_cursor, last.last_id), page)
            self._read_rest(window, source)
            self._complete(self._store.window(window.id), source, counted_last)
        except (PagingBroken, Rejected, WindowIncomplete):
            self._store.abandon(window.id)
            raise
        delete_unrecorded(self._store.lease, self._layout, window.id, self._store.pages(window.id))
        self._store.mark_landed(window.id, read_seconds=monotonic() - started)
        self._tally.add(windows_done=1)

    def _read_on(self, window: Window, source: Source, pager: Pager, page: Page) -> int | None:
        """Land this page and the following pages. Return the service's count with the last page, or None.

        A count is requested only with the first page read, and from the expected last page on, because counting costs
        the service time (specification 4.4).
        """
        landed = self._store.window(window.id)
        number, read = landed.pages, landed.records
        expected = landed.count_reported if page.envelope.count is None else page.envelope.count
        while True:
            number += 1
            pager.accept(page)
            read += page.envelope.records
            if pager.next is None:
                self._land(window, number, page, None)
                return page.envelope.count
            is_counted = (expected or 0) - read <= page.envelope.records
            following = self._ahead.submit(source.at, pager.next, counted=is_counted)
            self._land(window, number, page, pager.next)
            if self._stop.is_set():
                raise Stopped
            page = following.result()

    def _read_rest(self, window: Window, source: Source) -> None:
        """Read the records after the end of the list, which the service may have cut off silently."""
        last_id: int | None = None
        while (reached := self._highest_id(window)) is not None and reached != last_id:
            last_id = reached
            try:
                page = source.rest(last_id)
            except (FilterIgnored, Rejected) as error:
                self._warnings.warn(
                    "rest-unknown",
                    "It is unknown whether the service cuts its lists off, because its filters on id cannot be used: "
                    f"{error}",
                )
                return
            if page is None:
                return
            self._warnings.remark(
                f"The service has records after id {last_id}, where its list ended: they are requested too."
            )
            self._read_on(window, source, Pager(last_id=last_id), page)

    def _highest_id(self, window: Window) -> int | None:
        return max((page.last_id for page in self._store.pages(window.id) if page.last_id is not None), default=None)

    def _land(self, window: Window, number: int, page: Page, next_cursor: int | None) -> None:
        landed = land(self._store.lease, self._layout, window.id, number, self._cleaned(page), next_cursor)
        self._store.record_page(landed)
        self._ids[window.id].extend(page.envelope.ids)
        self._tally.add(pages=1, records=landed.records, bytes=landed.bytes)

    def _cleaned(self, page: Page) -> Page:
        """Return the page without personal data that must not be stored."""
        content, clean = page.body.content, None
        if page.envelope.suspect and not self._include_addresses:
            clean = without_persons(content)
        clean = without_orders(clean or content, self._forgotten) or clean
        return page if clean is None else replace(page, body=packed(clean))

    def _complete(self, window: Window, source: Source, counted_last: int | None) -> None:
        """Prove the window complete; land missing records as extra pages. Raise ``WindowIncomplete`` if that fails."""
        if proof.agrees(window, counted_last):
            return
        unlanded = proof.not_landed(window, self._layout, self._store.pages(window.id), source, self._counts)
        for number, page in enumerate(proof.fetched(window, unlanded, source), start=window.pages + 1):
            self._land(window, number, page, None)
