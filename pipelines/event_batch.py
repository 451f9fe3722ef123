"""Log what a step has to show as one batch, which the storage of `event_log` stores in two transactions.

A night shows 73 checks and 57 tables; stored one by one, they take half as long as the load itself. An op that yields
an event logs it alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from uuid import uuid4

import dagster as dg
from dagster._core.events import DagsterEventBatchMetadata  # not exported by dagster

Shown = dg.AssetCheckEvaluation | dg.AssetMaterialization | dg.AssetObservation


def log_shown(context: dg.OpExecutionContext, shown: Iterable[Shown]) -> None:
    """Log the events in order."""
    every, batch = list(shown), str(uuid4())
    for number, one in enumerate(every, start=1):
        _log(context, one, DagsterEventBatchMetadata(batch, number == len(every)))


def _log(context: dg.OpExecutionContext, one: Shown, batch: DagsterEventBatchMetadata) -> None:
    step = context.get_step_execution_context()
    if isinstance(one, dg.AssetMaterialization):
        dg.DagsterEvent.asset_materialization(step, one, batch)
    elif isinstance(one, dg.AssetObservation):
        dg.DagsterEvent.asset_observation(step, one, batch)
    else:
        dg.DagsterEvent.from_step(
            dg.DagsterEventType.ASSET_CHECK_EVALUATION,
            step,
            one,
            f"Asset check '{one.check_name}' on '{one.asset_key.to_user_string()}' "
            f"{'passed' if one.passed else 'did not pass'}.",
            batch,
        )
