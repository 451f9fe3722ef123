"""The ledger of creates: each intended create and its outcome. Also each file's number of unsent rows.

One row per thing (service, kind, natural key). The intent is committed before the request, its outcome afterwards::

    intended ──► created    the service created it (``remote_id`` is unknown if the answer was lost)
             ├─► exists     it existed already: the service refuses a second thing of this name
             ├─► refused    nothing was created: the row must be corrected
             ├─► undone     nothing was created: the service failed or could not be reached
             ├─► doubt      no answer proves the outcome
             └─► unproven   as doubt, and the service refused a second attempt with a message that proves nothing

A killed process leaves ``intended`` rows, which mean the same as ``doubt``. Each intent is synced to disk before its
request, in the store and in the journal: a lost intent could lead to a duplicate product.
"""

from __future__ import annotations

import fcntl
import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import IO, Any

import msgspec
from msgspec import Struct
from msgspec.structs import asdict
from sqlalchemy import Select, Update, and_, func, or_, select, update

from wms_sync.grammar import minute
from wms_sync.state.leases import Guarded
from wms_sync.state.schema import push_files, push_ledger
from wms_sync.storage.durable import PRIVATE_FILE, accessing, write_whole

logger = logging.getLogger(__name__)
KEYS_PER_STATEMENT = 500
"""SQLite accepts at most 32,766 parameters in a statement."""

LEDGER_LACKS = "ledger_lacks_creates_since"
"""The name of an observation: the ledger was restored, and may lack creates that were sent between its value (seconds
since 1970; 0 if no whole journal was found) and the time of the observation."""

CLOCKS_DIFFER = timedelta(minutes=10)
"""The tolerated lead of this machine's clock over the service's when a product is matched with a create: a product of
the same sku that is older than the create by more than this belongs to another merchant, or existed already."""


class State(StrEnum):
    """The state of a create; see the module's docstring."""

    INTENDED = "intended"
    CREATED = "created"
    EXISTS = "exists"
    REFUSED = "refused"
    UNDONE = "undone"
    DOUBT = "doubt"
    UNPROVEN = "unproven"


PRESENT = frozenset({State.CREATED, State.EXISTS})
"""The service has the thing."""
UNSURE = frozenset({State.INTENDED, State.DOUBT, State.UNPROVEN})
"""The service may have the thing."""


class Entry(Struct, frozen=True):
    """One row of the ledger. ``body`` is canonical JSON of the file's row, with references by natural key."""

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
        """Return the primary key: service, kind and natural key."""
        return (self.service, self.kind, self.key)

    @property
    def version(self) -> tuple[int, bool, datetime, bool]:
        """Return a sort key for copies of a row: the copy with the greater key is newer.

        Times do not come first, because a clock may be set back: a later attempt is newer than an earlier one, and its
        outcome is newer than its intent.
        """
        is_settled = self.settled_at is not None
        return (self.attempts, is_settled, self.settled_at or self.intended_at, self.seen_at is not None)


_ENTRY = msgspec.json.Decoder(Entry)


class Sighting(Struct, frozen=True):
    """A thing of the ledger that was found in the service's data."""

    service: str
    kind: str
    key: str
    remote_id: int
    seen_at: datetime


