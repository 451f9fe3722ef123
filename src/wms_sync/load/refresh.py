"""The tables' step: every window that is landed and not in the tables is flattened, merged, checked and published.

Whoever landed a window, and whatever was killed before, the receipts in the working file decide what is missing.
"""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import monotonic

import duckdb

from wms_sync.analytics import database
from wms_sync.analytics.checks import CheckOutcome, run_checks
from wms_sync.analytics.errors import AnalyticsError, RawPagesDamagedError
from wms_sync.analytics.foreign_log import say_what_is_set_aside
from wms_sync.analytics.included import absent_kinds, count_included, not_given
from wms_sync.analytics.merge import PERSONAL, Batch, Merger, receipts
from wms_sync.analytics.mirrors import write_narrowed, write_windows
from wms_sync.analytics.publish import publish
from wms_sync.analytics.push_ledger import write_push_ledger
from wms_sync.audit.compare import compare, write_audits
from wms_sync.audit.missing import mark_missing, note_returned
from wms_sync.extract.raw import is_dropped
from wms_sync.flatten.errors import PageDamagedError
from wms_sync.flatten.window import flattened_window, is_flattened
from wms_sync.flatten.workers import Flattening
from wms_sync.settings import Settings
from wms_sync.state.audits import Audits
from wms_sync.state.ledger import PushLedger
from wms_sync.state.store import KNOWN, StateStore, Window
from wms_sync.upkeep.damaged import give_up
from wms_sync.upkeep.lost_records import loaded_with_fewer, note_proven
from wms_sync.upkeep.retention import drop_old_pages

RECORDS_PER_TRANSACTION = 100_000
Say = Callable[[str], None]
Narrow = Mapping[str, tuple[str, ...]]
"""What windows lack, by id, as ``Window.lost`` tells it."""


@dataclass(frozen=True)
class RefreshReport:
    """What a refresh did. ``rows`` counts each table as it stands, ``merged`` what went in now.

    With ``warnings`` exit is 3.
    """

    windows: tuple[str, ...]
    rows: Mapping[str, int]
    merged: Mapping[str, int]
    checks: tuple[CheckOutcome, ...]
    published: bool
    quarantined: int
    drift: int
    bytes: int
    seconds: float
    warnings: tuple[str, ...] = ()

    @property
    def refused_by(self) -> tuple[CheckOutcome, ...]:
        """The blocking checks that kept the new tables from being published."""
        return tuple(outcome for outcome in self.checks if outcome.refuses)


