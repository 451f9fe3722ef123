"""Collect the objects that the service is known to have, from three sources. They are read before planning.

The ledger has the objects that earlier pushes created. The published file has the retailers, products, merchants and
warehouses that shipments refer to. The Merchant API, if its credentials are set, is called for objects that these two
lack. None of the sources is complete: an unknown object may still exist.

The Merchant API is called by natural key (specification 4.7; methods from the vendor's pages). It shows only objects of
the API user's merchant, so an object that it does not find may still exist. The specification does not give the shape
of its results, so three are accepted: a list, an object with a list under ``results``, and an object whose keys are
ids.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from msgspec import Struct, field

from wms_sync import sql_files
from wms_sync.grammar import count_of
from wms_sync.json_values import identity
from wms_sync.master_data.check import CheckedFile
from wms_sync.master_data.kind import MerchantMethod
from wms_sync.master_data.kinds import KINDS
from wms_sync.service.errors import ApiError, ProtocolError
from wms_sync.service.merchant import MerchantApi
from wms_sync.state.ledger import CLOCKS_DIFFER, LEDGER_LACKS, PRESENT, UNSURE, Entry
from wms_sync.state.store import Observation, StateStore
from wms_sync.targets.target import Target

QUERY_BY_TYPE = {
    **{kind.type: kind.query for kind in KINDS if kind.query is not None},
    "Merchant": "objects/merchants.sql",
    "Warehouse": "objects/warehouses.sql",
}
"""The SQL file that finds objects by natural key in the published file, by the service's word for the kind."""
KIND_BY_TYPE = {kind.type: kind for kind in KINDS}
METHODS = {kind.type: kind.merchant_method for kind in KINDS if kind.merchant_method is not None}
Keys = dict[str, set[str]]
"""Natural keys by the service's word for the kind."""
KEYS_PER_CALL = 100
ROWS_PER_PAGE = 100
MOST_PAGES = 100
"""More pages than a hundred keys need. A service that ignores filter and page would otherwise be read without end."""
Row = Mapping[str, Any]


class ExistingObject(Struct, frozen=True):
    """An object that the service has. ``id`` is None if its existence is proven but its id is unknown."""

    id: int | None
    type: str
    status: str | None = None
    belongs_to: str | None = None
    created_at: datetime | None = None

    def __str__(self) -> str:
        owner = f" of merchant {self.belongs_to}" if self.belongs_to else ""
        return f"{self.type} {self.id or 'of unknown id'}{owner}"


Things = dict[tuple[str, str], tuple[ExistingObject, ...]]


class Existing(Struct, frozen=True):
    """The known objects that a file would create (``entries``) and refers to (``things``).

    ``unasked`` has, by type, the reason why the Merchant API could not be called. ``lacking`` is set if the ledger was
    restored and may lack creates (``LEDGER_LACKS``).
    """

    service: str
    entries: Mapping[str, Entry]
    things: Mapping[tuple[str, str], tuple[ExistingObject, ...]]
    unasked: Mapping[str, str] = field(default_factory=dict)
    lacking: Observation | None = None

    def found(self, type_: str, key: str) -> tuple[ExistingObject, ...]:
        """Return all objects with this natural key. If there are several, the key is ambiguous."""
        return self.things.get((type_, key), ())


def read_existing(
    checked: CheckedFile,
    *,
    service: str,
    store: StateStore,
    target: Target,
    lookup: MerchantLookup | None = None,
) -> Existing:
    """Collect the known objects for a checked file's records and for all their references."""
    type_ = checked.kind.type
    own = {record.key for record in checked.records}
    named = _named(checked)
    entries, lacking = store.ledger.entries(service, checked.kind.name, own), store.observation(LEDGER_LACKS)
    things = _in_shipments(target, {**named, type_: own | named.get(type_, set())})
    for other, keys in named.items():
        if other in KIND_BY_TYPE:
            remembered = store.ledger.entries(service, KIND_BY_TYPE[other].name, keys - own if other == type_ else keys)
            for key, entry in remembered.items():
                if entry.state in PRESENT:
                    things[other, key] = _created_here(of_entry(entry, other), things.get((other, key), ()))
    if lookup is not None:
        unknown = {
            other: {key for key in keys if not (found := things.get((other, key))) or found[0].id is None}
            for other, keys in named.items()
        }
        open_own = {
            key
            for key, entry in entries.items()
            if entry.state in UNSURE or (entry.state in PRESENT and entry.remote_id is None)
        }
        if lacking is not None and not checked.kind.is_unique:
            open_own |= own - {key for key, entry in entries.items() if entry.state in PRESENT}
        _look_up(lookup, {**unknown, type_: unknown.get(type_, set()) - own | open_own}, things)
    return Existing(service, entries, things, dict(lookup.failures) if lookup is not None else {}, lacking)


def of_entry(entry: Entry, type_: str) -> ExistingObject:
    """Return the object that an entry of the ledger describes. The type of a product is in its body."""
    return ExistingObject(entry.remote_id, json.loads(entry.body).get("type", type_))


def made_since(moment: datetime, shown: Iterable[ExistingObject]) -> tuple[ExistingObject, ...]:
    """Return the only object created after ``moment`` less ``CLOCKS_DIFFER``; nothing if there are none or several.

    A ``created_at`` in the future is no proof: it is wrong, or local time without a zone, and may be hours too late.
    """
    since, until = moment - CLOCKS_DIFFER, datetime.now(UTC) + CLOCKS_DIFFER
    made = tuple(thing for thing in shown if thing.created_at is not None and thing.created_at >= since)
    is_to_come = any(thing.created_at is not None and thing.created_at > until for thing in made)
    return made if len(made) == 1 and not is_to_come else ()


