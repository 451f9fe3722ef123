"""The proof that a window is complete: by counts while nothing moves, else by ids.

A record that changes during the read leaves the window (its ``updated_at`` moves on) and belongs to the next one, so
fewer than were counted at first can be right; but each that moves on would hide one that was left off a page. So the
window's ids are listed once more, without anything else, and each that is there must have been landed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from wms_sync.api.body import unpacked
from wms_sync.api.envelope import Envelope, read_envelope
from wms_sync.api.errors import Rejected
from wms_sync.api.shipments import IDS_PER_REQUEST, IdListing, Page
from wms_sync.extract.counting import Counts
from wms_sync.extract.errors import WindowIncomplete
from wms_sync.extract.raw import damage
from wms_sync.state.store import LandedPage, Window

Ids = np.ndarray[tuple[int], np.dtype[np.int64]]
ADVICE = (
    "The window is not taken as complete. If this repeats, the service loses records while paging: report it there."
)


def agrees(window: Window, counted_last: int | None) -> bool:
    """Whether as many were landed as were counted, at the beginning and (where it was counted) with the last page."""
    return window.records == window.count_reported and counted_last in {None, window.records}


def not_landed(
    window: Window, folder: Path, pages: Iterable[LandedPage], there: IdListing, counts: Counts
) -> list[int]:
    """The ids that the service lists and that are on no landed page. Raises ``WindowIncomplete`` without an answer."""
    listed = list(_numbered(there.envelopes()))
    held, counted = sum(records for _, records, _ in listed), [count for _, _, count in listed if count is not None]
    if counted and held < min(counted[0], counted[-1]) and counts.are_reliable():
        raise WindowIncomplete(
            f"Window {window.id}: the service counts {counted[-1]} records ({counted[0]} at first), its pages held "
            f"{window.records}, and its ids, listed once more, are {held}. {ADVICE}"
        )
    landed = _all(_landed(window, folder, pages))
    return [int(one) for one in np.setdiff1d(_all(ids for ids, _, _ in listed), landed)]


def fetched(window: Window, lacking: list[int], there: IdListing) -> Iterator[Page]:
    """Pages of the records that lack, but for what has moved on since. Raises ``WindowIncomplete`` if some stay."""
    shown = ", ".join(map(str, lacking[:5])) + (" ..." if len(lacking) > 5 else "")
    left_off = f"Window {window.id}: its pages held {window.records} records and left off {len(lacking)} ({shown})"
    if len(lacking) > IDS_PER_REQUEST:
        raise WindowIncomplete(f"{left_off}, too many to be asked for by their ids. {ADVICE}")
    for at in range(0, len(lacking), there.per_request):
        asked = lacking[at : at + there.per_request]
        try:
            page = there.these(asked)
            lost = _lost(asked, page.envelope, there)
        except Rejected as refusal:
            raise WindowIncomplete(f"{left_off}; they cannot be asked for by their ids: {refusal} {ADVICE}") from None
        if lost:
            raise WindowIncomplete(f"{left_off}; asked for by their ids they do not come either. {ADVICE}")
        if page.envelope.records:
            yield page


def _lost(asked: list[int], envelope: Envelope, there: IdListing) -> bool:
    """Whether an answer leaves some of these off that are there, or is none to what was asked."""
    absent = set(asked) - set(envelope.ids)
    if envelope.has_more or not set(envelope.ids) <= set(asked):
        return True
    return bool(absent and there.which(sorted(absent)))


def _numbered(envelopes: Iterable[Envelope]) -> Iterator[tuple[Ids, int, int | None]]:
    """Of each page its ids, records and count: of a window of any size little is held."""
    for envelope in envelopes:
        yield np.array(envelope.ids, dtype=np.int64), envelope.records, envelope.count


def _landed(window: Window, folder: Path, pages: Iterable[LandedPage]) -> Iterator[Ids]:
    for page in pages:
        if (reason := damage(folder, page)) is not None:
            raise WindowIncomplete(f"Window {window.id}: of its page {page.file} {reason}. It is read again.")
        path = folder / page.file
        envelope = read_envelope(unpacked(path.read_bytes(), path.name.partition(".")[2]))
        yield np.array(envelope.ids, dtype=np.int64)


def _all(ids: Iterable[Ids]) -> Ids:
    return np.concatenate([np.array([], dtype=np.int64), *ids])
