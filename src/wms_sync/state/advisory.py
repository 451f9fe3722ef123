"""The lock if the state store is in PostgreSQL: an advisory lock, which works between processes on different machines.

Each lock has its own session, which does nothing else. PostgreSQL releases the lock when the session ends: at once
after a kill, and within a minute after a machine is gone. The statement that took a lock names its holder, and
``pg_stat_activity`` shows that statement to waiting processes.

Some poolers (PgBouncer with ``pool_mode = transaction``) give a session to another client between two transactions.
Such a pooler is refused, because no process would hold the lock.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any

import psycopg
from psycopg.sql import SQL, Composed, Literal
from sqlalchemy.engine import make_url

from wms_sync import sql_files
from wms_sync.errors import SettingsError
from wms_sync.state.engine import refuse_torn_password, usable_url
from wms_sync.state.errors import StateError, silence
from wms_sync.state.holder import UNKNOWN, WRITER, Held, Holder, repeated, signed_by

SIGNATURE = re.compile(r"'(\{.*\})' as who", re.DOTALL)


class PostgresLock:
    """The locks of the installation that has its state store at ``url``."""

    def __init__(self, url: str) -> None:
        self._url = url

    @contextmanager
    def hold(self, purpose: str, *, what: str = WRITER, run_id: str | None = None) -> Iterator[Held]:
        """Hold the lock on ``what`` inside the block. While another process holds it, log that holder."""
        with _connected(self._url) as connection:
            connection.execute(_statement("lock/session.sql"))
            _refuse_shared_sessions(self._url, connection)
            me = repeated(lambda: _taken(connection, what, purpose, run_id), lambda: _holder(connection, what))
            try:
                yield Held(what, me)
            finally:
                with suppress(psycopg.Error):  # a lost session holds no lock
                    connection.execute("select pg_advisory_unlock_all()")

    def holder(self, *, what: str = WRITER) -> Holder | None:
        """Return the holder of the lock on ``what``, None if it is free. Never waits."""
        with _connected(self._url) as connection:
            return _holder(connection, what)


@contextmanager
def _connected(url: str) -> Iterator[psycopg.Connection[Any]]:
    """Open a separate session. Raise ``StateError`` or ``SettingsError``, without a password."""
    with usable_url():
        refuse_torn_password(make_url(url))
        dialect = make_url(url).set(drivername="postgresql+psycopg").get_dialect()()
        given, named = dialect.create_connect_args(make_url(url))
    alive = {"keepalives": 1, "keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}
    try:
        with closing(psycopg.connect(*given, **{**alive, **named, "autocommit": True})) as connection:
            yield connection
    except psycopg.ProgrammingError as error:
        if not str(error).startswith("invalid connection option"):
            raise
        raise SettingsError(
            f"WMS_STATE_URL cannot be used ({str(error).strip()}): PostgreSQL does not have this option."
        ) from None
    except psycopg.OperationalError as error:
        raise silence(str(error)) from None


def _refuse_shared_sessions(url: str, connection: psycopg.Connection[Any]) -> None:
    """Raise ``StateError`` if a pooler shares this session's connection to PostgreSQL.

    PostgreSQL reports the id of its own process to the client; a pooler reports a different number.
    """
    first = _server(connection)
    if first == connection.info.backend_pid:
        return
    with _connected(url) as other, other.transaction():
        shared = _server(other) == first or _server(connection) != first
    if shared:
        raise StateError(
            "The lock cannot be taken: WMS_STATE_URL leads to a pooler that shares sessions (PgBouncer with pool_mode "
            "transaction or statement), so no process would hold it. Nothing was read or written. Point WMS_STATE_URL "
            "to PostgreSQL itself, or to a pool with pool_mode session; then run again."
        )


def _server(connection: psycopg.Connection[Any]) -> int:
    return int(_value(connection, SQL("select pg_backend_pid()")))


def _taken(connection: psycopg.Connection[Any], what: str, purpose: str, run_id: str | None) -> Holder | None:
    """Take the lock if it is free and return this process; None if another session has it."""
    me = Holder.now(purpose, run_id)
    take = _statement("lock/take.sql").format(what=Literal(what), who=Literal(me.signature.decode()))
    return me if _value(connection, take) else None


def _holder(connection: psycopg.Connection[Any], what: str) -> Holder | None:
    row = connection.execute(_statement("lock/holder.sql").format(what=Literal(what))).fetchone()
    if row is None:
        return None
    found = SIGNATURE.search(row[0] or "")
    return UNKNOWN if found is None else signed_by(found[1].replace("''", "'").replace("\\\\", "\\"))


def _value(connection: psycopg.Connection[Any], statement: SQL | Composed) -> Any:  # noqa: ANN401 - as it comes
    row = connection.execute(statement).fetchone()
    assert row is not None  # noqa: S101 - a select of one row
    return row[0]


def _statement(path: str) -> SQL:
    return SQL(sql_files.body(path))
