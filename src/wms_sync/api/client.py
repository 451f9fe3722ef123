"""The Global API over HTTP: one request with its retries (specification 4, 5.1, 7).

Keep-alive connections, gzip or zstd, time limits for connecting, for each read and for a whole answer. The token is
sent to the configured origin only and never appears in a message. Redirects are refused.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from time import monotonic
from types import TracebackType
from typing import Self
from urllib.parse import urljoin, urlsplit

import httpx
from pydantic import SecretStr

from wms_sync.api import statuses
from wms_sync.api.body import ACCEPT_ENCODING, Body, receive
from wms_sync.api.errors import ApiError, Busy, ProtocolError, Unauthorized, Unreachable
from wms_sync.api.retrying import RetryPolicy, wait_before_retry
from wms_sync.api.throttle import Throttle
from wms_sync.settings import Settings

ROOT = "/api/global"
STATUS = f"{ROOT}/v1/system/status"
CONNECT_SECONDS, READ_SECONDS, ANSWER_SECONDS = 10.0, 120.0, 600.0

Params = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Answer:
    """A 2xx answer. ``served_at`` is the service's clock (``Date``), ``seconds`` how long the request took."""

    body: Body
    served_at: datetime
    seconds: float


def _silent(_: str) -> None:
    """Nobody wants to know."""


class GlobalApi:
    """Thread-safe; one instance a run. Close it, or use it as a context manager."""

    def __init__(
        self,
        base_url: str,
        token: SecretStr,
        *,
        parallel: int = 4,
        api_version: str | None = None,
        policy: RetryPolicy | None = None,
        say: Callable[[str], object] = _silent,
    ) -> None:
        self.base_url = base_url
        self.requests = 0
        self._say = say
        self._policy = policy or RetryPolicy()
        self.throttle = Throttle(parallel)
        headers = {"Accept": "application/json", "Accept-Encoding": ACCEPT_ENCODING, "User-Agent": "wms-sync"}
        if api_version is not None:
            headers["X-ShipStream-API-Version"] = api_version
        self._token = token
        self._http = httpx.Client(
            headers=headers,
            timeout=httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS),
            limits=httpx.Limits(max_connections=parallel, max_keepalive_connections=parallel),
            follow_redirects=False,
            trust_env=not base_url.startswith("http:"),
        )

    @classmethod
    def from_settings(
        cls, settings: Settings, *, policy: RetryPolicy | None = None, say: Callable[[str], object] = _silent
    ) -> Self:
        """A client for the configured instance; raises ``SettingsError`` where address or token is missing.

        ``say`` is told of each request that has to be repeated, and why.
        """
        base_url, token = settings.require_service()
        return cls(
            base_url,
            token,
            parallel=settings.max_parallel_requests,
            api_version=settings.api_version,
            policy=policy,
            say=say,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Wake sleepers and close the connections."""
        self.throttle.close()
        self._http.close()

    def get(self, target: str, params: Params = ()) -> Answer:
        """GET a path, or a page cursor of the service, with retries. Raises a leaf of ``ApiError``."""
        url = self.resolve(target)
        started, attempt = monotonic(), 0
        while True:
            attempt += 1
            try:
                with self.throttle.slot():
                    return self._once(url, params)
            except ApiError as error:
                wait = wait_before_retry(
                    error,
                    idempotent=True,
                    attempt=attempt,
                    elapsed=monotonic() - started,
                    policy=self._policy,
                )
                if wait is None:
                    raise
                self._say(f"{error} Trying again in {wait:.1f} s ({attempt} of {self._policy.attempts} attempts made).")
                if isinstance(error, Busy):
                    self.throttle.pause(wait)
                self.throttle.sleep(wait)

    def resolve(self, target: str) -> str:
        """An absolute URL on the configured origin; ``next`` may be absolute or root-relative (facts, paging)."""
        url = urljoin(self.base_url + "/", target)
        if _origin(url) != _origin(self.base_url):
            raise ProtocolError(
                f"The service pointed to another address ({_shown_origin(url)} instead of "
                f"{_shown_origin(self.base_url)}); the token is not sent there and reading stops."
            )
        return url

    def _once(self, url: str, params: Params) -> Answer:
        self.requests += 1
        started = monotonic()
        try:
            # the token is attached a request, so that no client-wide header could follow it elsewhere
            request = self._http.build_request(
                "GET", url, params=list(params) or None, headers={"Authorization": self._authorization()}
            )
            response = self._http.send(request, stream=True)
            try:
                statuses.raise_for(response, self.base_url)
                body = receive(response, deadline=started + ANSWER_SECONDS)
            finally:
                response.close()
        except httpx.HTTPError as error:
            raise Unreachable(_no_answer(self.base_url, error)) from None
        return Answer(body, served_at(response), monotonic() - started)

    def _authorization(self) -> str:
        token = self._token.get_secret_value()
        if not token or not token.isascii() or any(character.isspace() for character in token):
            raise Unauthorized("WMS_API_TOKEN is empty or holds blanks, line breaks or letters no token has.", status=0)
        return f"Bearer {token}"


def served_at(response: httpx.Response) -> datetime:
    """The service's clock at this answer, UTC, whole seconds; ``ProtocolError`` without a readable ``Date``."""
    try:
        return parsedate_to_datetime(response.headers["date"]).astimezone(UTC)
    except (KeyError, ValueError):
        raise ProtocolError(
            "The service's answer has no readable Date header; without its clock no window can be closed safely."
        ) from None


def _no_answer(base_url: str, error: httpx.HTTPError) -> str:
    reason = str(error) or type(error).__name__
    if isinstance(error.__cause__, ssl.SSLError) or isinstance(error.__context__, ssl.SSLError):
        reason = f"TLS: {reason}"
    return f"No answer from {base_url} ({type(error).__name__}: {reason}). Look at WMS_BASE_URL and the network."


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)


def _shown_origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname}" + (f":{parts.port}" if parts.port else "")
