"""What a person should look at: items with a name, what is so, what to do, and whether something failed or is stale.

An item can be acknowledged by its name until its facts change, unless it is a state that goes on by itself: data that
is stale stays stale. Names stay the same as long as the item is about the same thing.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import replace

from wms_sync.errors import WmsSyncError
from wms_sync.grammar import DID_NOT_FIT, UNKNOWN, agreed, count_of
from wms_sync.layout import Layout
from wms_sync.master_data.pushed_files import needs
from wms_sync.reports.nights import is_being_retried
from wms_sync.settings import Settings
from wms_sync.shipments.read.clocks import what_is_off
from wms_sync.shipments.read.set_aside import folders_set_aside
from wms_sync.state.acknowledgements import fingerprint
from wms_sync.state.errors import RestoreUnfinished
from wms_sync.state.ledger import LEDGER_LACKS
from wms_sync.state.runs import LOADING, LOADS_TABLES, SYNC, RunRecord
from wms_sync.state.store import StateStore
from wms_sync.targets.errors import AnotherServiceError, ReadersInTheWay
from wms_sync.targets.foreign_log import log_notice
from wms_sync.targets.target import Target, is_gone, target_of
from wms_sync.upkeep.maintenance import loads_too_many
from wms_sync.upkeep.place import refuse_places
from wms_sync.upkeep.recovery import refuse_another_service

if TYPE_CHECKING:
    from wms_sync.reports.status import Status

Severity = Literal["failed", "look"]
RUN = "run"
"""The beginning of the names of items on runs."""


class Item(Struct, frozen=True):
    """One thing to look at. ``facts`` is their fingerprint; ``acknowledged_at`` is None if nobody has seen them."""

    name: str
    severity: Severity
    text: str
    facts: str
    can_be_acknowledged: bool = True
    acknowledged_at: datetime | None = None


def item(name: str, text: str, *facts: object, about: object = None, severity: Severity = "look") -> Item:
    """Return an item; ``about`` tells it from others of the same name. Without facts, the text is the fact."""
    suffix = "" if about is None else f"-{hashlib.sha256(str(about).encode()).hexdigest()[:6]}"
    return Item(f"{name}{suffix}", severity, text, fingerprint(*(facts or (text,))))


def state(name: str, text: str) -> Item:
    """Return an item on a state that goes on by itself and that nobody can acknowledge away."""
    return Item(name, "failed", text, fingerprint(name), can_be_acknowledged=False)


def marked(items: Collection[Item], acknowledged: Mapping[tuple[str, str], datetime]) -> tuple[Item, ...]:
    """Return the items, each with when its facts were acknowledged."""
    return tuple(
        replace(one, acknowledged_at=acknowledged.get((one.name, one.facts)) if one.can_be_acknowledged else None)
        for one in items
    )


def items_of(found: Status, settings: Settings, store: StateStore, runs: Sequence[RunRecord]) -> Iterator[Item]:
    """Yield what there is to look at; ``runs`` are all that are recorded, newest first."""
    is_open = is_being_retried(runs, datetime.now(UTC), settings.night_retry_hours)
    yield from _run_items(runs, tried_again=SYNC if is_open else None)
    try:
        refuse_places(settings, store)
    except WmsSyncError as error:
        yield state("elsewhere", str(error))
    if found.state_is_behind:
        yield state(
            "state-lost",
            "The state store was lost or is an old copy, so the windows and pushes shown here are too few. Run "
            "`wms-sync sync`: it restores them from what is on disk, and reads only what is not there.",
        )
    else:
        if is_gone(store, target := target_of(settings)):
            yield state("tables-gone", tables_gone(target))
        yield from _coverage_items(found)
        for one in folders_set_aside(settings.layout, store):
            yield item("set-aside", str(one), about=one.window_id)
    yield from (item("warning", warning, about=warning) for warning in store.warnings())
    layout = settings.layout
    yield from (item("log", log_notice(kept, layout.published), about=kept.name) for kept in layout.logs_set_aside())
    if (off := what_is_off(store, settings.clock_tolerance)) is not None:
        yield item("clocks", off, "differ")
    yield from (item("kind", absent, about=absent) for absent in found.absent_kinds)
    yield from _inbox_items(found)
    if found.last_audit is not None and (unproven := found.last_audit.absent - found.last_audit.missing):
        gone = agreed(unproven, "it is gone: the service has it", "they are gone: the service has them")
        yield item(
            "audit",
            f"The last audit did not find {count_of(unproven, 'shipment')} that the tables have, and could not prove "
            f"that {gone} when asked by id, or too many were absent; the log of that run says which. Check whether the "
            "token may see all shipments.",
            found.last_audit.window_id,
        )
    for (kind, advice), count in sorted(Counter((doubt.kind, doubt.what_to_do) for doubt in found.doubts).items()):
        keys = sorted(doubt.key for doubt in found.doubts if (doubt.kind, doubt.what_to_do) == (kind, advice))
        text = (
            f"{count_of(count, kind.replace('-', ' ').removesuffix('s'))} may or may not exist in the service. {advice}"
        )
        yield item("doubts", text, *keys, about=(kind, advice))
    yield from _restore_items(settings.layout, store)
    for file in found.unfinished:
        yield item("file", needs(settings, file), file.run_id, file.unsent, file.waits, about=(file.kind, file.path))
    if forgetting := len(store.forgotten(unfinished=True)):
        yield item("forget", _forgetting(forgetting, target_of(settings).readers_in_the_way()), forgetting)
    if late := loads_too_many(settings):
        yield item(
            "maintenance",
            f"{count_of(late, 'load has', 'loads have')} left files in the lake since its last maintenance, and each "
            "takes longer: run `wms-sync maintain`.",
            "late",
        )
    try:
        refuse_another_service(settings, store)
    except AnotherServiceError as error:
        yield state("another-service", str(error))
    if found.records_before_start:
        yield item(
            "before-start",
            f"The service has {count_of(found.records_before_start, 'shipment')} last changed before "
            f"{settings.start_date}, which WMS_START_DATE leaves out.",
        )


def tables_gone(target: Target) -> str:
    """Return what to say of a target that was published and is gone."""
    return (
        f"{target.name} was published and is gone: analysts have nothing to open. Run `wms-sync sync`, "
        "which loads the tables from the Parquet files and raw pages on disk, and publishes them again."
    )


def _forgetting(orders: int, readers: Sequence[int]) -> str:
    text = f"Forgetting {count_of(orders, 'order')} was interrupted: run `wms-sync forget` to finish it."
    return f"{text} {ReadersInTheWay(readers)}" if readers else text


def _run_items(runs: Sequence[RunRecord], *, tried_again: str | None = None) -> Iterator[Item]:
    """Yield an item for each purpose whose newest run failed and which no later run has made good. Newest first.

    What is ``tried_again`` by itself has not failed yet.
    """
    done: set[str] = set()
    for run in runs:
        if run.outcome == "running" or run.purpose in done:
            continue
        done.add(run.purpose)
        if run.outcome == "succeeded" and run.group in LOADS_TABLES:
            done.add(LOADING)
        if run.outcome in {"failed", "interrupted"}:
            yield item(
                RUN,
                f"The last run for {run.purpose} ({run.source}, {run.started_at:%Y-%m-%d %H:%M:%S} UTC) "
                f"{'failed' if run.outcome == 'failed' else 'was interrupted'}: {run.error}",
                run.run_id,
                about=run.purpose,
                severity="failed" if run.outcome == "failed" and run.purpose != tried_again else "look",
            )


def _coverage_items(found: Status) -> Iterator[Item]:
    if found.sync_cursor is None:
        yield state("nothing-synced", "Nothing is synced yet: run `wms-sync sync`.")
    for gap in found.gaps:
        yield item(
            "gap",
            f"Not covered: {gap.start:%Y-%m-%d %H:%M:%S} to {gap.end:%Y-%m-%d %H:%M:%S}; the next sync reads it.",
            about=gap,
        )
    if found.lag_seconds is not None and found.lag_seconds > found.late_after_seconds:
        yield state(
            "stale",
            f"The sync is {count_of(round(found.lag_seconds / 3600), 'hour')} behind: see the last runs in "
            "`wms-sync status`.",
        )
    if landed := found.windows.get("landed"):
        yield item(
            "landed",
            f"{count_of(landed, 'window is', 'windows are')} on disk and not in the tables: run `wms-sync sync`.",
        )
    if (reading := found.windows.get("reading")) and found.writer is None:
        yield item(
            "reading",
            f"{count_of(reading, 'window was', 'windows were')} begun and not finished: the next run continues.",
        )


def _restore_items(layout: Layout, store: StateStore) -> Iterator[Item]:
    if (lacking := store.observation(LEDGER_LACKS)) is not None:
        yield item(
            "ledger-restored",
            f"The ledger was restored, and lacks what was created after {_moment(lacking.value):%Y-%m-%d %H:%M} UTC: a "
            "push of products asks before it sends what the ledger does not know. When you know that nothing is "
            "missing, run `wms-sync restore --creates-are-known`.",
        )
    if layout.restoring.exists():
        yield state("restore", str(RestoreUnfinished(layout.restoring.read_text(encoding="utf-8"))))


def _moment(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _inbox_items(found: Status) -> Iterator[Item]:
    unseen = [entry for entry in found.inbox if entry.acknowledged_at is None]
    facts = [(entry.name, entry.facts) for entry in found.inbox]
    values = [entry for entry in unseen if entry.is_value]
    keys = [entry for entry in unseen if not entry.is_value]
    if values:
        yield item(
            "quarantine",
            f"{count_of(sum(entry.rows for entry in values), *DID_NOT_FIT)}: `wms-sync inbox list` shows them "
            "by kind; see ops.quarantine.",
            *facts,
        )
    if keys:
        yield item(
            "drift",
            f"{count_of(len(keys), *UNKNOWN)}: `wms-sync inbox list` shows them; see ops.schema_drift.",
            *facts,
        )
