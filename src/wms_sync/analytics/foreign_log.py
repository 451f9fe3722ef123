"""A log that lies beside the published file: somebody's who had an earlier file open and wrote into it.

The published file is always checkpointed, so a log there is never ours. DuckDB replays one into whatever file it lies
beside, without asking whether it belongs to it: readers then see rows that are in no table, or an internal error. So it
is set aside before anything is read. It is kept, because it may be somebody's work.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from wms_sync.durable import accessing
from wms_sync.layout import SET_ASIDE, Layout

HOW_TO_WRITE = "connect with read_only=True; to write, write into a copy"


def set_aside_log(layout: Layout) -> Path | None:
    """Rename the log beside the published file, where there is one; its new name. Raises ``Inaccessible``."""
    log = layout.published_log
    if not log.exists():
        return None
    names = itertools.chain([log.name], (f"{log.name}.{number}" for number in itertools.count(2)))
    kept = next(path for name in names if not (path := log.with_name(f"{name}{SET_ASIDE}")).exists())
    with suppress(FileNotFoundError), accessing(log):  # another process may have been faster
        return log.rename(kept)
    return None


def told_of_log(kept: Path, published: Path) -> str:
    """What a log means, and what to do."""
    return (
        f"Somebody wrote into {published.name}, which only a load replaces. What they wrote is set aside in {kept} and "
        f"is in no table. Whoever it was: {HOW_TO_WRITE}. Delete the log when nobody misses it."
    )


def say_what_is_set_aside(layout: Layout, say: Callable[[str], object]) -> None:
    """Set a log aside, where there is one, and say so."""
    if (kept := set_aside_log(layout)) is not None:
        say(told_of_log(kept, layout.published))
