"""Choose the field selection of a read: everything except the names that the service refuses.

Before its first page, each read tries the selection with one record. If the service refuses it, the smaller selection
that it accepts is remembered and used, and a warning reports the omitted data. Once a day everything is tried again, so
that a name returns soon after the service accepts it.

How a refusal (specification 7.1) names the offending parameter is not specified, so its words are not read. The refused
parameters, and the refused values of a parameter, are found by bisection, with requests for one record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Generic, TypeVar
from urllib.parse import urlencode

from msgspec import Struct, field
from msgspec.structs import asdict, replace
from sqlalchemy import ColumnElement, and_, select, update

from wms_sync.service.errors import StatusError, Unauthorized
from wms_sync.service.reasons import in_words
from wms_sync.service.selection import ALL, Selection, data_of, parameter
from wms_sync.service.shipments import ShipmentListing
from wms_sync.settings import Settings
from wms_sync.shipments.read.listing import is_recent
from wms_sync.shipments.read.progress import Warnings
from wms_sync.state.schema import refusals as stored
from wms_sync.state.store import StateStore
from wms_sync.state.turns import Guarded

ABOUT_WHAT_WAS_SENT = frozenset({400, 403, 404, 413, 414, 422, 431})
"""Statuses of refusals that field selection may cause, including a missing permission and a URL that is too long."""
MOST_REQUESTS = 400
ROOM = 100
"""The number of characters by which a page's URL may exceed the first request's: a filter's end and a page cursor."""

T = TypeVar("T")
Ask = Callable[[Selection], T]
"""A function that sends one request with a selection, and raises ``StatusError`` if the service refuses it."""


class Agreement(Struct, Generic[T], frozen=True):
    """The selection that the service accepts, its answer, and its reasons for refusing more, by parameter."""

    selection: Selection
    answer: T
    said: Mapping[str, str] = field(default_factory=dict)


def agree(ask: Ask[T], wanted: Selection) -> Agreement[T]:
    """Reduce the selection until the service accepts it. Raise a refusal that field selection did not cause."""
    search = _Search(ask)
    agreed, said = wanted, dict[str, str]()
    while True:
        try:
            answer = search.ask(agreed)
        except StatusError as refusal:
            name = search.refused_parameter(agreed, refusal)
            smaller, why = search.smaller(agreed, name, refusal)
            gone = {each for each, _ in agreed.asked} - {each for each, _ in smaller.asked}
            said |= dict.fromkeys(gone | {name}, _said(why))
            agreed = smaller
        else:
            return Agreement(_with_room(agreed, said) if search.is_too_much else agreed, answer, said)


class _Search(Generic[T]):
    """Counts the requests, and searches for what is refused. ``is_too_much``: a selection was refused as a whole."""

    def __init__(self, ask: Ask[T]) -> None:
        self._ask = ask
        self._left = MOST_REQUESTS
        self.is_too_much = False

    def ask(self, selection: Selection) -> T:
        """Send one request and count it."""
        self._left -= 1
        return self._ask(selection)

    def refused_parameter(self, selection: Selection, refusal: StatusError) -> str:
        """Return the first refused parameter. Raise the refusal of the whole selection if no parameter caused it."""
        if refusal.status not in ABOUT_WHAT_WAS_SENT or self._left <= 0 or self._refusal(selection.until(0)):
            raise refusal
        count = self._first_refused(len(selection.asked), lambda count: selection.until(count))
        return selection.asked[count - 1][0]

    def smaller(self, selection: Selection, name: str, refusal: StatusError) -> tuple[Selection, StatusError]:
        """Return the selection with names in place of ``all``, without the refused value, or without the parameter.

        Return it with the refusal that is the reason.
        """
        alone = selection.without([each for each, _ in selection.asked if not f"{name}.".startswith(f"{each}.")])
        why = self._refusal(alone)
        if why is None:
            self.is_too_much = True
            return selection.dropping(name), refusal
        values = selection.values(name)
        if values == (ALL,):
            return selection.asking(name, parameter(name).names), why
        value = self._refused_value(alone, name)
        if value is None:
            return selection.dropping(name), why
        return selection.asking(name, (other for other in values if other != value)), why

    def _refused_value(self, alone: Selection, name: str) -> str | None:
        """Return the first refused value of a parameter; None if its first and its last value are refused."""
        values = alone.values(name)
        if len(values) == 1 or all(self._refusal(alone.asking(name, (values[at],))) for at in (0, -1)):
            return None
        count = self._first_refused(len(values), lambda count: alone.asking(name, values[:count]))
        return values[count - 1]

    def _refusal(self, selection: Selection) -> StatusError | None:
        """Return the refusal of a selection; None if the service accepts it."""
        try:
            self.ask(selection)
        except StatusError as refusal:
            if refusal.status not in ABOUT_WHAT_WAS_SENT or self._left <= 0:
                raise
            return refusal
        return None

    def _first_refused(self, all_of_them: int, first: Callable[[int], Selection]) -> int:
        """Return by bisection the smallest count that is refused; 0 is accepted and ``all_of_them`` refused."""
        accepted, refused = 0, all_of_them
        while refused - accepted > 1:
            middle = (accepted + refused) // 2
            if self._refusal(first(middle)):
                refused = middle
            else:
                accepted = middle
        return refused


