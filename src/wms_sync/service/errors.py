"""The errors of talking to the service, as one tree.

ApiError
├── Barred               no connection is possible until a setting changes (certificate, login of a proxy): final
├── Unreachable          no complete answer: timeout, broken transfer (a read is retried)
│   ├── NotSent          no connection was made: nothing was done; retried
│   │   └── NoSuchHost   no DNS knows the name: retried for some seconds
│   └── InDoubt          a request that may change something was sent, and no answer proves its outcome
├── StatusError          not the expected answer: nothing was done, except perhaps for ServiceFailed or RedirectRefused
│   ├── Unauthorized     401, and 403 with the service's own error body: final
│   ├── Rejected         400, 404, 422 and other 4xx: final, the request must change
│   ├── Busy             429, 409 for too many requests: retried
│   ├── ServiceFailed    304, 408, 5xx, answers that are not the service's (403, 200 to a read): retried; a create
│   │                    only if the service itself states that nothing was done
│   └── RedirectRefused  3xx: credentials go to the configured origin only
├── CallFailed           the Merchant API answered with a JSON-RPC error (code, message)
│   └── AccessDenied     2, -32002: wrong username or key
└── ProtocolError        an answer of the service that violates the interface
    ├── NotAList         an answer without a usable list; the client turns it into ``ServiceFailed``, except a 204
    ├── PagingBroken     ids out of order, a page cursor that repeats or is absent
    ├── FilterIgnored    the answer has records that the request's filter excludes
    └── FilterMisses     the answer lacks records that the request's filter should find

Messages never contain a token; they show a body only as ``reasons`` cleans it.
"""

from __future__ import annotations

from msgspec import Struct

from wms_sync.errors import WmsSyncError


class ApiError(WmsSyncError):
    """Communication with the service failed."""


class Barred(ApiError):
    """The certificate of the service is not trusted, or a proxy asks for a login, so the service received nothing."""

    exit_code = 2


class Unreachable(ApiError):
    """No complete answer arrived."""


class NotSent(Unreachable):
    """No connection could be made, so the service never received the request."""


class NoSuchHost(NotSent):
    """No DNS knows the name of the service or of the proxy."""


class InDoubt(Unreachable):
    """A request that may change something was sent, but no answer proves whether it was done.

    To find out whether it was done, look the record up, or send the create again if its key is unique. ``retry_after``
    is the wait that a proxy requested, in seconds.
    """

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Problem(Struct, frozen=True):
    """One reason for a refusal (specification 7.1); ``key`` is the path to the offending key, or empty."""

    type: str
    key: str
    message: str


class StatusError(ApiError):
    """The answer is not the expected success; ``problems`` are the service's reasons, if it gave any."""

    def __init__(
        self, message: str, *, status: int, retry_after: float | None = None, problems: tuple[Problem, ...] = ()
    ) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after
        self.problems = problems


class Unauthorized(StatusError):
    """The token is missing, wrong or expired, or (403, in the service's own words) lacks the permission."""

    exit_code = 2


class Rejected(StatusError):
    """The service refused the request; sending it again would not help."""


class Busy(StatusError):
    """The service refused the request because there were too many, in total or at once."""


class ServiceFailed(StatusError):
    """The service failed, or something in front of it failed or answered in its place.

    ``is_from_service`` means that the answer has the service's own error body (7.1), so the request was rolled back.
    Otherwise the answer may come from a proxy or a firewall, which does not know what was done.
    """

    def __init__(
        self, message: str, *, status: int, retry_after: float | None = None, is_from_service: bool = False
    ) -> None:
        super().__init__(message, status=status, retry_after=retry_after)
        self.is_from_service = is_from_service


class RedirectRefused(StatusError):
    """The service redirected the request to another address.

    ``may_be_done`` means that the address may be that of a record that the request created.
    """

    def __init__(self, message: str, *, status: int, may_be_done: bool = False) -> None:
        super().__init__(message, status=status)
        self.may_be_done = may_be_done


class CallFailed(ApiError):
    """A method of the Merchant API failed."""


class AccessDenied(CallFailed):
    """The username or API key is wrong."""

    exit_code = 2


class ProtocolError(ApiError):
    """The answer violates the interface or is too large: reading on may lose records."""


class NotAList(ProtocolError):
    """The answer has no usable list: it may be a login page or a maintenance page instead of the service's answer."""


class PagingBroken(ProtocolError):
    """The listing cannot be followed further; its page cursors cannot be trusted."""


class FilterIgnored(ProtocolError):
    """The service sent records that the request's filter excludes, so its answer proves nothing."""


class FilterMisses(ProtocolError):
    """The filter on ``updated_at`` does not find shipments by that time, so a read by dates would lose changes."""
