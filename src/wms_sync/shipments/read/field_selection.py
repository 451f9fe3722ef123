"""Choose the field selection of a read: everything except the names that the service refuses.

The first request of each read tries the selection with one record. If the service refuses it, the smaller selection
that it accepts is remembered and used, and a warning reports the omitted data. Once a day everything is tried again, so
that a name returns soon after the service accepts it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta

from msgspec import Struct
from msgspec.structs import asdict, replace
from sqlalchemy import ColumnElement, and_, select, update

from wms_sync.service.refusals import Agreement, agree
from wms_sync.service.selection import Selection, data_of
from wms_sync.service.shipments import ShipmentListing
from wms_sync.settings import Settings
from wms_sync.shipments.read.listing import is_recent
from wms_sync.shipments.read.progress import Warnings
from wms_sync.state.schema import refusals as stored
from wms_sync.state.store import StateStore
from wms_sync.state.turns import Guarded

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
    """Return the refused parameters that the service now accepts; the next read then tries everything again."""
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
    """Yield the parameters that the service does not accept in full; known refusals keep their ``since``."""
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
