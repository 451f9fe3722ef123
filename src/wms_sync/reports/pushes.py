"""The findings on pushes: creates in doubt, rejected rows, files with unsent or waiting rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path

from wms_sync.grammar import agreed, count_of
from wms_sync.master_data.kind import Kind
from wms_sync.master_data.kinds import KINDS
from wms_sync.master_data.push import needs
from wms_sync.reports.finding import Finding, warning
from wms_sync.reports.installation import Installation
from wms_sync.settings import Settings
from wms_sync.shipments.read.plan import late_after
from wms_sync.state.ledger import LEDGER_LACKS, PushedFile, PushFiles
from wms_sync.state.reported import fingerprint
from wms_sync.state.runs import RunRecord

UNSENT_FOR = timedelta(hours=1)
"""How long an alert about unsent rows waits, because they are pushed again automatically."""


def pushes(installation: Installation) -> Iterator[Finding]:
    """Yield the findings on pushes: creates in doubt, rejected rows, files with unsent or waiting rows."""
    settings, moment = installation.settings, installation.moment
    for pushing, holder in installation.pushing.items():
        yield Finding(name=f"pushing-{pushing}", severity="note", text=holder, hides_others=True)
    doubts = sorted(installation.doubts, key=lambda doubt: (doubt.kind, doubt.what_to_do, doubt.key))
    for (name, advice), group in groupby(doubts, lambda doubt: (doubt.kind, doubt.what_to_do)):
        alike = list(group)
        yield warning(
            "doubts",
            f"{count_of(len(alike), name.replace('-', ' ').removesuffix('s'))} may or may not exist in the service.",
            about=(name, advice),
            facts=fingerprint(*[doubt.key for doubt in alike]),
            what_to_do=advice,
            since=min(doubt.sent_at for doubt in alike),
            is_settled=name not in installation.pushing,
            counts={"doubts": len(alike)},
        )
    for file in installation.unfinished:
        yield _of_file(settings, file, moment)
    for kind in KINDS:
        if kind.name not in installation.pushing:
            yield from _rejects(settings, kind, installation.runs)
    lacking = installation.store.observation(LEDGER_LACKS)
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
