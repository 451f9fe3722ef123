"""The ledger of creates: what was about to be sent, and what became of it.

One row a thing (service, kind, natural key). An intent is committed before its request leaves, the outcome after::

    intended ──► created    the service did it (``remote_id`` is unknown where its answer was lost)
             ├─► exists     it was there before us: the service refuses a second one of this name
             ├─► refused    nothing was done: the row must change
             ├─► undone     nothing was done: the service failed or was not reached
             ├─► doubt      no answer of the service came
             └─► unproven   no answer came, and one that was sent again is refused without a word that proves anything

What a killed process leaves behind is ``intended`` and means the same as ``doubt``. A transaction is on disk before it
counts, also through a loss of power: a forgotten intent could become a second product.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, TypeVar

from sqlalchemy import Connection, Tuple, and_, func, select, tuple_, update
from sqlalchemy.dialects.postgresql import insert as insert_postgresql
from sqlalchemy.dialects.sqlite import insert as insert_sqlite

from wms_sync.state.schema import push_ledger
from wms_sync.state.turns import Guarded, Turn

BATCH = 500
"""Keys or rows a statement: SQLite takes at most 32,766 parameters in one."""

T = TypeVar("T")


class State(StrEnum):
    """How far a create is; see the module."""

    INTENDED = "intended"
    CREATED = "created"
    EXISTS = "exists"
    REFUSED = "refused"
    UNDONE = "undone"
    DOUBT = "doubt"
    UNPROVEN = "unproven"


THERE = frozenset({State.CREATED, State.EXISTS})
UNSURE = frozenset({State.INTENDED, State.DOUBT, State.UNPROVEN})

CLOCKS_DIFFER = timedelta(minutes=10)
"""How far this machine's clock may be ahead of the service's where a product proves to be what was sent: one of its sku
that is older than that is another merchant's, or was there before."""


@dataclass(frozen=True)
class Entry:
    """One row of the ledger. ``body`` is canonical JSON as the file gave it, references by natural key."""

    service: str
    kind: str
    key: str
    state: State
    body: str
    body_sha256: str
    remote_id: int | None
    run_id: str
    attempts: int
    message: str | None
    intended_at: datetime
    settled_at: datetime | None
    seen_at: datetime | None

    @property
    def name(self) -> tuple[str, str, str]:
        """The thing."""
        return (self.service, self.kind, self.key)

    @property
    def version(self) -> tuple[int, datetime, bool]:
        """Of two copies of a row the greater one is newer. Attempts first: a clock may have been put back."""
        return (self.attempts, self.settled_at or self.intended_at, self.seen_at is not None)


@dataclass(frozen=True)
class Sighting:
    """A thing of the ledger that the service's own data show."""

    service: str
    kind: str
    key: str
    remote_id: int
    seen_at: datetime