class Refresh:
    """One pass over what is not in the tables yet."""

    def __init__(self, settings: Settings, store: StateStore, run_id: str, say: Say) -> None:
        self._settings = settings
        self._store = store
        self._run_id = run_id
        self._say = say
        self._turn = store.turn
        self._layout = settings.layout
        self._started = monotonic()
        self._merged: dict[str, int] = {}
        self._windows: list[str] = []
        self._narrow: Narrow | None = None
        self._quarantined = self._drift = 0

    def run(self) -> RefreshReport:
        """Bring the working file up to date, check it and publish it."""
        self._flatten(again=False)
        working = self._turn.temporary(self._layout.working_database.name)
        self._take_working_file(working)
        return self._finish(working)

    def _take_working_file(self, path: Path) -> None:
        """Have the working file in the turn's folder; it comes back complete.

        A run that fails, is killed or overtaken leaves none, so nobody minds what it still commits to the one it has.
        The next goes on from the published file: the receipts in it say what is missing.
        """
        if self._layout.working_database.exists():
            self._turn.put_in_place(self._layout.working_database, path)
        elif self._layout.published.exists():
            shutil.copyfile(self._layout.published, path)

    def rebuild(self) -> RefreshReport:
        """Make every table again from the raw pages, in a file of its own that then takes the working file's place."""
        self._flatten(again=True)
        if not self._settings.include_addresses and any(self._layout.parquet.glob(f"{PERSONAL}_*/*.parquet")):
            self._say(
                f"schema {PERSONAL} is left empty, because WMS_INCLUDE_ADDRESSES is off; raw pages and Parquet files "
                "keep the persons that they have"
            )
        return self._finish(self._turn.temporary("rebuild.duckdb"))

    def _flatten(self, *, again: bool) -> None:
        """Parquet for every window that has none. Done before the tables are opened: each may use all the memory."""
        known = self._store.windows(*KNOWN)
        kept = {window.id for window in known if self._is_kept(window, again=again)}
        windows = [window for window in known if window.id not in kept]
        if again and kept:
            self._say(f"{len(kept)} windows come from their Parquet files: their raw pages were dropped")
        done = itertools.count(1)

        def tell(_: str) -> None:
            self._say(f"flattened {next(done)} of {len(windows)} windows")

        with Flattening(self._settings, self._store, tell) as flattening:
            for window in windows:
                flattening.add(window.id)
        if flattening.trouble is not None:
            raise flattening.trouble
        if flattening.damaged:
            raise self._unread(flattening.damaged)

    def _is_kept(self, window: Window, *, again: bool) -> bool:
        """Whether the window's Parquet files stay as they are; again, only those that have no raw pages any more."""
        return is_flattened(self._layout, window.id) and (not again or is_dropped(self._layout.window(window.id)))

    def _unread(self, damaged: Mapping[str, PageDamagedError]) -> RawPagesDamagedError:
        """What damaged pages covered is not covered any more, so that it is asked for again."""
        for window_id in damaged:
            give_up(self._layout, self._store, window_id)
        return RawPagesDamagedError(
            [f"{window_id}/{error.path.name}: {error.reason}" for window_id, error in damaged.items()]
        )

    def _finish(self, path: Path) -> RefreshReport:
        landed = None
        while landed is None:
            shown, limit = self._layout.working_database, self._settings.memory_limit
            with database.opened(path, memory_limit=limit, called=shown) as connection:
                landed = self._load(connection)
        reopened = partial(database.reopened, path, memory_limit=self._settings.memory_limit)
        outcomes = run_checks(reopened)
        with reopened() as connection:
            absent = absent_kinds(connection) if self._windows else ()
            rows = database.row_counts(connection)
        # a log that a kill left belongs to the file that goes; what it held is in the new one
        self._turn.take_away(self._layout.working_log)
        self._turn.put_in_place(path, self._layout.working_database)
        say_what_is_set_aside(self._layout, self._say)
        accepted = not any(outcome.refuses for outcome in outcomes)
        size = publish(self._turn, self._layout, self._layout.working_database) if accepted else 0
        # not before: what is landed is gone on with by whoever runs next, a backfill of the same days too
        self._store.loaded(landed)
        if accepted:
            note_proven(self._store)
            drop_old_pages(self._settings, self._store, self._say)
        return RefreshReport(
            windows=tuple(self._windows),
            rows=rows,
            merged=self._merged,
            checks=outcomes,
            published=accepted,
            quarantined=self._quarantined,
            drift=self._drift,
            bytes=size,
            seconds=monotonic() - self._started,
            warnings=absent,
        )

    def _load(self, connection: duckdb.DuckDBPyConnection) -> list[str] | None:
        """Merge what has no receipt yet; returns the windows that are loaded once this load has come to its end.

        None where memory is to be given back before more is merged: what was changed stays there until the file is
        closed. Then open it and call this again.
        """
        known = receipts(connection)
        windows = self._store.windows(*KNOWN)
        known -= loaded_with_fewer(connection, self._layout, self._store, known)
        pending = [window for window in windows if window.id not in known]
        total = len(self._windows) + len(pending)
        if self._narrow is None:
            self._narrow = self._count_what_came(connection, windows, pending)
        narrow = self._narrow
        merger = Merger(
            connection,
            self._layout,
            run_id=self._run_id,
            include_addresses=self._settings.include_addresses,
            narrow=narrow,
        )
        with Audits(self._settings.database_url, self._turn) as audits:
            for part in _batches(pending, narrow, alone=audits.open()):
                batch = [(window, flattened_window(self._layout, window.id)) for window in part]
                note_returned(connection, self._layout.parquet, audits, batch)
                compare(connection, self._layout.parquet, audits, batch, narrow, start=self._settings.start)
                self._note(batch, merger.merge(batch))
                self._say(f"merged {len(self._windows)} of {total} windows")
                if len(self._windows) < total and database.is_filled(connection, self._settings.memory_limit):
                    self._say_voided(merger)
                    return None
            write_audits(connection, audits)
            mark_missing(connection, audits)
        self._say_voided(merger)
        landed = [window.id for window in windows if window.state == "landed"]
        write_windows(connection, self._store, landed)
        with PushLedger(self._settings.database_url, self._turn) as ledger:
            write_push_ledger(connection, ledger, self._settings.base_url)
        write_narrowed(connection, self._settings)
        return landed

    def _count_what_came(
        self, connection: duckdb.DuckDBPyConnection, windows: Sequence[Window], pending: Sequence[Window]
    ) -> Narrow:
        """What each window was not asked for, or was asked for and not given."""
        flattened = [(window, flattened_window(self._layout, window.id)) for window in pending]
        count_included(connection, self._layout.parquet, flattened)
        lacking = not_given(connection)
        lost = {window.id: {*window.lost, *lacking.get(window.id, ())} for window in windows}
        return {window: tuple(sorted(names)) for window, names in lost.items() if names}

    def _say_voided(self, merger: Merger) -> None:
        for table, count in merger.voided.items():
            self._say(
                f"{count} rows of {table} went back to an earlier updated_at: an audit or a backfill read them so"
            )

    def _note(self, batch: Batch, rows: Mapping[str, int]) -> None:
        for window, flattened in batch:
            self._windows.append(window.id)
            self._quarantined += flattened.quarantined
            self._drift += flattened.drift
        for table, count in rows.items():
            self._merged[table] = self._merged.get(table, 0) + count


