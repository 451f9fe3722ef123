"""One query of list shipments (specification 4.4, 4.6): its pages, its ids, single records, and the rest of its list.

A search backend may silently cut every list and every count off at a number of matches (such as 5,000 or 10,000):
``has_more`` is then false, and the count agrees with the list. So the end of a list proves nothing by itself. After it,
the ``rest`` is requested: the records that match the same filters and have ids above the last id. Only an empty answer
ends a query.

Filters are ``field{op:value,op:value}``. Ranges use only ``gt`` and ``lt``, the operators that both interfaces of the
service confirm. Both bounds are exclusive, and the service's timestamps may have fractions of a second, so the low end
of a window is requested one tick (1 s) earlier; reading a record twice is harmless.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Protocol

from msgspec.structs import replace

from wms_sync.service.client import Answer
from wms_sync.service.envelope import Envelope
from wms_sync.service.errors import FilterIgnored, PagingBroken

TICK = timedelta(seconds=1)
UNDATED = "updated_at{null:true}"
"""The filter for records whose ``updated_at`` is null: no range of times matches them."""
Page = Answer[Envelope]
"""One response of list shipments."""
MOST_EMPTY = 1000
"""The maximum number of consecutive empty pages to follow; a list with more is taken to be endless."""


def updated_within(start: datetime | None, end: datetime | None) -> str:
    """Return the filter for records whose ``updated_at`` lies in ``[start, end)``; one side may be None, not both.

    >>> from datetime import datetime, UTC
    >>> updated_within(datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC))
    'updated_at{gt:"2025-12-31T23:59:59Z",lt:"2026-01-02T00:00:00Z"}'
    """
    bounds = []
    if start is not None:
        bounds.append(f'gt:"{timestamp(start - TICK)}"')
    if end is not None:
        bounds.append(f'lt:"{timestamp(end)}"')
    return "updated_at{" + ",".join(bounds) + "}"


def timestamp(moment: datetime) -> str:
    """Return the time as RFC 3339 in UTC and whole seconds, the service's form (specification 2.0)."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def ids_between(after: int, to: int | None) -> str:
    """Return the filter for records with an id above ``after`` and, unless ``to`` is None, at most ``to``.

    >>> ids_between(15, 50)
    'id{gt:15,lt:51}'
    """
    return f"id{{gt:{after}}}" if to is None else f"id{{gt:{after},lt:{to + 1}}}"


def ids_among(ids: Iterable[int]) -> str:
    """Return the filter for records with one of these ids.

    >>> ids_among([15, 50])
    'id{in:[15,50]}'
    """
    return f"id{{in:[{','.join(map(str, ids))}]}}"


class Pager:
    """The position in a listing; refuses to continue if records could be lost or the listing would never end.

    ``next`` is the page cursor to request (None at the end), ``last_id`` the highest id so far. Both come from the
    state store when a half-read window is resumed. A page cursor is the id at which the next page starts (specification
    10, paging). The last id so far is accepted too: if that record came again, ``accept`` would detect it.
    """

    def __init__(self, next_cursor: int | None = None, last_id: int | None = None) -> None:
        self.next = next_cursor
        self.last_id = last_id
        self._empty = 0

    def accept(self, page: Page) -> None:
        """Advance past a page. Raise ``PagingBroken`` if the listing is out of order, incomplete or endless."""
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
                "The service sent has_more but no next page (no cursor_start in next or meta): the rest of the window "
                "is unknown."
            )
        if following is not None and following < max((last_id or 0), (self.next or 0) + 1):
            raise PagingBroken("The service's next page has already been read: reading would never end.")
        self._empty = 0 if page.envelope.records else self._empty + 1
        if following is not None and self._empty > MOST_EMPTY:
            raise PagingBroken(f"{self._empty} consecutive pages are empty, but the service says that more follow.")
        self.next, self.last_id = following, last_id


class Ask(Protocol):
    """A function that requests one page of the records that match the filters, ordered by id."""

    def __call__(self, filters: Sequence[str], page_cursor: int | None, *, counted: bool = True) -> Page:
        """Return the page at a page cursor (None: the first page). Request ``meta.count`` if ``counted``."""


class Query:
    """The records that match ``filters`` and have ids in ``(after_id, to_id]``; None leaves a side open.

    ``page`` requests pages with the selected fields, ``bare_page`` without field selection. ``these`` and ``which``
    take at most ``per_request`` ids.
    """

    def __init__(
        self,
        page: Ask,
        bare_page: Ask,
        *filters: str,
        after_id: int | None = None,
        to_id: int | None = None,
        per_request: int,
    ) -> None:
        self.per_request = per_request
        self._page = page
        self._bare_page = bare_page
        self._by = filters
        self._after_id = after_id
        self._to_id = to_id
        self._followed_from = after_id
        self._shows_rest = True

    def first(self) -> Page:
        """Return the first page; its envelope has the ``count`` of the query if the service counts."""
        return self._page(self._filters(self._after_id), None)

    def at(self, page_cursor: int, *, counted: bool) -> Page:
        """Return a later page; counting costs the service time, so request it (``counted``) only if needed."""
        return self._page(self._filters(self._followed_from), page_cursor, counted=counted)

    def rest(self, last_id: int) -> Page | None:
        """Return the first page with ids above ``last_id``; None if there are none. ``at`` then returns later pages.

        Raise ``FilterIgnored`` or ``Rejected`` if the service ignores or refuses the filter on ids. After an error,
        always return None: the rest is not requested again.
        """
        if not self._shows_rest:
            return None
        self._shows_rest = False
        page = self._page(self._filters(last_id), None, counted=False)
        if page.envelope.ids and min(page.envelope.ids) <= last_id:
            raise FilterIgnored(f"The service was asked for ids above {last_id} but sent {min(page.envelope.ids)}.")
        self._shows_rest = True
        if not page.envelope.ids:  # records without a usable id were on earlier pages and go to quarantine
            return None
        self._followed_from = last_id
        return page

    def listed(self) -> Iterator[Page]:
        """Yield each page without field selection, then the rest unless ``rest`` failed. Raise ``PagingBroken``.

        Pages of the rest have no ``count``, because the service would count only the rest.
        """
        pager, filters, is_rest = Pager(), self._filters(self._after_id), False
        while True:
            page = self._bare_page(filters, pager.next)
            pager.accept(page)
            yield replace(page, envelope=replace(page.envelope, count=None)) if is_rest else page
            if pager.next is None:
                if pager.last_id is None or not page.envelope.ids or not self._shows_rest:
                    return
                filters, is_rest = self._filters(pager.last_id), True

    def these(self, ids: Sequence[int]) -> Page:
        """Return a page with the records that match the filters and have one of these ids."""
        return self._page((*self._by, ids_among(ids)), None)

    def which(self, ids: Sequence[int]) -> frozenset[int]:
        """Return which of these ids match the filters."""
        return frozenset(self._bare_page((*self._by, ids_among(ids)), None).envelope.ids) & frozenset(ids)

    def _filters(self, after_id: int | None) -> Sequence[str]:
        if after_id is None and self._to_id is None:
            return self._by
        return (ids_between(after_id or 0, self._to_id), *self._by)
