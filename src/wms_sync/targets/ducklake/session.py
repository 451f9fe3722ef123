"""Attach a lake with DuckDB: for reading, or for writing under a lease.

PostgreSQL itself refuses commits, expirations and clean-ups by a session of an earlier epoch. A session states its
epoch when it connects; triggers compare it with the newest epoch inside the committing transaction. So it does not
matter where a writer was suspended, or which of its connections was lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime

import duckdb
import msgspec
from msgspec import Struct
from sqlalchemy import text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError

from wms_sync import sql_files
from wms_sync.catalogue import literal
from wms_sync.layout import LAKE, LAKE_OWNER
from wms_sync.settings import Settings, memory_bytes
from wms_sync.state.leases import Lease
from wms_sync.storage.durable import make_private
from wms_sync.storage.files import Files
from wms_sync.targets.ducklake import place as place
from wms_sync.targets.ducklake.catalogue import LakeCatalogue
from wms_sync.targets.ducklake.place import ONLY_FROM_WHEELS, load_extensions
from wms_sync.targets.errors import DatabaseOpenError, LakeElsewhere, LakeReplaced, without_statement
from wms_sync.targets.opening import THREADS, settings_of

KEEPALIVES = {"tcp_keepalives_idle": 30, "tcp_keepalives_interval": 10, "tcp_keepalives_count": 3}
"""With these, PostgreSQL ends a session within a minute after its machine is gone, and releases its locks."""
TRIGGERS = {
    "lake.ducklake_snapshot": "lake/fence/snapshots.sql",
    "lake.ducklake_files_scheduled_for_deletion": "lake/fence/deletions.sql",
}
NOT_INLINED = "data_inlining_row_limit 0"
"""The option that puts each row into a file, and none into the catalogue."""
PRIVATE = "rebuilt"
"""The name of a rebuild's private lake."""
LEAST_THREADS = 4
"""The minimum number of threads: a thread waits for each request to a remote catalogue or store."""


def session_options(lease: Lease) -> str:
    """Return the options with which a writing session connects, in libpq's form."""
    return " ".join(f"-c {name}={value}" for name, value in {"wms.epoch": lease.row.epoch, **KEEPALIVES}.items())


def sign(connection: duckdb.DuckDBPyConnection, lease: Lease) -> None:
    """Name the run in the next commit's message, and check the lease once more before PostgreSQL does."""
    row = lease.row
    connection.execute(f"call {LAKE}.set_commit_message('wms-sync', {literal(f'{row.purpose} (run {row.run_id})')})")
    lease.check()


def _put_up_fence(lease: Lease) -> None:
    """Create the function if it is missing or differs, and its missing triggers. Raise ``TakenOver``.

    The state store is in the same database.
    """
    function = sql_files.read("lake/fence/function.sql")
    with lease.engine.begin() as connection:
        lease.verify(connection)
        found = connection.execute(text(sql_files.read("lake/fences.sql"))).one()
        if found.source is None or found.source not in function:
            connection.exec_driver_sql(function)
        for table, path in TRIGGERS.items():
            if table not in found.tables:
                connection.exec_driver_sql(sql_files.read(path))


