"""Attach a lake with DuckDB: for reading, or for writing in a turn.

PostgreSQL itself refuses what a session of an earlier epoch commits, expires or cleans up: a session says its epoch
when it connects. Triggers compare it with the newest epoch, inside the transaction that commits. So it does not matter
where a writer was suspended, or which of its connections was lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress

import duckdb
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from wms_sync import sql_files
from wms_sync.catalogue import literal
from wms_sync.settings import Settings, memory_bytes
from wms_sync.state.engine import Opened
from wms_sync.state.turns import Turn
from wms_sync.storage.durable import make_private
from wms_sync.targets import database
from wms_sync.targets.ducklake import place as place
from wms_sync.targets.ducklake.catalogue import LakeCatalogue
from wms_sync.targets.ducklake.owner import claim
from wms_sync.targets.ducklake.place import NAME, ONLY_FROM_WHEELS, load_extensions
from wms_sync.targets.errors import DatabaseOpenError, LakeElsewhere, without_statement

KEEPALIVES = {"tcp_keepalives_idle": 30, "tcp_keepalives_interval": 10, "tcp_keepalives_count": 3}
"""With these PostgreSQL ends a session whose machine is gone within a minute, and frees what it has locked."""
TRIGGERS = {
    "lake.ducklake_snapshot": "lake/fence/snapshots.sql",
    "lake.ducklake_files_scheduled_for_deletion": "lake/fence/deletions.sql",
}


def session_options(turn: Turn) -> str:
    """Return what a session that writes says when it connects, as libpq writes options."""
    options = {"wms.epoch": turn.epoch.row.epoch, **KEEPALIVES}
    return " ".join(f"-c {name}={value}" for name, value in options.items())


def sign(connection: duckdb.DuckDBPyConnection, turn: Turn) -> None:
    """Say in the commit that follows whose it is, and check the turn once more, before PostgreSQL does."""
    row = turn.epoch.row
    connection.execute(f"call {NAME}.set_commit_message('wms-sync', {literal(f'{row.purpose} (run {row.run_id})')})")
    turn.check()


class Fence(Opened):
    """Puts the fence up, over the connection to the state store, which is in the same database."""

    def put_up(self, turn: Turn) -> None:
        """Make the function and its triggers, as far as they are not there. Raise ``TakenOver``."""
        function = sql_files.read("lake/fence/function.sql")
        with self._engine.begin() as connection:
            turn.epoch.verify(connection)
            found = connection.execute(text(sql_files.read("lake/fences.sql"))).one()
            if found.source is None or found.source not in function:
                connection.exec_driver_sql(function)
            for table, path in TRIGGERS.items():
                if table not in found.tables:
                    connection.exec_driver_sql(sql_files.read(path))


LEAST_THREADS = 4
"""A thread waits for each request to a catalogue or a store that is far away."""


@contextmanager
def opened_for_reading(settings: Settings, *, memory_limit: str | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
    """Attach the lake for the length of the block. Raise ``DatabaseOpenError``."""
    config = _config(settings, memory_limit) if memory_limit else {}
    with closing(_attached(settings, config, "read_only")) as connection:
        try:
            yield connection
        except duckdb.IOException as error:  # the catalogue or a file is away
            raise _unreadable(error) from None


def opened_for_writing(settings: Settings, turn: Turn) -> duckdb.DuckDBPyConnection:
    """Attach the lake for writing in this turn, and make it if there is none. Raise ``DatabaseOpenError``."""
    if settings.files_url is None:
        make_private(settings.layout.lake)
    path, options = place.data_path(settings), session_options(turn)
    config = _config(settings, settings.memory_limit)
    try:
        connection = _attached(settings, config, "data_inlining_row_limit 0", path=path, session=options)
    except DatabaseOpenError:
        refuse_another_place(settings)
        raise
    try:
        with Fence(settings.database_url) as fence:
            fence.put_up(turn)
        with LakeCatalogue(settings.database_url) as catalogue:
            catalogue.keep_samples_out(turn)
        claim(settings, turn)
    except BaseException:
        connection.close()
        raise
    return connection


def refuse_another_place(settings: Settings) -> None:
    """Raise ``LakeElsewhere`` if the lake was made with its files in another place than the settings name."""
    path = place.data_path(settings)
    with suppress(SQLAlchemyError), LakeCatalogue(settings.database_url) as catalogue:
        recorded = catalogue.data_path()
        if recorded is not None and recorded != path:
            raise LakeElsewhere(recorded, path) from None


def threads(settings: Settings, memory_each: int = 1) -> int:
    """Return how many threads work at a time if each takes so many bytes of ``WMS_MEMORY_LIMIT``."""
    most = max(LEAST_THREADS, database.THREADS)
    return max(1, min(most, memory_bytes(settings.memory_limit) // memory_each))


def _config(settings: Settings, memory_limit: str) -> dict[str, str]:
    own = database.settings_of(settings.layout.work / NAME, memory_limit)
    return {**own, "threads": str(threads(settings))}


def _attached(
    settings: Settings, config: dict[str, str], options: str, *, path: str | None = None, session: str | None = None
) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(config=config | ONLY_FROM_WHEELS)  # type: ignore[arg-type]
    try:
        load_extensions(connection, place.extensions(settings))
        for statement in (*place.store_statements(settings), *_secrets(settings, path, session)):
            connection.execute(statement)
        connection.execute(f"attach 'ducklake:{NAME}' as {NAME} ({options})")
        connection.execute(f"use {NAME}")
        connection.execute("set timezone = 'UTC'")
    except duckdb.Error as error:
        connection.close()
        raise _unreadable(error) from None
    return connection


def _secrets(settings: Settings, path: str | None, session: str | None) -> Iterator[str]:
    """Yield what tells DuckDB where the lake is: DuckDB shows a password in a secret to nobody."""
    given = place.password(settings)
    password = f", password {literal(given)}" if given else ""
    yield f"create secret {NAME}_catalogue (type postgres{password})"
    given_path = f", data_path {literal(path)}" if path else ""
    where = place.parameters(settings, options=session)
    yield (
        f"create secret {NAME} (type ducklake, metadata_path {literal(where)}, "
        f"metadata_schema {literal(NAME)}{given_path}, "
        f"metadata_parameters map {{'TYPE': 'postgres', 'SECRET': '{NAME}_catalogue'}})"
    )


def _unreadable(error: duckdb.Error) -> DatabaseOpenError:
    return DatabaseOpenError(
        f"The lake cannot be opened ({type(error).__name__}: {without_statement(error)}). Check that PostgreSQL and "
        "the store of its files answer: `wms-sync doctor`. If files of it are lost, `wms-sync rebuild` rebuilds the "
        "lake from raw pages and Parquet files. Else run again; nothing was published."
    )