def refresh(settings: Settings, store: StateStore, *, run_id: str, say: Say) -> RefreshReport:
    """Load what is landed, check, publish. The caller holds the writer's lock."""
    say(f"refreshing the tables (run {run_id})")
    with _explained():
        return Refresh(settings, store, run_id, say).run()


def rebuild(settings: Settings, store: StateStore, *, run_id: str, say: Say) -> RefreshReport:
    """Make every table again from raw pages, without one call to the service. The caller holds the writer's lock."""
    say(f"rebuilding every table from raw pages (run {run_id})")
    with _explained():
        return Refresh(settings, store, run_id, say).rebuild()


@contextmanager
def _explained() -> Iterator[None]:
    """What DuckDB or the disk refuses, with what to do; the published file is as it was."""
    try:
        yield
    except duckdb.OutOfMemoryException as error:
        raise AnalyticsError(
            f"DuckDB needs more memory than WMS_MEMORY_LIMIT allows, or has no disk to spill to ({error}). Raise the "
            "limit, or lower WMS_PAGE_SIZE, and run again: what is landed is not asked for again."
        ) from error
    except (duckdb.Error, OSError) as error:
        raise AnalyticsError(
            f"The tables could not be refreshed ({type(error).__name__}: {error}). Nothing was published; what is "
            "landed is not asked for again. Look at the disk (`wms-sync doctor`) and run again."
        ) from error


def _batches(pending: Sequence[Window], narrow: Narrow, *, alone: Container[str]) -> Iterator[list[Window]]:
    """Windows to merge in one transaction: a commit costs much more than merging some more rows in it.

    What is compared with the tables first, stands alone; windows that were not asked for the same are apart.
    """
    batch: list[Window] = []
    for window in pending:
        full = sum(one.records for one in batch) + window.records > RECORDS_PER_TRANSACTION
        apart = batch and (
            window.id in alone or batch[-1].id in alone or narrow.get(window.id) != narrow.get(batch[-1].id)
        )
        if batch and (full or apart):
            yield batch
            batch = []
        batch.append(window)
    if batch:
        yield batch
