"""Merge the windows that are flattened and not in the tables into an open working file, group by group."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from functools import partial

import duckdb

from wms_sync.analytics import database
from wms_sync.analytics.history import make_missing
from wms_sync.analytics.included import count_included, not_given
from wms_sync.analytics.local_time import write_latest_load, write_timezones
from wms_sync.analytics.merge import Merger, WindowGroup
from wms_sync.analytics.mirrors import write_narrowed, write_windows
from wms_sync.analytics.push_ledger import write_push_ledger
from wms_sync.analytics.receipts import receipts
from wms_sync.analytics.room import Room
from wms_sync.analytics.tally import Tally
from wms_sync.audit.compare import compare, write_audits
from wms_sync.audit.missing_shipments import mark_missing, record_shown
from wms_sync.flatten.window import flattened_window
from wms_sync.grammar import count_of
from wms_sync.layout import PARQUET
from wms_sync.load.lists import LoadLists
from wms_sync.state.audits import Audit, Audits
from wms_sync.state.ledger import PushLedger
from wms_sync.state.run import Run
from wms_sync.state.store import COMPLETE_STATES, Window
from wms_sync.upkeep.lost_records import loaded_with_fewer

logger = logging.getLogger(__name__)

RECORDS_PER_TRANSACTION = 100_000
Narrow = Mapping[str, tuple[str, ...]]
"""By window id: what the window lacks, in the form of ``Window.lost``."""


class PendingWindows:
    """Merges the windows without a receipt and those to merge ``again``, and counts what it merged.

    Some can be merged ahead, while others are read. Then call ``merge_into`` until ``is_complete``, each time with the
    file opened anew. Then ``rows`` are what was merged but for slices, ``audits`` are the slices that were compared,
    ``landed`` are the windows that the state store may record as loaded, and ``lists`` are to be
    written once the file is published. With ``most``, only the first windows with so many records are merged; ``later``
    are those that are left.
    """

    def __init__(self, run: Run, again: Collection[str] = (), most: int | None = None) -> None:
        self.is_complete = False
        self.later: frozenset[str] = frozenset()
        self._most = most
        self.windows: list[str] = []
        self.rows: dict[str, int] = {}
        self.tally = Tally()
        self.quarantined = self.drift = 0
        self.audits: tuple[Audit, ...] = ()
        self.landed: list[str] = []
        self.lists = LoadLists(run)
        self._settings = run.settings
        self._layout = run.layout
        self._store = run.store
        self._run_id = run.id
        self._again = frozenset(again)
        self._counted: set[str] = set()
        self._compared: list[str] = []
        self._narrow: Narrow = {}
        self._is_short_of_memory = False
        self._memory_limit = run.settings.memory_limit

    def merge_into(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Merge until nothing is left, or until DuckDB's memory is full; closing the file frees it.

        Once a group had not enough memory, each table gets all of it. Raise ``duckdb.OutOfMemoryException`` if one
        table is too much.
        """
        try:
            known = receipts(connection)
            windows = self._store.windows(*COMPLETE_STATES)
            known -= loaded_with_fewer(connection, self._layout, self._store, known)
            known -= self._again - set(self.windows)
            pending = [window for window in windows if window.id not in known]
            if self._most is not None:
                self.later = frozenset(window.id for window in _beyond(pending, self._most))
                windows = tuple(window for window in windows if window.id not in self.later)
                pending = [window for window in pending if window.id not in self.later]
            with Audits(self._settings.database_url, self._store.turn) as audits:
                if self._merge(connection, audits, windows, pending):
                    self.audits = tuple(audit for audit in audits.all() if audit.window_id in self._compared)
                    self.landed = [window.id for window in windows if window.state == "landed"]
                    with database.transaction(connection):
                        write_audits(connection, audits)
                        mark_missing(connection, audits)
                        self._mirror(connection)
                        self.lists.note(connection, self._narrow, audits)
                    self.is_complete = True
        except duckdb.OutOfMemoryException:
            if self._is_short_of_memory:
                raise
            self._is_short_of_memory = True

    def merge_ahead(self, connection: duckdb.DuckDBPyConnection, ready: Collection[str], memory_limit: str) -> None:
        """Merge those of these windows that the tables lack, before the load, within so much memory.

        A slice that was not compared with the tables yet is left for later: it is when all else is merged.
        """
        known = receipts(connection)
        windows = self._store.windows(*COMPLETE_STATES)
        usual, was_short = self._memory_limit, self._is_short_of_memory
        self._memory_limit = memory_limit
        try:
            with Audits(self._settings.database_url, self._store.turn) as audits:
                known |= audits.uncompared().keys()
                pending = [one for one in windows if one.id in ready and one.id not in known]
                self._merge(connection, audits, windows, pending)
        finally:
            self._memory_limit, self._is_short_of_memory = usual, was_short

    def _merge(
        self,
        connection: duckdb.DuckDBPyConnection,
        audits: Audits,
        windows: Sequence[Window],
        pending: Sequence[Window],
    ) -> bool:
        """Merge group by group, each in one transaction; return whether all windows are merged."""
        room = Room(connection, self._memory_limit)
        self._is_short_of_memory = self._is_short_of_memory or not room.is_enough
        narrow = self._narrow = self._count_what_came(connection, windows, pending)
        if not make_missing(connection, self._layout, narrow, self._memory_limit):
            return False
        if self._is_short_of_memory:
            logger.info("the memory is not enough to merge in one transaction: the tables are merged one by one")
        total = len(self.windows) + len(pending)
        merger = Merger(
            connection,
            self._layout,
            run_id=self._run_id,
            include_addresses=self._settings.include_addresses,
            narrow=narrow,
            make_room=room.make if self._is_short_of_memory else None,
            tally=self.tally,
        )
        for part in _groups(pending, narrow, alone=audits.uncompared()):
            group = [(window, flattened_window(self._layout, window.id)) for window in part]
            self._layout.files.local([key for _, one in group for table in one.parts for key in one.keys(table)])
            record_shown(connection, self._layout, audits, group)
            compared = compare(
                connection,
                self._layout,
                audits,
                group,
                narrow,
                start=self._settings.start,
                make_room=partial(self._make_room, connection),
            )
            self._note(group, merger.merge(group), compared)
            self._layout.files.release(PARQUET)
            counts = {"merged": len(self.windows), "windows": total, "all": count_of(total, "window")}
            logger.info("merged %(merged)d of %(all)s", counts)
            if len(self.windows) < total and database.is_filled(connection, self._memory_limit):
                break
        for table, count in merger.voided.items():
            logger.info(
                "%(rows)s of %(table)s went back to an earlier updated_at, as an audit or a backfill has read them",
                {"rows": count_of(count, "row"), "table": table},
            )
        return len(self.windows) == total

    def _make_room(self, connection: duckdb.DuckDBPyConnection) -> None:
        if self._is_short_of_memory:
            database.make_room(connection, self._memory_limit)

    def _count_what_came(
        self, connection: duckdb.DuckDBPyConnection, windows: Sequence[Window], pending: Sequence[Window]
    ) -> Narrow:
        """Return by window what it did not ask for, or asked for and was not given."""
        uncounted = [window for window in pending if window.id not in self._counted]
        flattened = [(window, flattened_window(self._layout, window.id)) for window in uncounted]
        count_included(connection, self._layout, flattened)
        self._counted |= {window.id for window in uncounted}
        lacking = not_given(connection)
        lost = {window.id: {*window.lost, *lacking.get(window.id, ())} for window in windows}
        return {window: tuple(sorted(names)) for window, names in lost.items() if names}

    def _mirror(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Write what the file says of itself: windows, creates, refused fields, time zones, how far it reaches."""
        write_windows(connection, self._store, self.landed)
        with PushLedger(self._settings.database_url, self._store.turn) as ledger:
            write_push_ledger(connection, ledger, self._settings.base_url)
        write_narrowed(connection, self._settings)
        write_timezones(connection, self._settings.timezones)
        write_latest_load(connection, self._settings, self._store, self._run_id, self.later)

    def _note(self, group: WindowGroup, rows: Mapping[str, int], compared: Sequence[str]) -> None:
        """Note what was merged. A slice that was ``compared`` just now is a group of its own; its rows do not count."""
        self._compared += compared
        for window, flattened in group:
            self.windows.append(window.id)
            self.quarantined += flattened.quarantined
            self.drift += flattened.drift
        for table, count in rows.items() if not compared else ():
            self.rows[table] = self.rows.get(table, 0) + count


def _beyond(pending: Sequence[Window], most: int) -> Sequence[Window]:
    """Return the windows after the first ones that have so many records; never all."""
    counted = itertools.accumulate(window.records for window in pending)
    return pending[max(1, sum(records <= most for records in counted)) :]


def _groups(pending: Sequence[Window], narrow: Narrow, *, alone: Container[str]) -> Iterator[list[Window]]:
    """Split windows into groups, one per transaction: a commit costs much more than merging more rows in it.

    A window that must be compared with the tables first (``alone``) gets a group of its own. All windows of a group
    lack the same.
    """
    group: list[Window] = []
    for window in pending:
        full = sum(one.records for one in group) + window.records > RECORDS_PER_TRANSACTION
        apart = group and (
            window.id in alone or group[-1].id in alone or narrow.get(window.id) != narrow.get(group[-1].id)
        )
        if group and (full or apart):
            yield group
            group = []
        group.append(window)
    if group:
        yield group
