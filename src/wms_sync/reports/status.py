"""Report the state of the sync: coverage, lag, windows, rows, runs, pushes. Nothing here waits for a writer.

Belongs here: facts. Keep out: judging them, which ``findings`` does.
"""

from __future__ import annotations

from datetime import UTC, datetime

from msgspec import Struct

from wms_sync.cron import next_tick
from wms_sync.intervals import Interval
from wms_sync.layout import Layout
from wms_sync.master_data.push import unfinished
from wms_sync.reports.inbox import InboxEntry, marked
from wms_sync.reports.published import LastAudit, Published, published_of
from wms_sync.reports.pushes import Doubt, Pushed
from wms_sync.settings import Settings
from wms_sync.shipments.load.refresh import dropped_windows
from wms_sync.shipments.read.plan import gaps_so_far, late_after, sync_cursor
from wms_sync.state.acknowledgements import Acknowledgements
from wms_sync.state.ledger import PushedFile
from wms_sync.state.lock import lock_of
from wms_sync.state.runs import RunRecord, RunRecords
from wms_sync.state.store import StateStore
from wms_sync.storage.durable import accessing

SHOWN_RUNS = 5


class Status(Struct, frozen=True):
    """Everything that ``wms-sync status`` shows. Times are UTC; ``lag_seconds`` is None before the first sync.

    ``pushes`` counts creates by kind and state. ``unseen`` counts created retailers and products that no shipment has
    shown yet. ``unfinished`` are files with unsent or waiting rows, ``pushing`` are the running pushes. ``last_runs``
    are sorted newest first. ``next_tick`` is the next tick of the schedule, whether or not the schedule is switched on.
    ``inbox`` are the open entries, ``quarantined`` and ``unknown_keys`` are the numbers of their values and keys.
    ``files_in`` is the store of raw pages and Parquet files.
    """

    sync_cursor: datetime | None
    lag_seconds: float | None
    covered: tuple[Interval, ...]
    gaps: tuple[Interval, ...]
    windows: dict[str, int]
    last_loads: tuple[dict[str, object], ...]
    last_audit: LastAudit | None
    rows: dict[str, int]
    published_at: datetime | None
    files_in: str
    raw_dropped: int
    quarantined: int
    unknown_keys: int
    writer: str | None
    pushes: dict[str, dict[str, int]]
    doubts: tuple[Doubt, ...]
    unseen: int
    unfinished: tuple[PushedFile, ...]
    pushing: tuple[str, ...]
    late_after_seconds: float
    next_tick: datetime
    last_runs: tuple[RunRecord, ...]
    inbox: tuple[InboxEntry, ...]


def status(settings: Settings, store: StateStore, published: Published | None = None) -> Status:
    """Collect the status from the state store and the published tables. Read ``published`` unless it is given.

    Raise ``Inaccessible`` if the data folder cannot be read.
    """
    layout = settings.layout
    with accessing(layout.root):
        return _collected(settings, store, layout, published or published_of(settings))


def _collected(settings: Settings, store: StateStore, layout: Layout, published: Published) -> Status:
    covered = store.covered(("loaded",))
    cursor = sync_cursor(settings.start, covered) if covered else None
    _, gaps = gaps_so_far(settings.start, covered)
    now = datetime.now(UTC)
    with Acknowledgements(settings.database_url) as acknowledgements:
        acknowledged = acknowledgements.all()
    with RunRecords(settings.database_url) as records:
        runs = records.as_they_are(settings.layout)[:SHOWN_RUNS]
    entries = marked(published.inbox, acknowledged)
    holder = lock_of(settings.database_url, layout).holder()
    pushed = Pushed.read(settings)
    return Status(
        sync_cursor=cursor,
        lag_seconds=max(0.0, (now - cursor).total_seconds()) if cursor else None,
        covered=covered,
        gaps=gaps,
        windows=_by_state(store),
        last_loads=published.last_loads,
        last_audit=published.last_audit,
        rows=published.rows,
        published_at=published.at,
        files_in=layout.files.where(""),
        raw_dropped=len(dropped_windows(layout, store)),
        quarantined=sum(entry.rows for entry in entries if entry.is_value),
        unknown_keys=sum(not entry.is_value for entry in entries),
        writer=str(holder) if holder else None,
        pushes=pushed.counts,
        doubts=pushed.doubts,
        unseen=pushed.unseen,
        unfinished=unfinished(settings),
        pushing=tuple(pushed.holders.values()),
        late_after_seconds=late_after(settings, now).total_seconds(),
        next_tick=next_tick(settings.schedule_cron, settings.schedule_timezone, now),
        last_runs=runs,
        inbox=entries,
    )


def _by_state(store: StateStore) -> dict[str, int]:
    counted: dict[str, int] = {}
    for window in store.windows():
        counted[window.state] = counted.get(window.state, 0) + 1
    return counted
