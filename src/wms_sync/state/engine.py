"""Open the database of ``WMS_STATE_URL`` (SQLite or PostgreSQL) and migrate its tables."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Any, Literal, Self, TypeGuard
from weakref import WeakSet

from msgspec import Struct
from sqlalchemy import URL, Connection, Dialect, Engine, Table, create_engine, delete, event, false
from sqlalchemy.engine import ExceptionContext, make_url
from sqlalchemy.exc import (
    ArgumentError,
    DBAPIError,
    DisconnectionError,
    InterfaceError,
    NoSuchModuleError,
    OperationalError,
)
from sqlalchemy.pool import ConnectionPoolEntry

from wms_sync.state.errors import StateBusy, StateDamaged, StateError, StateNewer, StateRefused, StateUrlError, silence
from wms_sync.state.schema import METADATA, migrate, unknown
from wms_sync.storage.durable import Inaccessible, is_full, make_private, make_private_file, unusable

PAUSE_SECONDS = 1.0
"""A connection that was used within this time is not asked whether it is still there."""
_USED_AT = "used_at"
BUSY_SECONDS = 30
"""How long SQLite waits for another process that is in the middle of a write."""
DAMAGED, READ_ONLY, BUSY = ("SQLITE_CORRUPT", "SQLITE_NOTADB"), "SQLITE_READONLY", ("SQLITE_BUSY", "SQLITE_LOCKED")
REFUSED = ("SQLITE_CANTOPEN", "SQLITE_FULL", "SQLITE_IOERR")
Durable = Literal["normal", "full"]
"""SQLite's ``synchronous``: with ``normal`` a power failure may lose the last transactions; a kill does not."""


class Opened:
    """Base of what reads or writes tables of the state store. Close it, or use ``with``."""

    def __init__(self, url: str, durable: Durable = "normal") -> None:
        self._url = url
        self._engine = open_engine(url, durable)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the database connections."""
        close_engine(self._engine)

    def _reading(self) -> Connection:
        return reading(self._engine)


class _Shared:
    """The engines that are open in this process, each with the number of its users. Thread-safe.

    A run opens the state store twenty times, mostly while it has it open: to connect, to compile every statement anew
    and to close, which empties SQLite's log, took a tenth of a second of a night.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users: dict[_Place, tuple[Engine, int]] = {}

    def take(self, url: str, durable: Durable) -> Engine:
        """Return the engine that is open there, or a new one."""
        with self._lock:
            engine, users = self._users.get(_Place.of(url, durable)) or (_engine(url, durable), 0)
            self._users[_Place.of(url, durable)] = engine, users + 1  # by now the file exists
            return engine

    def give_back(self, engine: Engine) -> None:
        """Close the engine once nobody uses it any more."""
        with self._lock:
            place, users = next(
                ((at, users) for at, (known, users) in self._users.items() if known is engine), (None, 0)
            )
            if place is not None and users > 1:
                self._users[place] = engine, users - 1
                return
            if place is not None:
                del self._users[place]
        engine.dispose()


class _Place(Struct, frozen=True):
    """A state store as it is asked for; of SQLite the very file, because it may have been deleted and made anew.

    What is durable there is for whoever writes to say; PostgreSQL decides it for all.
    """

    url: str
    durable: Durable
    file: tuple[int, int] | None

    @classmethod
    def of(cls, url: str, durable: Durable) -> Self:
        return cls(url, durable if url.startswith("sqlite") else "normal", _file(url))


def _file(url: str) -> tuple[int, int] | None:
    try:
        found = Path(make_url(url).database or "").stat()
    except (OSError, ArgumentError, ValueError):
        return None
    return found.st_dev, found.st_ino


_shared = _Shared()
_migrated: WeakSet[Engine] = WeakSet()
"""Engines whose tables need not be looked at again: they are as a run opens them for the twentieth time."""


