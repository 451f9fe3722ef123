"""The tables in a lake: DuckLake's catalogue in the PostgreSQL of the state store, Parquet files below the data path.

A load is one transaction: what is merged, ``ops``, what the checks found and the message of the commit. Readers see
nothing of it before its commit, and a load that is refused, fails or is killed leaves nothing but files that no
snapshot names. A writer whose turn is over commits nothing (``lake_fence``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import datetime, timedelta
from typing import cast

import duckdb
from sqlalchemy.exc import SQLAlchemyError

from wms_sync import sql_files
from wms_sync.analytics import database
from wms_sync.analytics import lake_place as place
from wms_sync.analytics.errors import DatabaseOpenError, LakeElsewhere, without_statement
from wms_sync.analytics.extensions import ONLY_FROM_WHEELS, load_extensions
from wms_sync.analytics.lake_catalogue import LakeCatalogue, Snapshot, StoredTable
from wms_sync.analytics.lake_erase import erase
from wms_sync.analytics.lake_fence import Fence, session_options, sign
from wms_sync.analytics.lake_owner import claim, refuse_replaced
from wms_sync.analytics.lake_place import NAME
from wms_sync.analytics.lake_rows import committed_rows
from wms_sync.analytics.lake_upkeep import maintain
from wms_sync.analytics.one_transaction import OneTransaction
from wms_sync.analytics.target import Maintained, Opened
from wms_sync.catalogue import literal, marts, ops_tables, tables
from wms_sync.durable import make_private
from wms_sync.settings import Settings, memory_bytes
from wms_sync.state.turns import Turn

LEAST_THREADS = 4
"""A thread waits for each request to a catalogue or a store that is far away."""


class Lake:
    """The lake of an installation."""

    name = title = "the lake"
    is_beside_the_state = True

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    @property
    def is_published(self) -> bool:
        """Return whether a load was committed."""
        return self._newest_snapshot() is not None

    @property
    def published_at(self) -> datetime:
        """Return when the newest snapshot was committed."""
        return self._published_snapshot().at

    @property
    def version(self) -> int:
        """Return the number of the newest snapshot."""
        return self._published_snapshot().id

    @property
    def size(self) -> int:
        """Return the bytes of the files that the newest snapshot names."""
        return self._published_snapshot().size

    published_seal = newest_seal = None
    """Nothing is read less where these are known: a catalogue knows how many rows there are."""

    @contextmanager
    def published(self, *, memory_limit: str | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
        """Attach the lake for reading."""
        config = self._config(memory_limit) if memory_limit else {}
        with closing(self._attached(config, "read_only")) as connection:
            try:
                yield connection
            except duckdb.IOException as error:  # the catalogue or a file is away
                raise _unreadable(error) from None

    def newest(self, *, memory_limit: str | None = None) -> Opened:
        """Attach the lake for reading: a load continues from what is published."""
        return self.published(memory_limit=memory_limit)

    def examined(self) -> str:
        """Compare the definitions that the newest load had with those of this release."""
        if not self.is_published:
            return "not made yet"
        with self.published() as connection:
            same = database.is_as_defined(connection)
        return "the lake has the tables that sql/ defines" if same else "the next load brings the lake to this release"

    def refuse_others(self) -> None:
        """Raise ``LakeElsewhere`` or ``LakeReplaced``."""
        self._refuse_another_place(place.data_path(self._settings))
        refuse_replaced(self._settings)

    def try_files(self) -> str | None:
        """Try the bucket, if the files are in one. Raise ``LakeUnreachable``."""
        return place.try_bucket(self._settings)

    def readers_in_the_way(self) -> tuple[int, ...]:
        """Return the sessions that have read the statistics and keep their transaction open."""
        with LakeCatalogue(self._settings.database_url) as catalogue:
            return catalogue.readers()

    def load(self, turn: Turn) -> LakeLoad:
        """Return a load of the lake."""
        return LakeLoad(self, turn)

    @property
    def loads_gathered(self) -> int:
        """Return how many loads have added files since the last maintenance."""
        with LakeCatalogue(self._settings.database_url) as catalogue:
            return catalogue.loads_gathered()

    def maintain(self, turn: Turn, keep: timedelta) -> Maintained:
        """Put the files of each table together, and delete what was replaced longer ago than ``keep``."""
        return maintain(self, turn, keep)

    def erase(self, turn: Turn, order_ids: Collection[int], *, anyway: bool) -> tuple[int, ...]:
        """Remove the personal data of these orders from all that the lake keeps."""
        return (erase(self, turn, order_ids, anyway=anyway),)

    @property
    def database_url(self) -> str:
        """Return the database with the catalogue, which is that of the state store."""
        return self._settings.database_url

    def tables(self) -> tuple[StoredTable, ...]:
        """Return the tables with the number of their files."""
        with LakeCatalogue(self._settings.database_url) as catalogue:
            return catalogue.tables()

    def threads(self, memory_each: int = 1) -> int:
        """Return how many threads work at a time if each takes so many bytes of ``WMS_MEMORY_LIMIT``."""
        most = max(LEAST_THREADS, database.THREADS)
        return max(1, min(most, memory_bytes(self._settings.memory_limit) // memory_each))

    def opened_for_writing(self, turn: Turn) -> duckdb.DuckDBPyConnection:
        """Attach the lake for writing in this turn, and make it if there is none. Raise ``DatabaseOpenError``."""
        if self._settings.files_url is None:
            make_private(self._settings.layout.lake)
        path, options = place.data_path(self._settings), session_options(turn)
        config = self._config(self._settings.memory_limit)
        try:
            connection = self._attached(config, "data_inlining_row_limit 0", path=path, session=options)
        except DatabaseOpenError:
            self._refuse_another_place(path)
            raise
        try:
            with Fence(self._settings.database_url) as fence:
                fence.put_up(turn)
            with LakeCatalogue(self._settings.database_url) as catalogue:
                catalogue.keep_samples_out(turn)
            claim(self._settings, turn)
        except BaseException:
            connection.close()
            raise
        return connection

    def _refuse_another_place(self, path: str) -> None:
        """Raise ``LakeElsewhere`` if the lake was made with its files in another place."""
        with suppress(SQLAlchemyError), LakeCatalogue(self._settings.database_url) as catalogue:
            recorded = catalogue.data_path()
            if recorded is not None and recorded != path:
                raise LakeElsewhere(recorded, path) from None

    def _config(self, memory_limit: str) -> dict[str, str]:
        threads = str(self.threads())
        return {**database.settings_of(self._settings.layout.working_database, memory_limit), "threads": threads}

    def _attached(
        self, config: dict[str, str], options: str, *, path: str | None = None, session: str | None = None
    ) -> duckdb.DuckDBPyConnection:
        connection = duckdb.connect(config=config | ONLY_FROM_WHEELS)  # type: ignore[arg-type]
        try:
            load_extensions(connection, place.extensions(self._settings))
            for statement in (*place.store_statements(self._settings), *self._secrets(path, session)):
                connection.execute(statement)
            connection.execute(f"attach 'ducklake:{NAME}' as {NAME} ({options})")
            connection.execute(f"use {NAME}")
            connection.execute("set timezone = 'UTC'")
        except duckdb.Error as error:
            connection.close()
            raise _unreadable(error) from None
        return connection

    def _secrets(self, path: str | None, session: str | None) -> Iterator[str]:
        """Yield what tells DuckDB where the lake is: DuckDB shows a password in a secret to nobody."""
        given = place.password(self._settings)
        password = f", password {literal(given)}" if given else ""
        yield f"create secret {NAME}_catalogue (type postgres{password})"
        given_path = f", data_path {literal(path)}" if path else ""
        where = place.parameters(self._settings, options=session)
        yield (
            f"create secret {NAME} (type ducklake, metadata_path {literal(where)}, "
            f"metadata_schema {literal(NAME)}{given_path}, "
            f"metadata_parameters map {{'TYPE': 'postgres', 'SECRET': '{NAME}_catalogue'}})"
        )

    def _published_snapshot(self) -> Snapshot:
        found = self._newest_snapshot()
        assert found is not None, "nothing is published"  # noqa: S101 - callers look first
        return found

    def _newest_snapshot(self) -> Snapshot | None:
        with LakeCatalogue(self._settings.database_url) as catalogue:
            return catalogue.newest_snapshot()


class LakeLoad:
    """One load of the lake: one transaction on one connection, however often it is opened."""

    merges_ahead = False
    keeps_refused = False
    most: int | None = 2_000_000
    seal = None

    def __init__(self, lake: Lake, turn: Turn) -> None:
        self._lake = lake
        self._turn = turn
        self._connection: OneTransaction | None = None
        self._is_anew = False

    def begin(self) -> None:
        """Do nothing: there is no copy to be made."""

    def begin_anew(self) -> None:
        """Drop everything in the transaction, so that readers have it until its end."""
        self._is_anew = True

    @contextmanager
    def open(self, _: str | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
        """Yield the connection of the load, once. After an error nothing of the load is left.

        Whoever opens it again lacked memory, and a transaction that lacked memory is aborted.
        """
        if self._connection is not None:
            self.throw_away()
            raise duckdb.OutOfMemoryException("a load of a lake is one transaction")
        try:
            yield cast("duckdb.DuckDBPyConnection", self._begun())
        except BaseException:
            self.throw_away()
            raise

    def measure(self, connection: duckdb.DuckDBPyConnection, rows: int) -> None:
        """Do nothing: what a lake gathers is the matter of its maintenance."""

    def finish(self, *, accepted: bool) -> int:
        """Commit what is accepted, and forget everything else."""
        connection = self._begun()
        try:
            if not accepted:
                return 0
            sign(connection, self._turn)
            connection.commit_all()
        finally:
            self.throw_away()
        return self._lake.size

    def throw_away(self) -> None:
        """Close the connection, which rolls back what is not committed."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _begun(self) -> OneTransaction:
        if self._connection is None:
            connection = self._lake.opened_for_writing(self._turn)
            is_as_defined = not self._is_anew and database.is_as_defined(connection)
            self._connection = OneTransaction(connection)
            try:
                if self._is_anew:
                    database.drop_everything(connection)
                if not is_as_defined:
                    database.complete(connection, comments_on_views=False)
                    _write_columns(connection)
                self._connection.empty |= self._without_rows(connection)
            except BaseException:
                self.throw_away()
                raise
        return self._connection

    def _without_rows(self, connection: duckdb.DuckDBPyConnection) -> set[tuple[str, str]]:
        """Return the tables that never had rows, or are made anew."""
        with_rows = {} if self._is_anew else committed_rows(connection) or {}
        return {one.place for one in (*tables(), *ops_tables())} - with_rows.keys()


def _write_columns(connection: duckdb.DuckDBPyConnection) -> None:
    """Write ``ops.columns``: DuckLake keeps no comments on columns of views."""
    connection.execute(sql_files.read("lake/columns.sql"))
    connection.execute("delete from ops.columns")
    rows = [(*mart.place, column.name, column.comment) for mart in marts() for column in mart.columns]
    marks = ", ".join(["(?, ?, ?, ?)"] * len(rows))
    connection.execute(f"insert into ops.columns values {marks}", [value for row in rows for value in row])


def _unreadable(error: duckdb.Error) -> DatabaseOpenError:
    return DatabaseOpenError(
        f"The lake cannot be opened ({type(error).__name__}: {without_statement(error)}). Look whether PostgreSQL and "
        "the store of its files answer: `wms-sync doctor`. If files of it are lost, `wms-sync rebuild` makes the lake "
        "anew from raw pages and Parquet files. Else run again; nothing was published."
    )