class PushLedger(Guarded):
    """The ledger. Thread-safe."""

    # --- reading ---

    def entries(self, service: str, kind: str, keys: Iterable[str]) -> dict[str, Entry]:
        """Return the rows of these things, by key."""
        of_kind = select(push_ledger).where(push_ledger.c.service == service, push_ledger.c.kind == kind)
        asked = list(keys)
        found: list[Entry] = []
        for start in range(0, len(asked), KEYS_PER_STATEMENT):
            found += self._entries(of_kind.where(push_ledger.c.key.in_(asked[start : start + KEYS_PER_STATEMENT])))
        return {entry.key: entry for entry in found}

    def all(self) -> tuple[Entry, ...]:
        """Return every row, in the order of intent."""
        by_intent = push_ledger.c.intended_at, push_ledger.c.kind, push_ledger.c.key
        return self._entries(select(push_ledger).order_by(*by_intent))

    def unsure(self) -> tuple[Entry, ...]:
        """Return the creates that may have been sent but have no conclusive answer, oldest first."""
        return self._entries(
            select(push_ledger)
            .where(push_ledger.c.state.in_(UNSURE))
            .order_by(push_ledger.c.intended_at, push_ledger.c.key)
        )

    def services(self) -> set[str]:
        """Return the base URLs of the services that have, or may have, a thing of the ledger."""
        query = select(push_ledger.c.service).where(push_ledger.c.state.in_(PRESENT | UNSURE)).distinct()
        return {service for (service,) in self._rows(query)}

    def unseen(self, kinds: Iterable[str]) -> int:
        """Return the number of created things of these kinds that no page has shown yet."""
        there = and_(push_ledger.c.state == State.CREATED, push_ledger.c.seen_at.is_(None))
        query = select(func.count()).where(there, push_ledger.c.kind.in_(tuple(kinds)))
        return self._value(query) or 0

    def counts(self) -> dict[tuple[str, State], int]:
        """Return the number of things by kind and state."""
        columns = (push_ledger.c.kind, push_ledger.c.state)
        rows = self._rows(select(*columns, func.count()).group_by(*columns))
        return {(kind, State(state)): count for kind, state, count in rows}

    # --- writing ---

    def record(self, written: Sequence[Entry]) -> None:
        """Write whole rows, intents or outcomes, in one transaction; then append them to the journal.

        The transaction fails if another process has taken over.
        """
        if written:
            self._put(push_ledger, [asdict(entry) for entry in written])
            CreatesJournal(self.lease.layout.creates).append(written)

    def take_in(self, copied: Iterable[Entry]) -> int:
        """Write the rows of a copy that are missing here or newer there, under the locks of the pushes of their kinds.

        Return their number.
        """
        known = {entry.name: entry.version for entry in self.all()}
        newest = newest_entries(copied)  # several copies may have a row, in any order
        newer = [entry for entry in newest if entry.name not in known or entry.version > known[entry.name]]
        self._put(push_ledger, [asdict(entry) for entry in newer])
        return len(newer)

    def record_sightings(self, sightings: Sequence[Sighting]) -> None:
        """Record things that appear in the service's data for the first time. This settles creates in doubt."""
        self._execute(*(change for sighting in sightings for change in _changes(sighting)))

    def _entries(self, query: Select[Any]) -> tuple[Entry, ...]:
        return tuple(Entry(**{**row._mapping, "state": State(row.state)}) for row in self._rows(query))


def _changes(sighting: Sighting) -> tuple[Update, Update]:
    """Return the statements that record when a thing was seen, and that settle its create."""
    this = update(push_ledger).where(
        push_ledger.c.service == sighting.service,
        push_ledger.c.kind == sighting.kind,
        push_ledger.c.key == sighting.key,
    )
    remote_id = func.coalesce(push_ledger.c.remote_id, sighting.remote_id)
    return (
        this.where(push_ledger.c.seen_at.is_(None)).values(seen_at=sighting.seen_at, remote_id=remote_id),
        this.where(push_ledger.c.state.in_(UNSURE)).values(
            state=State.CREATED, settled_at=datetime.now(UTC), message="found in the service's data"
        ),
    )


class PushedFile(Struct, frozen=True):
    """One row of ``push_files``: the state of a file (service, kind, path) after its last push.

    ``unsent`` counts rows that a later push will send or settle by itself; ``reason`` is why they were not sent.
    ``waits`` counts rows that refer to something whose id is unknown. ``rejects`` is the name of the file that has all
    ``rejected`` rows, if there is one; its push makes them ``corrected``. ``ended_at`` is None while the push runs, and
    if it was killed.
    """

    service: str
    kind: str
    path: str
    sha256: str
    run_id: str
    unsent: int
    waits: int
    reason: str | None
    began_at: datetime
    ended_at: datetime | None = None
    rejected: int = 0
    corrected: int = 0
    rejects: str | None = None

    @property
    def to_correct(self) -> int:
        """Return how many rejected rows are not corrected yet."""
        return max(0, self.rejected - self.corrected)


