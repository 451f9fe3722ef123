"""A finding: one problem, with its severity, its start, and what to do about it.

Status, check, doctor, report, metrics, alerts, Dagster's checks and exit codes all use the same findings, so they
agree. Belongs here: the definition of a finding and the meaning of its severity. Keep out: finding problems, which
``findings`` does in stored data, and ``doctor`` with live requests.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from wms_sync.state.run_records import RunRecord

Severity = Literal["error", "warning", "note"]
WELL, FAILED, ATTENTION = 0, 1, 3
"""Exit codes: done, failed or an error is open, done but something needs a hand."""


class Finding(Struct, frozen=True, kw_only=True):
    """One finding. ``name`` stays the same as long as the problem is the same.

    ``text`` and ``what_to_do`` contain no values of rows, so alerts may quote them; ``detail`` may quote rows and is
    shown only on this machine. ``facts`` is a fingerprint: when it changes, an acknowledgement ends, and an alert is
    sent again. So it has what the problem consists of, such as the keys of creates in doubt, and never what moves by
    itself from night to night: a time, an age, a run, a count of rows. Most findings have none.

    ``is_settled`` is False while the next run may end the finding by itself; meanwhile the alert waits.
    ``hides_others``: while this finding is there, the list may lack other findings that still hold. ``run`` is the run
    that the finding is about; ``counts`` are for programs.
    """

    name: str
    severity: Severity
    text: str
    what_to_do: str = ""
    detail: str = ""
    since: datetime | None = None
    facts: str = ""
    can_be_acknowledged: bool = True
    acknowledged_at: datetime | None = None
    is_settled: bool = True
    hides_others: bool = False
    counts: Mapping[str, int] = field(default_factory=dict)
    run: RunRecord | None = None

    @property
    def is_open(self) -> bool:
        """Return whether the finding needs attention: it is not a note, and it is not acknowledged."""
        return self.severity != "note" and self.acknowledged_at is None

    @property
    def sentence(self) -> str:
        """Return the whole message, which may quote rows, for display on this machine."""
        return " ".join(part for part in (self.text, self.detail, self.what_to_do) if part)


def warning(name: str, text: str, *, about: object = None, **values: object) -> Finding:
    """Return a warning. ``about`` distinguishes warnings of the same name."""
    suffix = "" if about is None else f"-{hashlib.sha256(str(about).encode()).hexdigest()[:6]}"
    return replace(Finding(name=f"{name}{suffix}", severity="warning", text=text), **values)


def lasting_error(name: str, text: str, **values: object) -> Finding:
    """Return an error that stays until the problem is fixed; it cannot be acknowledged."""
    return replace(Finding(name=name, severity="error", text=text, can_be_acknowledged=False), **values)


def name_of(purpose: str) -> str:
    """Return the name of the finding about runs with a purpose: ``run-push_location-tags``."""
    return f"run-{purpose.replace(' ', '_')}"


def is_in_ui(run: RunRecord) -> bool:
    """Return whether Dagster's UI certainly has the run. A run of the command line may not be in the UI."""
    return run.source != "command line"


def open_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the open findings, errors first."""
    return tuple(sorted((finding for finding in findings if finding.is_open), key=lambda finding: finding.severity))


def exit_code(findings: Sequence[Finding], *, is_strict: bool = False) -> int:
    """Return the exit code of a command that reports findings: 1 for an open error, else 0.

    If ``is_strict``, return 3 for warnings alone.
    """
    severities = {finding.severity for finding in findings if finding.is_open}
    return FAILED if "error" in severities else ATTENTION if severities and is_strict else WELL


def examined(name: str, severity: Severity, text: str) -> Finding:
    """Return the doctor's finding on one subject: a note if there is no problem. It cannot be acknowledged."""
    return Finding(name=name, severity=severity, text=text, can_be_acknowledged=False)
