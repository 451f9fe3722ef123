"""The facts that are so now, source by source: runs, freshness, the published file, pushes, audits.

Each source reads what the runs themselves left in the state store and the published file, so it does not matter which
process asks, or how long after. A source that cannot tell now whether a fact is still so names its key as undecided:
what was told of it stays.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from wms_sync import sql_files
from wms_sync.alerts import runs
from wms_sync.alerts.fact import Event, Fact, Undecided, digest
from wms_sync.analytics.database import published, records
from wms_sync.extract.plan import data_as_of
from wms_sync.master_data.kinds.kind import Kind
from wms_sync.master_data.kinds.table import KINDS
from wms_sync.master_data.push.file import pusher
from wms_sync.settings import Settings
from wms_sync.state.audits import Audits
from wms_sync.state.ledger import PushLedger
from wms_sync.state.push_files import PushedFile, PushFiles
from wms_sync.state.runs import RunRecord, RunRecords, as_it_is
from wms_sync.state.store import StateStore

RECORDS = 200
"""How many of the newest runs are looked at."""
SHOWN = 5
UNSENT_FOR = timedelta(hours=1)
"""A push that left rows unsent is tried again by itself: it is told as not settled when it still is after this time."""
WAITS_FOR = timedelta(hours=26)
"""Rows that wait for what they name get its id with a sync, so they are told when a night has passed."""
LATE = timedelta(hours=26)

Found = Iterator[Fact | Undecided]


@dataclass(frozen=True)
class Now:
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
            newest = recorded.newest(RECORDS)
        return cls(settings, moment, reaches, tuple(as_it_is(settings.layout, one) for one in newest), told)


def of_runs(now: Now) -> Found:
    """Yield the runs that failed, by what they were for."""
    told = [key for key in now.told if key.startswith(Event.RUN_FAILED)]
    yield from runs.failed(now.records, told, now.moment, now.settings.night_retry_hours)


def of_freshness(now: Now) -> Found:
    """Yield that the data is old."""
    if now.data_as_of is None or (behind := now.moment - now.data_as_of) <= LATE:
        return
    yield Fact(
        Event.STALE_DATA,
        key=Event.STALE_DATA,
        fingerprint="",
        text=f"The data is {behind / timedelta(hours=1):.0f} hours old.",
        what_to_do="Look whether the schedule and its daemon run, and at the last runs: `wms-sync status`.",
        counts={"hours": round(behind / timedelta(hours=1))},
    )


def of_published_file(now: Now) -> Found:
    """Yield values that did not fit their types, and keys that no type knows: each key is told once, with its count."""
    if not now.settings.layout.published.exists():
        return
    with published(now.settings.layout) as connection:
        misfits = records(connection.execute(sql_files.read("queries/quarantined_places.sql")))
        unknown = records(connection.execute(sql_files.read("queries/unknown_keys.sql")))
    if misfits:
        places = [f"{one['object']}.{one['key']}" for one in misfits]
        values = sum(one["found"] for one in misfits)
        yield Fact(
            Event.QUARANTINE,
            key=Event.QUARANTINE,
            fingerprint=digest(sorted(places)),
            text=f"{values:,} values did not fit their type and are null: {_listed(places)}.",
            what_to_do="Look at ops.quarantine; each row names the page and says why.",
            counts={"values": values, "keys": len(places)},
        )
    if unknown:
        keys = [str(one["path"]) for one in unknown]
        yield Fact(
            Event.DRIFT,
            key=Event.DRIFT,
            fingerprint=digest(keys),
            text=f"{len(keys):,} keys came that no type knows, or whose values were cast: {_listed(keys)}.",
            what_to_do="Look at ops.schema_drift. The raw pages keep the values.",
            counts={"keys": len(keys)},
        )


def of_pushes(now: Now) -> Found:
    """Yield what pushes left: rejected rows, creates without a known outcome, rows unsent or waiting."""
    held = {kind for kind in KINDS if pusher(now.settings, kind) is not None}
    with PushFiles(now.settings.database_url) as stored:
        files = stored.unfinished()
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
            text=f"Of {last.compared:,} old shipments that were read again, the tables had some otherwise: {counted}.",
            what_to_do="What was read replaces them. `wms-sync status` and ops.audits say more.",
            run_id=last.run_id,
            counts={"compared": last.compared or 0, **found},
        )


SOURCES: Mapping[Callable[[Now], Found], frozenset[Event]] = {
    of_runs: frozenset({Event.RUN_FAILED}),
    of_freshness: frozenset({Event.STALE_DATA}),
    of_published_file: frozenset({Event.QUARANTINE, Event.DRIFT}),
    of_pushes: frozenset({Event.REJECTS, Event.DOUBTS, Event.PUSH_NOT_SETTLED}),
    of_audits: frozenset({Event.AUDIT_FINDINGS}),
}
"""Each with the events whose facts it alone yields."""


def _rejects(now: Now, kind: Kind, files: Iterable[PushedFile]) -> Found:
    last = next((one for one in now.records if one.purpose == f"push {kind.slug}" and one.counts), None)
    if last is None or not (rejected := last.counts.get("rejected", 0)):
        return
    contents = sorted(file.sha256 for file in files if file.run_id == last.run_id)
    yield Fact(
        Event.REJECTS,
        key=f"{Event.REJECTS}:{kind.name}",
        fingerprint=digest([rejected, *contents]),
        text=f"{rejected:,} rows of {kind.many} were rejected.",
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
            text=f"{len(keys):,} {kind.many} may or may not exist in the service: their creates were not answered.",
            what_to_do="`wms-sync status` lists them, each with what settles it.",
            counts={"doubts": len(keys)},
        )


def _unsettled(now: Now, kind: Kind, files: list[PushedFile]) -> Found:
    old = [file for file in files if now.moment - file.began_at > (UNSENT_FOR if file.unsent else WAITS_FOR)]
    if old:
        unsent, waits = sum(file.unsent for file in old), sum(file.waits for file in old)
        names = _listed([Path(file.path).name for file in old])
        yield Fact(
            Event.PUSH_NOT_SETTLED,
            key=f"{Event.PUSH_NOT_SETTLED}:{kind.name}",
            fingerprint=digest(sorted(f"{file.path} {file.sha256}" for file in old)),
            text=f"The push of {kind.many} is not settled: {unsent:,} rows unsent, {waits:,} waiting ({names}).",
            what_to_do="`wms-sync status` says of each file why, and what to do.",
            counts={"unsent": unsent, "waits": waits, "files": len(old)},
        )


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
