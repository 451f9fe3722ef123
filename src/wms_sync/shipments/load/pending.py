"""Merge the flattened windows that are not in the tables, batch by batch; then rewrite the tables of ``ops``.

``ops.push_ledger`` is the ledger of creates for analysts, updated with the proofs in the tables. When a created thing
appears on a page, its create has made the round trip. The ledger then records the time, records the id if the answer to
the create was lost, and settles the create if it was in doubt.

The marts need the zone of each warehouse, the offsets of these zones, and 'now'. A changed setting takes effect with
the next load.
"""

from __future__ import annotations

import itertools
import logging
from collections import Counter, deque
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from types import SimpleNamespace

import duckdb
from msgspec.structs import replace

from wms_sync import sql_files
from wms_sync.grammar import count_of
from wms_sync.layout import PARQUET
from wms_sync.settings import Settings
from wms_sync.shipments.flatten.window import flattened_window
from wms_sync.shipments.load.audits import compare, is_new_slice, mark_missing, record_shown, write_audits
from wms_sync.shipments.load.merge import Merger, started_over
from wms_sync.shipments.load.omitted import omitted_by_window, record_omitted
from wms_sync.shipments.read.plan import sync_cursor
from wms_sync.state.audits import Audits
from wms_sync.state.ledger import CLOCKS_DIFFER, PushLedger, Sighting
from wms_sync.state.store import COMPLETE_STATES, Run, StateStore, Window
from wms_sync.targets.database import Session, definitions, receipts, records, replace_rows
from wms_sync.targets.persons import write_forgotten
from wms_sync.timezones import WarehouseTimezones, offsets

logger = logging.getLogger(__name__)

RECORDS_PER_TRANSACTION = 100_000


class PendingWindows:
    """Merges the windows without a receipt, in batches.

    Call ``merge_next`` until ``is_complete``, each time in a new session. Then ``merged`` are the merged windows, and
    ``rows`` counts their rows by table, except those of the slices in ``compared``; ``verdicts`` and ``kept`` are those
    of ``Merger``. Once the tables are published, ``landed`` are the windows that the state store may record as loaded.
    With ``most``, only the first windows up to that number of records are merged; ``later`` are the remaining windows.
    """

    def __init__(self, run: Run, most: int | None = None) -> None:
        self.is_complete = False
        self.merged: list[str] = []
        self.compared: list[str] = []
        self.rows: Counter[str] = Counter()
        self.verdicts: dict[str, Counter[str]] = {}
        self.kept: Counter[str] = Counter()
        self.landed: list[str] = []
        self.later: frozenset[str] = frozenset()
        self._run = run
        self._layout = run.layout
        self._most = most
        self._batches: deque[list[Window]] | None = None
        self._total = 0

    def merge_next(self, session: Session, audits: Audits) -> None:
        """Merge the next batch, if there is one."""
        if self._batches is None:
            self._batches = self._planned(session)
        if self._batches:
            self._merge_batch(session, self._batches.popleft(), audits)
        self.is_complete = not self._batches

    def _planned(self, session: Session) -> deque[list[Window]]:
        known = receipts(session.connection)
        windows = self._run.store.windows(*COMPLETE_STATES)
        pending = [window for window in windows if window.id not in known]
        left = [] if self._most is None else _beyond(pending, self._most)
        pending = pending[: len(pending) - len(left)]
        self.later = frozenset(window.id for window in left)
        self.landed = [window.id for window in windows if window.state == "landed" and window.id not in self.later]
        self._total = len(pending)
        return deque(_batches(pending))

    def _merge_batch(self, session: Session, batch: Sequence[Window], audits: Audits) -> None:
        """Record the omitted data of a batch, compare slices with the tables, then merge it in one transaction."""
        files = self._layout.files
        group = [(window, flattened_window(self._layout, window.id)) for window in batch]
        files.local([key for _, flattened in group for key in flattened.by_key])
        connection, settings = session.connection, self._run.settings
        with session.transaction():
            record_omitted(connection, self._layout, group)
        omitted = omitted_by_window(connection, self._run.store.windows(*COMPLETE_STATES))
        record_shown(connection, self._layout, audits, group)
        compared = compare(connection, self._layout, audits, group, omitted, start=settings.start)
        merger = Merger(
            session, self._layout, run_id=self._run.id, include_addresses=settings.include_addresses, omitted=omitted
        )
        rows = merger.merge(group)
        files.release(PARQUET)
        self.merged += [window.id for window in batch]
        self.compared += compared
        if not compared:  # a slice is its own batch; its rows do not count
            self.rows.update(rows)
        self.kept += merger.kept
        for table, verdicts in merger.verdicts.items():
            self.verdicts[table] = self.verdicts.get(table, Counter()) + verdicts
        logger.info(
            "merged %(merged)d of %(all)s", {"merged": len(self.merged), "all": count_of(self._total, "window")}
        )
        if reasons := started_over(sum(merger.verdicts.values(), Counter[str]())):
            why = ", ".join(f"{count:,} {reason}" for reason, count in sorted(reasons.items()))
            logger.info(
                "%(rows)s started over from all merged windows: %(why)s",
                {"rows": count_of(sum(reasons.values()), "row"), "why": why},
            )

    def write_ops(self, connection: duckdb.DuckDBPyConnection, audits: Audits) -> None:
        """Write the tables of ``ops``: windows, audits, creates, time zones, the sync cursor.

        Creates that the tables show are settled in the ledger, too.
        """
        settings, store = self._run.settings, self._run.store
        write_audits(connection, audits)
        mark_missing(connection, audits)
        now, landed = datetime.now(UTC), set(self.landed)
        published = (
            replace(window, state="loaded", loaded_at=now)
            if window.id in landed
            else replace(window, state="landed", loaded_at=None)
            if window.id in self.later
            else window
            for window in store.windows()
        )
        replace_rows(connection, "windows", published)
        settle_creates(connection, store.ledger, settings.base_url)
        write_timezones(connection, settings.timezones)
        write_forgotten(connection, store.forgotten())
        write_latest_load(connection, settings, store, self._run.id, self.later)


