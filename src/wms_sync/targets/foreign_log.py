"""Rename a foreign log: the log that another program left next to the published file when it wrote to an earlier one.

wms-sync always checkpoints the file before publishing, so it never leaves a log itself. DuckDB replays a log into the
file next to it without checking that they belong together: readers then see rows that no load wrote, or an internal
error. So the log is renamed before anything is read. It is not deleted, because it may be someone's work.
"""

from __future__ import annotations

import itertools
import logging
from contextlib import suppress
from pathlib import Path

from wms_sync.layout import SET_ASIDE, Layout
from wms_sync.storage.durable import accessing

logger = logging.getLogger(__name__)

HOW_TO_WRITE = "connect with read_only=True; to write, use a copy"


def keep_foreign_log(layout: Layout) -> Path | None:
    """Rename the log next to the published file; return its new path, None if there was none.

    Raise ``Inaccessible`` if it cannot be renamed.
    """
    log = layout.published_log
    if not log.exists():
        return None
    names = itertools.chain([log.name], (f"{log.name}.{number}" for number in itertools.count(2)))
    kept = next(path for name in names if not (path := log.with_name(f"{name}{SET_ASIDE}")).exists())
    with suppress(FileNotFoundError), accessing(log):  # another process may have renamed it first
        return log.rename(kept)
    return None


def log_notice(kept: Path, published: Path) -> str:
    """Return a message that explains the renamed log and gives advice."""
    return (
        f"Someone wrote to {published.name}, which only a load replaces. The changes are kept in {kept} and are "
        f"not in any table. Advice for the writer: {HOW_TO_WRITE}. Delete the log if nobody needs it."
    )


def report_foreign_log(layout: Layout) -> None:
    """Rename a foreign log, if there is one, and report it."""
    if (kept := keep_foreign_log(layout)) is not None:
        logger.warning(log_notice(kept, layout.published))
