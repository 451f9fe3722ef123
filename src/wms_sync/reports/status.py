"""Report the state of the sync: coverage, lag, windows, rows, and what needs attention. It never waits for a writer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from wms_sync import sql_files
from wms_sync.analytics.database import has_ops_table, published, records, row_counts
from wms_sync.analytics.errors import AnotherServiceError
from wms_sync.analytics.foreign_log import log_notice
from wms_sync.analytics.included import absent_kinds
from wms_sync.durable import accessing
from wms_sync.extract.clocks import what_is_off
from wms_sync.extract.field_selection import refused_now
from wms_sync.extract.plan import find_gaps, sync_cursor
from wms_sync.extract.read import BEFORE_START
from wms_sync.intervals import Interval
from wms_sync.layout import Layout
from wms_sync.master_data.kinds.table import KINDS, in_shipments, kind_named
from wms_sync.master_data.plan.steps import what_to_do
from wms_sync.master_data.push.file import pusher
from wms_sync.master_data.push.unfinished import needs, unfinished
from wms_sync.settings import Settings
from wms_sync.state.errors import RestoreUnfinished
from wms_sync.state.ledger import LEDGER_LACKS, Entry, PushLedger, State
from wms_sync.state.push_files import PushedFile
from wms_sync.state.queue import lock_holder
from wms_sync.state.store import StateStore
from wms_sync.upkeep.recovery import is_behind, refuse_another_service
from wms_sync.upkeep.retention import dropped_windows

LATE = timedelta(hours=26)
"""A nightly sync that is two hours late is reported."""


@dataclass(frozen=True)
class Doubt:
    """A create that was not answered, and what a person should do about it."""

    kind: str
    key: str
    sent_at: datetime
    message: str | None
    what_to_do: str


@dataclass(frozen=True)
class LastAudit:
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


@dataclass(frozen=True)
class Status:
    """Everything that ``wms-sync status`` shows. Times are UTC; ``lag_seconds`` is None before the first sync.

    ``state_is_behind``: the state store was lost or is an old copy, and shows too few windows and pushes until the next
    run. ``pushes`` counts creates by kind and state. ``unseen`` counts created retailers and products that no shipment
    has shown yet. ``unfinished`` are files with unsent or waiting rows, ``pushing`` the pushes that run now.
    ``absent_kinds`` are sentences on kinds that hardly came with the last load. ``refused_fields`` are names of field
    selection that the service refuses, with what is lost without them.
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
    needs_a_hand: tuple[str, ...]


def status(settings: Settings, store: StateStore) -> Status:
    """Collect the status from the state store and the published file.

    Raise ``Inaccessible`` if the data folder cannot be read.
    """
    layout = settings.layout
    with accessing(layout.root):
        return _collected(settings, store, layout)


def _collected(settings: Settings, store: StateStore, layout: Layout) -> Status:
    covered = store.covered(("loaded",), tolerance=settings.clock_tolerance)
    newest = covered[-1].end if covered else None
    cursor = sync_cursor(settings.start, covered) if covered else None
    gaps = find_gaps(settings.start, newest, covered) if newest and newest > settings.start else ()
    before = store.observation(BEFORE_START)
    published = _Published.read(layout)
    holder = lock_holder(layout)
    pushed = _Pushed.read(settings)
    found = Status(
        sync_cursor=cursor,
        lag_seconds=max(0.0, (datetime.now(UTC) - cursor).total_seconds()) if cursor else None,
        covered=covered,
        gaps=gaps,
        windows=_by_state(store),
        state_is_behind=is_behind(layout, store),
        last_loads=published.last_loads,
        last_audit=published.last_audit,
        rows=published.rows,
        published_at=published.at,
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
        needs_a_hand=(),
    )
    return Status(**{**vars(found), "needs_a_hand": tuple(_needs_a_hand(found, settings, store))})


@dataclass(frozen=True)
class _Published:
    at: datetime | None = None
    rows: dict[str, int] = field(default_factory=dict)
    last_loads: tuple[dict[str, object], ...] = ()
    last_audit: LastAudit | None = None
    quarantined: int = 0
    unknown_keys: int = 0
    absent_kinds: tuple[str, ...] = ()

    @classmethod
    def read(cls, layout: Layout) -> _Published:
        if not layout.published.exists():
            return cls()
        at = datetime.fromtimestamp(layout.published.stat().st_mtime, UTC)
        with published(layout) as connection:
            last = tuple(records(connection.execute(sql_files.read("queries/last_loads.sql"))))
            audits = (
                connection.execute(sql_files.read("queries/last_audit.sql"))
                if has_ops_table(connection, "missing_shipments")
                else None
            )
            audit = next((LastAudit(**row) for row in records(audits)), None) if audits else None
            rows = row_counts(connection)
            absent = absent_kinds(connection) if has_ops_table(connection, "included_kinds") else ()
        return cls(at, rows, last, audit, rows["ops_quarantine"], rows["ops_schema_drift"], absent)


