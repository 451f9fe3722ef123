"""Load some windows again from their raw pages, after ``sql/types`` or wms-sync learned to read what did not fit.

Each window is flattened anew and merged once more. That changes only what the pages show differently now: merging has
one total order of versions, in which a window takes the place it had. If a replay is killed, the windows are flattened
by the next load and are merged by the next replay, since the tables still list what did not fit.
"""

from __future__ import annotations

import logging
from collections.abc import Collection

from msgspec import Struct

from wms_sync.grammar import count_of
from wms_sync.shipments.flatten.window import flatten_again
from wms_sync.shipments.load.refresh import RefreshReport, refresh
from wms_sync.shipments.read.raw import is_dropped
from wms_sync.state.run import Run
from wms_sync.state.store import COMPLETE_STATES

logger = logging.getLogger(__name__)


class Replayed(Struct, frozen=True):
    """The windows that were loaded again, those whose raw pages are not kept any more, and what the load did."""

    windows: tuple[str, ...]
    dropped: tuple[str, ...]
    refreshed: RefreshReport


def replay(run: Run, window_ids: Collection[str]) -> Replayed:
    """Load these windows again, as far as their raw pages are kept. The caller holds the writer's lock."""
    layout = run.layout
    complete = sorted({window.id for window in run.store.windows(*COMPLETE_STATES)} & set(window_ids))
    dropped = tuple(one for one in complete if is_dropped(layout, one))
    windows = tuple(one for one in complete if one not in dropped)
    logger.info("replaying %(windows)s from raw pages", {"windows": count_of(len(windows), "window")})
    for window in windows:
        flatten_again(run.turn, layout, window)
    return Replayed(windows, dropped, refresh(run, again=windows))
