"""List shipments (specification 4.4, 4.6): the pages of one window, with the guards that make paging safe.

A page as served::

    {"collection": [{"type": "Shipment", "id": 7, ...}], "included": {"Order": [...]},
     "has_more": true, "next": "/api/global/v1/shipping/shipments?...&cursor_start=8", "previous": null,
     "meta": {"processing_time": 0.1, "cursor_start": 8, "cursor_end": 7, "count": 1234}}

Cursors work only with ``sort=id``, so ``updated_at`` filters but never orders. Of ``next`` only the page cursor is used
(``page_cursor``); each page is requested with the listing's own parameters.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from urllib.parse import urlsplit

from msgspec import Struct

from wms_sync.api.body import Body
from wms_sync.api.client import ROOT, Answer, GlobalApi
from wms_sync.api.connection import Params
from wms_sync.api.envelope import Envelope, read_envelope
from wms_sync.api.errors import PagingBroken, ProtocolError, Rejected
from wms_sync.api.filters import ids_among, ids_between, updated_within
from wms_sync.api.page_size import PageSize
from wms_sync.api.selection import Selection
from wms_sync.grammar import count_of

logger = logging.getLogger(__name__)

PATH = f"{ROOT}/v1/shipping/shipments"
LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC), datetime(2000, 1, 2, tzinfo=UTC)
"""A day on which no shipment of any instance was last changed."""
MOST_EMPTY = 1000
"""The most empty pages in a row that are followed, each with a page cursor; more would never end."""
IDS_PER_REQUEST = 200
"""With ids of ten digits, the encoded URL has about 3 KB; no limit is published, and 4 KB is a common one."""


class Page(Struct, frozen=True):
    """One response of list shipments: the body as received, and its envelope."""

    body: Body
    envelope: Envelope
    served_at: datetime


class ShipmentListing:
    """Requests pages of shipments, by ``updated_at`` in ``[start, end)`` or by id. Set ``selection`` to narrow it."""

    def __init__(
        self,
        api: GlobalApi,
        *,
        page_size: int | PageSize,
        include_addresses: bool,
        remark: Callable[[str], object] = logger.info,
    ) -> None:
        self._api = api
        self.selection = Selection.whole(include_addresses=include_addresses)
        self._remark = remark
        self._page_size = page_size if isinstance(page_size, PageSize) else PageSize(page_size)
        self._watched = not include_addresses

    @property
    def _common(self) -> tuple[tuple[str, str], ...]:
        return (("sort", "id"), *self.selection.params)

    @property
    def signature(self) -> str:
        """Return everything that is requested besides the window, as text."""
        return f"limit={self._page_size.now}&" + "&".join(f"{name}={value}" for name, value in self._common)

    def asks_the_same(self, signature: str) -> bool:
        """Return whether a half-read window with this signature can be resumed; the page size may differ."""
        return signature.partition("&")[2] == self.signature.partition("&")[2]

    def count(
        self, start: datetime | None, end: datetime | None, *, selecting: Selection | None = None
    ) -> tuple[int | None, datetime]:
        """Return the number of matching shipments (None if the service does not count) and its clock. One request.

        With ``selecting``, one record is requested with this selection, which shows whether the service accepts it.
        """
        asked = selecting.params if selecting is not None else ()
        envelope, served_at = self._counted(updated_within(start, end), selecting=asked)
        return envelope.count, served_at

    def first(self, start: datetime, end: datetime) -> Page:
        """Return the first page; its envelope has the ``count`` of the window if the service counts."""
        return self._page((updated_within(start, end),), None)

    def at(self, page_cursor: int, start: datetime, end: datetime, *, counted: bool = True) -> Page:
        """Return a later page; counting costs the service time, so request it (``counted``) only if needed."""
        return self._page((updated_within(start, end),), page_cursor, counted=counted)

    def count_ids(self, after_id: int, to_id: int, start: datetime) -> int | None:
        """Return the number of shipments with ids in ``(after_id, to_id]`` changed since ``start``. One request."""
        envelope, _ = self._counted(ids_between(after_id, to_id), updated_within(start, None))
        return envelope.count

    def first_after(self, after_id: int, start: datetime) -> Page:
        """Return the first page of shipments with ids above ``after_id`` changed since ``start``, with ``count``."""
        return self._page((ids_between(after_id, None), updated_within(start, None)), None)

    def at_after(self, page_cursor: int, after_id: int, start: datetime, *, counted: bool = True) -> Page:
        """Return a page that follows ``first_after``."""
        return self._page((ids_between(after_id, None), updated_within(start, None)), page_cursor, counted=counted)

    def which_of(self, ids: Sequence[int]) -> tuple[frozenset[int], datetime]:
        """Return which of at most ``IDS_PER_REQUEST`` shipments the service has, and its clock, without other filters.

        Raises ``ProtocolError`` if the answer is no proof, because it is not a complete list of what was requested.
        """
        params = (("filter", ids_among(ids)), ("sort", "id"), ("limit", str(len(ids))), ("count", "1"))
        answer = self._api.get(PATH, params)
        envelope = read_envelope(answer.body.content)
        found = frozenset(envelope.ids)
        if envelope.has_more or not found <= set(ids) or not len(found) == envelope.records == envelope.count:
            raise ProtocolError(
                f"The service was asked which of {count_of(len(ids), 'shipment')} it has and answered with "
                f"{count_of(envelope.records, 'record')}, {count_of(len(found), 'id')} and a count of "
                f"{envelope.count}: that proves of none that it is gone."
            )
        return found, answer.served_at

    def within(self, start: datetime, end: datetime) -> IdListing:
        """Return a listing of the ids of the same shipments."""
        return self._ids(updated_within(start, end))

    def within_ids(self, after_id: int, to_id: int, start: datetime) -> IdListing:
        """Return a listing of the ids in ``(after_id, to_id]`` of shipments changed since ``start``."""
        return self._ids(ids_between(after_id, to_id), updated_within(start, None))

    def counts_by_filter(self) -> bool:
        """Return whether counts follow the filter: for a day without shipments the count must be 0. One request."""
        envelope, _ = self._counted(updated_within(*LONG_AGO))
        return bool(envelope.records or envelope.has_more or not envelope.count)

    def _ids(self, *filters: str) -> IdListing:
        return IdListing(self._page, self._narrow_page, filters, per_request=min(IDS_PER_REQUEST, self._page_size.now))

    def _counted(self, *filters: str, selecting: Params = ()) -> tuple[Envelope, datetime]:
        asked = (*_asked(filters, None), ("sort", "id"), ("limit", "1"), ("count", "1"), *selecting)
        answer = self._api.get(PATH, asked)
        return read_envelope(answer.body.content), answer.served_at

    def _page(self, filters: Sequence[str], page_cursor: int | None, *, counted: bool = True) -> Page:
        common = (("count", "1"), *self._common) if counted else self._common
        return self._taken(self._answer(filters, page_cursor, common), watched=self._watched)

    def _narrow_page(self, filters: Sequence[str], page_cursor: int | None) -> Page:
        """Request a page without field selection: the service sends little and has nothing to refuse."""
        return self._taken(self._answer(filters, page_cursor, (("count", "1"), ("sort", "id"))), watched=False)

    def _taken(self, answer: Answer, *, watched: bool) -> Page:
        envelope = read_envelope(answer.body.content, watched=watched)
        self._look_at_host(envelope.host)
        return Page(answer.body, envelope, answer.served_at)

    def _answer(self, filters: Sequence[str], page_cursor: int | None, common: Params) -> Answer:
        """Request a page, as large as the service accepts."""
        asked = tuple(_asked(filters, page_cursor))
        while True:
            size = self._page_size.now
            try:
                answer = self._api.get(PATH, (*asked, ("limit", str(size)), *common))
            except Rejected as refusal:
                if not self._page_size.refused(size, refusal):
                    raise
            else:
                self._page_size.taken(size)
                return answer

    def _look_at_host(self, host: str | None) -> None:
        if host is not None and host != urlsplit(self._api.base_url).hostname:
            self._remark(  # without the host, which could repeat something secret that was sent
                f"The service says that its next pages are at another host than {self._api.base_url}. Nothing is sent "
                "there: they are requested from this address. The key next in the raw pages shows the host; if it is "
                "the instance's address, set WMS_BASE_URL to it."
            )


class Pager:
    """The position in a listing; refuses to go on if records could be lost or the listing would never end.

    ``next`` is the page cursor to request (None at the end), ``last_id`` the highest id so far. Both come from the
    state store when a half-read window is resumed. A page cursor is the id at which the next page starts (facts,
    paging); the last id of this page is accepted too, since an overlap would be detected.
    """

    def __init__(self, next_cursor: int | None = None, last_id: int | None = None) -> None:
        self.next = next_cursor
        self.last_id = last_id
        self._empty = 0

    def accept(self, page: Page) -> None:
        """Advance past a page. Raises ``PagingBroken`` if ids do not rise, or the page cursor is absent or stuck."""
        last_id = self.last_id
        for record_id in page.envelope.ids:
            if last_id is not None and record_id <= last_id:
                raise PagingBroken(
                    f"The service sent shipment {record_id} after {last_id} although sort=id was requested: pages "
                    "overlap or are out of order. The window is not complete."
                )
            last_id = record_id
        following = page.envelope.next if page.envelope.has_more else None
        if page.envelope.has_more and following is None:
            raise PagingBroken(
                "The service says has_more but gives no next page (no cursor_start in next, none in meta): the rest of "
                "the window is unknown."
            )
        if following is not None and following < max((last_id or 0), (self.next or 0) + 1):
            raise PagingBroken("The service's next page was read already: reading on would never end.")
        self._empty = 0 if page.envelope.records else self._empty + 1
        if following is not None and self._empty > MOST_EMPTY:
            raise PagingBroken(f"{self._empty} pages in a row are empty, and the service says that more follow.")
        self.next, self.last_id = following, last_id


Ask = Callable[[Sequence[str], int | None], Page]
"""Requests a page by filters and page cursor."""


class IdListing:
    """Lists the ids that a listing has now, and requests single records of it, up to ``per_request`` at a time."""

    def __init__(self, page: Ask, narrow_page: Ask, filters: Sequence[str], *, per_request: int) -> None:
        self.per_request = per_request
        self._page = page
        self._narrow_page = narrow_page
        self._filters = filters

    def envelopes(self) -> Iterator[Envelope]:
        """Yield the envelope of each page. Raises ``PagingBroken``."""
        pager = Pager()
        while True:
            page = self._narrow_page(self._filters, pager.next)
            pager.accept(page)
            yield page.envelope
            if pager.next is None:
                return

    def these(self, ids: Sequence[int]) -> Page:
        """Return a page with those of these records that the service has."""
        return self._page((*self._filters, ids_among(ids)), None)

    def which(self, ids: Sequence[int]) -> frozenset[int]:
        """Return the ids of those that the service has."""
        return frozenset(self._narrow_page((*self._filters, ids_among(ids)), None).envelope.ids) & frozenset(ids)


def _asked(filters: Sequence[str], page_cursor: int | None) -> Iterator[tuple[str, str]]:
    yield from (("filter", one) for one in filters)
    if page_cursor is not None:
        yield "cursor_start", str(page_cursor)
