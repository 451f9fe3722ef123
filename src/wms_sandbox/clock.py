"""The sandbox's time, in milliseconds since 1970 UTC. It runs or stands still, and can be moved."""

import time
from datetime import UTC, datetime


class Clock:
    """Real time, or the fixed `now`, plus everything advanced."""

    def __init__(self, now: datetime | None) -> None:
        self._fixed = None if now is None else round(now.timestamp() * 1000)
        self._advanced = 0
        self.anchor: int = self.now()

    def now(self) -> int:
        """Return the milliseconds since 1970."""
        base = time.time_ns() // 1_000_000 if self._fixed is None else self._fixed
        return base + self._advanced

    def advance(self, milliseconds: int) -> None:
        """Move the clock forward, or back if negative, like a clock that is corrected."""
        self._advanced += milliseconds

    def timestamp(self) -> str:
        """Return the current time as objects show it (specification 2.0)."""
        return f"{as_datetime(self.now()):%Y-%m-%dT%H:%M:%SZ}"


def as_datetime(milliseconds: int) -> datetime:
    """Return milliseconds since 1970 as a datetime in UTC."""
    return datetime.fromtimestamp(milliseconds // 1000, UTC).replace(microsecond=milliseconds % 1000 * 1000)