class PushFiles(Guarded):
    """The pushed files.

    A row is written with the plan, as if nothing had been sent, and again at the end of the push, so the rows that a
    killed push left are known too.
    """

    def of_kind(self, service: str, kind: str) -> dict[str, PushedFile]:
        """Return every file of the kind, by path."""
        query = select(push_files).where(push_files.c.service == service, push_files.c.kind == kind)
        return {row.path: PushedFile(**row._mapping) for row in self._rows(query)}

    def unfinished(self) -> tuple[PushedFile, ...]:
        """Return the files with unsent, waiting or rejected rows, oldest first."""
        is_open = or_(push_files.c.unsent > 0, push_files.c.waits > 0, push_files.c.rejected > push_files.c.corrected)
        query = select(push_files).where(is_open).order_by(push_files.c.began_at, push_files.c.path)
        return tuple(PushedFile(**row._mapping) for row in self._rows(query))

    def record(self, file: PushedFile) -> None:
        """Record the state of a file's push; it replaces the previous row."""
        self._put(push_files, [asdict(file)])

    def mark_corrected(self, file: PushedFile) -> None:
        """Mark as corrected the rejected rows in whose place this file is pushed.

        They are those of another file, if this one has its rejected rows, wherever it is; or its own, if it was pushed
        as another kind before.
        """
        is_source = or_(
            and_(push_files.c.rejects == Path(file.path).name, push_files.c.path != file.path),
            and_(push_files.c.path == file.path, push_files.c.kind != file.kind),
        )
        self._execute(update(push_files).where(is_source).values(corrected=push_files.c.rejected))


class CreatesJournal:
    """``creates.jsonl``: the ledger's one other copy, in case the state store is lost.

    Each row of the ledger is appended as one line of JSON and synced to disk, an intent before its request. Of several
    lines of a row the greatest ``Entry.version`` counts. Pushes of different kinds may write at the same time.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def append(self, written: Iterable[Entry]) -> None:
        """Append rows; they are on disk when this returns."""
        with self._locked() as file:
            if file.seek(0, os.SEEK_END):
                file.seek(-1, os.SEEK_END)
                file.write(b"\n" if file.read(1) != b"\n" else b"")
            file.write(lines_of(written))
            file.flush()
            os.fsync(file.fileno())

    def complete(self, known: Sequence[Entry]) -> list[Entry]:
        """Return the newest version of each row, of the ledger and of the file.

        Rewrite the file with one line a row if it lacks a version, has a damaged line, or has twice as many lines as
        rows.
        """
        with self._locked() as file:
            lines, damaged = entries_in(file.read(), str(self._path))
            rows = newest_entries((*known, *lines))
            if damaged or len(lines) > 2 * len(rows) or set(newest_entries(lines)) != set(rows):
                with accessing(self._path):
                    write_whole(self._path, lines_of(rows))
            return rows

    @contextmanager
    def _locked(self) -> Iterator[IO[bytes]]:
        """Open the file, created if it does not exist, and lock it; open it again if it was rewritten meanwhile."""
        with accessing(self._path):
            while True:
                descriptor = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT, PRIVATE_FILE)
                with open(descriptor, "r+b") as file:  # noqa: PTH123 - for the mode
                    fcntl.flock(file, fcntl.LOCK_EX)
                    if self._path.exists() and os.path.samestat(os.fstat(descriptor), self._path.stat()):
                        yield file
                        return


def entries_in(journal: bytes, where: str) -> tuple[list[Entry], int]:
    """Return the rows of all lines of a journal, and the number of damaged lines; ``where`` names it in warnings.

    Skip a last line that a kill cut off: if it is an intent, its request was not sent.
    """
    read = []
    *lines, _cut = journal.split(b"\n")
    for number, line in enumerate(lines, 1):
        try:
            read.append(_ENTRY.decode(line))
        except (msgspec.MsgspecError, UnicodeDecodeError):
            logger.warning(
                "line %(line)d of %(file)s is damaged and is skipped. This matters only if the state store was lost "
                "too: a push then stops at products that the ledger lacks",
                {"line": number, "file": where},
            )
    return read, len(lines) - len(read)


def newest_entries(lines: Iterable[Entry]) -> list[Entry]:
    """Return the newest version of each row."""
    newest: dict[tuple[str, str, str], Entry] = {}
    for entry in lines:
        if entry.name not in newest or entry.version >= newest[entry.name].version:
            newest[entry.name] = entry
    return list(newest.values())


def creates_since(lacks: int) -> str:
    """Describe the creates that the ledger may lack, by the value of ``LEDGER_LACKS``."""
    return f"creates after {minute(datetime.fromtimestamp(lacks, UTC))}" if lacks else "any create"


def lines_of(entries: Iterable[Entry]) -> bytes:
    """Return these rows as lines of a journal."""
    return b"".join(msgspec.json.encode(entry) + b"\n" for entry in entries)
