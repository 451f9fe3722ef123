"""A finding: one thing that is not as it should be, with its severity, since when, and what to do.

Status, check, doctor, report, metrics, alerts, Dagster's checks and exit codes all show findings and nothing else, so
one state has one verdict. Belongs here: what a finding is and what its severity means. Finding them is the matter of
``findings`` (from what is stored) and ``doctor`` (what only a live look shows).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from wms_sync.state.acknowledgements import fingerprint
from wms_sync.state.runs import RunRecord

Severity = Literal["error", "warning", "note"]
WELL, FAILED, ATTENTION = 0, 1, 3
"""Exit codes of a command that reports: nothing is open, an error is, only warnings are."""
RUN = "run-"
"""The beginning of the names of findings about runs; the purpose follows."""


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
    FINDING = "finding"
    STORE_REFUSES = "store_refuses"
    HEARTBEAT = "heartbeat"
    TEST = "test"

    @property
    def is_bad(self) -> bool:
        """Return whether somebody should look."""
        return self not in {Event.RECOVERED, Event.HEARTBEAT, Event.TEST}


class Finding(Struct, frozen=True, kw_only=True):
    """One finding. ``name`` stays the same as long as it is about the same thing.

    ``text`` and ``what_to_do`` have no value of a row, so an alert may hold them; ``detail`` may quote rows and is
    shown on this machine alone. ``facts`` is a fingerprint: an acknowledgement ends when it changes. ``same_as`` is the
    fingerprint by which an alert counts as sent, where that is coarser: each failed night ends an acknowledgement, but
    nights that fail alike are one alert.

    ``event`` is what the alert is about; without one, the next sync ends the finding by itself and no alert is sent.
    ``is_settled`` is False while it may still end by itself: an alert waits. ``hides_others``: what was found before
    may still be so, though it is not in the list. ``run`` is the run that it is about, ``counts`` are for programs.
    """

    name: str
    severity: Severity
    text: str
    what_to_do: str = ""
    detail: str = ""
    since: datetime | None = None
    facts: str = ""
    same_as: str = ""
    can_be_acknowledged: bool = True
    acknowledged_at: datetime | None = None
    event: Event | None = Event.FINDING
    is_settled: bool = True
    hides_others: bool = False
    counts: Mapping[str, int] = field(default_factory=dict)
    run: RunRecord | None = None

    @property
    def is_open(self) -> bool:
        """Return whether somebody should act: it is no note, and nobody has acknowledged it."""
        return self.severity != "note" and self.acknowledged_at is None

    @property
    def sentence(self) -> str:
        """Return the whole message for a person at this machine."""
        return " ".join(part for part in (self.text, self.detail, self.what_to_do) if part)

    @property
    def alert_facts(self) -> str:
        """Return the fingerprint of what an alert says."""
        return self.same_as or self.facts


def warning(name: str, text: str, *facts: object, about: object = None, **values: object) -> Finding:
    """Return a warning; ``about`` tells it from others of the same name. Without facts, the text is the fact."""
    suffix = "" if about is None else f"-{hashlib.sha256(str(about).encode()).hexdigest()[:6]}"
    known = fingerprint(*(facts or (text,)))
    return replace(Finding(name=f"{name}{suffix}", severity="warning", text=text, facts=known), **values)


def lasting_error(name: str, text: str, **values: object) -> Finding:
    """Return an error that lasts until it is mended, so that nobody can acknowledge it."""
    error = Finding(name=name, severity="error", text=text, facts=fingerprint(name), can_be_acknowledged=False)
    return replace(error, **values)


def name_of(purpose: str) -> str:
    """Return the name of the finding about runs for a purpose: ``run-push_location-tags``."""
    return RUN + purpose.replace(" ", "_")


def is_in_ui(run: RunRecord) -> bool:
    """Return whether Dagster's UI has the run for certain: one of the command line may have kept no history."""
    return run.source != "command line"


def acknowledged_in(findings: Iterable[Finding], known: Mapping[tuple[str, str], datetime]) -> Iterator[Finding]:
    """Yield the findings, each with when its facts were acknowledged."""
    for finding in findings:
        seen_at = known.get((finding.name, finding.facts)) if finding.can_be_acknowledged else None
        yield replace(finding, acknowledged_at=seen_at or finding.acknowledged_at)


def open_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return those on which somebody should act, errors first."""
    return tuple(sorted((finding for finding in findings if finding.is_open), key=lambda finding: finding.severity))


def exit_code(findings: Sequence[Finding]) -> int:
    """Return the exit code of a command that reports: 1 for an open error, 3 for open warnings, 0 otherwise."""
    severities = {finding.severity for finding in findings if finding.is_open}
    return FAILED if "error" in severities else ATTENTION if severities else WELL


def exit_code_of_run(findings: Sequence[Finding]) -> int:
    """Return the exit code of a run that succeeded: 3 if anything is open, 0 otherwise."""
    return ATTENTION if open_findings(findings) else WELL


def examined(name: str, severity: Severity, text: str) -> Finding:
    """Return what a live look at one subject showed: a note if it is well. It lasts as long as the command."""
    return Finding(name=name, severity=severity, text=text, can_be_acknowledged=False, event=None)
