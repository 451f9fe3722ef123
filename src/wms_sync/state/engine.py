"""Opening the database of ``WMS_STATE_URL``: SQLite or PostgreSQL, its tables brought to the newest step."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from sqlalchemy import Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, OperationalError

from wms_sync.state.errors import StateError, StateUrlError
from wms_sync.state.schema import migrate

Durable = Literal["normal", "full"]
"""SQLite's ``synchronous``: ``normal`` may forget the last transactions in a loss of power, though not in a kill."""


def opened(url: str, durable: Durable = "normal") -> Engine:
    """The engine, migrated; raises ``StateUrlError`` or ``StateError`` without showing a password."""
    engine = _engine(url, durable)
    try:
        with engine.begin() as connection:
            migrate(connection)
    except OperationalError as error:
        raise StateError(f"The state store could not be opened: {error.orig}") from None
    return engine


def _engine(url: str, durable: Durable) -> Engine:
    try:
        parsed = make_url(url)
        engine = create_engine(parsed, pool_pre_ping=True)
    except (ArgumentError, NoSuchModuleError, ModuleNotFoundError) as error:
        raise StateUrlError(
            f"WMS_STATE_URL cannot be used ({type(error).__name__}). It should look like sqlite:///path/state.db or "
            "postgresql+psycopg://user:password@host/database (install wms-sync[postgres])."
        ) from None
    if parsed.get_backend_name() == "sqlite":
        if parsed.database:
            Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
        event.listen(engine, "connect", _sqlite_pragmas(durable))
    return engine


def _sqlite_pragmas(durable: Durable) -> Any:  # noqa: ANN401 - a listener of SQLAlchemy
    def apply(connection: Any, _: object) -> None:  # noqa: ANN401 - a DBAPI connection
        cursor = connection.cursor()
        cursor.execute("pragma journal_mode = wal")
        cursor.execute(f"pragma synchronous = {durable}")
        cursor.execute("pragma busy_timeout = 30000")
        cursor.execute("pragma foreign_keys = on")
        cursor.close()

    return apply
