"""What a push keeps: the lock on its kind, the state of its file, and the file of rejected rows.

The state store has the state of the file from the plan to the end of the push. Status, doctor and sensor list the files
whose last push left rows unsent or waiting. Rejected rows are written unchanged, with their reasons in an extra column.
Once its rows are corrected, the file of rejected rows can be pushed: the extra column is ignored. It is the first
column, so that a row with too many cells keeps them in their columns. A byte-order mark keeps Excel from reading the
file as Windows-1252.
"""

from __future__ import annotations

import csv
import glob
import io
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from msgspec.structs import replace

from wms_sync.errors import WmsSyncError
from wms_sync.grammar import agreed, count_of
from wms_sync.layout import Layout
from wms_sync.master_data.check import Checked
from wms_sync.master_data.columns import REASONS
from wms_sync.master_data.create import Applied, Outcome, Result
from wms_sync.master_data.csv_file import canonical, digest_of
from wms_sync.master_data.kinds.table import NAMES
from wms_sync.master_data.plan import Action, Plan
from wms_sync.settings import Settings
from wms_sync.state.ledger import PushedFile, PushFiles
from wms_sync.state.lock import Holder, lock_of
from wms_sync.storage.durable import make_private, write_whole


def push_lock(kind: str) -> str:
    """Return the name of the lock on pushing the kind with this name."""
    return f"push-{kind}"


def pusher(settings: Settings, kind: str) -> Holder | None:
    """Return the run that holds the push lock of this kind; None if nobody is pushing the kind."""
    return lock_of(settings.database_url, settings.layout).holder(what=push_lock(kind))


class FileState:
    """Records the state of one push of one file, while the push holds its lock."""

    def __init__(self, files: PushFiles, service: str, kind: str, path: Path, run_id: str) -> None:
        self._files = files
        self._path = path
        self._file = PushedFile(service, kind, str(path.absolute()), "", run_id, 0, 0, None, datetime.now(UTC), None)

    def unreadable(self) -> None:
        """Record that the file cannot be read; the sensor then ignores it until its content changes."""
        self._record(sha256=digest_of(self._path), ended_at=datetime.now(UTC))

    def planned(self, plan: Plan) -> None:
        """Record the plan, before the first create."""
        self._record(
            sha256=plan.checked.file.sha256, unsent=plan.sends, waits=plan.counts.get(Action.WAITS, 0), ended_at=None
        )

    def refused(self, error: WmsSyncError) -> None:
        """Record why the plan is not applied."""
        self._record(reason=str(error), ended_at=datetime.now(UTC))

    def ended(self, applied: Applied, unsettled: Sequence[Result]) -> None:
        """Record the end of the push, and the numbers of its unsent and waiting rows."""
        waits = sum(result.outcome is Outcome.WAITS for result in applied.results)
        reason = str(applied.stopped or "") or next((result.message for result in unsettled), None)
        self._record(unsent=len(unsettled), waits=waits, reason=reason, ended_at=datetime.now(UTC))

    def _record(self, **values: object) -> None:
        self._file = replace(self._file, **values)
        self._files.record(self._file)


GONE_IS_REPORTED_FOR = timedelta(days=7)
"""How long a removed file is still reported: whoever removed it may not know of its unsent rows."""


def unfinished(settings: Settings) -> tuple[PushedFile, ...]:
    """Return the files that have unsent or waiting rows and are not being pushed.

    Leave out files that are gone and whose push began more than ``GONE_IS_REPORTED_FOR`` ago.
    """
    idle = {kind for kind in NAMES if pusher(settings, kind) is None}
    reported_since = datetime.now(UTC) - GONE_IS_REPORTED_FOR
    with PushFiles(settings.database_url) as files:
        return tuple(
            file
            for file in files.unfinished()
            if file.kind in idle and (Path(file.path).exists() or file.began_at >= reported_since)
        )


def needs(settings: Settings, file: PushedFile) -> str:
    """Return sentences that say which rows of a file are open, why, and what happens next or has to be done."""
    path = Path(file.path)
    sentences = [f"{path.name}, pushed on {file.began_at:%Y-%m-%d %H:%M} UTC: {_open(file)}."]
    if file.reason and file.unsent:
        sentences.append(file.reason)
    return " ".join([*sentences, *_next(settings, file, path)])


def _open(file: PushedFile) -> str:
    unsent = count_of(file.unsent, *(("row was", "rows were") if file.ended_at else ("row",)))
    unsent += " not sent or not settled" if file.ended_at else " to send"
    waits = (
        f"{count_of(file.waits, 'waits', 'wait')} for objects that {agreed(file.waits, 'it refers', 'they refer')} to"
    )
    return ", ".join(text for text, count in ((unsent, file.unsent), (waits, file.waits)) if count)


def _next(settings: Settings, file: PushedFile, path: Path) -> Iterator[str]:
    if not file.ended_at:
        yield "That push was killed."
    by_hand = f"`wms-sync push {file.kind} {file.path}`"
    if not path.exists():
        yield f"The file is gone: put it back, and run {by_hand}."
    elif file.unsent > settings.push_limit:
        yield (
            "Check the plan; if it is right, raise WMS_PUSH_LIMIT, or set it for one run: "
            f"`WMS_PUSH_LIMIT={file.unsent} wms-sync push {file.kind} {file.path}`."
        )
    elif settings.push_enabled and path.parent == settings.master_data_dir:
        yield "Dagster's sensor master_data_files pushes it again."
    else:
        yield f"Run {by_hand} again{'' if file.unsent else ' after a sync'}."


LONGEST_STEM = 80


def write_rejects(layout: Layout, checked: Checked, run_id: str, reasons: Mapping[int, str]) -> Path | None:
    """Write the rows with ``reasons`` (by line) to a file and return its path; None if no row could be corrected there.

    If the file of an earlier push, or the pushed file itself, has the same rows with the same reasons, return its path
    and do not write another file.
    """
    file = checked.file
    lines = [line for line in sorted(reasons) if line in file.cells]
    if not lines or checked.header_is_wrong:
        return None
    earlier = next((at for at, name in enumerate(file.header) if canonical(name) == REASONS), None)
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=file.delimiter)
    writer.writerow([REASONS, *_without(file.header, earlier)])
    writer.writerows([reasons[line], *_without(file.cells[line], earlier)] for line in lines)
    content, folder = text.getvalue().encode("utf-8-sig"), make_private(layout.rejects)
    stem = f"{checked.kind}-{file.path.stem[:LONGEST_STEM]}"
    # match a run's id by its length: a stem may be the beginning of another stem
    earlier_files = sorted(folder.glob(f"{glob.escape(stem)}-{'?' * len(run_id)}.csv"))
    pushed = [file.path] if file.path.absolute().parent == folder.absolute() else []
    for known in (*pushed, *earlier_files):
        if known.stat().st_size == len(content) and known.read_bytes() == content:
            return known
    path = folder / f"{stem}-{run_id}.csv"
    write_whole(path, content)
    return path


def _without(cells: tuple[str, ...], position: int | None) -> list[str]:
    """Return the cells without the one at ``position``, which has the reasons of an earlier push of the same rows."""
    return [cell for at, cell in enumerate(cells) if at != position]
