"""One line of the doctor's report."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Verdict = Literal["ok", "warn", "fail"]


class Finding(Struct, frozen=True):
    """What was examined, whether it is well, and if not, what to do."""

    subject: str
    verdict: Verdict
    message: str
