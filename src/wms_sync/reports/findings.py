"""One line of the doctor's report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["ok", "warn", "fail"]


@dataclass(frozen=True)
class Finding:
    """What was looked at, and what to do about it where it is not well."""

    subject: str
    verdict: Verdict
    message: str
