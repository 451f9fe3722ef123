"""The outcome of each row of a push, and the progress of a push."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any

from msgspec import Struct

from wms_sync.errors import WmsSyncError
from wms_sync.master_data.plan.steps import Action
from wms_sync.state.ledger import State


class Outcome(StrEnum):
    """The outcome of a row."""

    CREATED = "created"
    ALREADY_THERE = "already there"
    CHANGED = "changed"
    REJECTED = "rejected"
    WAITS = "waits"
    UNSENT = "unsent"
    IN_DOUBT = "in doubt"


OF_ACTION = {
    Action.CREATE: Outcome.UNSENT,
    Action.ALREADY_THERE: Outcome.ALREADY_THERE,
    Action.CHANGED: Outcome.CHANGED,
    Action.REJECTED: Outcome.REJECTED,
    Action.WAITS: Outcome.WAITS,
    Action.IN_DOUBT: Outcome.IN_DOUBT,
}
"""Outcomes of rows that were not sent."""
OF_STATE = {
    State.CREATED: Outcome.CREATED,
    State.EXISTS: Outcome.ALREADY_THERE,
    State.REFUSED: Outcome.REJECTED,
    State.UNDONE: Outcome.UNSENT,
    State.DOUBT: Outcome.IN_DOUBT,
    State.UNPROVEN: Outcome.IN_DOUBT,
}
"""Outcomes of rows that were sent."""
GOOD = frozenset({Outcome.CREATED, Outcome.ALREADY_THERE})


class Result(Struct, frozen=True):
    """What became of one row; ``message`` says why and what to do, ``warnings`` are the service's.

    ``settles_by_itself``: it is in doubt, and sending it again settles that.
    """

    line: int
    key: str
    outcome: Outcome
    remote_id: int | None = None
    message: str = ""
    warnings: tuple[str, ...] = ()
    settles_by_itself: bool = False

    @property
    def row(self) -> dict[str, Any]:
        """The result as a table row: line, key, outcome, id, why."""
        warned = " ".join(f"Warning: {warning}" for warning in self.warnings)
        why = f"{self.message} {warned}".strip()
        return {"line": self.line, "key": self.key, "outcome": self.outcome.value, "id": self.remote_id, "why": why}


class PushProgress(Struct, frozen=True):
    """Progress of a push: rows to send, rows done, and rows done by outcome."""

    total: int
    done: int
    counts: Mapping[Outcome, int]
    seconds: float

    @property
    def remaining_seconds(self) -> float:
        """Estimate from the pace so far."""
        return (self.total - self.done) * self.seconds / self.done


Watcher = Callable[[PushProgress], None]


class Applied(Struct, frozen=True):
    """What applying a plan did: one result per step. ``stopped`` is the error that ended it early."""

    results: tuple[Result, ...]
    stopped: WmsSyncError | None
    interrupted: bool
    requests: int
    seconds: float