@contextmanager
def opened_for_reading(settings: Settings, *, memory_limit: str | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
    """Attach the lake for the length of the block. Raise ``DatabaseOpenError``."""
    with closing(
        _attached(settings, (_config(settings, memory_limit) if memory_limit else {}), _shared(settings, "read_only"))
    ) as connection:
        try:
            yield connection
        except duckdb.IOException as error:  # the catalogue or a file is unreachable
            raise _unreadable(error) from None


def opened_for_writing(settings: Settings, lease: Lease) -> duckdb.DuckDBPyConnection:
    """Attach or create the lake for writing under this lease. Raise ``DatabaseOpenError`` or ``LakeReplaced``."""
    if settings.files_url is None:
        make_private(settings.layout.lake)
    path, options = place.data_path(settings), session_options(lease)
    config = _config(settings, settings.memory_limit)
    try:
        connection = _attached(settings, config, _shared(settings, NOT_INLINED, path, options))
    except DatabaseOpenError:
        refuse_another_place(settings)
        raise
    try:
        _put_up_fence(lease)
        LakeCatalogue(lease.engine).keep_samples_out(lease)
        claim(settings, lease)
    except BaseException:
        connection.close()
        raise
    return connection


def opened_privately(settings: Settings, lease: Lease) -> duckdb.DuckDBPyConnection:
    """Attach or create the lake in the lease's folder, in place of the published one. Raise ``DatabaseOpenError``."""
    options = f"data_path {literal(f'{lease.folder}/{PRIVATE}/')}, {NOT_INLINED}"
    return _attached(
        settings, _config(settings, settings.memory_limit), [f"attach {private(lease)} ({options})", f"use {PRIVATE}"]
    )


def private(lease: Lease) -> str:
    """Return the catalogue of the lake in the lease's folder, and its name, for ``attach``."""
    return f"{literal(f'ducklake:{lease.folder / PRIVATE}.ducklake')} as {PRIVATE}"


def refuse_another_place(settings: Settings) -> None:
    """Raise ``LakeElsewhere`` if the lake's files are not where the settings say."""
    path = place.data_path(settings)
    with suppress(SQLAlchemyError), LakeCatalogue.opened(settings.database_url) as catalogue:
        recorded = catalogue.data_path()
        if recorded is not None and recorded != path:
            raise LakeElsewhere(recorded, path) from None


def threads(settings: Settings, memory_each: int = 1) -> int:
    """Return the number of threads if each takes ``memory_each`` bytes of ``WMS_MEMORY_LIMIT``."""
    return max(1, min(max(LEAST_THREADS, THREADS), memory_bytes(settings.memory_limit) // memory_each))


def _config(settings: Settings, memory_limit: str) -> dict[str, str]:
    return settings_of(settings.layout.work / LAKE, memory_limit) | {"threads": str(threads(settings))}


def _attached(settings: Settings, config: dict[str, str], statements: Iterable[str]) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(config=config | ONLY_FROM_WHEELS)  # type: ignore[arg-type]
    try:
        load_extensions(connection, place.extensions(settings))
        for statement in (place.find_keys(settings), *statements, "set timezone = 'UTC'"):
            connection.execute(statement)
    except duckdb.Error as error:
        connection.close()
        raise _unreadable(error) from None
    return connection


def _shared(settings: Settings, options: str, path: str | None = None, session: str | None = None) -> Iterator[str]:
    """Yield statements that create secrets with the lake's location, which never show the password, and attach it."""
    given = place.password(settings)
    password = f", password {literal(given)}" if given else ""
    yield f"create secret {LAKE}_catalogue (type postgres{password})"
    given_path = f", data_path {literal(path)}" if path else ""
    where = place.parameters(settings, options=session)
    yield (
        f"create secret {LAKE} (type ducklake, metadata_path {literal(where)}, "
        f"metadata_schema {literal(LAKE)}{given_path}, "
        f"metadata_parameters map {{'TYPE': 'postgres', 'SECRET': '{LAKE}_catalogue'}})"
    )
    yield f"attach 'ducklake:{LAKE}' as {LAKE} ({options})"
    yield f"use {LAKE}"


def _unreadable(error: duckdb.Error) -> DatabaseOpenError:
    return DatabaseOpenError(
        f"The lake cannot be opened ({type(error).__name__}: {without_statement(error)}). Nothing was published. Check "
        "that PostgreSQL and the file store answer: `wms-sync doctor`. If files of the lake are lost, `wms-sync "
        "rebuild` rebuilds it from raw pages and Parquet files. Otherwise run again."
    )


class Owner(Struct, frozen=True):
    """The lake that owns a location. For messages: the database of its catalogue, and when it took the location.

    Of two lakes in one location, each would delete the other's files as orphans. So ``lake.json`` next to the files
    names the lake by the id that its catalogue got when it was created. A new lake takes over the location, for example
    after the loss of the database. The lake that had it before can no longer write.
    """

    lake: str
    database: str
    since: str

    def __str__(self) -> str:
        return f"that of the database {self.database}, since {self.since}"


_OWNER = msgspec.json.Decoder(Owner)


def claim(settings: Settings, lease: Lease) -> None:
    """Take the location for the lake of this database. Raise ``LakeReplaced`` if a newer lake owns it."""
    files = settings.layout.files
    catalogue = LakeCatalogue(lease.engine)
    lake, owner = catalogue.identity(), _owner(files)
    if owner is not None and owner.lake == lake:
        return
    if owner is not None and catalogue.newest_snapshot() is not None:
        raise LakeReplaced(files.where(LAKE_OWNER), str(owner))
    url = make_url(settings.database_url)
    place = f"{url.database} on {url.host or url.query.get('host') or 'this machine'}"
    mine = Owner(lake, place, f"{datetime.now(UTC):%Y-%m-%d %H:%M:%SZ}")
    files.replace(lease, LAKE_OWNER, msgspec.json.encode(mine))


def refuse_replaced(settings: Settings) -> None:
    """Raise ``LakeReplaced`` if a newer lake owns the location. For commands that only read."""
    files = settings.layout.files
    with LakeCatalogue.opened(settings.database_url) as catalogue:
        if catalogue.newest_snapshot() is None:
            return
        owner = _owner(files)
        if owner is not None and owner.lake != catalogue.identity():
            raise LakeReplaced(files.where(LAKE_OWNER), str(owner))


def _owner(files: Files) -> Owner | None:
    """Return the owner of the location; None if it is unknown."""
    try:
        return _OWNER.decode(files.get(LAKE_OWNER))
    except (FileNotFoundError, ValueError):
        return None
