"""Report open work of pushes: creates by state, creates in doubt, rejected rows, files with unsent or waiting rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path

from msgspec import Struct

from wms_sync.grammar import agreed, count_of
from wms_sync.master_data.kind import Kind
from wms_sync.master_data.kinds import IN_SHIPMENTS, KINDS, NAMES, kind_named
from wms_sync.master_data.plan import what_to_do
from wms_sync.master_data.push import needs, pusher, unfinished
from wms_sync.reports.finding import Finding, warning
from wms_sync.settings import Settings
from wms_sync.shipments.read.plan import late_after
from wms_sync.state.acknowledgements import fingerprint
from wms_sync.state.ledger import LEDGER_LACKS, Entry, PushedFile, PushFiles, PushLedger, State
from wms_sync.state.runs import RunRecord
from wms_sync.state.store import StateStore

UNSENT_FOR = timedelta(hours=1)
"""How long an alert about unsent rows waits, because they are pushed again automatically."""


class Doubt(Struct, frozen=True):
    """A create without an answer, and what to do about it."""

    kind: str
    key: str
    sent_at: datetime
    message: str | None
    what_to_do: str


class Pushed(Struct, frozen=True):
    """The creates by kind and state, and the creates in doubt. ``holders`` are the processes that push now, by kind."""

    counts: dict[str, dict[str, int]]
    doubts: tuple[Doubt, ...]
    unseen: int
    holders: dict[str, str]

    @classmethod
    def read(cls, settings: Settings) -> Pushed:
        """Read the ledger. A create that is only intended is not in doubt while a process pushes its kind."""
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
            return cls(
                counts, doubts, ledger.unseen(IN_SHIPMENTS), {kind: str(holder) for kind, holder in held.items()}
            )


def _doubt(entry: Entry) -> Doubt:
    advice = what_to_do(kind_named(entry.kind), entry.state)
    return Doubt(entry.kind, entry.key, entry.intended_at, entry.message, advice)


def of_pushes(settings: Settings, store: StateStore, moment: datetime, runs: Sequence[RunRecord]) -> Iterator[Finding]:
    """Yield the findings on pushes: creates in doubt, rejected rows, files with unsent or waiting rows."""
    pushed = Pushed.read(settings)
    for pushing, holder in pushed.holders.items():
        yield Finding(name=f"pushing-{pushing}", severity="note", text=str(holder), hides_others=True)
    doubts = sorted(pushed.doubts, key=lambda doubt: (doubt.kind, doubt.what_to_do, doubt.key))
    for (name, advice), group in groupby(doubts, lambda doubt: (doubt.kind, doubt.what_to_do)):
        alike = list(group)
        yield warning(
            "doubts",
            f"{count_of(len(alike), name.replace('-', ' ').removesuffix('s'))} may or may not exist in the service.",
            about=(name, advice),
            facts=fingerprint(*[doubt.key for doubt in alike]),
            what_to_do=advice,
            since=min(doubt.sent_at for doubt in alike),
            is_settled=name not in pushed.holders,
            counts={"doubts": len(alike)},
        )
    for file in unfinished(settings):
        yield _of_file(settings, file, moment)
    for kind in KINDS:
        if kind.name not in pushed.holders:
            yield from _rejects(settings, kind, runs)
    lacking = store.observation(LEDGER_LACKS)
    if lacking is not None:
        until = f"{datetime.fromtimestamp(lacking.value, UTC):%Y-%m-%d %H:%M} UTC"
        text = (
            f"The ledger was restored, and may lack creates after {until}: a push of products first looks up in the "
            "service each product that is not in the ledger."
        )
        what_to_do = "If you know that no create is missing, run `wms-sync restore --creates-are-known`."
        yield warning("ledger-restored", text, what_to_do=what_to_do)


def _of_file(settings: Settings, file: PushedFile, moment: datetime) -> Finding:
    waits_for = UNSENT_FOR if file.unsent else late_after(settings, moment)  # waiting rows get the id from a sync
    return warning(
        "file",
        f"{Path(file.path).name} is not settled: {count_of(file.unsent, 'row')} unsent, {file.waits:,} waiting.",
        about=(file.kind, file.path),
        facts=file.sha256,
        detail=needs(settings, file),
        since=file.began_at,
        is_settled=moment - file.began_at > waits_for,
        counts={"unsent": file.unsent, "waits": file.waits},
    )


def _rejects(settings: Settings, kind: Kind, runs: Sequence[RunRecord]) -> Iterator[Finding]:
    last = next((run for run in runs if run.purpose == f"push {kind.slug}" and run.counts), None)
    if last is None or settings.base_url is None or not (rejected := last.counts.get("rejected", 0)):
        return
    with PushFiles(settings.database_url) as files:
        pushed = files.of_kind(settings.base_url, kind.name).values()
    contents = sorted(file.sha256 for file in pushed if file.run_id == last.run_id)
    yield warning(
        f"rejects-{kind.slug}",
        f"{count_of(rejected, 'row')} of {kind.plural} {agreed(rejected, 'was', 'were')} rejected.",
        facts=fingerprint(*contents),
        what_to_do="Correct the rows in the newest file of data/rejects, and push that file.",
        since=last.started_at,
        counts={"rejected": rejected},
        run=last,
    )
