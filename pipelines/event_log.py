"""Dagster's SQLite storage, made fast enough for nights with many tables and ranges with many days.

Dagster's own storage opens and closes a file for each of the two to four transactions of an event: every statement is
compiled anew, and every close flushes the write-ahead log to disk. It also stores the events of a batch one by one.
Here the last used files stay open, and a batch takes two transactions. A commit does not wait for the disk: a power
failure may lose the last events of Dagster's history, but never our own state. Measured with 1.13.27 on two shared
cores: a run of two days with 36 tables and 61 checks takes 2.2 s instead of 5.8 s; a range of 1,000 days takes 9 s
instead of 40 to 113 s.

The tables and files are Dagster's own, so a home can be opened with or without this class. If storing a batch fails,
Dagster stores its events one by one.

**When this can go.** When both are so in Dagster: `SqliteEventLogStorage` keeps its connections open (today it uses
SQLAlchemy's `NullPool`), and it overrides `store_event_batch`, as the PostgreSQL storage does, so that the
materialisations of a batch share a transaction. Then delete this module and the section `storage` in `instance`. An
installation whose state is in PostgreSQL can already use `dagster-postgres` instead.

**What breaks if Dagster changes.** Both classes derive from private ones (`dagster._core`), and override or call their
private methods. If a module or a method is renamed, `DagsterInstance.get()` or the first event of a run raises, and
every run with a `DAGSTER_HOME` fails at once. If the layout of the tables changes, a batch may lack what Dagster
expects, such as tags or the latest materialisation of an asset. So `pyproject.toml` pins the version of Dagster, and
`tests/pipelines/test_instance.py` compares the history of a range in this storage with the history in Dagster's own.
Run it before you raise the pin. To go on without this class, delete the section `storage` from `dagster.yaml`.
"""

from __future__ import annotations

import os
import sqlite3
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Self, TypeVar
from uuid import uuid4

from dagster import DagsterEventType
from dagster import __version__ as version
from dagster._core.events.log import EventLogEntry
from dagster._core.storage.asset_check_execution_record import AssetCheckExecutionRecordStatus
from dagster._core.storage.event_log.schema import (
    AssetCheckExecutionsTable,
    AssetEventTagsTable,
    AssetKeyTable,
    SqlEventLogStorageTable,
)
from dagster._core.storage.event_log.sqlite.sqlite_event_log import INDEX_SHARD_NAME, SqliteEventLogStorage
from dagster._core.storage.runs import SqliteRunStorage
from dagster._core.storage.schedules import SqliteScheduleStorage
from dagster._core.storage.sqlite import SQLITE_BUSY_TIMEOUT_SECONDS, create_db_conn_string
from dagster._core.storage.sqlite_storage import DagsterSqliteStorage
from dagster._serdes import ConfigurableClassData
from msgspec import Struct
from sqlalchemy import (
    Connection,
    CursorResult,
    Delete,
    Engine,
    QueuePool,
    Select,
    create_engine,
    delete,
    exists,
    not_,
    or_,
    select,
    update,
)
from sqlalchemy.event import listens_for
from sqlalchemy.exc import DBAPIError

from wms_sync.state.engine import READ_ONLY, REFUSED, reason_of, refused

OPEN_FILES = 8
BATCH_VARIABLE, BATCH_SIZE = "DAGSTER_EVENT_BATCH_SIZE", "500"
KEYS_PER_STATEMENT = 500
SHOWN = (DagsterEventType.ASSET_MATERIALIZATION, DagsterEventType.ASSET_OBSERVATION)
"""Events whose newest one the catalogue shows."""
ASSETS = frozenset({*SHOWN, DagsterEventType.ASSET_MATERIALIZATION_PLANNED})
CHECKED = DagsterEventType.ASSET_CHECK_EVALUATION
Row = dict[str, Any]
OfDagster = TypeVar("OfDagster", SqliteRunStorage, SqliteScheduleStorage)


