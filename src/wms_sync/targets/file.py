"""The tables in a file: a load changes a private copy of ``analytics.duckdb``, which then replaces it by a rename.

The copy is in the lease's folder, so no reader sees it until then, and the next run deletes what a kill leaves.
Whatever goes wrong, the published file stays as it was, and its receipts record what the next load has to merge.
Readers that have the old file open keep it, new connections see the new file, and there is always a file.

The published file has no write permission, because a writer that had the old file open would leave a log next to the
new file, to which it does not belong. Only root can still write to it.

If much of the file is free space, or orders are forgotten, the file is copied table by table. DuckDB reuses the blocks
that a load frees but never returns them, and a checkpoint writes new blocks before the old ones are free. Deleted rows
keep their space until the rest fits into fewer row groups. So the file grows every night, and deleted values stay
readable in it. The copy has every table, view and comment.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb

from wms_sync import sql_files
from wms_sync.catalogue import literal, ops_tables, quote, tables
from wms_sync.layout import log_of
from wms_sync.settings import Settings
from wms_sync.state.leases import Lease
from wms_sync.storage.durable import share_with_group, sync
from wms_sync.targets import database
from wms_sync.targets.database import Opened, Session, relations_in, row_counts
from wms_sync.targets.opening import open_for_reading, open_for_writing, report_foreign_log, settings_of
from wms_sync.targets.persons import erase, held_rows, prepare

logger = logging.getLogger(__name__)
FREE_SHARE = 1 / 3
WORTH_IT = 16 * 1024 * 1024
"""The bytes of free space from which a compaction is worth it."""


class FileTarget:
    """The published file of a data folder."""

    def __init__(self, settings: Settings) -> None:
        self._layout = settings.layout
        self._memory_limit = settings.memory_limit

    @property
    def name(self) -> str:
        """Return the name of the published file."""
        return self._layout.published.name

    @property
    def is_published(self) -> bool:
        """Return whether there is a published file."""
        return self._layout.published.exists()

    @property
    def published_at(self) -> datetime:
        """Return when the file was published."""
        return datetime.fromtimestamp(self._layout.published.stat().st_mtime, UTC)

    @property
    def version(self) -> int:
        """Return the time when the file was published, in nanoseconds."""
        return self._layout.published.stat().st_mtime_ns

    @property
    def size(self) -> int:
        """Return the size of the published file."""
        return self._layout.published.stat().st_size

    def published(self, *, memory_limit: str | None = None) -> Opened:
        """Open the published file with ``open_for_reading``."""
        return open_for_reading(self._layout, self._layout.published, memory_limit=memory_limit)

    def refuse_others(self) -> None:
        """Do nothing: the file is in the data folder, which is this installation's own."""

    def try_files(self) -> None:
        """Do nothing: the data folder is examined separately."""

    def readers_in_the_way(self) -> tuple[int, ...]:
        """Return no sessions: readers keep the file that they have open."""
        return ()

    @contextmanager
    def load(self, lease: Lease, *, from_scratch: bool = False) -> Iterator[FileLoad]:
        """Begin a load for the length of the block, on a copy of the published file; empty if tables are rebuilt."""
        with self._private_file(lease) as private:
            if self.is_published and not from_scratch:
                with self.published() as connection:
                    is_outdated, has_free_space = database.has_other_history(connection), is_bloated(connection)
                if is_outdated:
                    logger.info(
                        "this release defines the history tables differently: every table is rebuilt from Parquet files"
                    )
                elif has_free_space:
                    copy_tables(self._layout.published, private, memory_limit=self._memory_limit)
                else:
                    shutil.copyfile(self._layout.published, private)
            yield FileLoad(lease, private, self._memory_limit)

    @property
    def loads_gathered(self) -> int:
        """Return 0: a load itself compacts the file when that is worth it."""
        return 0

    def maintain(self, lease: Lease, keep: timedelta) -> None:
        """Do nothing: a load itself compacts the file."""

    def erase(self, lease: Lease, order_ids: Collection[int], *, anyway: bool) -> int:
        """Replace the published file with a copy without the personal data of these orders.

        What is left is copied table by table, because DuckDB leaves deleted rows in a file.
        """
        if not self.is_published:
            return 0
        with self.published() as connection:
            held = sum(held_rows(connection, order_ids).values())
        if held or anyway:
            with self._private_file(lease, "erased.duckdb") as erased, self._private_file(lease) as private:
                shutil.copyfile(self._layout.published, erased)
                with FileLoad(lease, erased, self._memory_limit).session() as session:
                    prepare(session.connection, order_ids)
                    with session.transaction():
                        erase(session.connection, order_ids)
                copy_tables(erased, private, memory_limit=self._memory_limit)
                FileLoad(lease, private, self._memory_limit).publish()
        return held

    @contextmanager
    def _private_file(self, lease: Lease, name: str | None = None) -> Iterator[Path]:
        """Yield a path in the lease's folder. Delete the file at the end, so that a full disk has room again."""
        private = lease.temporary(name or self._layout.published.name)
        try:
            yield private
        finally:
            for left in (private, log_of(private)):
                left.unlink(missing_ok=True)


