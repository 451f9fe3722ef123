"""Read the headers of answers: the service's clock, its announcements, and the wait that it requests.

Neither the service's clock (``Date``) nor this machine's is trusted alone: one of the service's servers may be hours
ahead, and so may this machine. A time is trusted only if both clocks have reached it; this machine's clock has a
tolerance (``WMS_CLOCK_TOLERANCE_SECONDS``).

``Deprecation`` (RFC 9745) and ``Sunset`` (RFC 8594) announce the end of an interface. A ``Warning`` (RFC 7234, 5.5)
consists of a code, an agent, a message and an optional time; codes 110 to 112 come from a cache that may be stale.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

import httpx
from msgspec import Struct
from msgspec.structs import replace

from wms_sync.service.reasons import as_sentence, in_one_line

logger = logging.getLogger(__name__)

EARLIEST = datetime.min.replace(tzinfo=UTC)
LATEST = datetime.max.replace(tzinfo=UTC)
Warn = Callable[[str, str], object]
"""A function that is called with the name of a problem and a sentence, possibly from several threads."""
MOST = 20
"""The maximum number of announcements reported per connection, because their text may differ in each answer."""
MEANINGS = {
    "Deprecation": "This interface, which wms-sync uses, will be withdrawn: check for a newer release of wms-sync, and "
    "ask the operator of the service.",
    "Sunset": "This interface, which wms-sync uses, stops working then: check for a newer release of wms-sync, and ask "
    "the operator of the service.",
    "Warning": "If the code is 110 to 112, a cache answers in place of the service, so changes can be missed: turn "
    "caching off for the service, then read the days again (`wms-sync backfill`).",
}
LIMITS = ("ratelimit", "x-ratelimit", "x-rate-limit")
"""How the names of headers about limits begin, such as ``X-RateLimit-Remaining`` and ``X-RateLimit-Reset``."""
HEADERS = frozenset({
    "content-encoding", "content-type", "date", "retry-after", "server", *map(str.lower, MEANINGS),
    *(f"{name}-{end}" for name in LIMITS for end in ("limit", "remaining", "reset")),
})  # fmt: skip
"""The headers of an answer that wms-sync reads, in lower case."""
_LATER_IS_A_TIME = 1e9
"""More seconds than this, 31 years, are a Unix time."""
_LATER_IS_IN_MILLISECONDS = 1e11


class Readings(Struct, frozen=True):
    """The readings of the service's clock in the answers so far.

    ``trusted`` is the earliest trusted time of all answers; the trusted time of an answer without ``Date`` is this
    machine's clock minus the tolerance. ``latest`` is the latest ``Date``. ``least`` and ``most`` are the smallest and
    the largest difference from this machine's clock, negative if the service's clock is slow. ``latest``, ``least`` and
    ``most`` are None if no answer had a ``Date``.
    """

    trusted: datetime = LATEST
    least: timedelta | None = None
    most: timedelta | None = None
    latest: datetime | None = None


class ServiceClock:
    """The service's clock as seen by one client; thread-safe."""

    def __init__(self, tolerance: timedelta) -> None:
        self.tolerance = tolerance
        self._floor = EARLIEST
        self._heard = Readings()
        self._lock = threading.Lock()

    @property
    def readings(self) -> Readings:
        """Return the readings since ``listen``."""
        with self._lock:
            return self._heard

    def listen(self) -> None:
        """Discard the readings so far."""
        with self._lock:
            self._heard = Readings()

    def not_before(self, moment: datetime) -> None:
        """Set the earliest time that ``take`` returns from now on.

        Of two versions of a record, the version extracted later wins, so extraction times must not go back, even if a
        clock does.
        """
        self._floor = moment

    def take(self, date: datetime | None) -> datetime:
        """Record the ``Date`` of an answer. Return the time at which the answer was served."""
        mine = datetime.now(UTC)
        with self._lock:
            heard = self._heard
            if date is None:
                self._heard = replace(heard, trusted=min(heard.trusted, mine - self.tolerance))
            else:
                ahead = date - mine
                self._heard = Readings(
                    trusted=min(heard.trusted, date, mine + self.tolerance),
                    least=ahead if heard.least is None else min(heard.least, ahead),
                    most=ahead if heard.most is None else max(heard.most, ahead),
                    latest=date if heard.latest is None else max(heard.latest, date),
                )
        return max(self._floor, mine if date is None else min(date, mine + self.tolerance))


def dated(response: httpx.Response) -> datetime | None:
    """Return the ``Date`` of an answer, in UTC and whole seconds; None if it is absent or unreadable."""
    try:
        return http_date(response.headers["date"])
    except (KeyError, ValueError):
        return None


class Notices:
    """The announcements in the answers of one connection. Thread-safe."""

    def __init__(self, base_url: str, warn: Warn) -> None:
        self._base_url = base_url
        self._warn = warn
        self._lock = threading.Lock()
        self._heard: set[tuple[str, str]] = set()

    def hear(self, response: httpx.Response) -> None:
        """Report new announcements in the headers of an answer."""
        for name, meaning in MEANINGS.items():
            for value in response.headers.get_list(name):
                self._report(name, in_one_line(value, response.request), meaning)

    def _report(self, name: str, text: str, meaning: str) -> None:
        with self._lock:
            if (name, text) in self._heard or len(self._heard) == MOST:
                return
            self._heard.add((name, text))
        said = as_sentence(f"{self._base_url} answers with {name}: {text}")
        self._warn(f"header-{name.lower()}", f"{said} {meaning}")


def log_warning(_: str, text: str) -> None:
    """Log an announcement, and keep nothing."""
    logger.warning(text)


def wait_requested(response: httpx.Response) -> float | None:
    """Return the seconds until the service accepts the next request; None if its answer sets no such time.

    ``Retry-After`` sets it in any answer, the reset of a limit in an answer that says that no request is left.
    """
    headers, now = response.headers, dated(response)
    resets = [headers.get(f"{name}-reset") for name in LIMITS if headers.get(f"{name}-remaining") == "0"]
    waits = [seconds_until(value, now=now) for value in (headers.get("retry-after"), *resets) if value is not None]
    return max((wait for wait in waits if wait is not None), default=None)


def seconds_until(value: str, *, now: datetime | None = None) -> float | None:
    """Return a number of seconds, an HTTP date or a Unix time as seconds from now on; None if it is unreadable.

    ``now`` is the sender's clock, which may differ from this machine's by hours; None if it is unknown.
    """
    clock = now or datetime.now(UTC)
    with suppress(ValueError):
        seconds = float(value) / (1000 if float(value) > _LATER_IS_IN_MILLISECONDS else 1)
        return max(0.0, seconds - clock.timestamp() if seconds > _LATER_IS_A_TIME else seconds)
    with suppress(ValueError):
        return max(0.0, (http_date(value) - clock).total_seconds())
    return None


def http_date(value: str) -> datetime:
    """Parse an HTTP date as UTC, even without a zone or with ``-0000``. Raise ``ValueError`` if it is invalid."""
    try:
        moment = parsedate_to_datetime(value)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except OverflowError as error:
        raise ValueError(value) from error
