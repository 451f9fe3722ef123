"""What the stored data says of an installation: published tables, state store, records of runs, ledger of creates.

Findings, status, metrics and alerts all read the same ``Installation``, which sends no request and waits for no writer.
Belongs here: facts. Keep out: judging them, which ``findings`` does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cached_property

import duckdb
from msgspec import Struct, field
from msgspec.structs import replace

from wms_sync import sql_files
from wms_sync.cron import next_tick
from wms_sync.errors import WmsSyncError
from wms_sync.intervals import Interval
from wms_sync.master_data.kinds import IN_SHIPMENTS, NAMES, kind_named
from wms_sync.master_data.plan import what_to_do
from wms_sync.master_data.push import pusher, unfinished
from wms_sync.reports.inbox import InboxEntry, open_entries
from wms_sync.settings import Settings
from wms_sync.shipments.load.checks import CheckResult, checks
from wms_sync.shipments.load.omitted import not_sent_lately
from wms_sync.shipments.read.plan import gaps_so_far, late_after, sync_cursor
from wms_sync.state.ledger import PushedFile, State
from wms_sync.state.lock import lock_of
from wms_sync.state.run_records import RunRecord
from wms_sync.state.snapshot_files import is_behind
from wms_sync.state.store import StateStore
from wms_sync.storage.durable import accessing
from wms_sync.targets.database import records, row_counts
from wms_sync.targets.target import target_of


class LastAudit(Struct, frozen=True):
    """The last audit, which reread the old shipments with ids above ``after_id``, up to ``to_id`` (None: the end).

    It marked ``missing`` shipments as missing; ``missing_in_all`` are so marked in total. Its round has read
    ``round_shipments`` of the ``shipments`` in the tables.
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


class Doubt(Struct, frozen=True):
    """A create without an answer, and what to do about it."""

    kind: str
    key: str
    sent_at: datetime
    message: str | None
    what_to_do: str