def _with_room(selection: Selection, said: dict[str, str]) -> Selection:
    """Shorten further a selection that was refused for its length: the requests for pages are a little longer."""
    shorter, why = selection, next(reversed(said.values()))
    while shorter.asked and len(urlencode(selection.params)) - len(urlencode(shorter.params)) < ROOM:
        last, _ = shorter.asked[-1]
        shorter = shorter.dropping(last)
        said[last] = why
    return shorter


def _said(refusal: StatusError) -> str:
    """Return the reason; for 403 without the advice about the token, which lacks permission for only one name."""
    if isinstance(refusal, Unauthorized):
        return f"{refusal.status}: {in_words(refusal.problems) or 'no reason given.'}"
    return str(refusal)


TRIED_EVERY = timedelta(hours=20)
"""The minimum interval between trials of everything, so that it is tried once a night, however often a sync runs."""
Counted = tuple[int | None, datetime]
"""The service's count, and the time of its answer."""
LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


class Refusal(Struct, frozen=True):
    """One row of ``refusals``: a parameter with values that a service refuses in this version of its interface.

    ``asked`` are the values that the service accepts, comma-separated; empty if it accepts none. ``said`` is the text
    of its refusal, ``tried_at`` the time when everything was last tried.
    """

    service: str
    api_version: str
    parameter: str
    asked: str
    said: str
    since: datetime
    tried_at: datetime


class Refusals(Guarded):
    """The store of refused parameters."""

    def of(self, service: str, api_version: str) -> tuple[Refusal, ...]:
        """Return the refusals of one service, ordered by parameter."""
        query = select(stored).where(_of(service, api_version)).order_by(stored.c.parameter)
        with self._reading() as connection:
            return tuple(Refusal(**row._mapping) for row in connection.execute(query))

    def try_again(self, service: str, api_version: str) -> None:
        """Make the next read try the full request again. Needs no ``Turn``: only the time of the next trial changes."""
        with self._engine.begin() as connection:
            connection.execute(update(stored).where(_of(service, api_version)).values(tried_at=LONG_AGO))

    def replace(self, service: str, api_version: str, found: Iterable[Refusal]) -> None:
        """Replace the refusals of a service with the refusals ``found``."""
        rows = [asdict(refusal) for refusal in found]
        with self._transaction() as connection:
            connection.execute(stored.delete().where(_of(service, api_version)))
            if rows:
                connection.execute(stored.insert(), rows)


def _of(service: str, api_version: str) -> ColumnElement[bool]:
    return and_(stored.c.service == service, stored.c.api_version == api_version)


