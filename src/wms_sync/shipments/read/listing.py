"""The listing of a run: its page size, its field selection, and the trial of the service's filter.

The page size is the setting, or the largest that the service accepts. The service's filter on ``updated_at`` is tried
before the first read, and again once a week.

The field selection is everything except the names that the service refuses. Before its first page, each read tries the
selection with one record. If the service refuses it, the smaller selection that it accepts is remembered and used, and
a warning reports the omitted data. Once a day everything is tried again, so that a name returns soon after the service
accepts it.

How a refusal (specification 7.1) names the offending parameter is not specified, so its words are shown, but not read.
The refused parameters are found by bisection, with requests for one record. If the service refuses only a value of a
parameter, the whole parameter is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from wms_sync.grammar import moment
from wms_sync.service.client import GlobalApi
from wms_sync.service.envelope import change_time
from wms_sync.service.errors import FilterMisses, StatusError, Unauthorized
from wms_sync.service.headers import EARLIEST
from wms_sync.service.reasons import in_words
from wms_sync.service.selection import Selection, data_of
from wms_sync.service.shipments import Counted, Learned, ShipmentListing
from wms_sync.settings import Settings
from wms_sync.shipments.read.progress import Warnings
from wms_sync.state.store import Refusal, StateStore

FOUND = "shipment_found_by_filter"
TRIED_AGAIN = timedelta(days=7)
MOST_TRIED = 3
"""The maximum number of shipments to try: a shipment may change or be deleted during the trial."""
ABOUT_WHAT_WAS_SENT = frozenset({400, 403, 404, 422})
"""Statuses of refusals that field selection may cause, including a missing permission."""
TRIED_EVERY = timedelta(hours=20)
"""The minimum interval between trials of everything, so that it is tried once a night, however often a sync runs."""

Ask = Callable[[Selection], Counted]
"""A function that sends one request with a selection, and raises ``StatusError`` if the service refuses it."""


def is_recent(span: timedelta, moment: datetime) -> bool:
    """Return whether ``moment`` is less than ``span`` ago.

    A moment in the future is not recent: it comes from a clock that was ahead, and work that depends on it would wait
    until that moment.
    """
    return timedelta(0) <= datetime.now(UTC) - moment < span


def try_filter(listing: ShipmentListing, store: StateStore, service: str) -> None:
    """Try the filter on ``updated_at`` if that is due. Raise ``FilterMisses`` if it is not exact.

    ``service`` is the instance's address: if it has changed, the filter is tried again.
    """
    seen = store.observation(FOUND)
    if seen is None or seen.about != service or not is_recent(TRIED_AGAIN, seen.observed_at):
        shipment = found_by_filter(listing)
        if shipment is not None:
            store.observe(FOUND, shipment, service)


def listing_of(settings: Settings, api: GlobalApi, page_size: int | None = None) -> ShipmentListing:
    """Return a listing of the service's shipments, in pages of ``page_size``, or else of the setting."""
    return ShipmentListing(
        api, Learned(page_size or settings.page_size, Selection(include_addresses=settings.include_addresses))
    )


def warn_of_page_size(learned: Learned, wanted: int, warnings: Warnings) -> None:
    """Warn if the service accepts only pages smaller than the setting asks for."""
    if learned.page_size < wanted:
        warnings.warn(
            "page-size",
            f"The service refuses pages of {wanted} shipments (WMS_PAGE_SIZE) but accepts {learned.page_size}, so "
            f"pages of {learned.page_size} are read. Set WMS_PAGE_SIZE={learned.page_size}.",
        )


def found_by_filter(listing: ShipmentListing) -> int | None:
    """Return a shipment that a filter on the second of its ``updated_at`` finds; None if there is none to try.

    The specification leaves open how exactly the service filters by ``updated_at``. With a filter that compares minutes
    or dates, or reads times in a zone other than UTC, windows that follow each other to the second would lose changes
    near their ends, and a sync within one day would find nothing.

    Takes two requests if the filter is exact, up to four if nothing is found. Raise ``FilterMisses`` if none is found.
    """
    times = ((shipment, change_time(updated_at)) for shipment, updated_at in listing.first_change_times().items())
    dated = [(shipment, changed_at.replace(microsecond=0)) for shipment, changed_at in times if changed_at is not None]
    # a filter that compares minutes finds what changed in the first or last second of one, so that comes last
    tried = sorted(dated, key=lambda shipment: shipment[1].second in {0, 59})[:MOST_TRIED]
    for shipment, changed_at in tried:
        if shipment in listing.first_ids(changed_at, changed_at + timedelta(seconds=1)):
            return shipment
    if not tried:
        return None
    shipment, changed_at = tried[0]
    raise FilterMisses(
        f"Shipment {shipment} was last changed at {moment(changed_at)}, and a filter on updated_at for "
        "that second does not find it: the service compares minutes or dates, reads times in a zone other than UTC, or "
        "filters by something else. Reading by such a filter would lose changes, so nothing is read. Ask the operator "
        "of the service for a filter that compares seconds in UTC."
    )


