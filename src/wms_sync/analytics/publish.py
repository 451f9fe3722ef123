"""Publishing: a finished, checkpointed copy replaces ``analytics.duckdb`` by rename.

Readers that have the old file open keep it, new connections see the new one, and there is always a file. The file has
no write permission, because a writer that had the old file open would leave a log beside the new file, to which it
does not belong. Only root can write to it anyway.
"""

from __future__ import annotations

from pathlib import Path

import duckdb

from wms_sync.analytics.foreign_log import set_aside_log
from wms_sync.durable import copy_file, share_with_group, sync
from wms_sync.layout import Layout
from wms_sync.state.turns import Turn


def publish(turn: Turn, layout: Layout, source: Path) -> int:
    """Replace the published file by a copy of ``source``, which nobody may have open. Return its size in bytes."""
    temporary = turn.temporary("publishing.duckdb")
    temporary.unlink(missing_ok=True)  # left by an attempt that failed, and not writable
    try:
        copy_file(source, temporary)
    except OSError:
        temporary.unlink(missing_ok=True)  # so that a full disk has room to record the failure
        raise
    share_with_group(layout.root, temporary)
    sync(temporary)
    _verify(temporary)
    set_aside_log(layout)
    turn.put_in_place(temporary, layout.published)
    return layout.published.stat().st_size


def _verify(path: Path) -> None:
    with duckdb.connect(path, read_only=True) as connection:
        connection.execute("select count(*) from ops.loads").fetchone()
