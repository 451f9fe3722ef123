"""The findings on what runs and pushes left.

Of runs: failed ones, and nights that wait for their next attempt; only the newest run of each purpose counts.
Of pushes: creates in doubt, files with unsent, waiting or rejected rows, and files that no push takes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import groupby, takewhile
from pathlib import Path

from wms_sync.grammar import count_of, minute
from wms_sync.master_data.kinds import NAMES, UPLOAD_SECONDS, files_of
from wms_sync.master_data.push import needs
from wms_sync.reports.finding import Finding, is_in_ui, name_of, warning
from wms_sync.reports.installation import Installation
from wms_sync.service.errors import Busy, NoSuchHost, NotSent, ServiceFailed, Unreachable
from wms_sync.settings import Settings
from wms_sync.shipments.read.plan import late_after
from wms_sync.shipments.read.shortfall import ReadIncomplete
from wms_sync.state.errors import StateLost, StateSilent
from wms_sync.state.ledger import LEDGER_LACKS, PushedFile, creates_since
from wms_sync.state.reported import fingerprint
from wms_sync.state.run_records import KILLED, LOADING, LOADS_TABLES, SYNC, RunRecord
from wms_sync.storage.files import FilesUnavailable
from wms_sync.targets.errors import NotCommitted

PASSING = frozenset(
    kind.__name__
    for kind in (
        Unreachable,
        NotSent,
        NoSuchHost,
        Busy,
        ServiceFailed,
        ReadIncomplete,
        FilesUnavailable,
        StateLost,
        StateSilent,
        NotCommitted,
    )
)
UNSENT_FOR = timedelta(hours=1)
"""How long an alert about unsent rows waits, because they are pushed again automatically."""
LONGEST_TEXT = 1000
SHOWN_FILES = 5
EXPLAINED_WITHIN = timedelta(minutes=1)
"""How long to wait for Dagster to record why a process ended. It notices the end some seconds later."""


def of_runs(runs: Sequence[RunRecord], moment: datetime) -> Iterator[Finding]:
    """Yield a finding for each purpose whose newest run failed, waits for its next attempt, or was interrupted.

    A run that waits or was interrupted counts only if the newest run that ended by itself did not fail; a run that has
    only read counts once a newer one has loaded. ``runs`` are sorted newest first.
    """
    done: set[str] = set()
    undecided: dict[str, RunRecord] = {}
    for run in runs:
        if run.outcome == "running" or run.purpose in done or (run.outcome == "read" and LOADING not in done):
            continue
        if run.outcome in {"interrupted", "waiting"}:
            undecided.setdefault(run.purpose, run)
            continue
        done.add(run.purpose)
        if run.outcome == "failed":
            undecided.pop(run.purpose, None)
            yield failed_run(run, runs, moment)
        elif run.group in LOADS_TABLES:
            done.add(LOADING)
    for run in undecided.values():
        if run.outcome == "waiting":
            yield failed_run(run, runs, moment)
            continue
        text = f"{run.purpose} was interrupted ({run.source}, {minute(run.started_at)})."
        yield warning(
            name_of(run.purpose),
            text,
            what_to_do=run.error or "Run it again: it continues where it stopped.",
            since=run.started_at,
            is_settled=False,
            run=run,
        )


def failed_run(run: RunRecord, runs: Sequence[RunRecord], moment: datetime) -> Finding:
    """Return the finding that this run failed: a warning while it waits for its next attempt, otherwise an error."""
    alike = [other for other in runs if other.purpose == run.purpose]
    failing = list(takewhile(lambda other: other.outcome != "succeeded", alike))
    # any error of a push may quote a row, or an answer of the service that does
    quotes = run.error is None or (run.purpose.startswith("push ") and run.error_kind is not None)
    may_be_explained = (
        run.error == KILLED and is_in_ui(run) and run.ended_at is not None and moment - run.ended_at < EXPLAINED_WITHIN
    )
    said = run.error or ""
    cause = said if len(said) <= LONGEST_TEXT else f"{said[:LONGEST_TEXT]}..."
    if quotes:
        cause = f"{run.error_kind or 'an error'}; the log of the run has the details."
    return Finding(
        name=name_of(run.purpose),
        severity="error" if run.due_at is None else "warning",
        text=f"{run.purpose} failed: {cause}",
        what_to_do=(
            f"The next attempt begins at {minute(run.due_at)}."
            if run.due_at is not None
            else "The next run continues where this one stopped."
            if run.purpose in {SYNC, LOADING}
            else "Run it again: it continues where it stopped."
        ),
        detail=f"{said if quotes else ''} ({run.source}, {minute(run.started_at)})".strip(),
        since=failing[-1].started_at if failing else run.started_at,
        facts="service or network" if mends_by_waiting(run.error_kind) else run.error_kind or "",
        is_settled=run.due_at is None and not may_be_explained,
        counts=run.counts,
        run=run,
    )


def mends_by_waiting(error_kind: str | None) -> bool:
    """Return whether an error of this kind may pass by itself, unlike a wrong token or setting, or a full disk."""
    return error_kind in PASSING


def pushes(installation: Installation) -> Iterator[Finding]:
    """Yield the findings on pushes: creates in doubt, and files with unsent, waiting or rejected rows."""
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
    yield from (_of_file(settings, file, moment) for file in installation.unfinished)
    lacking = installation.store.observation(LEDGER_LACKS)
    if lacking is not None:
        text = (
            f"The ledger was restored, and may lack {creates_since(lacking.value)}: a push of products first looks up "
            "in the service each product that is not in the ledger."
        )
        what_to_do = "If you know that no create is missing, run `wms-sync restore --creates-are-known`."
        yield warning("ledger-restored", text, what_to_do=what_to_do)


def _of_file(settings: Settings, file: PushedFile, moment: datetime) -> Finding:
    counts = {"unsent": file.unsent, "waiting": file.waits, "rejected": file.to_correct}
    waits_for = UNSENT_FOR if file.unsent else late_after(settings, moment)  # waiting rows get the id from a sync
    return warning(
        "file",
        f"{Path(file.path).name} has open rows: "
        f"{', '.join(f'{rows:,} {what}' for what, rows in counts.items() if rows)}.",
        about=(file.kind, file.path),
        facts=file.sha256,
        detail=needs(settings, file),
        since=file.began_at,
        is_settled=file.to_correct > 0 or moment - file.began_at > waits_for,
        counts=counts,
    )


def unclaimed(installation: Installation) -> Iterator[Finding]:
    """Yield a finding if files of master data are of no kind. A younger file may be renamed after its upload."""
    folder, before = installation.settings.master_data_dir, installation.moment.timestamp() - UPLOAD_SECONDS
    if folder is None or not folder.is_dir():
        return
    files = [path for path in files_of(folder, None) if not path.name.startswith(".")]
    if names := [path.name for path in files if path.stat().st_mtime < before]:
        more = f" and {len(names) - SHOWN_FILES:,} more" if names[SHOWN_FILES:] else ""
        yield warning(
            "unclaimed-files",
            "WMS_MASTER_DATA_DIR has files that nothing reads, because of their names: "
            f"{', '.join(names[:SHOWN_FILES])}{more}.",
            facts=fingerprint(*names),
            what_to_do=f"Call them {', '.join(f'{name}*.csv' for name in NAMES)}, or move them away.",
        )