class _Stored(Struct, frozen=True):
    """An event, its row, and the number of the row in the index of all runs."""

    event: EventLogEntry
    row: Row
    number: int


class FastSqliteEventLogStorage(SqliteEventLogStorage):
    """Keeps one engine per file, and stores the events of a batch together."""

    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        self._engines: OrderedDict[str, Engine] = OrderedDict()
        super().__init__(base_dir, inst_data)

    def run_connection(self, run_id: str | None = None) -> AbstractContextManager[Connection]:
        """Open a transaction on the file of one run."""
        return self._transaction(str(run_id))

    def index_connection(self) -> AbstractContextManager[Connection]:
        """Open a transaction on the index of all runs."""
        return self._transaction(INDEX_SHARD_NAME)

    def store_event_batch(self, events: Sequence[EventLogEntry]) -> None:
        """Store the events of a batch, which all belong to one run.

        Events of other types than `ASSETS` and checks that were planned are stored one by one.
        """
        together = ASSETS if self._has_planned_checks(events[0].run_id) else ASSETS | {CHECKED}
        batched = [event for event in events if event.dagster_event_type in together]
        if batched:
            rows = [self._event_to_row(event) for event in batched]
            with self.run_connection(batched[0].run_id) as connection:
                connection.execute(SqlEventLogStorageTable.insert(), rows)
            self._store_in_index(list(zip(batched, rows, strict=True)))
        for event in events:
            if event.dagster_event_type not in together:
                self.store_event(event)

    def _initdb(self, engine: Engine, for_index_shard: bool = False) -> None:
        """Create the tables of a file that has none.

        Dagster reads its hundred migrations for each file, to find the newest. The file of a run is a copy of an empty
        one instead, which the first run has made with this release of Dagster.
        """
        path = Path(str(engine.url.database))
        if _is_made(path):
            return
        empty = path.parent.parent / f"empty-run-{version}.db"
        if for_index_shard:
            super()._initdb(engine, for_index_shard)
        elif not empty.exists():
            super()._initdb(engine)
            _copy(path, empty)
        elif not _copy(empty, path):  # another process makes it at this moment
            super()._initdb(engine)

    def prune_run(self, run_id: str) -> None:
        """Delete the file of a run, and of its events in the index all but the newest of each asset and partition."""
        with self.index_connection() as connection:
            old = list(connection.scalars(_superseded(run_id)))
            for start in range(0, len(old), KEYS_PER_STATEMENT):
                some = old[start : start + KEYS_PER_STATEMENT]
                connection.execute(delete(AssetEventTagsTable).where(AssetEventTagsTable.c.event_id.in_(some)))
                connection.execute(delete(SqlEventLogStorageTable).where(SqlEventLogStorageTable.c.id.in_(some)))
            connection.execute(_superseded_checks(run_id))
        with self._db_lock:
            if (engine := self._engines.pop(run_id, None)) is not None:
                engine.dispose()
            self._initialized_dbs.discard(run_id)
            for end in ("", "-wal", "-shm", "-journal"):
                Path(f"{self.path_for_shard(run_id)}{end}").unlink(missing_ok=True)

    def dispose(self) -> None:
        """Close the files."""
        with self._db_lock:
            while self._engines:
                self._engines.popitem()[1].dispose()
        super().dispose()

    @contextmanager
    def _transaction(self, shard: str) -> Iterator[Connection]:
        with naming_file(Path(self.path_for_shard(shard))):
            if shard not in self._initialized_dbs:
                with self._connect(shard):  # Dagster's own method creates the file if there is none
                    pass
            with self._db_lock, self._engine(shard).begin() as connection:
                yield connection

    def _engine(self, shard: str) -> Engine:
        """Return the engine of a file, a new one if it has none. The caller holds the lock."""
        if (engine := self._engines.pop(shard, None)) is None:
            engine = _engine(self.conn_string_for_shard(shard))
            if len(self._engines) == OPEN_FILES:
                self._engines.popitem(last=False)[1].dispose()
        self._engines[shard] = engine
        return engine

    def _has_planned_checks(self, run_id: str) -> bool:
        planned = DagsterEventType.ASSET_CHECK_EVALUATION_PLANNED.value
        query = select(SqlEventLogStorageTable.c.id).where(SqlEventLogStorageTable.c.dagster_event_type == planned)
        with self.run_connection(run_id) as connection:
            return connection.scalar(query.limit(1)) is not None

    def _store_in_index(self, events: Sequence[tuple[EventLogEntry, Row]]) -> None:
        with self.index_transaction() as connection:
            stored = [
                _Stored(event, row, _number(connection.execute(SqlEventLogStorageTable.insert(), row)))
                for event, row in events
            ]
            if checked := [one for one in stored if one.event.dagster_event_type is CHECKED]:
                connection.execute(AssetCheckExecutionsTable.insert(), [self._checked(one) for one in checked])
            assets = [one for one in stored if one.event.dagster_event_type is not CHECKED]
            self._store_asset_event_tags(connection, [one.event for one in assets], [one.number for one in assets])
            newest = {(one.row["asset_key"], one.row["dagster_event_type"]): one for one in assets}
            has_columns = self._has_asset_key_index_cols_on_connection(connection)
            for one in newest.values():
                self._store_asset(connection, one, has_columns=has_columns)

    def _store_asset(self, connection: Connection, one: _Stored, *, has_columns: bool) -> None:
        """Store what the catalogue shows of an asset without a search: its newest event."""
        if values := self._get_asset_entry_values(one.event, one.number, has_columns):
            named = {"asset_key": one.row["asset_key"]}
            known = update(AssetKeyTable).where(AssetKeyTable.c.asset_key == one.row["asset_key"])
            if not connection.execute(known.values(**values)).rowcount:
                connection.execute(AssetKeyTable.insert().values(**named, **values))

    def _checked(self, one: _Stored) -> Row:
        """Return the row of a check that was not planned."""
        found = one.event.get_dagster_event().asset_check_evaluation_data
        status = AssetCheckExecutionRecordStatus.SUCCEEDED if found.passed else AssetCheckExecutionRecordStatus.FAILED
        target = found.target_materialization_data
        return {
            "asset_key": found.asset_key.to_string(),
            "check_name": found.check_name,
            "partition": found.partition,
            "run_id": one.event.run_id,
            "execution_status": status.value,
            "evaluation_event": one.row["event"],
            "evaluation_event_timestamp": one.row["timestamp"],
            "evaluation_event_storage_id": one.number,
            "materialization_event_storage_id": None if target is None else target.storage_id,
        }