def agree(ask: Ask, wanted: Selection) -> tuple[Selection, Counted]:
    """Leave out what the service refuses. Return the selection that it accepts, and its answer.

    Raise a refusal that no parameter caused.
    """
    agreed = wanted
    while True:
        try:
            return agreed, ask(agreed)
        except StatusError as refusal:
            if refusal.status not in ABOUT_WHAT_WAS_SENT or _refusal(ask, agreed.until(0)):
                raise
            agreed = _without_first_refused(ask, agreed, refusal)


def _without_first_refused(ask: Ask, selection: Selection, refusal: StatusError) -> Selection:
    """Return the selection without the first refused parameter, found by bisection."""
    accepted, refused, why = 0, len(selection.asked), refusal
    while refused - accepted > 1:
        middle = (accepted + refused) // 2
        if (found := _refusal(ask, selection.until(middle))) is None:
            accepted = middle
        else:
            refused, why = middle, found
    return selection.without(selection.asked[refused - 1], _said(why))


def _refusal(ask: Ask, selection: Selection) -> StatusError | None:
    """Return the refusal of a selection; None if the service accepts it."""
    try:
        ask(selection)
    except StatusError as refusal:
        if refusal.status not in ABOUT_WHAT_WAS_SENT:
            raise
        return refusal
    return None


def _said(refusal: StatusError) -> str:
    """Return the reason; for 403 without the advice about the token, which lacks permission for only one name."""
    if isinstance(refusal, Unauthorized):
        return f"{refusal.status}: {in_words(refusal.problems) or 'no reason given.'}"
    return str(refusal)


def settle(
    settings: Settings,
    store: StateStore,
    warnings: Warnings,
    listing: ShipmentListing,
    start: datetime | None,
    end: datetime | None,
) -> Counted:
    """Find a selection that the service accepts, and let the listing use it. Return the result of the test request.

    That is the service's count of the shipments changed in ``[start, end)``. The state store remembers what is refused.
    """
    whose = _whose(settings)
    known = store.refusals(*whose)
    tried_at = min((refusal.tried_at for refusal in known), default=EARLIEST)
    again = not is_recent(TRIED_EVERY, tried_at)
    before = _accepted(settings, known)
    listing.learned.selection, counted = agree(
        lambda selection: listing.count(start, end, selecting=selection), wanted(settings) if again else before
    )
    now = listing.learned.selection.omitted
    if now != before.omitted or (again and known):
        tried_at = datetime.now(UTC) if again else tried_at
        store.replace_refusals(*whose, (Refusal(*whose, name, said, tried_at) for name, said in now.items()))
    for name in sorted(before.omitted.keys() - now.keys()):
        warnings.remark(f"The service accepts {name} again: windows read without it are read again.")
    for name, said in now.items():
        warnings.warn(
            f"refused-{name}",
            f"The service refuses {name} ({said}). It is left out, so {data_of(name)} will not be updated; stored "
            "values stay as they are. It is tried again once a day.",
        )
    return counted


def remembered(settings: Settings, store: StateStore) -> Selection:
    """Return the selection that the service last accepted, without a request."""
    return _accepted(settings, store.refusals(*_whose(settings)))


def wanted(settings: Settings) -> Selection:
    """Return the selection of everything, with addresses only if the settings include them."""
    return Selection(include_addresses=settings.include_addresses)


def _accepted(settings: Settings, refusals: Iterable[Refusal]) -> Selection:
    """Return the selection of everything that the service does not refuse."""
    return replace(wanted(settings), omitted={refusal.parameter: refusal.said for refusal in refusals})


def _whose(settings: Settings) -> tuple[str, str]:
    return settings.require_base_url(), settings.api_version or ""
