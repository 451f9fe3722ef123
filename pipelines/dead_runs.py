"""Runs of the command line whose process is gone: marked as failed, so that the history says what is true.

Such a run is its process, and holds a lock that the kernel gives back with it. Runs that Dagster launches are watched
by Dagster itself.
"""

from __future__ import annotations

import dagster as dg

from wms_sync.layout import Layout
from wms_sync.state import queue as lock

UNFINISHED = {dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.CANCELING}
KILLED = (
    "The process of this run is gone: it was killed, or its machine went down. What it had landed is kept; the next "
    "run goes on from there."
)


def mark_dead(instance: dg.DagsterInstance, layout: Layout) -> list[str]:
    """Mark the runs of this data folder whose process did not come to its end; their ids.

    A run that this history does not know is in another one, which comes by with a later run.
    """
    marked = []
    for mark in lock.dead_marks(layout):
        if (run := instance.get_run_by_id(mark.name)) is None:
            continue
        if run.status in UNFINISHED:
            instance.report_run_failed(run, KILLED)
            marked.append(run.run_id)
        mark.unlink(missing_ok=True)
    return marked