@contextmanager
def naming_file(path: Path) -> Iterator[None]:
    """Raise `Inaccessible` for a file that SQLite cannot write, such as on a full disk: a run that fails says why."""
    try:
        yield
    except (DBAPIError, sqlite3.Error) as error:
        reason = reason_of(error)
        if not getattr(reason, "sqlite_errorname", "").startswith((READ_ONLY, *REFUSED)):
            raise
        raise refused(path, str(reason)) from None


def _is_made(path: Path, *tables: str) -> bool:
    """Return whether a file has Dagster's tables; their version is written last."""
    if not path.exists():
        return False
    with closing(sqlite3.connect(path)) as connection, suppress(sqlite3.OperationalError):
        for table in tables:
            connection.execute(f'select 1 from "{table}" limit 1')
        return connection.execute("select 1 from alembic_version").fetchone() is not None
    return False


def _opened(storage: type[OfDagster], folder: Path, name: str, newest: str) -> OfDagster:
    """Open a storage of Dagster's; ``newest`` is the newest of its tables.

    Dagster reads its hundred migrations each time, only to see that there is nothing to do for a file that is made.
    """
    if _is_made(folder / f"{name}.db", newest):
        return storage(create_db_conn_string(str(folder), name))
    return storage.from_local(str(folder))


