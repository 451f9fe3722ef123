"""A fact that is told: what is so, under which key, and by which fingerprint it is known to be the same as before."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from enum import StrEnum

from msgspec import Struct, field


class Event(StrEnum):
    """What an alert is about."""

    RUN_FAILED = "run_failed"
    RECOVERED = "recovered"
    STALE_DATA = "stale_data"
    TABLES_GONE = "tables_gone"
    QUARANTINE = "quarantine"
    DRIFT = "drift"
    REJECTS = "rejects"
    DOUBTS = "doubts"
    PUSH_NOT_SETTLED = "push_not_settled"
    AUDIT_FINDINGS = "audit_findings"
    STORE_REFUSES = "store_refuses"
    HEARTBEAT = "heartbeat"
    TEST = "test"

    @property
    def is_bad(self) -> bool:
        """Return whether somebody should look."""
        return self not in {Event.RECOVERED, Event.HEARTBEAT, Event.TEST}

    @property
    def recovers(self) -> bool:
        """Return whether its end is told too."""
        return self in {Event.RUN_FAILED, Event.STALE_DATA, Event.TABLES_GONE}


class Fact(Struct, frozen=True):
    """What is so. It is told when its key is new, and again when its fingerprint is another.

    ``purpose`` is that of the run which it is about, if any; ``is_in_ui`` says whether Dagster's UI knows that run.
    """

    event: Event
    key: str
    fingerprint: str
    text: str
    what_to_do: str = ""
    run_id: str | None = None
    purpose: str | None = None
    is_in_ui: bool = False
    counts: Mapping[str, int] = field(default_factory=dict)


class Undecided(Struct, frozen=True):
    """A fact of which nobody can tell now whether it is so; what was told of it stays."""

    key: str


def digest(parts: Iterable[object]) -> str:
    """Return a fingerprint of these parts, from which they cannot be read back."""
    return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()