def open_engine(url: str, durable: Durable = "normal") -> Engine:
    """Return an engine with migrated tables, which ``close_engine`` closes; it may have other users in this process.

    Raise ``StateUrlError`` or ``StateError``, which show no password; ``StateOlder`` is one.
    """
    try:
        engine = _shared.take(url, durable)
    except OSError as error:
        raise StateError(f"The state store could not be opened: {unusable(error) or error}") from None
    try:
        if engine not in _migrated:
            with engine.begin() as connection:
                migrate(connection)
            _migrated.add(engine)
    except BaseException as error:
        close_engine(engine)
        if isinstance(error, DBAPIError):
            raise _unopened(error) from None
        raise
    return engine


def reading(engine: Engine) -> Connection:
    """Return a connection to read with, of which each statement sees what is committed by then.

    PostgreSQL is asked without a transaction, whose begin and end would be two more requests.
    """
    connection = engine.connect()
    if engine.dialect.name == "sqlite":
        return connection
    return connection.execution_options(isolation_level="AUTOCOMMIT")


def try_writing(url: str) -> None:
    """Delete no row of each table, which shows whether rows can be written. Raise ``StateError`` if not."""
    engine = open_engine(url)
    try:
        with engine.begin() as connection:
            for table in METADATA.sorted_tables:
                connection.execute(delete(table).where(false()))
    except DBAPIError as error:
        raise StateError(f"The state store cannot be written: {error.orig}") from None
    finally:
        close_engine(engine)


def close_engine(engine: Engine) -> None:
    """Close the connections of an engine that ``open_engine`` returned, unless somebody else uses it."""
    _shared.give_back(engine)


def refuse_older(url: str) -> None:
    """Raise ``StateOlder`` if an older release wrote the state store; if there is none, none is made."""
    with usable_url():
        parsed = make_url(url)
    if parsed.get_backend_name() != "sqlite" or Path(parsed.database or "").exists():
        close_engine(open_engine(url))


def refuse_newer(url: str) -> None:
    """Raise ``StateNewer`` if a newer release has migrated the state store: what it keeps there is not known here."""
    engine = open_engine(url)
    try:
        with reading(engine) as connection:
            if names := unknown(connection):
                raise StateNewer(names)
    finally:
        close_engine(engine)


def insert_of(engine: Engine, table: Table) -> Any:  # noqa: ANN401 - an insert of either dialect
    """Return an insert that can say what to do on a conflict, in the dialect of the database."""
    if engine.dialect.name == "sqlite":
        from sqlalchemy.dialects.sqlite import insert
    else:  # whose drivers take long to import
        from sqlalchemy.dialects.postgresql import insert  # type: ignore[assignment]
    return insert(table)


def _engine(url: str, durable: Durable) -> Engine:
    with usable_url():
        parsed = make_url(url)
        refuse_torn_password(parsed)
        engine = create_engine(parsed)
    if parsed.get_backend_name() != "sqlite":
        _ping_after_a_pause(engine)
        event.listen(engine, "handle_error", _refuse_as_postgresql_does)
    else:
        if parsed.database in {None, "", ":memory:"}:
            raise StateUrlError(
                "WMS_STATE_URL names no file. A database in memory is lost at the end of each run: set "
                "sqlite:///path/state.db, or leave WMS_STATE_URL unset."
            )
        path = Path(str(parsed.database))
        make_private(path.parent)
        make_private_file(path)  # SQLite creates its log with the same mode
        event.listen(engine, "do_connect", _connecting(path, durable))
        event.listen(engine, "handle_error", _refusals_of(path))
    return engine


@contextmanager
def usable_url() -> Iterator[None]:
    """Raise ``StateUrlError`` for a URL that SQLAlchemy cannot use."""
    try:
        yield
    except (ArgumentError, NoSuchModuleError, ModuleNotFoundError, ValueError) as error:
        # The driver's message is left out: what it calls a port or host may be part of the password.
        raise StateUrlError(
            f"WMS_STATE_URL cannot be used ({type(error).__name__}). It should look like sqlite:///path/state.db or "
            "postgresql+psycopg://user:password@host/database, with @, : and / of a password written %40, %3A and %2F."
        ) from None


def refuse_torn_password(url: URL) -> None:
    """Raise ``ValueError`` for an unescaped @ in the password: drivers would show the rest of it as the host."""
    if "@" in (url.host or ""):
        raise ValueError