def _copy(path: Path, to: Path) -> bool:
    """Copy a file of SQLite whole; return False if ``to`` exists by then."""
    made = to.with_name(f"{to.name}.{uuid4()}")
    try:
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(made)) as copy:
            source.backup(copy)
        os.link(made, to)
    except FileExistsError:
        return False
    finally:
        made.unlink(missing_ok=True)
    return True


def _superseded(run_id: str) -> Select[tuple[int]]:
    """Select the events of a run that the catalogue does not need: all but those that an asset has no newer one of."""
    event, newer = SqlEventLogStorageTable, SqlEventLogStorageTable.alias()
    has_newer = exists().where(
        newer.c.asset_key == event.c.asset_key,
        newer.c.dagster_event_type == event.c.dagster_event_type,
        newer.c.partition.is_not_distinct_from(event.c.partition),
        newer.c.id > event.c.id,
    )
    is_shown = event.c.dagster_event_type.in_([kind.value for kind in SHOWN])
    return select(event.c.id).where(event.c.run_id == run_id, or_(not_(is_shown), has_newer))


def _superseded_checks(run_id: str) -> Delete:
    check, newer = AssetCheckExecutionsTable, AssetCheckExecutionsTable.alias()
    has_newer = exists().where(
        newer.c.asset_key == check.c.asset_key, newer.c.check_name == check.c.check_name, newer.c.id > check.c.id
    )
    return delete(check).where(check.c.run_id == run_id, has_newer)


def _engine(url: str) -> Engine:
    engine = create_engine(
        url,
        poolclass=QueuePool,
        pool_size=1,
        connect_args={"timeout": SQLITE_BUSY_TIMEOUT_SECONDS, "check_same_thread": False},
    )
    listens_for(engine, "connect")(_commit_without_waiting)
    return engine


def _commit_without_waiting(connection: sqlite3.Connection, _: object) -> None:
    connection.execute("pragma synchronous = normal")


def _number(inserted: CursorResult[Any]) -> int:
    return int((inserted.inserted_primary_key or (0,))[0])


class FastSqliteRunStorage(SqliteRunStorage):
    """Keeps one engine, so that a statement is compiled once: Dagster's own makes one for each transaction."""

    def __init__(self, conn_string: str, inst_data: ConfigurableClassData | None = None) -> None:
        super().__init__(conn_string, inst_data)
        self._engine = _engine(conn_string)

    @contextmanager
    def connect(self) -> Iterator[Connection]:
        """Open a transaction."""
        with self._engine.begin() as connection:
            yield connection

    def dispose(self) -> None:
        """Close the file."""
        self._engine.dispose()
        super().dispose()


class FastSqliteStorage(DagsterSqliteStorage):
    """Dagster's SQLite storage with the event log above; the `dagster.yaml` that `instance` writes names this class."""

    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        history, schedules = Path(base_dir, "history"), Path(base_dir, "schedules")
        self.base_dir = base_dir
        self._run_storage = _opened(FastSqliteRunStorage, history, "runs", "instance_info")
        self._event_log_storage = FastSqliteEventLogStorage(str(history / "runs" / ""))
        self._schedule_storage = _opened(SqliteScheduleStorage, schedules, "schedules", "instigators")
        self._inst_data = inst_data
        super(DagsterSqliteStorage, self).__init__()  # type: ignore[no-untyped-call]  # Dagster's own opens all three its way
        os.environ.setdefault(BATCH_VARIABLE, BATCH_SIZE)  # the only way to switch Dagster's batches on

    @classmethod
    def from_config_value(cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, Any]) -> Self:
        """Create the storage from the section `storage` of `dagster.yaml`."""
        return cls.from_local(inst_data=inst_data, **config_value)
