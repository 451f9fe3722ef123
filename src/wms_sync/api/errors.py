"""What can go wrong while talking to the service, as one tree.

ApiError
├── Unreachable          no answer: connection, time-out, broken transfer (GET is asked again; a POST is in doubt)
├── Unauthorized         401, 403: final
├── Rejected             400, 404, 422 and other 4xx: final, the request must change
├── Busy                 409, 429: nothing was done, ask again later
├── ServiceFailed        5xx: nothing was done, ask again later
├── RedirectRefused      3xx: the token goes to the configured origin only
└── ProtocolError        an answer that breaks the interface: not JSON, ids that fall, a page cursor that loops

Messages never hold a token or a body; of an error body only the service's own ``message`` and ``details`` are shown.
"""

from __future__ import annotations

from wms_sync.errors import WmsSyncError


class ApiError(WmsSyncError):
    """Talking to the service failed."""


class Unreachable(ApiError):
    """No complete answer came."""


class StatusError(ApiError):
    """The service answered with something else than success."""

    def __init__(self, message: str, *, status: int, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after


class Unauthorized(StatusError):
    """The token is missing, wrong or expired."""

    exit_code = 2


class Rejected(StatusError):
    """The service understood and refused; asking again changes nothing."""


class Busy(StatusError):
    """Too many requests, or too many at once."""


class ServiceFailed(StatusError):
    """The service failed; it rolled the request back."""


class RedirectRefused(StatusError):
    """The service points to another address."""


class ProtocolError(ApiError):
    """The answer is not what the interface promises; reading on could lose records."""