class PushLedger(Guarded):
    """Opened once a process; safe to use from several threads."""

    def __init__(self, url: str, turn: Turn | None = None) -> None:
        super().__init__(url, turn, durable="full")

    # --- reading ---

    def entries(self, service: str, kind: str, keys: Iterable[str]) -> dict[str, Entry]:
        """What is remembered of these things, by key."""
        found: dict[str, Entry] = {}
        with self._engine.connect() as connection:
            for part in _parts(list(keys)):
                one_kind = and_(push_ledger.c.service == service, push_ledger.c.kind == kind)
                query = select(push_ledger).where(one_kind, push_ledger.c.key.in_(part))
                found |= {row.key: _entry(row._mapping) for row in connection.execute(query)}
        return found

    def all(self) -> tuple[Entry, ...]:
        """Every row, in the order of intent."""
        query = select(push_ledger).order_by(push_ledger.c.intended_at, push_ledger.c.kind, push_ledger.c.key)
        with self._engine.connect() as connection:
            return tuple(_entry(row._mapping) for row in connection.execute(query))

    def unsure(self) -> tuple[Entry, ...]:
        """What was sent without an answer that settles it, the oldest first."""
        unsure = push_ledger.c.state.in_(UNSURE)
        query = select(push_ledger).where(unsure).order_by(push_ledger.c.intended_at, push_ledger.c.key)
        with self._engine.connect() as connection:
            return tuple(_entry(row._mapping) for row in connection.execute(query))

    def unseen(self, kinds: Iterable[str]) -> int:
        """How many created things of these kinds the service's data have not shown."""
        there = and_(push_ledger.c.state == State.CREATED, push_ledger.c.seen_at.is_(None))
        query = select(func.count()).where(there, push_ledger.c.kind.in_(tuple(kinds)))
        with self._engine.connect() as connection:
            return int(connection.scalar(query) or 0)

    def counts(self) -> dict[tuple[str, State], int]:
        """How many things of each kind are in each state."""
        columns = (push_ledger.c.kind, push_ledger.c.state)
        query = select(*columns, func.count()).group_by(*columns)
        with self._engine.connect() as connection:
            return {(kind, State(state)): count for kind, state, count in connection.execute(query)}

    # --- writing ---

    def record(self, written: Sequence[Entry]) -> None:
        """Write rows whole, in one transaction: intents and outcomes."""
        if written:
            with self._writing() as connection:
                for part in _parts(written):
                    connection.execute(self._upsert(), [vars(entry) for entry in part])

    def take_in(self, copied: Iterable[Entry]) -> int:
        """Take in the rows of a copy that are missing here, or newer there; returns how many.

        Takes no turn: a plan does it too, and whoever does it late changes nothing, since rows are compared where they
        are written. They are compared before that too: as a rule nothing is new, and nobody is held up.
        """
        known = {one.name: one.version for one in self.all()}
        newer = [one for one in copied if one.name not in known or one.version > known[one.name]]
        if newer:
            with self._engine.begin() as connection:
                for part in _parts(newer):
                    connection.execute(self._upsert(only_newer=True), [vars(entry) for entry in part])
        return len(newer)

    def seen(self, sightings: Sequence[Sighting]) -> None:
        """Remember what the service's data show for the first time; what was in doubt is proven by it."""
        with self._writing() as connection:
            for sighting in sightings:
                _remember(connection, sighting)

    def _upsert(self, *, only_newer: bool = False) -> Any:  # noqa: ANN401 - an insert of either dialect
        insert = insert_sqlite if self._engine.dialect.name == "sqlite" else insert_postgresql
        statement: Any = insert(push_ledger)
        keys = {column.name for column in push_ledger.primary_key}
        changed = {column.name: column for column in statement.excluded if column.name not in keys}
        newer = _version(statement.excluded) > _version(push_ledger.c) if only_newer else None
        return statement.on_conflict_do_update(index_elements=sorted(keys), set_=changed, where=newer)


def _remember(connection: Connection, sighting: Sighting) -> None:
    this = and_(
        push_ledger.c.service == sighting.service,
        push_ledger.c.kind == sighting.kind,
        push_ledger.c.key == sighting.key,
    )
    connection.execute(
        update(push_ledger)
        .where(this, push_ledger.c.seen_at.is_(None))
        .values(seen_at=sighting.seen_at, remote_id=func.coalesce(push_ledger.c.remote_id, sighting.remote_id))
    )
    connection.execute(
        update(push_ledger)
        .where(this, push_ledger.c.state.in_(UNSURE))
        .values(state=State.CREATED, settled_at=datetime.now(UTC), message="found in the service's data")
    )


def _version(columns: Any) -> Tuple:  # noqa: ANN401 - columns of the table, or of what is to be inserted
    """``Entry.version`` in SQL."""
    moment = func.coalesce(columns.settled_at, columns.intended_at)
    return tuple_(columns.attempts, moment, columns.seen_at.is_not(None))


def _entry(row: Any) -> Entry:  # noqa: ANN401 - a mapping of columns
    return Entry(**{**row, "state": State(row["state"])})


def _parts(whole: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(whole), BATCH):
        yield whole[start : start + BATCH]
