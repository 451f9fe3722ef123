"""Send HTTP requests of both interfaces to one origin of the service, with retries.

Uses a connection for each request, gzip or zstd, and time limits for connecting, for each read and for a whole request
(``limits``). Redirects are refused, and no cookie is kept. The callers (``client``, ``merchant``) pass credentials with
each request, so credentials cannot reach another origin.

On a kept connection, bytes after an answer would be taken for the next answer: nothing in HTTP/1.1 says which request
an answer belongs to. Over TLS, a connection for each request costs a first sync 1 % of its processor time.
"""

from __future__ import annotations

import logging
import os
import re
import socket
import ssl
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.cookiejar import CookieJar, DefaultCookiePolicy
from queue import LifoQueue
from time import monotonic
from types import TracebackType
from typing import Self, TypeVar
from urllib.request import getproxies, proxy_bypass

import httpx
from msgspec import Struct
from msgspec.structs import replace

from wms_sync.errors import SettingsError
from wms_sync.grammar import count_of
from wms_sync.service.answers import RetryPolicy, backoff, raise_for, wait_before_retry
from wms_sync.service.body import ACCEPT_ENCODING
from wms_sync.service.errors import (
    ApiError,
    Barred,
    Busy,
    InDoubt,
    NoSuchHost,
    NotSent,
    RedirectRefused,
    ServiceFailed,
    Unreachable,
)
from wms_sync.service.headers import HEADERS, Notices, Warn, log_warning, wait_requested
from wms_sync.service.limits import Throttle, TimedClient
from wms_sync.service.reasons import WITHHELD, clean

logger = logging.getLogger(__name__)

Params = Sequence[tuple[str, str]]
T = TypeVar("T")
Cause = TypeVar("Cause", bound=BaseException)
FOR_HTTP = {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "SSLKEYLOGFILE"}
"""The variables that the HTTP library reads."""
LOGIN_REQUIRED = "407"
LOGGED = HEADERS | {"age", "via", "x-request-id"}
"""The headers of an answer that the log shows."""
_HARMLESS = re.compile(
    r"(?:limit|count|cursor_start|cursor_end)=\d*|sort=[\w,-]+|fields(?::[\w.]+)?=[\w,]+"
    r"|filter=(?:id|updated_at)(?:[\W\d_]|gt|lt|in|null|true|(?<=\d)[tz])*",
    re.IGNORECASE,
)
"""Parameters that the log shows with their values: of a filter only numbers, times and the words of its grammar."""
Take = Callable[[httpx.Response], T]
"""A function that reads a successful, streamed response."""


class TimeLimits(Struct, frozen=True):
    """Time limits in seconds: for connecting, between two pieces of an answer, and until its last byte.

    ``token`` is the least time between two readings of the token's file.
    """

    connect: float = 10.0
    read: float = 120.0
    answer: float = 600.0
    token: float = 60.0


class Request(Struct, frozen=True):
    """One request. ``repeatable`` means that sending it twice is harmless, as it is for a read.

    ``path`` is a path of the interface, which never comes from the service. ``attempts`` lowers the retry policy's
    number of attempts.
    """

    method: str
    path: str
    headers: Mapping[str, str]
    params: Params = ()
    content: bytes | None = None
    repeatable: bool = True
    attempts: int | None = None

    def __repr__(self) -> str:
        return f"Request({self.method} {self.path})"  # without the token and the body


def always() -> None:
    """Default guard: allow every request."""


@contextmanager
def refusing_environment() -> Iterator[None]:
    """Raise ``SettingsError`` if a proxy or certificate authority that the environment names cannot be used.

    The message omits the address of the proxy, which may contain a password.
    """
    try:
        yield
    except (ImportError, OSError, ValueError, httpx.InvalidURL) as error:
        named = " or ".join(sorted(name for name in os.environ if name.upper() in FOR_HTTP))
        raise SettingsError(
            f"{named} cannot be used ({type(error).__name__}). A proxy looks like http://host:port, a SOCKS proxy "
            "needs `pip install socksio`, NO_PROXY lists hosts, and SSL_CERT_FILE and SSL_CERT_DIR name certificate "
            "authorities. Correct or unset the variable."
        ) from None


def _proxy_of(base_url: str) -> str | None:
    """Return the host and port of the proxy that the environment names for the service; None if there is none.

    Raise ``ValueError`` for a name that no host can have.
    """
    service, proxies = httpx.URL(base_url), getproxies()
    named = proxies.get("https") or proxies.get("all")
    if service.scheme == "http" or not named or proxy_bypass(service.host):
        return None
    proxy = httpx.URL(named if "://" in named else f"http://{named}")
    proxy.host.encode("idna")
    return proxy.netloc.decode()


