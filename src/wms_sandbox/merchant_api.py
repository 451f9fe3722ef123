"""The Merchant API at `/api/jsonrpc` (specification 4.7, 5.2, 7.3): the envelope, `login` and `call`.

    {"jsonrpc": "2.0", "id": 1, "method": "call", "params": [null, "product.search", [{"sku": "X"}]]}
    {"jsonrpc": "2.0", "id": 1, "result": [...]}            or "error": {"code": 2, "message": "Access denied."}

An error is answered with HTTP 200. Batches are refused.
"""

import threading
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from wms_sandbox.body import TooLarge, Unparsable, parse, read_body
from wms_sandbox.config import SandboxConfig
from wms_sandbox.errors import too_large
from wms_sandbox.rpc_errors import (
    RpcError,
    access_denied,
    invalid_params,
    invalid_request,
    parameter_missing,
    parse_error,
    session_expired,
    unknown_method,
)
from wms_sandbox.rpc_methods import Methods
from wms_sandbox.sessions import Sessions

_SMALL_CODES = range(1, 1000)


class MerchantApi:
    """The endpoint. `sessions` decides who may use it."""

    def __init__(self, config: SandboxConfig, sessions: Sessions, methods: Methods, lock: threading.Lock) -> None:
        self._config = config
        self._sessions = sessions
        self._methods = methods
        self._lock = lock

    async def answer(self, request: Request) -> Response:
        """Answer one request."""
        try:
            content = await read_body(request)
        except TooLarge:
            return too_large()
        authorization = request.headers.get("authorization", "")
        return JSONResponse(await run_in_threadpool(self._answer, content, authorization))

    def _answer(self, content: bytes, authorization: str) -> dict[str, Any]:
        identity: Any = None
        try:
            envelope = _read(content)
            identity = envelope["id"]
            with self._lock:
                outcome = {"result": self._run(envelope["method"], envelope["params"], authorization)}
        except RpcError as error:
            outcome = {"error": {"code": self._code(error.code), "message": error.message}}
        else:
            outcome = ({"error": None} if self._config.rpc_null_error else {}) | outcome
        return {"jsonrpc": 2.0 if self._config.rpc_number_version else "2.0", "id": identity} | outcome

    def _code(self, code: int) -> int:
        return -32_000 - code if self._config.rpc_long_codes and code in _SMALL_CODES else code

    def _run(self, method: str, params: list[Any], authorization: str) -> Any:  # noqa: ANN401 - any JSON value
        if method == "login":
            return self._login(params)
        if method == "call":
            return self._call(params, authorization)
        raise unknown_method(method)

    def _login(self, params: list[Any]) -> str:
        if len(params) < 2 or params[0] in (None, "") or params[1] in (None, ""):
            raise parameter_missing()
        if not self._sessions.knows(*params[:2]):
            raise access_denied()
        return self._sessions.open()

    def _call(self, params: list[Any], authorization: str) -> Any:  # noqa: ANN401 - any JSON value
        match params:
            case [session, str(name), list(arguments)]:
                self._let_in(session, authorization)
                return self._methods.call(name, arguments)
        raise invalid_params("[session ID or null, method path, array of arguments] is expected.")

    def _let_in(self, session: object, authorization: str) -> None:
        if session is None:
            if not self._sessions.accepts(authorization):
                raise access_denied()
        elif not self._sessions.is_open(session):
            raise session_expired()


def _read(content: bytes) -> dict[str, Any]:
    """Return the envelope, whose version may be the number 2.0 or the string."""
    try:
        envelope = parse(content)
    except Unparsable as error:
        raise parse_error(str(error)) from None
    if not isinstance(envelope, dict):
        raise invalid_request("One object is expected.")
    if envelope.get("jsonrpc") not in (2.0, "2.0"):
        raise invalid_request("jsonrpc is 2.0.")
    if not isinstance(envelope.get("method"), str):
        raise invalid_request("method is a string.")
    identity = envelope.get("id")
    if isinstance(identity, bool) or not isinstance(identity, int | float | str):
        raise invalid_request("id is a number or a string.")
    if not isinstance(envelope.get("params"), list):
        raise invalid_params("params is an array.")
    return envelope