class FileLoad:
    """One load of the file."""

    most: int | None = None

    def __init__(self, lease: Lease, private: Path, memory_limit: str) -> None:
        self._lease = lease
        self._layout = lease.layout
        self._private = private
        self._memory_limit = memory_limit
        self._is_complete = False

    @contextmanager
    def session(self) -> Iterator[Session]:
        """Open the private file. Closing it at the end frees DuckDB's memory."""
        with open_for_writing(
            self._private,
            memory_limit=self._memory_limit,
            called=self._layout.published,
            is_complete=self._is_complete,
        ) as connection:
            self._is_complete = True
            yield Session(connection)

    def publish(self) -> int:
        """Rename the private file to ``analytics.duckdb`` once it is synced and can be opened."""
        share_with_group(self._layout.root, self._private)
        sync(self._private)
        with duckdb.connect(self._private, read_only=True) as connection:
            connection.execute("select count(*) from ops.loads").fetchone()
        report_foreign_log(self._layout)
        self._lease.put_in_place(self._private, self._layout.published)
        return self._layout.published.stat().st_size


def is_bloated(connection: duckdb.DuckDBPyConnection) -> bool:
    """Return whether so much of the open file is free or deleted that compaction is worth it."""
    [[block, total, free, stored]] = connection.execute(sql_files.read("queries/free_space.sql")).fetchall()
    rows = sum(row_counts(connection, (*tables(), *ops_tables())).values())
    in_use = (total - free) * min(1.0, rows / stored) if stored else total
    return bool(total - in_use > FREE_SHARE * total and (total - in_use) * block >= WORTH_IT)


def copy_tables(source: Path, fresh: Path, *, memory_limit: str) -> None:
    """Copy the database ``source`` into the new file ``fresh``."""
    with duckdb.connect(config=settings_of(fresh, memory_limit)) as connection:  # type: ignore[arg-type]
        attach_old = f"attach {literal(str(source))} as old (read_only)"
        connection.execute(f"{attach_old}; attach {literal(str(fresh))} as fresh")
        connection.execute("copy from database old to fresh (schema)")
        connection.execute("use fresh")
        for (schema, name), relation in relations_in(connection).items():
            if relation.definition:  # a view
                continue
            connection.execute(f"detach old; {attach_old}")  # frees DuckDB's memory of deleted rows
            stored = f"{quote(schema)}.{quote(name)}"
            connection.execute(f"insert into fresh.{stored} from old.{stored}")
            counts = connection.execute(f"select count(*) from old.{stored} union select count(*) from fresh.{stored}")
            if len(counts.fetchall()) != 1:
                raise duckdb.IntegrityError(
                    f"the row count of {stored} differs in the copy; this is a bug in wms-sync or DuckDB"
                )
        connection.execute("checkpoint fresh")
    sizes = {"before": source.stat().st_size / 1e6, "after": fresh.stat().st_size / 1e6}
    logger.info("copied the tables without free space: %(after).1f MB instead of %(before).1f MB", sizes)
