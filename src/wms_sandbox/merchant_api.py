"""The Merchant API at `/api/jsonrpc` (specification 4.7, 5.2, 7.3): the envelope, `login` and `call`.

    {"jsonrpc": "2.0", "id": 1, "method": "call", "params": [null, "product.search", [{"sku": "X"}]]}
    {"jsonrpc": "2.0", "id": 1, "result": [...]}            or "error": {"code": 2, "message": "Access denied."}

An error is answered with HTTP 200. Batches are refused.
"""

import base64
import threading
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from wms_sandbox.clock import Clock
from wms_sandbox.config import SandboxConfig
from wms_sandbox.rpc_methods import INVALID_PARAMS, UNKNOWN_METHOD, Methods, RpcError

LIFETIME = 24 * 3_600_000
"""Lifetime of a session in milliseconds after the login."""


class MerchantApi:
    """The endpoint, for one API user."""

    def __init__(self, config: SandboxConfig, methods: Methods, clock: Clock, lock: threading.Lock) -> None:
        self._user = config.merchant_username, config.merchant_api_key
        self._methods = methods
        self._clock = clock
        self._lock = lock
        self._opened: dict[str, int] = {}

    async def answer(self, request: Request) -> Response:
        """Answer one request."""
        authorization = request.headers.get("authorization", "")
        return JSONResponse(self._answer(await request.body(), authorization))

    def _answer(self, content: bytes, authorization: str) -> dict[str, Any]:
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": None}
        try:
            answer["id"], method, params = _read(content)
            with self._lock:
                answer["result"] = self._run(method, params, authorization)
        except RpcError as error:
            answer["error"] = {"code": error.code, "message": error.message}
        return answer

    def _run(self, method: str, params: list[Any], authorization: str) -> Any:  # noqa: ANN401 - any JSON value
        match method, params:
            case "login", _:
                return self._login(params)
            case "call", [session, str(name), list(arguments)]:
                self._let_in(session, authorization)
                return self._methods.call(name, arguments)
            case "call", _:
                raise RpcError(INVALID_PARAMS, "[session ID or null, method path, array of arguments] is expected.")
        raise RpcError(UNKNOWN_METHOD, f"Method not found: {method}.")

    def _login(self, params: list[Any]) -> str:
        if len(params) < 2 or not all(params[:2]):
            raise RpcError(6, "Required parameter is missing.")
        if tuple(params[:2]) != self._user:
            raise RpcError(2, "Access denied.")
        session = f"{len(self._opened) + 1:032x}"
        self._opened[session] = self._clock.now()
        return session

    def _let_in(self, session: object, authorization: str) -> None:
        if session is None:
            credentials = base64.b64encode(":".join(self._user).encode()).decode()
            if authorization != f"Basic {credentials}":
                raise RpcError(2, "Access denied.")
        elif not isinstance(session, str) or self._clock.now() >= self._opened.get(session, -LIFETIME) + LIFETIME:
            raise RpcError(-32005, "Session expired. Try to relogin.")


def _read(content: bytes) -> tuple[float | str, str, list[Any]]:
    """Return id, method and params of a request, whose version may be the number 2.0 or the string."""
    try:
        envelope = msgspec.json.decode(content)
    except ValueError as error:
        raise RpcError(-32700, f"Parse error: {error}.") from None
    match envelope:
        case {
            "jsonrpc": 2.0 | "2.0",
            "id": int() | str() as id_,
            "method": str(method),
            "params": list(params),
        }:
            return id_, method, params
    raise RpcError(-32600, "Invalid Request: jsonrpc 2.0, an id, a method and an array of params are expected.")
