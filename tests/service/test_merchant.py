"""The Merchant API against the sandbox on a socket: credentials, sessions, codes, and what is called again."""

from __future__ import annotations

import base64
import json

import pytest
from pydantic import SecretStr
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tests.conftest import IMPATIENT
from tests.service.test_client import answer_first
from wms_sandbox.faults import Disconnect, ProxyAnswer
from wms_sandbox.transport import InProcess
from wms_sync.service.errors import AccessDenied, InDoubt, ProtocolError, SessionExpired, Unauthorized
from wms_sync.service.merchant import MerchantApi, documented

USERNAME, KEY = "sandbox-merchant", "sandbox-api-key"
LIST: tuple[str, list[object]] = ("retailer.list", [{}, {"limit": 3}])


def client(service: InProcess, *, key=KEY, login=False) -> MerchantApi:
    return MerchantApi(service.base_url, USERNAME, SecretStr(key), login=login, policy=IMPATIENT, transport=service)


@pytest.fixture
def sent(sandbox):
    """The requests as JSON, with the headers."""
    found: list[tuple[dict[str, object], str | None]] = []

    async def look(request: Request) -> None:
        found.append((json.loads(await request.body()), request.headers.get("authorization")))

    sandbox.sandbox.intercept = look
    return found


def test_credentials_go_with_each_call(sandbox, sent):
    with client(sandbox) as api:
        assert len(api.call(*LIST)["results"]) == 3
        api.call(*LIST)
    call = {"jsonrpc": "2.0", "method": "call", "params": [None, *LIST]}
    basic = "Basic " + base64.b64encode(f"{USERNAME}:{KEY}".encode()).decode()
    assert sent == [(call | {"id": number}, basic) for number in (1, 2)]


def test_one_login_serves_many_calls(sandbox, sent):
    with client(sandbox, login=True) as api:
        for _ in range(3):
            api.call(*LIST)
    assert [(body["method"], basic) for body, basic in sent] == [("login", None), *[("call", None)] * 3]
    [session] = {body["params"][0] for body, _ in sent[1:]}
    assert len(session) == 32


def test_an_expired_session_is_renewed_once(sandbox):
    with client(sandbox, login=True) as api:
        api.call(*LIST)
        api._session = "0" * 32
        assert len(api.call(*LIST)["results"]) == 3
        assert api.requests == 5


def test_a_session_that_never_lasts_is_an_error(sandbox):
    expired = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32005, "message": "Session expired. Try to relogin."}}

    async def always_expired(request: Request) -> Response | None:
        return JSONResponse(expired) if json.loads(await request.body())["method"] == "call" else None

    sandbox.sandbox.intercept = always_expired
    with client(sandbox, login=True) as api, pytest.raises(SessionExpired):
        api.call(*LIST)
    assert len(sandbox.sandbox.requests) == 4


@pytest.mark.parametrize("login", [True, False])
def test_wrong_credentials_name_the_settings_and_never_show(sandbox, login):
    refused = pytest.raises((AccessDenied, Unauthorized), match="WMS_MERCHANT_API_KEY")
    with client(sandbox, key="planted-secret", login=login) as api, refused as error:
        api.call(*LIST)
    assert error.value.exit_code == 2
    assert "planted-secret" not in str(error.value)
    assert len(sandbox.sandbox.requests) == 1


@pytest.mark.parametrize(
    ("code", "known_as"), [(2, 2), (-32002, 2), (6, 6), (-32006, 6), (-32108, 108), (-32601, -32601), (-32700, -32700)]
)
def test_codes_of_json_rpc_itself_stay(code, known_as):
    assert documented(code) == known_as


RESULT = {"jsonrpc": "2.0", "id": 1, "result": {"results": [{}, {}, {}]}}
WRONG_RESULT = RESULT | {"result": {"results": "wrong"}}
UNDERSTOOD = {
    "a number for a version": JSONResponse(RESULT | {"jsonrpc": 2.0}),
    "null for no error": JSONResponse(RESULT | {"error": None}),
    **{f"{status}, whatever the body says": JSONResponse(WRONG_RESULT, status) for status in (429, 409, 503)},
}


@pytest.mark.parametrize("first", UNDERSTOOD.values(), ids=UNDERSTOOD)
def test_which_answers_are_understood(sandbox, first):
    answer_first(sandbox, 1, lambda: first)
    with client(sandbox) as api:
        assert len(api.call(*LIST)["results"]) == 3


NO_JSON_RPC = [
    Response(b""),
    Response(b'{"jsonrpc": "2.0", "error": 5}'),
    Response(b"<html>In maintenance</html>"),
    Response(b"[]"),
    Response(b"{}"),
    Response(b'{"status": "maintenance"}'),
    Response(b'{"errors": ["odd"]}'),
    Disconnect(),
    ProxyAnswer(503),
]


@pytest.mark.parametrize("answer", NO_JSON_RPC)
def test_reads_alone_are_repeated_when_something_else_answers(sandbox, answer):
    reads: list[tuple[str, list[object]]] = [LIST, ("product.search", []), ("product.info", ["SKU-00000-S"])]
    with client(sandbox) as api:
        for read in reads:
            answer_first(sandbox, 1, lambda: answer)
            assert api.call(*read)
        assert len(sandbox.sandbox.requests) == 2 * len(reads)
        answer_first(sandbox, 99, lambda: answer)
        with pytest.raises(InDoubt):
            api.call("product.create", ["sku", {}])
        assert len(sandbox.sandbox.requests) == 2 * len(reads) + 1, "what may change something is called once"


@pytest.mark.parametrize("body", [b'{"jsonrpc": "1.0", "result": 1}', b'{"jsonrpc": "2.0"}'])
def test_what_breaks_json_rpc_is_a_protocol_error(sandbox, body):
    answer_first(sandbox, 1, lambda: Response(body))
    with client(sandbox) as api, pytest.raises(ProtocolError):
        api.call(*LIST)
