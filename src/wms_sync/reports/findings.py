"""One line of the doctor's report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["ok", "warn", "fail"]


@dataclass(frozen=True)
class Finding:
    """What was examined, whether it is well, and if not, what to do."""

    subject: str
    verdict: Verdict
    message: str
