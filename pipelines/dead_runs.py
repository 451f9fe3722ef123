"""Mark runs of the command line whose process was killed as failed, so that Dagster's history is true.

Such a run lives in the process of the command, which holds a lock that the kernel releases when the process ends.
Dagster itself monitors the runs that it launches.
"""

from __future__ import annotations

import dagster as dg

from wms_sync.layout import Layout
from wms_sync.state import queue as lock
from wms_sync.state.runs import KILLED

UNFINISHED = {dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.CANCELING}


def mark_dead(instance: dg.DagsterInstance, layout: Layout) -> list[str]:
    """Mark the dead runs of this data folder as failed; return their ids.

    A run that is not in this history belongs to another `DAGSTER_HOME`, and is marked when a run uses that home.
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
