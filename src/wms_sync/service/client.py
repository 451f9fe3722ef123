"""Client of the Global API: reads and creates with the bearer token (specification 4, 5.1, 7).

The token is sent to the configured origin only and never appears in a message.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
from http import HTTPStatus
from math import inf
from time import monotonic
from typing import Generic, Self, TypeVar

import httpx
import msgspec
from msgspec import Struct
from msgspec.structs import replace
from pydantic import SecretStr

from wms_sync.service.answers import RetryPolicy, not_the_answer
from wms_sync.service.body import Body, receive
from wms_sync.service.connection import Client, Connection, Params, Request, Take, TimeLimits, always
from wms_sync.service.errors import NotAList, ProtocolError, Unauthorized, Unreachable
from wms_sync.service.headers import ServiceClock, Warn, dated, log_warning
from wms_sync.settings import TOLERANCE, Settings

logger = logging.getLogger(__name__)
ROOT = "/api/global"
STATUS = f"{ROOT}/v1/system/status"
CREDENTIALS = (
    "the token ({status}). It is wrong, expired or lacks permission: check WMS_API_TOKEN (Custom Global Integration "
    "of that instance) and WMS_BASE_URL."
)

T = TypeVar("T")


class Answer(Struct, Generic[T], frozen=True):
    """A 2xx answer to a read: the body as received, and what the function that parsed it returned.

    For a list that is its envelope. ``served_at`` is the time at which the answer was served (``ServiceClock.take``).
    """

    body: Body
    envelope: T
    served_at: datetime
    headers: Mapping[str, str] = {}


class Reply(Struct, frozen=True):
    """A 2xx answer to a create; ``content`` is None if the body could not be read completely."""

    status: int
    is_json: bool
    content: bytes | None
    request: httpx.Request


class GlobalApi(Client):
    """A thread-safe client of the Global API; create one per run. Use it as a context manager.

    ``connection`` counts its requests, and limits those in parallel.
    ``reread_token`` returns the present token, or None if there is none but the first; it is called after a 401.
    """

    def __init__(
        self,
        base_url: str,
        token: SecretStr,
        *,
        reread_token: Callable[[], SecretStr | None] = always,
        parallel: int = 4,
        api_version: str | None = None,
        policy: RetryPolicy | None = None,
        limits: TimeLimits | None = None,
        allowed: Callable[[], object] = always,
        warn: Warn = log_warning,
        tolerance: timedelta = TOLERANCE,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.base_url = base_url
        self.clock = ServiceClock(tolerance)
        self._token = token
        self._reread_token = reread_token
        self._reread_after = -inf
        self._limits = limits or TimeLimits()
        self._lock = threading.Lock()
        self.connection = Connection(
            base_url,
            parallel=parallel,
            credentials=CREDENTIALS,
            policy=policy,
            headers={"X-ShipStream-API-Version": api_version} if api_version is not None else None,
            limits=self._limits,
            allowed=allowed,
            warn=warn,
            transport=transport,
        )

    @classmethod
    def from_settings(
        cls,
        settings: Settings,
        *,
        policy: RetryPolicy | None = None,
        limits: TimeLimits | None = None,
        allowed: Callable[[], object] = always,
        warn: Warn = log_warning,
        transport: httpx.BaseTransport | None = None,
    ) -> Self:
        """Create a client for the configured instance. Raise ``SettingsError`` if the address or token is not set.

        ``allowed``, ``warn`` and ``transport`` are passed to ``Connection``.
        """
        base_url, token = settings.require_service()
        return cls(
            base_url,
            token,
            reread_token=settings.reread_token,
            parallel=settings.max_parallel_requests,
            api_version=settings.api_version,
            policy=policy,
            limits=limits,
            allowed=allowed,
            warn=warn,
            tolerance=settings.clock_tolerance,
            transport=transport,
        )

    @contextmanager
    def cut_by_interrupts(self) -> Iterator[None]:
        """End the requests of other threads at once if an interrupt ends the block."""
        try:
            yield
        except Exception:
            raise
        except BaseException:
            self.connection.abort()
            raise

    def get(self, path: str, params: Params = (), *, read: Callable[[bytes], T]) -> Answer[T]:
        """GET a path with retries. Raise ``ApiError``.

        ``read`` parses the body. If it raises ``NotAList`` or an error of decoding, the request is retried, because
        something else may have answered; not after ``NotAList`` if the status is 204.
        """
        return self._send(Request("GET", path, {}, params), partial(self._answered, read))

    def post(self, path: str, body: object, *, attempts: int | None = None) -> Reply:
        """POST a JSON body. Retry only if nothing was done; raise ``InDoubt`` if the request may have taken effect.

        ``attempts`` lowers the retry policy's number of attempts.
        """
        headers, content = {"Content-Type": "application/json"}, msgspec.json.encode(body)
        request = Request("POST", path, headers, content=content, repeatable=False, attempts=attempts)
        return self._send(request, _replied)

    def _answered(self, read: Callable[[bytes], T], response: httpx.Response) -> Answer[T]:
        served_at = self.clock.take(dated(response))  # at the first byte: a page may take minutes to arrive
        body = receive(response)
        try:
            return Answer(body, read(body.content), served_at, response.headers)
        except NotAList:
            if response.status_code == HTTPStatus.NO_CONTENT:
                raise
            raise not_the_answer(response, body.content, self.base_url, wanted="a list (collection)") from None
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise not_the_answer(response, body.content, self.base_url, wanted="the expected JSON") from None

    def _send(self, request: Request, take: Take[T]) -> T:
        """Send a request with the token. After a 401, which did nothing, send it again if there is a newer token."""
        while True:
            token = self._token
            headers = {**request.headers, **_authorization(token)}
            try:
                return self.connection.send(replace(request, headers=headers), take)
            except Unauthorized as error:
                if error.status != HTTPStatus.UNAUTHORIZED or not self._has_newer(token):
                    raise

    def _has_newer(self, refused: SecretStr) -> bool:
        """Return whether there is a newer token than the refused one; read its file again if that is due."""
        with self._lock:
            if self._token == refused and monotonic() > self._reread_after:
                self._reread_after = monotonic() + self._limits.token
                self._token = self._reread_token() or refused
                if self._token != refused:
                    logger.info("The service refused the token; WMS_API_TOKEN_FILE has a new one, which is used now.")
            return self._token != refused


def _authorization(secret: SecretStr) -> Mapping[str, str]:
    """Return the header with the token. Raise ``Unauthorized`` if no header can have it."""
    token = secret.get_secret_value()
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        # httpx would show the token in its error
        raise Unauthorized(
            "WMS_API_TOKEN is empty, or contains spaces, line breaks or characters that no token has.", status=0
        )
    return {"Authorization": f"Bearer {token}"}


def _replied(response: httpx.Response) -> Reply:
    try:
        content = receive(response).content
    except (Unreachable, ProtocolError, httpx.HTTPError):
        content = None
    is_html = content is not None and content.lstrip().startswith(b"<")
    is_json = not is_html and "json" in response.headers.get("content-type", "").lower()
    return Reply(response.status_code, is_json, content, response.request)