@dataclass(frozen=True)
class _Pushed:
    counts: dict[str, dict[str, int]]
    doubts: tuple[Doubt, ...]
    unseen: int
    holders: tuple[str, ...]

    @classmethod
    def read(cls, settings: Settings) -> _Pushed:
        """Read the ledger. An intended create is no doubt while a process pushes its kind."""
        held = {kind: holder for kind in KINDS if (holder := pusher(settings, kind)) is not None}
        counts: dict[str, dict[str, int]] = {}
        with PushLedger(settings.database_url) as ledger:
            for (kind, state), count in sorted(ledger.counts().items()):
                counts.setdefault(kind, {})[state.value] = count
            doubts = tuple(
                _doubt(entry)
                for entry in ledger.unsure()
                if entry.state is not State.INTENDED or kind_named(entry.kind) not in held
            )
            return cls(counts, doubts, ledger.unseen(in_shipments()), tuple(map(str, held.values())))


def _doubt(entry: Entry) -> Doubt:
    advice = what_to_do(kind_named(entry.kind), entry.state)
    return Doubt(entry.kind, entry.key, entry.intended_at, entry.message, advice)


def _by_state(store: StateStore) -> dict[str, int]:
    counted: dict[str, int] = {}
    for window in store.windows():
        counted[window.state] = counted.get(window.state, 0) + 1
    return counted


def _coverage_needs(found: Status) -> Iterator[str]:
    if found.sync_cursor is None:
        yield "Nothing is synced yet: run `wms-sync sync`."
    for gap in found.gaps:
        yield f"Not covered: {gap.start:%Y-%m-%d %H:%M:%S} to {gap.end:%Y-%m-%d %H:%M:%S}; the next sync reads it."
    if found.lag_seconds is not None and found.lag_seconds > LATE.total_seconds():
        yield f"The sync is {found.lag_seconds / 3600:.0f} hours behind: look at the last runs in Dagster."
    if found.windows.get("landed"):
        yield f"{found.windows['landed']} windows are on disk and not in the tables: run `wms-sync sync`."
    if found.windows.get("reading") and found.writer is None:
        yield f"{found.windows['reading']} windows were begun and not finished: the next run continues them."


def _moment(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _needs_a_hand(found: Status, settings: Settings, store: StateStore) -> Iterator[str]:
    if found.state_is_behind:
        yield (
            "The state store was lost or is an old copy, so the windows and pushes shown here are too few. Run "
            "`wms-sync sync`: it restores them from what is on disk, and reads only what is not there."
        )
    else:
        yield from _coverage_needs(found)
    yield from store.warnings()
    layout = settings.layout
    yield from (log_notice(kept, layout.published) for kept in layout.logs_set_aside())
    if (off := what_is_off(store, settings.clock_tolerance)) is not None:
        yield off
    yield from found.absent_kinds
    if found.quarantined:
        yield f"{found.quarantined} values did not fit their type: see ops.quarantine."
    if found.unknown_keys:
        yield f"{found.unknown_keys} unknown keys, or keys whose values were cast, came: see ops.schema_drift."
    if found.last_audit is not None and (unproven := found.last_audit.absent - found.last_audit.missing):
        yield (
            f"The last audit did not find {unproven} shipments that the tables have, and could not prove that they are "
            "gone: the service has them when asked by id, or they were too many; the log of that run says which. Check "
            "whether the token may see all shipments."
        )
    for (kind, advice), count in sorted(Counter((doubt.kind, doubt.what_to_do) for doubt in found.doubts).items()):
        yield f"{count} {kind_named(kind).many} may or may not exist in the service. {advice}"
    if (lacking := store.observation(LEDGER_LACKS)) is not None:
        yield (
            f"The ledger was restored, and lacks what was created after {_moment(lacking.value):%Y-%m-%d %H:%M} UTC: a "
            "push of products asks before it sends what the ledger does not know. When you know that nothing is "
            "missing, run `wms-sync restore --creates-are-known`."
        )
    if layout.restoring.exists():
        yield str(RestoreUnfinished(layout.restoring.read_text(encoding="utf-8")))
    for file in found.unfinished:
        yield needs(settings, file)
    if forgetting := len(store.forgotten(unfinished=True)):
        yield f"Forgetting {forgetting} orders was interrupted: run `wms-sync forget` to finish it."
    try:
        refuse_another_service(settings, store)
    except AnotherServiceError as error:
        yield str(error)
    if found.records_before_start:
        yield (
            f"The service has {found.records_before_start} shipments last changed before {settings.start_date}; they "
            "are not read (WMS_START_DATE)."
        )
