"""Report the state of the sync: coverage, lag, windows, rows, and what needs attention. It never waits for a writer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Self

from msgspec import Struct, field
from msgspec.structs import replace

from wms_sync import sql_files
from wms_sync.cron import next_tick
from wms_sync.intervals import Interval
from wms_sync.layout import Layout
from wms_sync.master_data.kinds.table import IN_SHIPMENTS, NAMES, kind_named
from wms_sync.master_data.plan import what_to_do
from wms_sync.master_data.pushed_files import pusher, unfinished
from wms_sync.reports.attention import Item, items_of, marked
from wms_sync.reports.inbox import InboxEntry, open_entries
from wms_sync.settings import Settings
from wms_sync.shipments.load.included import absent_kinds
from wms_sync.shipments.load.retention import dropped_windows
from wms_sync.shipments.read.field_selection import refused_now
from wms_sync.shipments.read.plan import gaps_so_far, late_after, sync_cursor
from wms_sync.shipments.read.reader import BEFORE_START
from wms_sync.state.acknowledgements import Acknowledgements
from wms_sync.state.ledger import Entry, PushLedger, State
from wms_sync.state.lock import lock_of
from wms_sync.state.push_files import PushedFile
from wms_sync.state.runs import RunRecord, RunRecords
from wms_sync.state.store import StateStore
from wms_sync.storage.durable import accessing
from wms_sync.targets.database import records, row_counts
from wms_sync.targets.target import Target, target_of
from wms_sync.upkeep.recovery import is_behind

SHOWN_RUNS = 5


class Doubt(Struct, frozen=True):
    """A create that was not answered, and what a person should do about it."""

    kind: str
    key: str
    sent_at: datetime
    message: str | None
    what_to_do: str


class LastAudit(Struct, frozen=True):
    """The newest slice of old shipments that was read again: ids above ``after_id``, up to ``to_id`` (None: the end).

    It marked ``missing`` shipments; ``missing_in_all`` are marked in total. Its round has read ``round_shipments`` of
    the ``shipments`` in the tables.
    """

    window_id: str
    run_id: str
    read_at: datetime
    after_id: int
    to_id: int | None
    compared: int
    changed: int
    orders_changed: int
    missed: int
    absent: int
    missing: int
    voided: int
    round_shipments: int
    shipments: int
    missing_in_all: int


class Status(Struct, frozen=True):
    """Everything that ``wms-sync status`` shows. Times are UTC; ``lag_seconds`` is None before the first sync.

    ``state_is_behind``: the state store was lost or is an old copy, and shows too few windows and pushes until the next
    run. ``pushes`` counts creates by kind and state. ``unseen`` counts created retailers and products that no shipment
    has shown yet. ``unfinished`` are files with unsent or waiting rows, ``pushing`` the pushes that run now.
    ``absent_kinds`` are sentences on kinds that hardly came with the last load. ``refused_fields`` are names of field
    selection that the service refuses, with what is lost without them. ``last_runs`` are newest first. ``next_tick`` is
    when the schedule comes next, wherever it is switched on. ``inbox`` are the kinds of values and keys that are open,
    ``quarantined`` and ``unknown_keys`` how many values and keys these are.
    ``files_in`` is where raw pages and Parquet files lie.
    ``items`` are all that there is to look at, ``needs_a_hand`` the texts of those that nobody has acknowledged.
    """

    sync_cursor: datetime | None
    lag_seconds: float | None
    covered: tuple[Interval, ...]
    gaps: tuple[Interval, ...]
    windows: dict[str, int]
    state_is_behind: bool
    last_loads: tuple[dict[str, object], ...]
    last_audit: LastAudit | None
    rows: dict[str, int]
    published_at: datetime | None
    files_in: str
    raw_dropped: int
    records_before_start: int | None
    quarantined: int
    unknown_keys: int
    absent_kinds: tuple[str, ...]
    refused_fields: dict[str, str]
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
    items: tuple[Item, ...] = ()
    needs_a_hand: tuple[str, ...] = ()

    @property
    def open_items(self) -> tuple[Item, ...]:
        """Return the items that nobody has acknowledged."""
        return tuple(one for one in self.items if one.acknowledged_at is None)

    def with_items(self, items: Iterable[Item]) -> Self:
        """Return the status with more items."""
        every = (*self.items, *items)
        return replace(self, items=every, needs_a_hand=tuple(one.text for one in every if one.acknowledged_at is None))

    @property
    def facts(self) -> frozenset[tuple[str, str]]:
        """Return the names of everything that can be acknowledged, each with the fingerprint of its facts."""
        items = [(one.name, one.facts) for one in self.items]
        return frozenset([*items, *((one.name, one.facts) for one in self.inbox)])


def status(settings: Settings, store: StateStore) -> Status:
    """Collect the status from the state store and the published file.

    Raise ``Inaccessible`` if the data folder cannot be read.
    """
    layout = settings.layout
    with accessing(layout.root):
        return _collected(settings, store, layout)


def _collected(settings: Settings, store: StateStore, layout: Layout) -> Status:
    covered = store.covered(("loaded",))
    cursor = sync_cursor(settings.start, covered) if covered else None
    _, gaps = gaps_so_far(settings.start, covered)
    before = store.observation(BEFORE_START)
    now = datetime.now(UTC)
    with Acknowledgements(settings.database_url) as acknowledgements:
        acknowledged = acknowledgements.all()
    runs = _runs(settings)
    published = _Published.read(target_of(settings), store, acknowledged)
    holder = lock_of(settings.database_url, layout).holder()
    pushed = _Pushed.read(settings)
    found = Status(
        sync_cursor=cursor,
        lag_seconds=max(0.0, (now - cursor).total_seconds()) if cursor else None,
        covered=covered,
        gaps=gaps,
        windows=_by_state(store),
        state_is_behind=is_behind(settings, store),
        last_loads=published.last_loads,
        last_audit=published.last_audit,
        rows=published.rows,
        published_at=published.at,
        files_in=layout.files.where(""),
        raw_dropped=len(dropped_windows(layout, store)),
        records_before_start=int(before.value) if before is not None else None,
        quarantined=published.quarantined,
        unknown_keys=published.unknown_keys,
        absent_kinds=published.absent_kinds,
        refused_fields={one.parameter: loss for one, loss in refused_now(settings)},
        writer=str(holder) if holder else None,
        pushes=pushed.counts,
        doubts=pushed.doubts,
        unseen=pushed.unseen,
        unfinished=unfinished(settings),
        pushing=pushed.holders,
        late_after_seconds=late_after(settings, now).total_seconds(),
        next_tick=next_tick(settings.schedule_cron, settings.schedule_timezone, now),
        last_runs=runs[:SHOWN_RUNS],
        inbox=published.inbox,
    )
    return found.with_items(marked(tuple(items_of(found, settings, store, runs)), acknowledged))


def _runs(settings: Settings) -> tuple[RunRecord, ...]:
    with RunRecords(settings.database_url) as runs:
        return runs.as_they_are(settings.layout)


class _Published(Struct, frozen=True):
    at: datetime | None = None
    rows: dict[str, int] = field(default_factory=dict)
    last_loads: tuple[dict[str, object], ...] = ()
    last_audit: LastAudit | None = None
    quarantined: int = 0
    unknown_keys: int = 0
    absent_kinds: tuple[str, ...] = ()
    inbox: tuple[InboxEntry, ...] = ()

    @classmethod
    def read(cls, target: Target, store: StateStore, acknowledged: Mapping[tuple[str, str], datetime]) -> _Published:
        if not target.is_published:
            return cls()
        at = target.published_at
        with target.published() as connection:
            last = tuple(records(connection.execute(sql_files.read("queries/last_loads.sql"))))
            audits = records(connection.execute(sql_files.read("queries/last_audit.sql")))
            audit = next((LastAudit(**row) for row in audits), None)
            rows = row_counts(connection)
            absent = absent_kinds(connection)
            has_found = rows["ops_quarantine"] or rows["ops_schema_drift"]
            inbox = open_entries(connection, store, acknowledged) if has_found else ()
        values = sum(entry.rows for entry in inbox if entry.is_value)
        keys = sum(not entry.is_value for entry in inbox)
        return cls(at, rows, last, audit, values, keys, absent, inbox)


class _Pushed(Struct, frozen=True):
    counts: dict[str, dict[str, int]]
    doubts: tuple[Doubt, ...]
    unseen: int
    holders: tuple[str, ...]

    @classmethod
    def read(cls, settings: Settings) -> _Pushed:
        """Read the ledger. An intended create is no doubt while a process pushes its kind."""
        held = {kind: holder for kind in NAMES if (holder := pusher(settings, kind)) is not None}
        counts: dict[str, dict[str, int]] = {}
        with PushLedger(settings.database_url) as ledger:
            for (kind, state), count in sorted(ledger.counts().items()):
                counts.setdefault(kind, {})[state.value] = count
            doubts = tuple(
                _doubt(entry)
                for entry in ledger.unsure()
                if entry.state is not State.INTENDED or entry.kind not in held
            )
            return cls(counts, doubts, ledger.unseen(IN_SHIPMENTS), tuple(map(str, held.values())))


def _doubt(entry: Entry) -> Doubt:
    advice = what_to_do(kind_named(entry.kind), entry.state)
    return Doubt(entry.kind, entry.key, entry.intended_at, entry.message, advice)


def _by_state(store: StateStore) -> dict[str, int]:
    counted: dict[str, int] = {}
    for window in store.windows():
        counted[window.state] = counted.get(window.state, 0) + 1
    return counted