def _ping_after_a_pause(engine: Engine) -> None:
    """Replace a connection that was lost while nobody used it; to ask each time would be a request a statement."""

    def note(_: object, record: ConnectionPoolEntry) -> None:
        record.info[_USED_AT] = monotonic()

    def ping(connection: Any, record: ConnectionPoolEntry, _: object) -> None:  # noqa: ANN401 - a DBAPI connection
        if monotonic() - record.info.get(_USED_AT, monotonic()) < PAUSE_SECONDS:
            return
        try:
            engine.dialect.do_ping(connection)
        except engine.dialect.loaded_dbapi.Error as error:
            raise DisconnectionError from error  # the pool connects anew

    event.listen(engine, "checkin", note)
    event.listen(engine, "checkout", ping)


def _refusals_of(path: Path) -> Any:  # noqa: ANN401 - a listener of SQLAlchemy
    """Raise ``StateDamaged``, ``StateBusy`` or ``Inaccessible`` for what SQLite says of its file."""

    def refuse(context: ExceptionContext) -> None:
        reason = context.original_exception
        name = getattr(reason, "sqlite_errorname", "")
        if name.startswith(DAMAGED):
            raise StateDamaged(path, str(reason))
        if name.startswith(BUSY):
            raise StateBusy(path, str(reason))
        if name.startswith((READ_ONLY, *REFUSED)):
            raise refused(path, "it is read-only" if name.startswith(READ_ONLY) else str(reason))

    return refuse


def refused(path: Path, reason: str) -> Inaccessible:
    """Return what there is to say where SQLite does not open or write a file, for which a full disk has many names."""
    return Inaccessible(path, reason, is_full=is_full(path))


def reason_of(error: DBAPIError | sqlite3.Error) -> BaseException | None:
    """Return what the database itself said, without the statement that SQLAlchemy adds."""
    return error.orig if isinstance(error, DBAPIError) else error


def is_lost(error: Exception) -> TypeGuard[DBAPIError]:
    """Return whether the error says that PostgreSQL has ended the session or cannot be reached."""
    return isinstance(error, OperationalError | InterfaceError) and not isinstance(error.orig, sqlite3.Error)


def silent(error: Exception) -> StateError | None:
    """Return what there is to say if PostgreSQL has ended the session or the network has; None for any other error."""
    return silence(str(error.orig)) if is_lost(error) else None


def _unopened(error: DBAPIError) -> StateError:
    return silent(error) or StateError(f"The state store could not be opened: {error.orig}")


def _refuse_as_postgresql_does(context: ExceptionContext) -> None:
    """Raise ``StateRefused`` for what only somebody in charge of the database can mend."""
    reason = context.original_exception
    code = str(getattr(reason, "sqlstate", None) or getattr(reason, "pgcode", None))  # of psycopg, and of psycopg2
    if code in StateRefused.MENDED_BY:
        raise StateRefused(code, str(reason))


def _connecting(path: Path, durable: Durable) -> Any:  # noqa: ANN401 - a listener of SQLAlchemy
    """Open a file for reading only where its disk is full or read-only, so that SQLite can make no log beside it.

    SQLite calls that immutable, and reads nothing but the file: so not if a kill has left a log with transactions.
    """

    def connect(dialect: Dialect, _: object, arguments: Any, options: Any) -> Any:  # noqa: ANN401 - of the DBAPI
        connection: Any = dialect.connect(*arguments, **options)
        try:
            connection.execute("pragma journal_mode = wal")
            connection.execute(f"pragma synchronous = {durable}")
            connection.execute(f"pragma busy_timeout = {BUSY_SECONDS * 1000}")
            connection.execute("pragma foreign_keys = on")
        except sqlite3.Error as error:
            connection.close()
            if not error.sqlite_errorname.startswith((READ_ONLY, *REFUSED)) or _has_log(path):
                raise
            return dialect.connect(f"{path.absolute().as_uri()}?immutable=1", **{**options, "uri": True})
        return connection

    return connect


def _has_log(path: Path) -> bool:
    log = path.with_name(f"{path.name}-wal")
    return log.exists() and log.stat().st_size > 0
