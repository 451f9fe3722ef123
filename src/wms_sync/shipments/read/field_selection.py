"""Choose the field selection of a read: everything except what ``WMS_OMIT_FIELDS`` or the service excludes.

The first request of each read tries the selection with one record. If the service refuses it, the narrower selection
that it accepts is remembered, used, and reported as a warning. Once a day everything is tried again, so that a name
returns as soon as the service accepts it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from wms_sync.errors import SettingsError
from wms_sync.grammar import count_of
from wms_sync.service.refusals import Agreement, agree
from wms_sync.service.selection import PREFIX, Selection, parameter, parameter_names
from wms_sync.service.shipments import ShipmentListing
from wms_sync.settings import Settings
from wms_sync.shipments.read.listing import is_recent
from wms_sync.shipments.read.progress import Warnings
from wms_sync.state.narrowed import NarrowedField, NarrowedFields
from wms_sync.state.store import StateStore

TRIED_EVERY = timedelta(hours=20)
"""Once a night, however often a sync runs."""
Counted = tuple[int | None, datetime]
"""The service's count, and its clock then."""


class FieldSelection:
    """The field selection of one installation, remembered in the state store."""

    def __init__(self, settings: Settings, store: StateStore, warnings: Warnings | None = None) -> None:
        self._settings = settings
        self._store = store
        self._warnings = warnings or Warnings()

    def remembered(self) -> Selection:
        """Return the selection that the service last accepted, without a request."""
        with NarrowedFields(self._settings.database_url) as memory:
            return _narrowed(wanted(self._settings), memory.of(*_whose(self._settings)))

    def settle(self, listing: ShipmentListing, start: datetime | None, end: datetime | None) -> Counted:
        """Find a selection that the service accepts and set it on the listing. Return the result of its ``count``."""
        whole = wanted(self._settings)
        with NarrowedFields(self._settings.database_url, self._store.turn) as memory:
            known = memory.of(*_whose(self._settings))
            again = not all(is_recent(TRIED_EVERY, one.tried_at) for one in known)
            agreement = agree(
                lambda selection: listing.count(start, end, selecting=selection),
                whole if again else _narrowed(whole, known),
            )
            found = refusals(self._settings, agreement, known)
            if again or found != known:
                memory.replace(*_whose(self._settings), found)
        listing.selection = agreement.selection
        self._tell(known, found, agreement.selection)
        return agreement.answer

    def _tell(self, known: Iterable[NarrowedField], found: Iterable[NarrowedField], selection: Selection) -> None:
        before, now = {one.parameter: one for one in known}, {one.parameter: one for one in found}
        for name in sorted(before.keys() - now.keys()):
            self._warnings.remark(f"The service accepts {name} again: what was read without it is read again.")
        old = []
        for name, one in now.items():
            if not (loss := what_is_lost(name, selection)):
                self._warnings.remark(f"The service refuses {name}=all ({one.said}); its fields are requested by name.")
            elif name in before and before[name].asked == one.asked:
                old.append(name)
            else:
                self._warnings.warn(_refused(one, loss))
        if old:
            self._warnings.warn(
                f"The service refuses {count_of(len(old), 'field selection parameter')}, left out: "
                f"{', '.join(old)}. `wms-sync doctor` shows what is lost; WMS_OMIT_FIELDS leaves them out without a "
                "warning."
            )


def refused_now(settings: Settings) -> tuple[tuple[NarrowedField, str], ...]:
    """Return the parameters remembered as refused that lose data, each with a description of what is lost."""
    if settings.base_url is None:
        return ()
    with NarrowedFields(settings.database_url) as memory:
        known = memory.of(*_whose(settings))
    whole = wanted(settings)
    selection = _narrowed(whole, known)
    asked = {name for name, _ in whole.asked}
    return tuple(
        (one, loss) for one in known if one.parameter in asked and (loss := what_is_lost(one.parameter, selection))
    )


def taken_again(settings: Settings, agreed: Selection) -> tuple[str, ...]:
    """Return the refused parameters that the service now accepts; the next read then tries everything again."""
    with NarrowedFields(settings.database_url) as memory:
        known = memory.of(*_whose(settings))
        more = [one for one in known if agreed.values(one.parameter) not in ((), tuple(one.asked.split(",")))]
        if more:
            memory.try_again(*_whose(settings))
    return tuple(one.parameter for one in more)


def wanted(settings: Settings) -> Selection:
    """Return the selection of everything except ``WMS_OMIT_FIELDS``. Raises ``SettingsError`` for an unknown name."""
    selection = Selection.whole(include_addresses=settings.include_addresses)
    for name in settings.omitted_fields:
        if name not in parameter_names():
            raise SettingsError(
                f"WMS_OMIT_FIELDS names {name!r}, which is not a field selection parameter. Choose from: "
                f"{', '.join(sorted(parameter_names()))}."
            )
        selection = selection.dropping(PREFIX + name)
    return selection


def refusals(
    settings: Settings, agreement: Agreement[Counted], known: Iterable[NarrowedField]
) -> tuple[NarrowedField, ...]:
    """Return the parameters that are narrower than wanted, to be remembered; known ones keep their ``since``."""
    before, now = {one.parameter: one for one in known}, datetime.now(UTC)
    return tuple(_found(settings, agreement, before, now))


def _found(
    settings: Settings, agreement: Agreement[Counted], before: Mapping[str, NarrowedField], now: datetime
) -> Iterator[NarrowedField]:
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
            yield NarrowedField(service, version, name, asked, said, since=now, tried_at=now)


def what_is_lost(name: str, selection: Selection) -> str:
    """Describe what is not read because of a parameter: tables, or columns of a table; empty if nothing is lost."""
    lost = [one.partition("=")[2] for one in selection.lost if one.split("=")[0] == name]
    if not lost:
        return ""
    kind = parameter(name).kind
    if "" in lost:
        return f"the rows of {kind.table}" if kind.shared else f"what {kind.table} holds"
    parts = [part for value in lost for part in kind.parts.get(value, ())]
    columns = [value for value in lost if value not in kind.parts]
    told = [f"{', '.join(columns)} of {kind.table}"] if columns else []
    return " and ".join([*told, *parts])


def _refused(one: NarrowedField, loss: str) -> str:
    by_hand = "left out"
    if (path := one.parameter.removeprefix(PREFIX)) in parameter_names():
        by_hand += f" (WMS_OMIT_FIELDS={path} does so without a warning)"
    return (
        f"The service refuses {one.parameter} ({one.said}). It is {'narrowed' if one.asked else by_hand}, so "
        f"that it does not bring {loss}; stored values stay as they are. It is tried again once a day."
    )


def _narrowed(selection: Selection, known: Iterable[NarrowedField]) -> Selection:
    for one in known:
        selection = selection.asking(one.parameter, one.asked.split(",") if one.asked else ())
    return selection


def _whose(settings: Settings) -> tuple[str, str]:
    return settings.require_base_url(), settings.api_version or ""
