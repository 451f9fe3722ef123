"""List shipments (specification 4.4, 4.6): the pages of one window, with the guards that make paging safe.

A page as served::

    {"collection": [{"type": "Shipment", "id": 7, ...}], "included": {"Order": [...]},
     "has_more": true, "next": "/api/global/v1/shipping/shipments?...&cursor_start=8", "previous": null,
     "meta": {"processing_time": 0.1, "cursor_start": 8, "cursor_end": 7, "count": 1234}}

Page cursors work only with ``sort=id``, so ``updated_at`` filters but never orders. Only the page cursor of ``next`` is
used (``page_cursor``); each page is requested with the listing's own parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus

from msgspec import Struct

from wms_sync.grammar import count_of
from wms_sync.service.body import packed
from wms_sync.service.client import ROOT, GlobalApi
from wms_sync.service.connection import Params
from wms_sync.service.envelope import Envelope, change_times, read_envelope
from wms_sync.service.errors import NotAList, ProtocolError, Rejected
from wms_sync.service.query import UNDATED, Page, Query, ids_among, ids_between, updated_within
from wms_sync.service.selection import Selection

PATH = f"{ROOT}/v1/shipping/shipments"
LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC), datetime(2000, 1, 2, tzinfo=UTC)
"""A day on which no shipment of any instance was last changed."""
IDS_PER_REQUEST = 200
"""With ids of ten digits, the encoded URL is about 3 KB long; no limit is published, and 4 KB is a common limit."""
EMPTY = b'{"collection":[],"included":{},"has_more":false,"next":null,"meta":{"count":0}}'
"""An empty list. It replaces an answer with 404 or 204 that means an empty list."""
_OF_PARAMETERS = frozenset({400, 413, 422})


class Counted(Struct, frozen=True):
    """The service's ``count`` of the shipments that match, None if it does not count, and the highest of their ids.

    ``highest_id`` is 0 if there are none; ``served_at`` is the time of the answer.
    """

    count: int | None
    highest_id: int
    served_at: datetime


class Learned:
    """What one run has learnt of the service's habits, in one place for all its threads.

    ``page_size`` is the largest that the service accepts, ``selection`` is what is requested, without the names that it
    refuses, and ``status_of_empty_list`` is its status for a day without shipments, None until that was requested.

    A service may refuse a ``limit`` that the specification allows (4.4: 1 to 1000). Each refusal halves it; the first
    accepted size is kept for the rest of the run. Without a page cursor, a refusal is attributed to the limit until a
    page of that size has been served, because the preceding request for one record was accepted.
    """

    def __init__(self, page_size: int, selection: Selection) -> None:
        self.page_size = page_size
        self.selection = selection
        self.status_of_empty_list: int | None = None
        self._largest_taken = 0

    def taken(self, size: int) -> None:
        """Record that the service served a page of this size."""
        self._largest_taken = max(size, self._largest_taken)

    def refused(self, size: int, refusal: Rejected) -> bool:
        """Halve the size if a refusal may be about it. Return whether to retry with a smaller size."""
        if refusal.status not in _OF_PARAMETERS or size <= self._largest_taken:
            return False
        self.page_size = min(self.page_size, max(1, size // 2))  # another thread may have lowered it already
        return self.page_size < size


class ShipmentListing:
    """Requests pages of shipments, by ``updated_at`` in ``[start, end)`` or by id, as ``learned`` says."""

    def __init__(self, api: GlobalApi, learned: Learned) -> None:
        self.learned = learned
        self._api = api

    def cut_by_interrupts(self) -> AbstractContextManager[None]:
        """End the requests of other threads at once if an interrupt ends the block."""
        return self._api.cut_by_interrupts()

    @property
    def signature(self) -> str:
        """Return everything that is requested besides the window, as text."""
        asked = [f"{name}={value}" for name, value in (("sort", "id"), *self.learned.selection.params)]
        return "&".join([f"limit={self.learned.page_size}", *asked])

    def requests_the_same(self, signature: str) -> bool:
        """Return whether a half-read window with this signature can be resumed; the page size may differ."""
        return signature.partition("&")[2] == self.signature.partition("&")[2]

    def count(self, start: datetime | None, end: datetime | None, *, selecting: Selection | None = None) -> Counted:
        """Count the shipments changed in ``[start, end)``. Sends one request.

        With ``selecting``, one record is requested with this selection, to test whether the service accepts it.
        """
        asked = selecting.params if selecting is not None else ()
        envelope, served_at = self._counted(updated_within(start, end), sort="-id", selecting=asked)
        return Counted(envelope.count, max(envelope.ids, default=0), served_at)

    def changed_within(self, start: datetime, end: datetime) -> Query:
        """Return the query for shipments whose ``updated_at`` lies in ``[start, end)``."""
        return self._query(updated_within(start, end))

    def undated(self) -> Query:
        """Return the query for shipments whose ``updated_at`` is null."""
        return self._query(UNDATED)

    def between(self, after_id: int, to_id: int | None = None, *, since: datetime | None = None) -> Query:
        """Return the query for shipments with ids in ``(after_id, to_id]``, changed since ``since`` if it is given."""
        dated = () if since is None else (updated_within(since, None),)
        return self._query(*dated, after_id=after_id, to_id=to_id)

    def lowest_id(self, start: datetime) -> int | None:
        """Return the lowest id of the shipments changed since ``start``; None if there are none. Sends one request."""
        envelope, _ = self._counted(updated_within(start, None))
        return min(envelope.ids, default=None)

    def first_change_times(self) -> Mapping[int, object]:
        """Return the ``updated_at`` of the shipments with the lowest ids, as received. Sends one request."""
        return change_times(self._get((("sort", "id"),)).body.content)

    def first_ids(self, start: datetime, end: datetime) -> tuple[int, ...]:
        """Return the lowest ids of shipments that the filter finds in ``[start, end)``. Sends one request.

        The ids are those of one page. It has the service's default size, like the page that ``first_change_times``
        reads, so it includes every shipment of that page that the filter finds.
        """
        return self._get((("filter", updated_within(start, end)), ("sort", "id"))).envelope.ids

    def count_ids(
        self, after_id: int, to_id: int | None, start: datetime | None = None, end: datetime | None = None
    ) -> int | None:
        """Return the number of shipments with ids in ``(after_id, to_id]``, changed in ``[start, end)`` if given.

        None if the service does not count. Sends one request.
        """
        dated = () if start is None and end is None else (updated_within(start, end),)
        envelope, _ = self._counted(ids_between(after_id, to_id), *dated)
        return envelope.count

    def count_undated(self) -> int | None:
        """Return the number of shipments whose ``updated_at`` is null; 1 for one or more if the service does not count.

        Return None if the service refuses the filter, or sends a shipment that has a date. Sends one request.
        """
        params = (("filter", UNDATED), ("sort", "id"), ("limit", "1"), ("count", "1"))
        try:
            answer = self._get(params)
        except Rejected:
            return None
        envelope = answer.envelope
        if any(updated_at is not None for updated_at in change_times(answer.body.content).values()):
            return None
        # an empty list is none, whatever its count is: counts may ignore the filter
        return (envelope.count or 1) if envelope.records or envelope.has_more else 0

    def which_of(self, ids: Sequence[int]) -> tuple[frozenset[int], datetime]:
        """Return which of these ids (at most ``IDS_PER_REQUEST``) the service has, and the time of the answer.

        Raise ``ProtocolError`` if the answer is incomplete, contradicts itself or has other ids: it proves nothing.
        """
        params = (("filter", ids_among(ids)), ("sort", "id"), ("limit", str(len(ids))), ("count", "1"))
        answer = self._get(params)
        envelope = answer.envelope
        found = frozenset(envelope.ids)
        if envelope.has_more or not found <= set(ids) or not len(found) == envelope.records == envelope.count:
            raise ProtocolError(
                f"A request for {count_of(len(ids), 'shipment')} by id was answered with "
                f"{count_of(envelope.records, 'record')}, {count_of(len(found), 'id')} and a count of "
                f"{envelope.count}: this does not prove that any shipment is gone."
            )
        return found, answer.served_at

    def counts_by_filter(self) -> bool:
        """Return False if counts, or lists too, ignore the filter: a day without shipments has some.

        Sends one request.
        """
        envelope, _ = self._counted(updated_within(*LONG_AGO))
        return not (envelope.records or envelope.has_more or envelope.count)

    def _query(self, *filters: str, after_id: int | None = None, to_id: int | None = None) -> Query:
        per_request = min(IDS_PER_REQUEST, self.learned.page_size)
        bare = partial(self._page, is_bare=True)
        return Query(self._page, bare, *filters, after_id=after_id, to_id=to_id, per_request=per_request)

    def _counted(self, *filters: str, sort: str = "id", selecting: Params = ()) -> tuple[Envelope, datetime]:
        asked = (*_asked(filters, None), ("sort", sort), ("limit", "1"), ("count", "1"), *selecting)
        answer = self._get(asked)
        return answer.envelope, answer.served_at

    def _page(
        self, filters: Sequence[str], page_cursor: int | None, *, counted: bool = True, is_bare: bool = False
    ) -> Page:
        """Request a page, as large as the service accepts.

        A bare one is small, and without field selection it has no parameter to be refused.
        """
        selection = self.learned.selection
        common = [("count", "1")] if counted else []
        common += [("sort", "id"), *(() if is_bare else selection.params)]
        watched = not (is_bare or selection.include_addresses)
        asked = tuple(_asked(filters, page_cursor))
        while True:
            size = self.learned.page_size
            try:
                page = self._get((*asked, ("limit", str(size)), *common), partial(read_envelope, watched=watched))
            except Rejected as refusal:
                # a page cursor of an earlier run may be what is refused: the window is read anew
                if page_cursor is not None or not self.learned.refused(size, refusal):
                    raise
            else:
                self.learned.taken(size)
                return page

    def _get(self, params: Params, read: Callable[[bytes], Envelope] = read_envelope) -> Page:
        """Request a list. A 404 or 204 means an empty list if a day without shipments gets the same status.

        A path that is briefly gone answers 404 too, so a request without filters must return a list right afterwards.
        """
        try:
            return self._api.get(PATH, params, read=read)
        except (NotAList, Rejected) as refusal:
            status = _status_of_empty(refusal)
            if status is None or status != self.status_of_empty_list():
                raise
        anything = self._api.get(PATH, (("sort", "id"), ("limit", "1")), read=read_envelope)
        return Page(packed(EMPTY), read(EMPTY), anything.served_at)

    def status_of_empty_list(self) -> int:
        """Return the service's status for a day without shipments: 200, 404 or 204. At most one request.

        The status is learnt. Other errors of the request are raised.
        """
        learned = self.learned
        if learned.status_of_empty_list is None:
            params = (("filter", updated_within(*LONG_AGO)), ("sort", "id"), ("limit", "1"))
            try:
                self._api.get(PATH, params, read=read_envelope)
                learned.status_of_empty_list = HTTPStatus.OK
            except (NotAList, Rejected) as refusal:
                learned.status_of_empty_list = _status_of_empty(refusal)
                if learned.status_of_empty_list is None:
                    raise
        return learned.status_of_empty_list


def _status_of_empty(refusal: NotAList | Rejected) -> int | None:
    """Return the status of an answer that can mean an empty list, else None. ``NotAList`` is raised only for 204."""
    if isinstance(refusal, NotAList):
        return HTTPStatus.NO_CONTENT
    return HTTPStatus.NOT_FOUND if refusal.status == HTTPStatus.NOT_FOUND else None


def _asked(filters: Sequence[str], page_cursor: int | None) -> Iterator[tuple[str, str]]:
    yield from (("filter", text) for text in filters)
    if page_cursor is not None:
        yield "cursor_start", str(page_cursor)
