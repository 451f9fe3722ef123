"""The tables in a file: a load changes the working file, and a copy of it replaces ``analytics.duckdb``.

The working file is in the turn's folder as long as the load goes on. A run that fails, is killed or is taken over
leaves none, so what it may still commit to its own copy does no harm. The next run continues from the published file,
whose receipts say what is still to be merged.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb

from wms_sync.analytics import database
from wms_sync.analytics.compact import compact, is_bloated
from wms_sync.analytics.file_erase import erase
from wms_sync.analytics.foreign_log import report_foreign_log
from wms_sync.analytics.publish import publish
from wms_sync.analytics.seal import seal_of
from wms_sync.analytics.target import Opened
from wms_sync.layout import log_of
from wms_sync.settings import Settings
from wms_sync.state.turns import Turn


class FileTarget:
    """The published file and the working file of a data folder."""

    is_beside_the_state = False

    def __init__(self, settings: Settings) -> None:
        self._layout = settings.layout
        self._memory_limit = settings.memory_limit

    @property
    def name(self) -> str:
        """Return the name of the published file."""
        return self._layout.published.name

    @property
    def title(self) -> str:
        """Return what messages call the published file."""
        return "the published file"

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
        """Return when the file was published, in nanoseconds."""
        return self._layout.published.stat().st_mtime_ns

    @property
    def size(self) -> int:
        """Return the size of the published file."""
        return self._layout.published.stat().st_size

    @property
    def published_seal(self) -> str | None:
        """Return the seal of the published file."""
        return seal_of(self._layout.published)

    @property
    def newest_seal(self) -> str | None:
        """Return the seal of the working file; of the published one if there is none."""
        return seal_of(self._newest)

    @property
    def _newest(self) -> Path:
        working = self._layout.working_database
        return working if working.exists() else self._layout.published

    def published(self, *, memory_limit: str | None = None) -> Opened:
        """Open the published file, as ``database.open_for_reading``."""
        return database.open_for_reading(self._layout, self._layout.published, memory_limit=memory_limit)

    def newest(self, *, memory_limit: str | None = None) -> Opened:
        """Open the working file; the published one if there is none."""
        return database.open_for_reading(self._layout, self._newest, memory_limit=memory_limit)

    def examined(self) -> str:
        """Open the working file for writing, if there is one."""
        if not self._layout.working_database.exists():
            return "not made yet"
        with database.open_for_writing(self._layout.working_database, memory_limit=self._memory_limit):
            return "the working file opens and has the columns that sql/tables defines"

    def refuse_others(self) -> None:
        """Do nothing: the file is in the data folder, which is this installation's own."""

    def try_files(self) -> None:
        """Do nothing: the data folder is examined as such."""

    def readers_in_the_way(self) -> tuple[int, ...]:
        """Return none: readers keep the file that they have open."""
        return ()

    def load(self, turn: Turn) -> WorkingFile:
        """Return a load of the working file."""
        return WorkingFile(self._memory_limit, turn)

    @property
    def loads_gathered(self) -> int:
        """Return 0: a load compacts the file when there is much to gain."""
        return 0

    def maintain(self, turn: Turn, keep: timedelta) -> None:
        """Do nothing, for the same reason."""

    def erase(self, turn: Turn, order_ids: Collection[int], *, anyway: bool) -> tuple[int, int]:
        """Write both files anew without the personal data of these orders."""
        return erase(turn, self._memory_limit, order_ids, anyway=anyway)


class WorkingFile:
    """One load of the working file."""

    merges_ahead = True
    keeps_refused = True
    most: int | None = None

    def __init__(self, memory_limit: str, turn: Turn) -> None:
        self._memory_limit = memory_limit
        self._turn = turn
        self._layout = turn.layout
        self._path = turn.temporary(self._layout.working_database.name)
        self._is_bloated = False

    def begin(self) -> None:
        """Move the working file into the turn's folder, unless it is there; ``finish`` moves it back."""
        if self._path.exists():
            return
        if self._layout.working_database.exists():
            self._turn.put_in_place(self._layout.working_database, self._path)
        elif self._layout.published.exists():
            shutil.copyfile(self._layout.published, self._path)

    def begin_anew(self) -> None:
        """Work on a file of its own, which then takes the working file's place."""
        self._path = self._turn.temporary("rebuild.duckdb")

    def open(self, memory_limit: str | None = None) -> Opened:
        """Open the working file, as ``database.open_for_writing``."""
        shown = self._layout.working_database
        return database.open_for_writing(self._path, memory_limit=memory_limit or self._memory_limit, called=shown)

    @property
    def seal(self) -> str | None:
        """Return the seal of the file that is worked on; of the working file once that is finished."""
        return seal_of(self._path if self._path.exists() else self._layout.working_database)

    def measure(self, connection: duckdb.DuckDBPyConnection, rows: int) -> None:
        """Look how much of the file is free space."""
        self._is_bloated = is_bloated(connection, rows)

    def finish(self, *, accepted: bool) -> int:
        """Put the working file back, without much free space, and publish a copy if it is accepted."""
        if self._is_bloated:
            self._compact()
        # a log that a kill left belongs to the file that is replaced; the new file has what the log held
        self._turn.take_away(self._layout.working_log)
        self._turn.put_in_place(self._path, self._layout.working_database)
        report_foreign_log(self._layout)
        return publish(self._turn, self._layout, self._layout.working_database) if accepted else 0

    def throw_away(self) -> None:
        """Delete the working file; the next load begins with the published one."""
        self._path.unlink(missing_ok=True)
        log_of(self._path).unlink(missing_ok=True)

    def _compact(self) -> None:
        """Replace the file by a copy of it without its free space, if one can be made."""
        fresh = self._turn.temporary("compact.duckdb")
        if compact(self._path, fresh, memory_limit=self._memory_limit):
            self._path.unlink()
            self._path = fresh