def _created_here(remembered: ExistingObject, shown: tuple[ExistingObject, ...]) -> tuple[ExistingObject, ...]:
    """Return the object that an earlier push created, even if another merchant has an object with the same key."""
    if remembered.id is None:
        return shown or (remembered,)
    return tuple(thing for thing in shown if thing.id == remembered.id) or (remembered,)


def _named(checked: CheckedFile) -> Keys:
    named: Keys = {}
    for record in checked.records:
        for reference in record.references:
            if not reference.by_id:
                named.setdefault(reference.kind, set()).update(reference.keys)
    return named


def _in_shipments(target: Target, wanted: Keys) -> Things:
    """Read the wanted objects from the published tables. Keep the tables open only for a moment."""
    things: Things = {}
    if not target.is_published:
        return things
    with target.published() as connection:
        for type_ in wanted.keys() & QUERY_BY_TYPE.keys():
            query = sql_files.read("queries/objects_by_key.sql").format(objects=sql_files.read(QUERY_BY_TYPE[type_]))
            rows: list[Any] = connection.execute(query, {"keys": sorted(wanted[type_])}).fetchall()
            for key, id_, type_shown, *rest in rows:
                things[type_, key] = (*things.get((type_, key), ()), ExistingObject(id_, type_shown or type_, *rest))
    return things


def _look_up(lookup: MerchantLookup, asked: Keys, things: Things) -> None:
    """Look up in the Merchant API the objects that the other sources lack, know without an id, or have in doubt."""
    for type_, keys in asked.items():
        for key, found in lookup.find(type_, sorted(keys)).items():
            by_id = {thing.id: thing for thing in (*found, *things.get((type_, key), ())) if thing.id is not None}
            things[type_, key] = tuple(by_id.values()) or found


class MerchantLookup:
    """Finds objects of the kinds that have a ``merchant_method``, and no others.

    A push works without this lookup. So if a call fails, or is answered in an unknown shape, the lookup finds no
    object, records the reason in ``failures`` (by type), and does not look up that type again. An object without a
    match may still exist.
    """

    def __init__(self, api: MerchantApi) -> None:
        self.failures: dict[str, str] = {}
        self._api = api

    def find(self, type_: str, keys: Iterable[str]) -> Mapping[str, tuple[ExistingObject, ...]]:
        """Return all matches, by key. A sku may have several matches."""
        method = METHODS.get(type_)
        if method is None or type_ in self.failures:
            return {}
        found: dict[str, tuple[ExistingObject, ...]] = {}
        try:
            wanted = iter(keys)
            while part := list(islice(wanted, KEYS_PER_CALL)):
                for row in self._rows(method, part):
                    key = row.get(method.key)
                    if isinstance(key, str) and key in part:
                        thing = ExistingObject(
                            _id(row, method),
                            _type(row, method) or type_,
                            row.get("status"),
                            created_at=_created_at(row),
                        )
                        found[key] = (*found.get(key, ()), thing)
        except ApiError as error:
            self.failures[type_] = str(error)
        return found

    def _rows(self, method: MerchantMethod, keys: list[str]) -> list[Row]:
        """Fetch pages until a page has no new row, or until every key was found and a page is not full.

        A page may be shorter than requested, and a service that ignores ``page`` sends the same page again.
        """
        rows: list[Row] = []
        for page in range(1, MOST_PAGES + 1):
            arguments = [{method.key: {"in": keys}}, {"limit": ROWS_PER_PAGE, "page": page}]
            shown = _listed(method, self._api.call(method.name, arguments))
            new = [row for row in shown if row not in rows]
            rows += new
            found = {key for row in rows if isinstance(key := row.get(method.key), str)}
            if (len(shown) < ROWS_PER_PAGE and found >= set(keys)) or not new:
                return rows
        raise ProtocolError(
            f"The Merchant API answered {method.name} for {count_of(len(keys), 'key')} with "
            f"more than {MOST_PAGES} pages."
        )


def _listed(method: MerchantMethod, result: object) -> list[Row]:
    """Return the rows of a result: a list, a list under ``results``, or an object whose keys are ids; null has none.

    Raise ``ProtocolError`` for any other shape instead of taking it as empty.
    """
    listed = result.get("results", list(result.values())) if isinstance(result, dict) else result
    rows = [] if listed is None else listed
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ProtocolError(f"The Merchant API answered {method.name} in an unknown shape.")
    if rows and not any(method.key in row for row in rows):
        raise ProtocolError(f"The Merchant API answered {method.name} with rows that have no {method.key}.")
    return rows


def _id(row: Mapping[str, Any], method: MerchantMethod) -> int | None:
    return next((id_ for name in method.ids if (id_ := identity(row.get(name)))), None)  # no object has id 0


def _type(row: Mapping[str, Any], method: MerchantMethod) -> str | None:
    shown = row.get("type")
    return shown if isinstance(shown, str) and shown.startswith(method.types) else None


def _created_at(row: Mapping[str, Any]) -> datetime | None:
    try:
        moment = datetime.fromisoformat(row.get("created_at"))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
