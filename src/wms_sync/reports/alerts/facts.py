"""The facts that are so now, source by source: runs, freshness, the published file, pushes, audits.

Each source reads what the runs themselves left in the state store and the published file, so it does not matter which
process asks, or how long after. A source that cannot tell now whether a fact is still so names its key as undecided:
what was told of it stays.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path

from msgspec import Struct

from wms_sync.cron import longest_pause
from wms_sync.grammar import DID_NOT_FIT, UNKNOWN, agreed, count_of
from wms_sync.master_data.kinds.kind import Kind
from wms_sync.master_data.kinds.table import KINDS
from wms_sync.master_data.pushed_files import pusher, unfinished
from wms_sync.reports.alerts import runs
from wms_sync.reports.alerts.fact import Event, Fact, Undecided, digest
from wms_sync.reports.inbox import InboxEntry, open_entries
from wms_sync.reports.nights import is_being_retried
from wms_sync.settings import Settings
from wms_sync.shipments.read.plan import data_as_of, late_after
from wms_sync.state.audits import Audits
from wms_sync.state.ledger import PushLedger
from wms_sync.state.push_files import PushedFile, PushFiles
from wms_sync.state.runs import RunRecord, RunRecords
from wms_sync.state.store import StateStore
from wms_sync.targets.target import Target, is_gone, target_of

RECORDS = 200
"""How many of the newest runs are looked at."""
SHOWN = 5
UNSENT_FOR = timedelta(hours=1)
"""A push that left rows unsent is tried again by itself: it is told as not settled when it still is after this time."""

Found = Iterator[Fact | Undecided]


class Now(Struct, frozen=True):
    """What every source is asked with."""

    settings: Settings
    moment: datetime
    data_as_of: datetime | None
    records: tuple[RunRecord, ...]
    """The newest runs, newest first; a run whose process is gone is failed here."""
    told: Collection[str] = ()
    """The keys of what was told and has not ended."""

    @classmethod
    def read(cls, settings: Settings, moment: datetime, told: Collection[str]) -> Now:
        """Read what the sources share."""
        with StateStore(settings.database_url) as store:
            reaches = data_as_of(settings, store)
        with RunRecords(settings.database_url) as recorded:
            recorded.mark_killed(settings.layout)
            newest = recorded.newest(RECORDS)
        return cls(settings, moment, reaches, newest, told)


def of_runs(now: Now) -> Found:
    """Yield the runs that failed, by what they were for."""
    told = [key for key in now.told if key.startswith(Event.RUN_FAILED)]
    yield from runs.failed(now.records, told, now.moment, now.settings.night_retry_hours)


def of_freshness(now: Now) -> Found:
    """Yield that the data is old: by the schedule, and a pause of it later where a failed sync is told anyway.

    While a night is tried again nobody is told yet.
    """
    settings, limit = now.settings, late_after(now.settings, now.moment)
    if is_being_retried(now.records, now.moment, settings.night_retry_hours):
        yield Undecided(Event.STALE_DATA)
        return
    if runs.is_failing(now.records):
        limit += longest_pause(settings.schedule_cron, settings.schedule_timezone, now.moment)
    if now.data_as_of is None or (behind := now.moment - now.data_as_of) <= limit:
        return
    yield Fact(
        Event.STALE_DATA,
        key=Event.STALE_DATA,
        fingerprint="",
        text=f"The data is {count_of(round(behind / timedelta(hours=1)), 'hour')} old.",
        what_to_do="Look whether the schedule and its daemon run, and at the last runs: `wms-sync status`.",
        counts={"hours": round(behind / timedelta(hours=1))},
    )


def of_published_file(now: Now) -> Found:
    """Yield that it is gone, or what is open in the inbox: values that did not fit, and keys that no type knows."""
    target = target_of(now.settings)
    if not target.is_published:
        with StateStore(now.settings.database_url) as store:
            if is_gone(store, target):
                yield from _gone(target)
        return
    entries = _inbox(now.settings, target.version)
    if values := [one for one in entries if one.is_value]:
        found = sum(one.rows for one in values)
        yield Fact(
            Event.QUARANTINE,
            key=Event.QUARANTINE,
            fingerprint=digest(sorted(one.name for one in values)),
            text=f"{count_of(found, *DID_NOT_FIT)}: {_listed([one.what for one in values])}.",
            what_to_do="`wms-sync inbox list` shows them by kind.",
            counts={"values": found, "kinds": len(values)},
        )
    if keys := [one for one in entries if not one.is_value]:
        names = _listed([one.what for one in keys])
        yield Fact(
            Event.DRIFT,
            key=Event.DRIFT,
            fingerprint=digest(sorted(one.name for one in keys)),
            text=f"{count_of(len(keys), *UNKNOWN)}: {names}.",
            what_to_do="`wms-sync inbox list` shows them. The raw pages keep the values.",
            counts={"keys": len(keys)},
        )


def of_pushes(now: Now) -> Found:
    """Yield what pushes left: rejected rows, creates without a known outcome, rows unsent or waiting."""
    held = {kind for kind in KINDS if pusher(now.settings, kind.name) is not None}
    files = unfinished(now.settings)
    with PushFiles(now.settings.database_url) as stored:
        pushed = (
            {}
            if now.settings.base_url is None
            else {kind: tuple(stored.of_kind(now.settings.base_url, kind.name).values()) for kind in KINDS}
        )
    with PushLedger(now.settings.database_url) as ledger:
        unsure = ledger.unsure()
    for kind in KINDS:
        if kind in held:
            yield Undecided(f"{Event.DOUBTS}:{kind.name}")
            yield Undecided(f"{Event.REJECTS}:{kind.name}")
            yield Undecided(f"{Event.PUSH_NOT_SETTLED}:{kind.name}")
            continue
        yield from _rejects(now, kind, pushed.get(kind, ()))
        yield from _doubts(kind, sorted(entry.key for entry in unsure if entry.kind == kind.name))
        yield from _unsettled(now, kind, [file for file in files if file.kind == kind.name])


def of_audits(now: Now) -> Found:
    """Yield what the newest slice of old shipments showed, if the tables had it otherwise."""
    with Audits(now.settings.database_url) as audits:
        done = [audit for audit in audits.all() if audit.compared is not None]
    if not done:
        return
    last = done[-1]
    found = {
        name: count for name in ("changed", "missed", "absent", "orders_changed") if (count := getattr(last, name))
    }
    if found:
        counted = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in found.items())
        yield Fact(
            Event.AUDIT_FINDINGS,
            key=Event.AUDIT_FINDINGS,
            fingerprint=last.window_id,
            text=(
                f"The audit compared {count_of(last.compared or 0, 'old shipment')}, and the tables differed: "
                f"{counted}."
            ),
            what_to_do="What was read replaces them. `wms-sync status` and ops.audits say more.",
            run_id=last.run_id,
            counts={"compared": last.compared or 0, **found},
        )


SOURCES: Mapping[Callable[[Now], Found], frozenset[Event]] = {
    of_runs: frozenset({Event.RUN_FAILED}),
    of_freshness: frozenset({Event.STALE_DATA}),
    of_published_file: frozenset({Event.TABLES_GONE, Event.QUARANTINE, Event.DRIFT}),
    of_pushes: frozenset({Event.REJECTS, Event.DOUBTS, Event.PUSH_NOT_SETTLED}),
    of_audits: frozenset({Event.AUDIT_FINDINGS}),
}
"""Each with the events whose facts it alone yields."""


@lru_cache(maxsize=1)
def _inbox(settings: Settings, _: int) -> tuple[InboxEntry, ...]:
    """Return what is open. It may take long to find out, so the daemon asks once per published file."""
    with target_of(settings).published() as connection, StateStore(settings.database_url) as store:
        return open_entries(connection, store, {})


def _gone(target: Target) -> Found:
    """Yield that the published tables are gone. What is open in their inbox is not known then."""
    yield Fact(
        Event.TABLES_GONE,
        key=Event.TABLES_GONE,
        fingerprint="",
        text=f"{target.name} was published and is gone: analysts have nothing to open.",
        what_to_do="Run `wms-sync sync`: it loads the tables from what is on disk, and publishes them again.",
    )
    yield Undecided(Event.QUARANTINE)
    yield Undecided(Event.DRIFT)


def _rejects(now: Now, kind: Kind, files: Iterable[PushedFile]) -> Found:
    last = next((one for one in now.records if one.purpose == f"push {kind.slug}" and one.counts), None)
    if last is None or not (rejected := last.counts.get("rejected", 0)):
        return
    contents = sorted(file.sha256 for file in files if file.run_id == last.run_id)
    yield Fact(
        Event.REJECTS,
        key=f"{Event.REJECTS}:{kind.name}",
        fingerprint=digest([rejected, *contents]),
        text=f"{count_of(rejected, 'row')} of {kind.many} {agreed(rejected, 'was', 'were')} rejected.",
        what_to_do="Correct the rows in the newest file of data/rejects, and push that file.",
        run_id=last.run_id,
        purpose=last.purpose,
        is_in_ui=runs.is_in_ui(last),
        counts={"rejected": rejected},
    )


def _doubts(kind: Kind, keys: list[str]) -> Found:
    if keys:
        yield Fact(
            Event.DOUBTS,
            key=f"{Event.DOUBTS}:{kind.name}",
            fingerprint=digest(keys),
            text=(
                f"{count_of(len(keys), kind.one, kind.many)} may or may not exist in the service: "
                f"{agreed(len(keys), 'its create was', 'their creates were')} not answered."
            ),
            what_to_do="`wms-sync status` lists them, each with what settles it.",
            counts={"doubts": len(keys)},
        )


def _unsettled(now: Now, kind: Kind, files: list[PushedFile]) -> Found:
    waits_for = late_after(now.settings, now.moment)  # they get the id with a sync
    old = [file for file in files if now.moment - file.began_at > (UNSENT_FOR if file.unsent else waits_for)]
    if old:
        unsent, waits = sum(file.unsent for file in old), sum(file.waits for file in old)
        names = _listed([Path(file.path).name for file in old])
        yield Fact(
            Event.PUSH_NOT_SETTLED,
            key=f"{Event.PUSH_NOT_SETTLED}:{kind.name}",
            fingerprint=digest(sorted(f"{file.path} {file.sha256}" for file in old)),
            text=(
                f"The push of {kind.many} is not settled: {count_of(unsent, 'row')} unsent, {waits:,} waiting "
                f"({names})."
            ),
            what_to_do="`wms-sync status` says of each file why, and what to do.",
            counts={"unsent": unsent, "waits": waits, "files": len(old)},
        )


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
