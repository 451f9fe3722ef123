"""Choose the field selection of a read: everything except the names that the service refuses.

Before its first page, each read tries the selection with one record. If the service refuses it, the smaller selection
that it accepts is remembered and used, and a warning reports the omitted data. Once a day everything is tried again, so
that a name returns soon after the service accepts it.

How a refusal (specification 7.1) names the offending parameter is not specified, so its words are shown, but not read.
The refused parameters are found by bisection, with requests for one record. If the service refuses only a value of a
parameter, the whole parameter is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from wms_sync.service.errors import StatusError, Unauthorized
from wms_sync.service.headers import EARLIEST
from wms_sync.service.reasons import in_words
from wms_sync.service.selection import Selection, data_of
from wms_sync.service.shipments import Counted, ShipmentListing
from wms_sync.settings import Settings
from wms_sync.shipments.read.listing import is_recent
from wms_sync.shipments.read.warnings import Warnings
from wms_sync.state.store import Refusal, StateStore

ABOUT_WHAT_WAS_SENT = frozenset({400, 403, 404, 422})
"""Statuses of refusals that field selection may cause, including a missing permission."""
TRIED_EVERY = timedelta(hours=20)
"""The minimum interval between trials of everything, so that it is tried once a night, however often a sync runs."""

Ask = Callable[[Selection], Counted]
"""A function that sends one request with a selection, and raises ``StatusError`` if the service refuses it."""


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
    return Selection.whole(include_addresses=settings.include_addresses)


def _accepted(settings: Settings, refusals: Iterable[Refusal]) -> Selection:
    """Return the selection of everything that the service does not refuse."""
    return replace(wanted(settings), omitted={refusal.parameter: refusal.said for refusal in refusals})


def _whose(settings: Settings) -> tuple[str, str]:
    return settings.require_base_url(), settings.api_version or ""
