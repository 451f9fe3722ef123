"""Open the database of ``WMS_STATE_URL`` (SQLite or PostgreSQL) and migrate its tables."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sqlalchemy import (
    URL,
    Connection,
    Dialect,
    Engine,
    Executable,
    Row,
    Select,
    Table,
    create_engine,
    delete,
    event,
    false,
)
from sqlalchemy.engine import ExceptionContext, make_url
from sqlalchemy.exc import (
    ArgumentError,
    DBAPIError,
    InterfaceError,
    NoSuchModuleError,
    OperationalError,
)

from wms_sync.errors import SettingsError
from wms_sync.state.errors import StateBusy, StateDamaged, StateError, StateNewer, StateRefused, silence
from wms_sync.state.schema import METADATA, is_current, migrate, unknown
from wms_sync.storage.durable import Inaccessible, is_full, make_private, make_private_file, unusable

BUSY_SECONDS = 30
"""The time that SQLite waits for a write by another process."""
DAMAGED, READ_ONLY, BUSY = ("SQLITE_CORRUPT", "SQLITE_NOTADB"), "SQLITE_READONLY", ("SQLITE_BUSY", "SQLITE_LOCKED")
Values = dict[str, Any]
"""A row to write, by column."""
REFUSED = ("SQLITE_CANTOPEN", "SQLITE_FULL", "SQLITE_IOERR")


class StatePart:
    """Base of the classes that read or write tables of the state store, all with the engine of the run or command."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    @classmethod
    def opened(cls, url: str) -> Self:
        """Open the database. Close it, or use ``with``. Raise the errors of ``open_engine``."""
        return cls(open_engine(url))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the database connections."""
        self.engine.dispose()

    def _reading(self) -> Connection:
        return self.engine.connect()

    def _rows(self, query: Select[*tuple[Any, ...]]) -> Sequence[Row[*tuple[Any, ...]]]:
        """Return the rows of a query."""
        with self._reading() as connection:
            return connection.execute(query).all()

    def _value(self, query: Select[Any]) -> Any | None:  # noqa: ANN401 - of the column's type
        """Return the first value of the first row of a query; None if there is no row."""
        with self._reading() as connection:
            return connection.scalar(query)

    def _transaction(self) -> AbstractContextManager[Connection]:
        return self.engine.begin()

    def _execute(self, *statements: Executable) -> None:
        """Execute statements that write, in one transaction."""
        with self._transaction() as connection:
            for statement in statements:
                connection.execute(statement)

    def _put(self, table: Table, rows: Sequence[Values]) -> None:
        """Write rows in one transaction, each in place of the row with its key."""
        if rows:
            insert = insert_of(self.engine, table)
            changed = {name: column for name, column in insert.excluded.items() if not table.c[name].primary_key}
            with self._transaction() as connection:
                connection.execute(
                    insert.on_conflict_do_update(index_elements=[*table.primary_key], set_=changed), rows
                )


def open_engine(url: str) -> Engine:
    """Return an engine with migrated tables. The caller must dispose of the engine.

    Raise ``SettingsError``, ``StateError`` (such as ``StateOlder``) or ``Inaccessible``; no message shows a password.
    """
    try:
        engine = _engine(url)
    except OSError as error:
        raise StateError(f"The state store could not be opened: {unusable(error) or error}") from None
    try:
        with engine.begin() as connection:
            if not is_current(connection):
                _wait_for_others(connection)
                migrate(connection)
    except BaseException as error:
        engine.dispose()
        if isinstance(error, DBAPIError):
            raise silent(error) or StateError(
                f"The state store could not be opened ({error.orig}). Check WMS_STATE_URL."
            ) from None
        raise
    return engine


def try_writing(engine: Engine) -> None:
    """Delete zero rows of each table, to test writing. Raise ``StateError`` or ``Inaccessible`` if it fails."""
    try:
        with engine.begin() as connection:
            for table in METADATA.sorted_tables:
                connection.execute(delete(table).where(false()))
    except DBAPIError as error:
        raise StateError(f"The state store cannot be written: {error.orig}") from None


def refuse_older(url: str) -> None:
    """Raise ``StateOlder`` if an older release wrote the state store. Do not create a missing SQLite file."""
    with usable_url():
        parsed = make_url(url)
    if parsed.get_backend_name() != "sqlite" or Path(parsed.database or "").exists():
        open_engine(url).dispose()


def refuse_newer(engine: Engine) -> None:
    """Raise ``StateNewer`` if a newer release has migrated the state store, whose content is unknown here."""
    with engine.connect() as connection:
        if names := unknown(connection):
            raise StateNewer(names)


def insert_of(engine: Engine, table: Table) -> Any:  # noqa: ANN401 - an insert of either dialect
    """Return an insert that supports ``on conflict``, in the dialect of the database."""
    if engine.dialect.name == "sqlite":
        from sqlalchemy.dialects.sqlite import insert
    else:  # its drivers take long to import
        from sqlalchemy.dialects.postgresql import insert  # type: ignore[assignment]
    return insert(table)


def add_rows(connection: Connection, table: Table, rows: Sequence[Values]) -> None:
    """Insert rows, if there are any."""
    if rows:
        connection.execute(table.insert(), rows)


def _wait_for_others(connection: Connection) -> None:
    """Let no other process migrate until the transaction ends: two runs may find the state store lost at once."""
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("begin immediate")
    else:
        connection.exec_driver_sql("select pg_advisory_xact_lock(hashtext('wms-sync: migrations'))")


def _engine(url: str) -> Engine:
    with usable_url():
        parsed = make_url(url)
        refuse_torn_password(parsed)
        engine = create_engine(parsed, pool_pre_ping=parsed.get_backend_name() != "sqlite")
    if parsed.get_backend_name() != "sqlite":
        event.listen(engine, "handle_error", _refuse_as_postgresql_does)
    else:
        if parsed.database in {None, "", ":memory:"}:
            raise SettingsError(
                "WMS_STATE_URL does not name a file. A database in memory is lost at the end of each run: set "
                "sqlite:///path/state.db, or leave WMS_STATE_URL unset."
            )
        path = Path(str(parsed.database))
        make_private(path.parent)
        make_private_file(path)  # SQLite creates its log with the same mode
        event.listen(engine, "do_connect", _connecting(path))
        event.listen(engine, "handle_error", _refusals_of(path))
    return engine


@contextmanager
def usable_url() -> Iterator[None]:
    """Raise ``SettingsError`` for a URL that SQLAlchemy cannot use."""
    try:
        yield
    except (ArgumentError, NoSuchModuleError, ModuleNotFoundError, ValueError) as error:
        # The driver's message is left out: the port or host in it may be part of the password.
        raise SettingsError(
            f"WMS_STATE_URL cannot be used ({type(error).__name__}). It should look like sqlite:///path/state.db or "
            "postgresql+psycopg://user:password@host/database, with @, : and / of a password written %40, %3A and %2F."
        ) from None


def refuse_torn_password(url: URL) -> None:
    """Raise ``ValueError`` for an unescaped @ in the password: drivers would show part of the password as the host."""
    if "@" in (url.host or ""):
        raise ValueError


def _refusals_of(path: Path) -> Any:  # noqa: ANN401 - a listener of SQLAlchemy
    """Return a listener that raises ``StateDamaged``, ``StateBusy`` or ``Inaccessible`` for SQLite's errors."""

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
    """Return the error for a file that SQLite cannot open or write; SQLite reports a full disk in many ways."""
    return Inaccessible(path, reason, is_full=is_full(path))