def _beyond(pending: Sequence[Window], most: int) -> Sequence[Window]:
    """Return the windows after the first ``most`` records; never the first window."""
    counted = itertools.accumulate(window.records for window in pending)
    return pending[max(1, sum(records <= most for records in counted)) :]


def _batches(pending: Sequence[Window]) -> Iterator[list[Window]]:
    """Split windows into batches: a commit costs much more than merging more rows in it.

    A slice to be compared with the tables has its own batch.
    """
    batch: list[Window] = []
    for window in pending:
        if batch:
            is_full = sum(earlier.records for earlier in batch) + window.records > RECORDS_PER_TRANSACTION
            if is_full or is_new_slice(window) or is_new_slice(batch[-1]):
                yield batch
                batch = []
        batch.append(window)
    if batch:
        yield batch


def settle_creates(connection: duckdb.DuckDBPyConnection, ledger: PushLedger, service: str | None) -> None:
    """Settle in the ledger the creates of ``service`` that the tables show, and rewrite ``ops.push_ledger``."""
    entries = ledger.all()
    replace_rows(connection, "push_ledger", entries)
    if service is None or all(entry.seen_at is not None for entry in entries):
        return
    given = {"service": service, "clocks_differ": CLOCKS_DIFFER}
    objects = "\nunion all\n".join(f"({sql_files.read(path)})" for path in sql_files.listed("objects"))
    rows = connection.execute(sql_files.read("queries/pushed_and_seen.sql").format(objects=objects), given).fetchall()
    if rows:
        ledger.record_sightings([Sighting(service, kind, key, id_, seen_at) for kind, key, id_, seen_at in rows])
        replace_rows(connection, "push_ledger", ledger.all())


def write_timezones(connection: duckdb.DuckDBPyConnection, zones: WarehouseTimezones) -> None:
    """Set ``warehouses.timezone``, and fill ``ops.timezones`` with the offsets of every zone in use."""
    wanted = {
        warehouse["id"]: zones.of(warehouse["name"], warehouse["abbreviation"]) or zones.default
        for warehouse in records(connection.execute(sql_files.read("queries/warehouses.sql")))
    }
    connection.execute(
        sql_files.read("queries/warehouse_timezones.sql"), {"ids": list(wanted), "timezones": list(wanted.values())}
    )
    now = datetime.now(UTC)
    replace_rows(connection, "timezones", [offset for zone in zones.used for offset in offsets(zone, now)])


def write_latest_load(
    connection: duckdb.DuckDBPyConnection,
    settings: Settings,
    store: StateStore,
    run_id: str,
    later: Collection[str] = (),
) -> None:
    """Fill ``ops.latest_load`` with the facts of this load; windows to be merged ``later`` cover nothing yet."""
    covered = store.covered(without=later)
    row = SimpleNamespace(
        data_until=sync_cursor(settings.start, covered) if covered else None,
        loaded_at=datetime.now(UTC),
        run_id=run_id,
        version=version("wms-sync"),
        default_timezone=settings.timezones.default,
        definitions=definitions(),
    )
    replace_rows(connection, "latest_load", [row])
