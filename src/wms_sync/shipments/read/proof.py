"""Prove that a window is complete: by counts if they match the landed records, else by ids.

A record that changes during the read leaves the window (its ``updated_at`` grows) and belongs to a later window. So it
can be right that there are fewer records than the first count, but the difference could also be records that the pages
lost. Therefore the window's ids are listed again, without field selection, and ids that were not landed are requested.

``Source`` provides the pages of a window, the ids that must have landed, and single records.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from wms_sync.grammar import count_of
from wms_sync.layout import Layout, suffix_of
from wms_sync.service.body import unpacked
from wms_sync.service.envelope import Envelope, read_envelope
from wms_sync.service.errors import Rejected
from wms_sync.service.query import Page
from wms_sync.service.shipments import IDS_PER_REQUEST
from wms_sync.shipments.read.counts import Counts
from wms_sync.shipments.read.raw import WindowIncomplete, damage, key_of
from wms_sync.state.store import LandedPage, Window

ADVICE = (
    "The window is not complete. If this repeats, the service loses records in paging: report it to the operator of "
    "the service."
)


class Source(Protocol):
    """A ``Query`` of list shipments, or a part of one."""

    @property
    def per_request(self) -> int:
        """Return the maximum number of ids that ``these`` accepts."""

    def first(self) -> Page:
        """Return the first page."""

    def at(self, page_cursor: int, *, counted: bool) -> Page:
        """Return a later page, with the service's count of the whole window if ``counted``."""

    def rest(self, last_id: int) -> Page | None:
        """Return the first page of the service's records above the last landed id; None if there are none."""

    def listed(self) -> Iterator[Page]:
        """Yield pages with the ids that must have been landed."""

    def these(self, ids: Sequence[int]) -> Page:
        """Return a page with the records that the service has under these ids."""

    def which(self, ids: Sequence[int]) -> frozenset[int]:
        """Return which of these ids the service has."""


def agrees(window: Window, counted_last: int | None) -> bool:
    """Return whether the landed records match the count of the first page and, if there is one, of the last page."""
    return window.records == window.count_reported and counted_last in {None, window.records}


def not_landed(window: Window, layout: Layout, pages: Iterable[LandedPage], there: Source, counts: Counts) -> list[int]:
    """Return the ids that the service lists but that are on no landed page.

    Raise ``WindowIncomplete`` if the listing contradicts the service's counts, or a landed page is damaged.
    """
    # ids in arrays, to save memory
    listed = [(array("q", page.ids), page.records, page.count) for page in (page.envelope for page in there.listed())]
    held, counted = sum(records for _, records, _ in listed), [count for _, _, count in listed if count is not None]
    if counted and held < min(counted[0], counted[-1]) and counts.are_reliable():
        raise WindowIncomplete(
            f"Window {window.id}: the service counts {count_of(counted[-1], 'record')} ({counted[0]:,} at first), but "
            f"its pages had {window.records:,}, and the second listing of ids had {held:,}. {ADVICE}"
        )
    landed = array("q", sorted(landed_ids(window, layout, pages)))
    return sorted({record_id for ids, _, _ in listed for record_id in ids if not _is_among(landed, record_id)})


def fetched(window: Window, unlanded: list[int], there: Source) -> Iterator[Page]:
    """Yield pages with the records that were not landed, except those that have left the window.

    Raise ``WindowIncomplete`` if they are too many, or if the service does not send exactly these.
    """
    shown = ", ".join(map(str, unlanded[:5])) + (" ..." if len(unlanded) > 5 else "")
    had = count_of(window.records, "record")
    left_off = f"Window {window.id}: its pages had {had} and lacked {len(unlanded):,} ({shown})"
    if len(unlanded) > IDS_PER_REQUEST:
        raise WindowIncomplete(f"{left_off}, too many to request by id. {ADVICE}")
    for at in range(0, len(unlanded), there.per_request):
        asked = unlanded[at : at + there.per_request]
        try:
            page = there.these(asked)
            lost = _lost(asked, page.envelope, there)
        except Rejected as refusal:
            raise WindowIncomplete(f"{left_off}; requesting them by id failed: {refusal} {ADVICE}") from None
        if lost:
            raise WindowIncomplete(f"{left_off}; requests by id do not return exactly these. {ADVICE}")
        if page.envelope.records:
            yield page


def _lost(asked: list[int], envelope: Envelope, there: Source) -> bool:
    """Return whether an answer lacks records that the service has, or has records that were not requested."""
    absent = set(asked) - set(envelope.ids)
    if envelope.has_more or not set(envelope.ids) <= set(asked):
        return True
    return bool(absent and there.which(sorted(absent)))


def landed_ids(window: Window, layout: Layout, pages: Iterable[LandedPage]) -> Iterator[int]:
    """Yield the ids on landed pages of a window. Raise ``WindowIncomplete`` if a page is damaged."""
    for page in pages:
        if (reason := damage(layout, page)) is not None:
            raise WindowIncomplete(f"Window {window.id}: page {page.file} is damaged ({reason}). It is read again.")
        yield from read_envelope(unpacked(layout.files.get(key_of(page)), suffix_of(page.file))).ids


def _is_among(ordered: array[int], record_id: int) -> bool:
    at = bisect_left(ordered, record_id)
    return at < len(ordered) and ordered[at] == record_id
