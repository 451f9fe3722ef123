"""What the service is known to have, from three sources that are read before planning and never written.

The ledger knows what was created from here. The published file knows the retailers, products, merchants and warehouses
that shipments have shown. The Merchant API, if its credentials are set, is asked for what these two leave open. None is
complete: that a thing is not known does not prove that it does not exist.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Protocol

from msgspec import Struct, field

from wms_sync import sql_files
from wms_sync.master_data.check.rows import Checked
from wms_sync.master_data.kinds.table import KINDS
from wms_sync.state.ledger import CLOCKS_DIFFER, PRESENT, UNSURE, Entry, PushLedger
from wms_sync.state.store import Observation
from wms_sync.targets.target import Target

QUERY_BY_TYPE = {
    **{kind.type: kind.query for kind in KINDS if kind.query is not None},
    "Merchant": "shown/merchants.sql",
    "Warehouse": "shown/warehouses.sql",
}
"""The SQL file that finds things by natural key in the published file, by the service's word for the kind."""
KIND_BY_TYPE = {kind.type: kind for kind in KINDS}

Keys = dict[str, set[str]]
"""Natural keys by the service's word for the kind."""


class Found(Struct, frozen=True):
    """A thing that the service has; ``id`` is None if its existence is proven but its id is unknown."""

    id: int | None
    type: str
    status: str | None = None
    belongs_to: str | None = None
    created_at: datetime | None = None

    def __str__(self) -> str:
        return " ".join((self.type, str(self.id) if self.id else "of unknown id", *self._owner()))

    def _owner(self) -> Iterator[str]:
        if self.belongs_to:
            yield f"of merchant {self.belongs_to}"


class Lookup(Protocol):
    """Finds single things in the service by natural key."""

    @property
    def failures(self) -> Mapping[str, str]:
        """Why a type could not be asked for, by type."""

    def find(self, type_: str, keys: Iterable[str]) -> Mapping[str, tuple[Found, ...]]:
        """Return all matches by key. A key without a match is not proven to be absent."""


Things = dict[tuple[str, str], tuple[Found, ...]]


class Existing(Struct, frozen=True):
    """What is known of the things that a file creates (``entries``) and of all things that it refers to (``things``).

    ``unasked`` says by type why the Merchant API could not be asked for what only it might know. ``lacking`` is there
    if the ledger was restored and may lack creates (``LEDGER_LACKS``).
    """

    service: str
    entries: Mapping[str, Entry]
    things: Mapping[tuple[str, str], tuple[Found, ...]]
    unasked: Mapping[str, str] = field(default_factory=dict)
    lacking: Observation | None = None

    def found(self, type_: str, key: str) -> tuple[Found, ...]:
        """Return everything with this natural key; if there are several, the key alone is ambiguous."""
        return self.things.get((type_, key), ())


def read_existing(
    checked: Checked,
    *,
    service: str,
    ledger: PushLedger,
    target: Target,
    lookup: Lookup | None = None,
    lacking: Observation | None = None,
) -> Existing:
    """Collect what is known of a checked file's records and of everything they refer to."""
    type_ = checked.kind.type
    own = {record.key for record in checked.records}
    named = _named(checked)
    entries = ledger.entries(service, checked.kind.name, own)
    things = _in_shipments(target, {**named, type_: own | named.get(type_, set())})
    for other, keys in named.items():
        if other in KIND_BY_TYPE:
            remembered = ledger.entries(service, KIND_BY_TYPE[other].name, keys - own if other == type_ else keys)
            for key, entry in remembered.items():
                if entry.state in PRESENT:
                    things[other, key] = _the_one_created_here(of_entry(entry, other), things.get((other, key), ()))
    if lookup is not None:
        unknown = {
            other: {key for key in keys if _is_unknown(things.get((other, key)))} for other, keys in named.items()
        }
        open_own = {key for key, entry in entries.items() if _is_open(entry)}
        if lacking is not None and not checked.kind.is_unique:
            open_own |= own - {key for key, entry in entries.items() if entry.state in PRESENT}
        _look_up(lookup, {**unknown, type_: unknown.get(type_, set()) - own | open_own}, things)
    return Existing(service, entries, things, dict(lookup.failures) if lookup is not None else {}, lacking)


def of_entry(entry: Entry, type_: str) -> Found:
    """Return a thing as the ledger remembers it; a product's type is in its body."""
    return Found(entry.remote_id, json.loads(entry.body).get("type", type_))


def made_since(moment: datetime, shown: Iterable[Found]) -> tuple[Found, ...]:
    """Return the one thing that the service created since ``moment``, or nothing if there are none or several.

    A time to come proves nothing: it is garbled, or of a zone that it does not name, and may be of hours before.
    """
    since, until = moment - CLOCKS_DIFFER, datetime.now(UTC) + CLOCKS_DIFFER
    made = tuple(thing for thing in shown if thing.created_at is not None and thing.created_at >= since)
    is_to_come = any(thing.created_at is not None and thing.created_at > until for thing in made)
    return made if len(made) == 1 and not is_to_come else ()


def _the_one_created_here(remembered: Found, shown: tuple[Found, ...]) -> tuple[Found, ...]:
    """Return what a key means that was created from here, even if another merchant has the same key."""
    if remembered.id is None:
        return shown or (remembered,)
    return tuple(thing for thing in shown if thing.id == remembered.id) or (remembered,)


def _named(checked: Checked) -> Keys:
    named: Keys = {}
    for record in checked.records:
        for reference in record.references:
            if not reference.by_id:
                named.setdefault(reference.kind, set()).update(reference.keys)
    return named


def _is_open(entry: Entry) -> bool:
    return entry.state in UNSURE or (entry.state in PRESENT and entry.remote_id is None)


def _is_unknown(found: tuple[Found, ...] | None) -> bool:
    return not found or found[0].id is None


def _in_shipments(target: Target, wanted: Keys) -> Things:
    """Read what the published tables show; they are open for a moment only."""
    things: Things = {}
    if not target.is_published:
        return things
    with target.published() as connection:
        for type_ in wanted.keys() & QUERY_BY_TYPE.keys():
            query = sql_files.read("known/asked_for.sql").format(shown=sql_files.read(QUERY_BY_TYPE[type_]))
            rows: list[Any] = connection.execute(query, {"keys": sorted(wanted[type_])}).fetchall()
            for key, id_, type_shown, *rest in rows:
                things[type_, key] = (*things.get((type_, key), ()), Found(id_, type_shown or type_, *rest))
    return things


def _look_up(lookup: Lookup, asked: Keys, things: Things) -> None:
    """Ask the Merchant API for things that the other sources do not have, not with an id, or not for certain."""
    for type_, keys in asked.items():
        for key, found in lookup.find(type_, sorted(keys)).items():
            by_id = {thing.id: thing for thing in (*found, *things.get((type_, key), ())) if thing.id is not None}
            things[type_, key] = tuple(by_id.values()) or found
