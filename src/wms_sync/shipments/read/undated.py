"""Find the shipments that match no range of times: their ``updated_at`` is null, for example before their first change.

The filter ``updated_at{null:true}`` finds them. If the service refuses or ignores it, their number is the count of all
shipments minus the count over all dates. To find them, all shipments and dated shipments are counted by ranges of ids.

Every sync reads them all, in a separate window that covers no time: without a date, new shipments cannot be
distinguished from old ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from msgspec.structs import replace

from wms_sync.grammar import count_of
from wms_sync.service.query import Page, Query
from wms_sync.service.shipments import ShipmentListing
from wms_sync.shipments.read.progress import Warnings
from wms_sync.shipments.read.proof import Source

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
"""A time before every date that a shipment can have."""
FIRST_RANGE, GROWTH = 1024, 8
"""The search for an id that no shipment exceeds starts at the first number and multiplies it by the second."""


class Undated:
    """The shipments without ``updated_at`` of one read. ``page_size`` is the number of ids to list at a time."""

    def __init__(self, listing: ShipmentListing, warnings: Warnings, *, page_size: int) -> None:
        self._listing = listing
        self._warnings = warnings
        self._page_size = page_size
        self._ids: tuple[int, ...] | None = None

    @property
    def is_by_id(self) -> bool:
        """Return whether the shipments were found by counting ranges of ids, because the filter did not find them."""
        return self._ids is not None

    def count(self, *, in_doubt: bool) -> int:
        """Return the number of shipments without ``updated_at``. If ``in_doubt``, do not trust the filter's zero."""
        found = self._listing.count_undated()
        if found is not None and (found or not in_doubt):
            return found
        everything, (dated, _) = self._listing.count_ids(0, None), self._listing.count(EPOCH, None)
        if everything is None or dated is None:
            if found is None:
                self._warnings.warn(
                    "It is unknown whether shipments without updated_at exist: the service refuses or ignores the "
                    "filter updated_at{null:true} and gives no counts (meta.count). Such shipments are not read."
                )
            return 0
        if everything <= dated:
            return 0
        self._warnings.warn(
            f"{count_of(everything - dated, 'shipment matches', 'shipments match')} no filter on updated_at, not even "
            "updated_at{null:true}. Such shipments are read by id, which takes more requests. If they have no "
            "updated_at, ask the operator of the service to support that filter."
        )
        self._ids = tuple(self._search())
        return len(self._ids)

    def source(self) -> Source:
        """Return the source of the window for shipments without ``updated_at``."""
        return self._listing.undated() if self._ids is None else _ByIds(self._listing.between(0), self._ids)

    def _search(self) -> Iterator[int]:
        """Yield the ids, in order: a range that has undated shipments is halved until one page can list it."""
        ranges = [(0, self._highest())]
        while ranges:
            after, to = ranges.pop()
            there = self._listing.count_ids(after, to) or 0
            if there <= (self._listing.count_ids(after, to, EPOCH) or 0):
                continue
            if there > self._page_size and to - after > 1:
                middle = (after + to) // 2
                ranges += [(middle, to), (after, middle)]
                continue
            dated = {
                shipment
                for page in self._listing.between(after, to, since=EPOCH).listed()
                for shipment in page.envelope.ids
            }
            for page in self._listing.between(after, to).listed():
                yield from (shipment for shipment in page.envelope.ids if shipment not in dated)

    def _highest(self) -> int:
        """Return an id that no shipment exceeds."""
        highest = FIRST_RANGE
        while self._listing.count_ids(highest, None):
            highest *= GROWTH
        return highest


class _ByIds:
    """A source of the shipments with the given ``ids``, at most ``per_request`` on a page."""

    def __init__(self, query: Query, ids: Sequence[int]) -> None:
        self.per_request = query.per_request
        self._query = query
        self._ids = ids

    def first(self) -> Page:
        """Return the first page; its count is the number of ids."""
        page = self._from(0)
        return replace(page, envelope=replace(page.envelope, count=len(self._ids)))

    def at(self, page_cursor: int, *, counted: bool) -> Page:
        """Return the page that starts at an id, the page cursor."""
        return self._from(sum(record_id < page_cursor for record_id in self._ids))

    def rest(self, last_id: int) -> Page | None:
        """Return None: the list of ids is complete."""
        return None

    def listed(self) -> Iterator[Page]:
        """Yield pages with the shipments that the service still has."""
        for start in range(0, len(self._ids), self.per_request):
            yield self._query.these(self._ids[start : start + self.per_request])

    def these(self, ids: Sequence[int]) -> Page:
        """Return a page with the records that the service has under these ids."""
        return self._query.these(ids)

    def which(self, ids: Sequence[int]) -> frozenset[int]:
        """Return which of these ids the service has."""
        return self._query.which(ids)

    def _from(self, start: int) -> Page:
        end = start + self.per_request
        page = self._query.these(self._ids[start:end])
        has_more = end < len(self._ids)
        following = self._ids[end] if has_more else None
        return replace(page, envelope=replace(page.envelope, has_more=has_more, next=following, count=None))