class Connection:
    """A thread-safe connection. ``requests`` counts the requests sent, ``throttle`` limits parallel requests.

    ``allowed`` is called before each request, including retries, and may raise to prevent it. ``warn`` is called with
    announcements in headers. If ``transport`` is given, requests go through it instead of a socket, for example to a
    service in this process; such requests cannot be cut off while they wait.
    """

    def __init__(
        self,
        base_url: str,
        *,
        parallel: int,
        credentials: str,
        policy: RetryPolicy | None,
        headers: Mapping[str, str] | None = None,
        limits: TimeLimits | None = None,
        allowed: Callable[[], object] = always,
        warn: Warn = log_warning,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.base_url = base_url
        self._notices = Notices(base_url, warn)
        self._allowed = allowed
        self._limits = limits or TimeLimits()
        self.requests = 0
        self.throttle = Throttle(parallel)
        self._credentials = credentials
        self._policy = policy or RetryPolicy()
        with refusing_environment():
            # once, and only for sockets: reading the certificate authorities takes longer than a request
            trusted = httpx.create_ssl_context() if transport is None else True
            self._proxy = _proxy_of(base_url)
            self._clients = tuple(TimedClient(self._http(headers or {}, trusted, transport)) for _ in range(parallel))
        self._free: LifoQueue[TimedClient] = LifoQueue()
        for client in self._clients:
            self._free.put(client)

    def close(self) -> None:
        """Wake waiting threads and close the connections."""
        self.throttle.close()
        for client in self._clients:
            client.close()

    def abort(self) -> None:
        """Start no further request, and end those in progress."""
        self.throttle.close()
        for client in self._clients:
            client.cut()

    def send(self, request: Request, take: Take[T]) -> T:
        """Send a request, retry it if the error allows it, and read the answer. Raise ``ApiError``."""
        started, attempt, policy = monotonic(), 0, self._policy
        if request.attempts is not None:
            policy = replace(policy, attempts=min(policy.attempts, request.attempts))
        while True:
            attempt += 1
            try:
                with self.throttle.slot():
                    self._allowed()
                    return self._once(request, take)
            except ApiError as error:
                wait = wait_before_retry(
                    error,
                    idempotent=request.repeatable,
                    attempt=attempt,
                    elapsed=monotonic() - started,
                    policy=policy,
                )
                if wait is None:
                    raise _or_in_doubt(error, request) from None
                self.throttle.sleep(0)  # a run that ends waits for nothing
                logger.warning(
                    "%(error)s Trying again in %(wait).1f s (%(attempt)d of %(attempts)d attempts made).",
                    {"error": error, "wait": wait, "attempt": attempt, "attempts": policy.attempts},
                )
                if isinstance(error, Busy):
                    self.throttle.pause(wait)
                self.throttle.sleep(wait)

    def rest(self, attempt: int, asked: float | None) -> None:
        """Wait after attempt ``attempt``: ``asked`` seconds, but at most the policy's longest wait.

        If ``asked`` is None, the policy sets the wait. Raise ``NotSent`` if the connection is closed meanwhile.
        """
        policy = self._policy
        self.throttle.sleep(backoff(attempt, policy) if asked is None else min(asked, policy.longest_wait))

    def _http(
        self, headers: Mapping[str, str], trusted: ssl.SSLContext | bool, transport: httpx.BaseTransport | None
    ) -> httpx.Client:
        return httpx.Client(
            headers={
                "Accept": "application/json",
                "Accept-Encoding": ACCEPT_ENCODING,
                "Connection": "close",
                "User-Agent": "wms-sync",
                **headers,
            },
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),  # keeps none: neither interface needs cookies
            timeout=httpx.Timeout(self._limits.read, connect=self._limits.connect),
            limits=httpx.Limits(max_connections=1, max_keepalive_connections=1),
            follow_redirects=False,
            trust_env=not self.base_url.startswith("http:"),
            verify=trusted,
            transport=transport,
        )

    def _once(self, request: Request, take: Take[T]) -> T:
        self.requests += 1
        client = self._free.get()
        try:
            with client.within(self._limits.answer):
                return self._answered(client, request, take)
        finally:
            self._free.put(client)

    def _answered(self, client: TimedClient, request: Request, take: Take[T]) -> T:
        built = client.http.build_request(
            request.method,
            self.base_url + request.path,
            params=list(request.params) or None,
            content=request.content,
            headers=dict(request.headers),
        )
        began, response = monotonic(), None
        try:
            response = client.send(built)
            try:
                self._notices.hear(response)
                self._heed(response)
                raise_for(response, self.base_url, self._credentials)
                taken = take(response)
            finally:
                response.close()
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError) as error:
            raise self._not_sent(error) from None
        except httpx.HTTPError as error:
            raise Unreachable(self._too_slow() if client.is_cut else self._no_answer(error)) from None
        finally:
            if logger.isEnabledFor(logging.DEBUG):
                logger.debug(described(built, response, monotonic() - began))
        if client.is_cut:  # an answer without a length looks complete when its connection is cut
            raise Unreachable(self._too_slow())
        return taken

    def _heed(self, response: httpx.Response) -> None:
        """Start no request before the time that an answer sets, unless it exceeds the time limit of retries."""
        wait = wait_requested(response) or 0.0
        if 0 < wait <= self._policy.total_seconds:
            self.throttle.pause(wait)

    def _not_sent(self, error: httpx.HTTPError) -> ApiError:
        """Return the error for a connection that could not be made."""
        if (refused := _caused_by(error, ssl.SSLCertVerificationError)) is not None:
            return Barred(
                f"This machine does not trust the certificate of {self.base_url} ({refused.verify_message}). If it is "
                "from a private certificate authority, set SSL_CERT_FILE to a file with the certificate of that "
                "authority."
            )
        if isinstance(error, httpx.ProxyError) and str(error).startswith(LOGIN_REQUIRED):  # httpx keeps no status
            return Barred(
                f"The proxy {self._proxy} asks for a login (407). Put a user and password into HTTPS_PROXY or "
                "ALL_PROXY: http://user:password@host:port."
            )
        said, unknown = self._no_answer(error), _caused_by(error, socket.gaierror)
        return NoSuchHost(said) if unknown is not None and unknown.errno == socket.EAI_NONAME else NotSent(said)

    def _no_answer(self, error: httpx.HTTPError) -> str:
        reason = f"{type(error).__name__}: {str(error) or type(error).__name__}"
        if self._proxy is None:
            return f"No answer from {self.base_url} ({reason}). Check WMS_BASE_URL and the network."
        return (
            f"No answer from {self.base_url} through the proxy {self._proxy} ({reason}). Check the proxy (HTTPS_PROXY, "
            "ALL_PROXY, NO_PROXY), WMS_BASE_URL and the network."
        )

    def _too_slow(self) -> str:
        return (
            f"The answer of {self.base_url} was not complete after {self._limits.answer:.0f} s, or the run was "
            "interrupted: the connection was closed."
        )