class FieldSelection:
    """The field selection of one installation, remembered in the state store."""

    def __init__(self, settings: Settings, store: StateStore, warnings: Warnings | None = None) -> None:
        self._settings = settings
        self._store = store
        self._warnings = warnings or Warnings()

    def remembered(self) -> Selection:
        """Return the selection that the service last accepted, without a request."""
        with Refusals(self._settings.database_url) as memory:
            return _accepted(wanted(self._settings), memory.of(*_whose(self._settings)))

    def settle(self, listing: ShipmentListing, start: datetime | None, end: datetime | None) -> Counted:
        """Find a selection that the service accepts, and set it on the listing. Return the result of the test request.

        That is the service's count of the shipments changed in ``[start, end)``, and the time of its answer.
        """
        whole = wanted(self._settings)
        with Refusals(self._settings.database_url, self._store.turn) as memory:
            known = memory.of(*_whose(self._settings))
            again = not all(is_recent(TRIED_EVERY, refusal.tried_at) for refusal in known)
            agreement = agree(
                lambda selection: listing.count(start, end, selecting=selection),
                whole if again else _accepted(whole, known),
            )
            found = tuple(_refusals(self._settings, agreement, known))
            if again or found != known:
                memory.replace(*_whose(self._settings), found)
        listing.selection = _accepted(whole, found)
        self._report(known, found, listing.selection)
        return agreement.answer

    def _report(self, known: Iterable[Refusal], found: Iterable[Refusal], selection: Selection) -> None:
        before, now = ({refusal.parameter: refusal for refusal in refusals} for refusals in (known, found))
        for name in sorted(before.keys() - now.keys()):
            self._warnings.remark(f"The service accepts {name} again: windows read without it are read again.")
        for name, refusal in now.items():
            if data := omitted_data_of(name, selection):
                self._warnings.warn(_warning(refusal, data))
            else:
                self._warnings.remark(
                    f"The service refuses {name}=all ({refusal.said}); its fields are requested by name."
                )


def taken_again(settings: Settings, agreed: Selection) -> tuple[str, ...]:
    """Return the refused parameters of which the service now accepts more values.

    If there are any, the next read tries everything.
    """
    with Refusals(settings.database_url) as memory:
        known = memory.of(*_whose(settings))
        more = [old.parameter for old in known if agreed.values(old.parameter) not in ((), _values(old))]
        if more:
            memory.try_again(*_whose(settings))
    return tuple(more)


def wanted(settings: Settings) -> Selection:
    """Return the selection of everything, with addresses only if the settings include them."""
    return Selection.whole(include_addresses=settings.include_addresses)


def omitted_data_of(parameter: str, selection: Selection) -> str:
    """Describe the data of a parameter that a selection omits: tables, or columns of a table; empty if none."""
    return data_of(name for name in selection.omitted if name.partition("=")[0] == parameter)


def _refusals(settings: Settings, agreement: Agreement[Counted], known: Iterable[Refusal]) -> Iterator[Refusal]:
    """Yield the parameters that the service does not accept in full; unchanged refusals keep their ``since``."""
    before, now = {refusal.parameter: refusal for refusal in known}, datetime.now(UTC)
    service, version = _whose(settings)
    for name, values in wanted(settings).asked:
        taken = agreement.selection.values(name)
        if taken == values:
            continue
        asked, old = ",".join(taken), before.get(name)
        if old is not None and old.asked == asked and name not in agreement.said:
            yield old
        elif old is not None and old.asked == asked:
            yield replace(old, said=agreement.said[name], tried_at=now)
        else:
            said = agreement.said.get(name) or (old.said if old else "")
            yield Refusal(service, version, name, asked, said, since=now, tried_at=now)


def _warning(refusal: Refusal, data: str) -> str:
    return (
        f"The service refuses {refusal.parameter} ({refusal.said}). It is "
        f"{'shortened' if refusal.asked else 'left out'}, so {data} will not be updated; stored values stay as they "
        "are. It is tried again once a day."
    )


def _accepted(selection: Selection, refusals: Iterable[Refusal]) -> Selection:
    """Return the part of a selection that the service does not refuse."""
    said = {}
    for refusal in refusals:
        selection = selection.asking(refusal.parameter, _values(refusal))
        said[refusal.parameter] = refusal.said
    return replace(selection, said=said)


def _values(refusal: Refusal) -> tuple[str, ...]:
    return tuple(refusal.asked.split(",")) if refusal.asked else ()


def _whose(settings: Settings) -> tuple[str, str]:
    return settings.require_base_url(), settings.api_version or ""