def silent(error: Exception) -> StateError | None:
    """Return the error to raise if PostgreSQL or the network ended the session; None for any other error."""
    if not isinstance(error, DBAPIError) or isinstance(error.orig, sqlite3.Error):
        return None
    # PostgreSQL ends an idle session with an error of another class; one of class 54 is about the statement alone
    is_lost = isinstance(error, OperationalError | InterfaceError) and not _code_of(error.orig).startswith("54")
    is_ended = is_lost or error.connection_invalidated
    return silence(str(error.orig)) if is_ended else None


def _refuse_as_postgresql_does(context: ExceptionContext) -> None:
    """Raise ``StateRefused`` for errors that only the database's administrator can fix."""
    reason = context.original_exception
    if (code := _code_of(reason)) in StateRefused.MENDED_BY:
        raise StateRefused(code, str(reason))


def _code_of(reason: BaseException | None) -> str:
    """Return PostgreSQL's code for an error of psycopg or psycopg2."""
    return str(getattr(reason, "sqlstate", None) or getattr(reason, "pgcode", None))


def _connecting(path: Path) -> Any:  # noqa: ANN401 - a listener of SQLAlchemy
    """Return a listener that opens the file, read-only if SQLite cannot create its log: the disk is full or read-only.

    SQLite calls this mode immutable and reads only the file, so it is not used if a kill left a log with transactions.
    """

    def connect(dialect: Dialect, _: object, arguments: Any, options: Any) -> Any:  # noqa: ANN401 - of the DBAPI
        connection: Any = dialect.connect(*arguments, **options)
        try:
            try:
                connection.execute("pragma journal_mode = wal")
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:  # else another process is setting it in a new file
                    raise
            connection.execute("pragma synchronous = full")  # a power failure must not lose the intent of a create
            connection.execute(f"pragma busy_timeout = {BUSY_SECONDS * 1000}")
            connection.execute("pragma foreign_keys = on")
        except sqlite3.Error as error:
            connection.close()
            log = path.with_name(f"{path.name}-wal")
            has_log = log.exists() and log.stat().st_size > 0
            if not error.sqlite_errorname.startswith((READ_ONLY, *REFUSED)) or has_log:
                raise
            return dialect.connect(f"{path.absolute().as_uri()}?immutable=1", **{**options, "uri": True})
        return connection

    return connect