def described(request: httpx.Request, answer: httpx.Response | None, seconds: float) -> str:
    """Describe a request and its answer in a line of the log, without what may be personal and without credentials.

    ``GET /api/... answered 200 after 0.42 s with 9 bytes, content-type: text/html; limit=1&...``. The parameters come
    last, because field selection alone has 3 KB. Those that are not known to be harmless are withheld.
    """
    came = "got no answer" if answer is None else f"answered {answer.status_code}"
    line = f"{request.method} {request.url.path} {came} after {seconds:.2f} s"
    if answer is not None:
        headers = (f", {name}: {value}" for name, value in answer.headers.multi_items() if name in LOGGED)
        line += f" with {count_of(answer.num_bytes_downloaded, 'byte')}{''.join(headers)}"
    asked = (f"{name}={value}" for name, value in request.url.params.multi_items())
    shown = (text if _HARMLESS.fullmatch(text) else f"{text.partition('=')[0]}={WITHHELD}" for text in asked)
    return clean(f"{line}; {'&'.join(shown) or 'no parameters'}", request)


def _or_in_doubt(error: ApiError, request: Request) -> ApiError:
    """Return ``InDoubt`` if a request that must not be sent twice may have been done; else the error itself."""
    if request.repeatable:
        return error
    if isinstance(error, ServiceFailed) and not error.is_from_service:
        return InDoubt(
            f"{error} The service itself did not state that nothing was done, so the request may have taken effect.",
            retry_after=error.retry_after,
        )
    if isinstance(error, RedirectRefused) and error.may_be_done:
        return InDoubt(f"{error} A {error.status} can also mean that the request took effect.")
    if not isinstance(error, Unreachable) or isinstance(error, NotSent):
        return error
    return InDoubt(f"{request.method} {request.path} was sent but not answered: {error}")


def _caused_by(error: BaseException | None, kind: type[Cause]) -> Cause | None:
    """Return the error of this kind that caused an error; None if it had a different cause."""
    while error is not None and not isinstance(error, kind):
        error = error.__cause__ or error.__context__
    return error


class Client:
    """Base of the clients of both interfaces, whose ``with`` block ends with their connection."""

    connection: Connection

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.connection.close()