class Installation(Struct, frozen=True, dict=True):
    """The facts at a moment: fields are read from the published tables at once, properties from other stores on use.

    Without tables the fields are empty; ``unreadable`` says why the tables cannot be opened. ``open_entries`` are those
    of the inbox without acknowledgements. ``not_sent`` has a sentence for each name of data that was requested but not
    sent. Use the properties while ``store`` is open.
    """

    settings: Settings
    store: StateStore
    moment: datetime
    published_at: datetime | None = None
    rows: dict[str, int] = field(default_factory=dict)
    last_audit: LastAudit | None = None
    not_sent: Mapping[str, str] = {}
    checks: Sequence[CheckResult] = ()
    open_entries: tuple[InboxEntry, ...] = ()
    unreadable: str | None = None

    @cached_property
    def acknowledged(self) -> Mapping[tuple[str, str], datetime]:
        """Return the times of acknowledgement, by name and facts."""
        return self.store.acknowledgements.all()

    @cached_property
    def inbox(self) -> tuple[InboxEntry, ...]:
        """Return the open entries of the inbox."""
        return tuple(
            replace(entry, acknowledged_at=self.acknowledged.get((entry.name, entry.facts)))
            for entry in self.open_entries
        )

    @cached_property
    def runs(self) -> tuple[RunRecord, ...]:
        """Return the records of runs, newest first; runs without a process count as failed."""
        return self.store.runs.as_they_are(self.settings.layout)

    @cached_property
    def is_behind(self) -> bool:
        """Return whether the state store lacks windows whose pages are on disk or in the bucket."""
        return is_behind(self.settings.layout, self.store)

    @cached_property
    def covered(self) -> tuple[Interval, ...]:
        """Return the time that the tables cover."""
        return self.store.covered(("loaded",))

    @property
    def gaps(self) -> tuple[Interval, ...]:
        """Return the gaps in ``covered``, up to its end."""
        return gaps_so_far(self.settings.start, self.covered)[1]

    @property
    def sync_cursor(self) -> datetime | None:
        """Return how far the tables reach without a gap; None before the first sync."""
        return sync_cursor(self.settings.start, self.covered) if self.covered else None

    @property
    def lag_seconds(self) -> float | None:
        """Return the age of the sync cursor; None before the first sync."""
        return max(0.0, (self.moment - self.sync_cursor).total_seconds()) if self.sync_cursor else None

    @property
    def late_after_seconds(self) -> float:
        """Return the age at which the sync cursor counts as stale, given the schedule."""
        return late_after(self.settings, self.moment).total_seconds()

    @property
    def next_tick(self) -> datetime:
        """Return the next tick of the schedule, whether or not the schedule is switched on."""
        return next_tick(self.settings.schedule_cron, self.settings.schedule_timezone, self.moment)

    @cached_property
    def windows(self) -> dict[str, int]:
        """Return the number of windows by state."""
        return dict(Counter(window.state for window in self.store.windows()))

    @property
    def writer(self) -> str | None:
        """Return the process that writes the tables now."""
        holder = lock_of(self.settings.database_url, self.settings.layout).holder()
        return str(holder) if holder else None

    @property
    def quarantined(self) -> int:
        """Return the number of open values that did not fit their types."""
        return sum(entry.rows for entry in self.inbox if entry.is_value)

    @property
    def unknown_keys(self) -> int:
        """Return the number of open keys that are in no type, or whose values were cast."""
        return sum(not entry.is_value for entry in self.inbox)

    @cached_property
    def pushing(self) -> dict[str, str]:
        """Return the processes that push now, by kind."""
        return {kind: str(holder) for kind in NAMES if (holder := pusher(self.settings, kind)) is not None}

    @cached_property
    def pushes(self) -> dict[str, dict[str, int]]:
        """Return the number of creates by kind and state."""
        counts: dict[str, dict[str, int]] = {}
        for (kind, state), count in sorted(self.store.ledger.counts().items()):
            counts.setdefault(kind, {})[state.value] = count
        return counts

    @cached_property
    def doubts(self) -> tuple[Doubt, ...]:
        """Return the creates in doubt. One that is only intended is not in doubt while a process pushes its kind."""
        return tuple(
            Doubt(
                entry.kind, entry.key, entry.intended_at, entry.message, what_to_do(kind_named(entry.kind), entry.state)
            )
            for entry in self.store.ledger.unsure()
            if entry.state is not State.INTENDED or entry.kind not in self.pushing
        )

    @property
    def unseen(self) -> int:
        """Return the number of created retailers and products that no shipment has shown yet."""
        return self.store.ledger.unseen(IN_SHIPMENTS)

    @cached_property
    def unfinished(self) -> tuple[PushedFile, ...]:
        """Return the files of master data with unsent or waiting rows."""
        return unfinished(self.settings, self.store.pushed_files)


@contextmanager
def installation_of(settings: Settings, moment: datetime | None = None) -> Iterator[Installation]:
    """Yield the facts at this moment, now by default, with the state store open.

    Raise ``Inaccessible`` if the data folder cannot be read.
    """
    with StateStore.opened(settings.database_url) as store, accessing(settings.layout.root):
        yield read_installation(settings, store, moment)


def read_installation(settings: Settings, store: StateStore, moment: datetime | None = None) -> Installation:
    """Return the facts at this moment, now by default, with those of the published tables if they can be opened."""
    moment = moment or datetime.now(UTC)
    target, published_at = target_of(settings), None
    try:
        if not target.is_published:
            return Installation(settings, store, moment)
        published_at = target.published_at
        with target.published() as connection:
            audits = records(connection.execute(sql_files.read("queries/last_audit.sql")))
            results = connection.execute("select name, offending, finding from ops.checks").fetchall()
            found = {name: result for name, *result in results}
            rows = row_counts(connection)
            has_found = rows["ops_quarantine"] or rows["ops_schema_drift"]
            return Installation(
                settings,
                store,
                moment,
                published_at=published_at,
                rows=rows,
                last_audit=next((LastAudit(**row) for row in audits), None),
                not_sent=not_sent_lately(connection),
                checks=[CheckResult(check, *found[check.name]) for check in checks() if check.name in found],
                open_entries=open_entries(connection, store) if has_found else (),
            )
    except (WmsSyncError, duckdb.Error) as error:
        return Installation(settings, store, moment, published_at=published_at, unreadable=str(error))
