"""Files whose last push left rows unsent or waiting, as status, doctor and sensor list them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from wms_sync.grammar import agreed, count_of
from wms_sync.master_data.kinds.names import NAMES
from wms_sync.master_data.push.locks import pusher
from wms_sync.settings import Settings
from wms_sync.state.push_files import PushedFile, PushFiles

GONE_IS_TOLD_FOR = timedelta(days=7)
"""How long a removed file is still reported: whoever removed it may not know that it was not finished."""


def unfinished(settings: Settings) -> tuple[PushedFile, ...]:
    """Return those files that nobody is pushing now; removed files are left out after some days."""
    idle = {kind for kind in NAMES if pusher(settings, kind) is None}
    told_since = datetime.now(UTC) - GONE_IS_TOLD_FOR
    with PushFiles(settings.database_url) as files:
        return tuple(
            one
            for one in files.unfinished()
            if one.kind in idle and (Path(one.path).exists() or one.began_at >= told_since)
        )


def needs(settings: Settings, file: PushedFile) -> str:
    """Say what is open in one file, why, and what happens next or is to be done."""
    path = Path(file.path)
    told = [f"{path.name}, pushed on {file.began_at:%Y-%m-%d %H:%M} UTC: {_open(file)}."]
    if file.reason and file.unsent:
        told.append(file.reason)
    return " ".join([*told, *_next(settings, file, path)])


def _open(file: PushedFile) -> str:
    unsent = count_of(file.unsent, *(("row was", "rows were") if file.ended_at else ("row",)))
    unsent += " not sent or not settled" if file.ended_at else " to send"
    waits = f"{count_of(file.waits, 'waits', 'wait')} for what {agreed(file.waits, 'it names', 'they name')}"
    return ", ".join(text for text, count in ((unsent, file.unsent), (waits, file.waits)) if count)


def _next(settings: Settings, file: PushedFile, path: Path) -> Iterator[str]:
    if not file.ended_at:
        yield "That push was killed."
    by_hand = f"`wms-sync push {file.kind} {file.path}`"
    if not path.exists():
        yield f"The file is gone: put it back, and run {by_hand}."
    elif file.unsent > settings.push_limit:
        yield f"Look at the plan; if it is right, raise WMS_PUSH_LIMIT, or run {by_hand} with a higher one."
    elif settings.push_enabled and path.parent == settings.master_data_dir:
        yield "Dagster's sensor master_data_files comes back to it."
    else:
        yield f"Run {by_hand} again{'' if file.unsent else ' after a sync'}."
