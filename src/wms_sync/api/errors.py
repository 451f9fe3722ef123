"""What can go wrong while talking to the service, as one tree.

ApiError
├── Unreachable          no whole answer: time-out, broken transfer (a read is asked again)
│   ├── NotSent          no connection was made: nothing was done, ask again later
│   └── InDoubt          a create went out and no answer of the service came: it may or may not have been done
├── StatusError          an answer that is no success: nothing was done, but see ServiceFailed
│   ├── Unauthorized     401, 403: final
│   ├── Rejected         400, 404, 422 and other 4xx: final, the request must change
│   ├── Busy             409, 429: ask again later
│   ├── ServiceFailed    408, 5xx: ask again later; a create only where the service itself says so
│   └── RedirectRefused  3xx: credentials go to the configured origin only
├── CallFailed           the Merchant API answered with an error of JSON-RPC (code, message)
│   ├── AccessDenied     2, -32002: username or key
│   └── SessionExpired   -32005: log in again
└── ProtocolError        an answer that breaks the interface: not JSON, no list, no count
    └── PagingBroken     ids that fall, a page cursor that loops or is missing

Messages never hold a token or a body; of an error body only the service's own ``message`` and ``details`` are shown.
"""

from __future__ import annotations

from dataclasses import dataclass

from wms_sync.errors import WmsSyncError


class ApiError(WmsSyncError):
    """Talking to the service failed."""


class Unreachable(ApiError):
    """No complete answer came."""


class NotSent(Unreachable):
    """No connection could be made, so the service saw nothing of the request."""


class InDoubt(Unreachable):
    """A create went out and the service's answer was lost, or a proxy answered in its place.

    Looking, or the service's own uniqueness, tells what became of it. ``retry_after`` is what a proxy asked for.
    """

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


@dataclass(frozen=True)
class Problem:
    """One thing that the service refuses (specification 7.1); ``key`` is the path to it, empty where none was named."""

    type: str
    key: str
    message: str


class StatusError(ApiError):
    """The service answered with something else than success; ``problems`` where it refused and said what."""

    def __init__(
        self, message: str, *, status: int, retry_after: float | None = None, problems: tuple[Problem, ...] = ()
    ) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after
        self.problems = problems


class Unauthorized(StatusError):
    """The token is missing, wrong or expired, or (403) may not do what was asked."""

    exit_code = 2


class Rejected(StatusError):
    """The service understood and refused; asking again changes nothing."""


class Busy(StatusError):
    """Too many requests, or too many at once."""


class ServiceFailed(StatusError):
    """The service failed, or a proxy before it.

    ``is_own_word``: the answer has the service's own error body (7.1), so the request was rolled back. Without it the
    answer may be a proxy's, which does not know what was done.
    """

    def __init__(
        self, message: str, *, status: int, retry_after: float | None = None, is_own_word: bool = False
    ) -> None:
        super().__init__(message, status=status, retry_after=retry_after)
        self.is_own_word = is_own_word


class RedirectRefused(StatusError):
    """The service points to another address."""


class CallFailed(ApiError):
    """A method of the Merchant API failed; ``code`` as the vendor's pages list it (2, not -32002)."""

    def __init__(self, message: str, *, code: int) -> None:
        super().__init__(message)
        self.code = code


class AccessDenied(CallFailed):
    """Username or API key is wrong."""

    exit_code = 2


class SessionExpired(CallFailed):
    """24 hours after login a session ends."""


class ProtocolError(ApiError):
    """The answer is not what the interface promises; reading on could lose records."""


class PagingBroken(ProtocolError):
    """From here a listing cannot be followed; its page cursors are not to be trusted."""
