"""Client of the Merchant API: JSON-RPC 2.0 at ``/api/jsonrpc`` (specification 4.7, 5.2, 7.3).

A call and its answers; the last form is from the vendor's documentation::

    {"jsonrpc": "2.0", "id": 1, "method": "call", "params": [null, "retailer.list", [{"code": {"in": ["a"]}}]]}
    {"jsonrpc": "2.0", "id": 1, "result": {...}, "error": null}
    {"jsonrpc": 2.0, "id": 1, "error": {"code": -32005, "message": "Session expired. Try to relogin."}}

Credentials are sent with each call (HTTP Basic, session null), as the specification prefers.
"""

from __future__ import annotations

import base64
import itertools
from collections.abc import Sequence
from typing import Any, Self

import httpx
import msgspec
from pydantic import SecretStr

from wms_sync.service.answers import RetryPolicy, not_the_answer
from wms_sync.service.body import decoded, receive
from wms_sync.service.connection import Client, Connection, Request
from wms_sync.service.errors import AccessDenied, CallFailed, ProtocolError
from wms_sync.service.reasons import in_one_line
from wms_sync.settings import Settings

PATH = "/api/jsonrpc"
CREDENTIALS = "username or API key ({status}): check WMS_MERCHANT_USERNAME and WMS_MERCHANT_API_KEY."
PARALLEL = 5
"""The number of simultaneous calls that the service accepts (specification 10)."""
ACCESS_DENIED = frozenset({2, -32002})
"""The code that the vendor documents for wrong credentials; small codes may also come as ``-32000 - n``."""

_VERSIONS = (2, 2.0, "2.0", "2")


class _RpcError(msgspec.Struct):
    code: int
    message: str = ""


class _RpcResponse(msgspec.Struct):
    jsonrpc: float | str
    result: Any = msgspec.UNSET
    error: _RpcError | None = None


_RPC_RESPONSE = msgspec.json.Decoder(_RpcResponse)


class MerchantApi(Client):
    """A thread-safe client of the Merchant API; create one per run. Use it as a context manager."""

    def __init__(
        self,
        base_url: str,
        username: str,
        api_key: SecretStr,
        *,
        parallel: int = PARALLEL,
        policy: RetryPolicy | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._username = username
        self._api_key = api_key
        self._numbers = itertools.count(1)
        self.connection = Connection(
            base_url, parallel=min(parallel, PARALLEL), credentials=CREDENTIALS, policy=policy, transport=transport
        )

    @classmethod
    def from_settings(
        cls,
        settings: Settings,
        *,
        policy: RetryPolicy | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> Self:
        """Create a client for the configured instance. Raise ``SettingsError`` if a setting is missing."""
        base_url, username, api_key = settings.require_merchant()
        return cls(
            base_url,
            username,
            api_key,
            parallel=settings.max_parallel_requests,
            policy=policy,
            transport=transport,
        )

    def call(self, method: str, arguments: Sequence[object] = ()) -> Any:  # noqa: ANN401 - whatever the method returns
        """Call a method that only reads, such as ``retailer.list``, with retries. Raise ``ApiError`` on failure."""
        pair = f"{self._username}:{self._api_key.get_secret_value()}"
        headers = {
            "Content-Type": "application/json",
            "Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}",
        }
        envelope = {
            "jsonrpc": "2.0",
            "id": next(self._numbers),
            "method": "call",
            "params": [None, method, list(arguments)],
        }
        request = Request("POST", PATH, headers, content=msgspec.json.encode(envelope))
        return self.connection.send(request, lambda response: _result(response, self.connection.base_url, method))


def _result(response: httpx.Response, base_url: str, called: str) -> Any:  # noqa: ANN401
    content = receive(response).content
    try:
        envelope = decoded(content, _RPC_RESPONSE)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise not_the_answer(response, content, base_url, wanted=f"the JSON-RPC answer to {called}") from None
    if envelope.jsonrpc not in _VERSIONS:
        raise ProtocolError(f"The Merchant API answered {called} in version {envelope.jsonrpc!r} of JSON-RPC, not 2.0.")
    if envelope.error is not None:
        raise _failed(envelope.error, called, response.request)
    if envelope.result is msgspec.UNSET:
        raise ProtocolError(f"The Merchant API answered {called} with neither a result nor an error.")
    return envelope.result


def _failed(error: _RpcError, called: str, request: httpx.Request) -> CallFailed:
    message = f"The Merchant API refused {called}: {in_one_line(error.message, request)} (code {error.code})"
    if error.code in ACCESS_DENIED:
        return AccessDenied(f"{message}. Check WMS_MERCHANT_USERNAME and WMS_MERCHANT_API_KEY.")
    return CallFailed(message)
