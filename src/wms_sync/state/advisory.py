"""Locks between processes on any machines: advisory locks of the PostgreSQL that holds the state.

Each lock is held by a session of its own, which does nothing else. PostgreSQL serves those who wait in the order in
which they came, and frees the lock when the session ends: at once after a kill, and within a minute when a machine is
gone. Who holds a lock stands in the statement that took it, which ``pg_stat_activity`` shows to those who wait.

Between two transactions some poolers (PgBouncer with ``pool_mode = transaction``) give a session to somebody else. A
lock would then be nobody's, so such a pooler is refused.
"""

from __future__ import annotations

import re
import select
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any, LiteralString

import psycopg
from psycopg import pq
from psycopg.sql import SQL, Composed, Literal
from sqlalchemy.engine import make_url

from wms_sync import sql_files
from wms_sync.state.engine import usable_url
from wms_sync.state.errors import SessionLost, StateError, StateUrlError, silence
from wms_sync.state.holders import POLL_SECONDS, UNKNOWN, WRITER, Held, Holder, Waiting, signed_by

LOCKS, RUNS = "wms-sync lock", "wms-sync run"
"""Groups of names, so that no run's id is taken for the name of a lock."""
SIGNATURE = re.compile(r"'(\{.*\})' as who", re.DOTALL)


class PostgresLock:
    """The locks of the installation that has its state store at ``url``."""

    def __init__(self, url: str) -> None:
        self._url = url

    @contextmanager
    def hold(self, purpose: str, *, what: str = WRITER) -> Iterator[Held]:
        """Hold the lock on ``what`` inside the block. While another process is ahead, log who it is."""
        me = Holder.now(purpose)
        with _connected(self._url) as connection:
            connection.execute(_statement("lock/session.sql"))
            _refuse_shared_sessions(self._url, connection)
            self._take(connection, what, me)
            with _released(connection):
                yield HeldBySession(me, connection)

    def holder(self, *, what: str = WRITER) -> Holder | None:
        """Return who holds the lock on ``what``, None if nobody does. It never waits."""
        return self._holder(LOCKS, what)

    @contextmanager
    def mark_running(self, run_id: str) -> Iterator[None]:
        """Mark this run as alive for the length of the block, whoever started it; ``is_running`` looks at the mark."""
        with _connected(self._url) as connection:
            connection.execute(_statement("lock/session.sql"))
            connection.execute(_taking("pg_advisory_lock_shared", RUNS, run_id, Holder.now(run_id)))  # never waits
            with _released(connection):
                yield

    def is_running(self, run_id: str) -> bool:
        """Return whether the process of this run is alive."""
        return self._holder(RUNS, run_id) is not None

    def clear(self, run_id: str) -> None:
        """Do nothing: a session that has ended leaves no mark."""

    def _take(self, connection: psycopg.Connection[Any], what: str, me: Holder) -> None:
        statement = _taking("pg_advisory_lock", LOCKS, what, me).as_bytes(connection)
        session, waiting = connection.pgconn, Waiting()
        session.send_query(statement)
        while session.is_busy():
            if _has_come(connection, POLL_SECONDS):
                session.consume_input()
            elif (ahead := self.holder(what=what)) and ahead != me:  # else it has just become free, or ours
                waiting.tell(ahead)
        result = session.get_result()
        if result is None or result.status != pq.ExecStatus.TUPLES_OK:
            reason = result.error_message.decode(errors="replace").strip() if result else "no answer"
            raise StateError(f"The lock cannot be taken, since PostgreSQL has ended the wait ({reason}). Run again.")
        session.get_result()

    def _holder(self, group: str, what: str) -> Holder | None:
        query = _statement("lock/holder.sql").format(group=Literal(group), what=Literal(what))
        with _connected(self._url) as connection:
            row = connection.execute(query).fetchone()
        if row is None:
            return None
        found = SIGNATURE.search(row[0] or "")
        return UNKNOWN if found is None else signed_by(found[1].replace("''", "'").replace("\\\\", "\\"))


class HeldBySession(Held):
    """A lock that is held by a session. Thread-safe."""

    def __init__(self, me: Holder, connection: psycopg.Connection[Any]) -> None:
        super().__init__(me)
        self._connection = connection
        self._lock = threading.Lock()

    def check(self) -> None:
        """Raise ``SessionLost`` if the session has ended, without a request: PostgreSQL closes its end then."""
        with self._lock:
            try:
                while _has_come(self._connection, 0):  # first the reason, then the end
                    self._connection.pgconn.consume_input()
            except psycopg.OperationalError as error:
                raise SessionLost(str(self.me), str(error)) from None
            if self._connection.pgconn.status != pq.ConnStatus.OK:
                raise SessionLost(str(self.me), "it has ended")


@contextmanager
def _connected(url: str) -> Iterator[psycopg.Connection[Any]]:
    """Open a session of its own. Raise ``StateError``, which shows no password."""
    with usable_url():
        dialect = make_url(url).set(drivername="postgresql+psycopg").get_dialect()()
        given, named = dialect.create_connect_args(make_url(url))
    alive = {"keepalives": 1, "keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}
    try:
        with closing(psycopg.connect(*given, **{**alive, **named, "autocommit": True})) as connection:
            yield connection
    except psycopg.ProgrammingError as error:
        if not str(error).startswith("invalid connection option"):
            raise
        raise StateUrlError(
            f"WMS_STATE_URL cannot be used ({str(error).strip()}): PostgreSQL knows no such option."
        ) from None
    except psycopg.OperationalError as error:
        raise silence(str(error)) from None


@contextmanager
def _released(connection: psycopg.Connection[Any]) -> Iterator[None]:
    """Give back at the end of the block what the session has locked; a session that is lost has locked nothing."""
    try:
        yield
    finally:
        with suppress(psycopg.Error):
            connection.execute("select pg_advisory_unlock_all()")


def _refuse_shared_sessions(url: str, connection: psycopg.Connection[Any]) -> None:
    """Raise ``StateError`` if a pooler gives this session's place in PostgreSQL to others.

    PostgreSQL tells who connects which process serves it. A pooler tells something else.
    """
    first = _server(connection)
    if first == connection.info.backend_pid:
        return
    with _connected(url) as other, other.transaction():
        shared = _server(other) == first or _server(connection) != first
    if shared:
        raise StateError(
            "The lock cannot be taken: WMS_STATE_URL leads to a pooler that shares sessions (PgBouncer with pool_mode "
            "transaction or statement), and a lock would be nobody's. Let it lead to PostgreSQL itself, or to a pool "
            "whose pool_mode is session; then run again. Nothing was read or written."
        )


def _server(connection: psycopg.Connection[Any]) -> int:
    row = connection.execute("select pg_backend_pid()").fetchone()
    assert row is not None  # noqa: S101 - a select of one row
    return int(row[0])


def _taking(taker: LiteralString, group: str, what: str, me: Holder) -> Composed:
    return _statement("lock/take.sql").format(
        taker=SQL(taker), group=Literal(group), what=Literal(what), who=Literal(me.signature)
    )


def _statement(path: str) -> SQL:
    return SQL(sql_files.body(path))


def _has_come(connection: psycopg.Connection[Any], seconds: float) -> bool:
    """Wait so long for something from PostgreSQL; the end of the session counts."""
    waiting = select.poll()
    waiting.register(connection.fileno(), select.POLLIN)
    return bool(waiting.poll(seconds * 1000))
