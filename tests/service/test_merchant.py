"""The Merchant API against the sandbox: credentials, codes, and what is called again."""

import base64
import json

import pytest
from pydantic import SecretStr
from starlette.responses import JSONResponse, Response

from tests.bench import IMPATIENT
from tests.service.test_client import answer_first
from wms_sandbox.faults import Disconnect, ProxyAnswer
from wms_sync.service.errors import AccessDenied, CallFailed, ProtocolError, Unauthorized
from wms_sync.service.merchant import MerchantApi

USERNAME, KEY = "sandbox-merchant", "sandbox-api-key"
LIST: tuple[str, list[object]] = ("retailer.list", [{}, {"limit": 3}])


def client(service, *, key=KEY) -> MerchantApi:
    return MerchantApi(service.base_url, USERNAME, SecretStr(key), policy=IMPATIENT, transport=service)


def test_credentials_go_with_each_call(sandbox):
    sent = []

    async def look(request):
        body = json.loads(await request.body())
        sent.append((body["id"], body["method"], request.headers.get("authorization")))

    sandbox.sandbox.intercept = look
    with client(sandbox) as api:
        for _ in range(2):
            assert len(api.call(*LIST)["results"]) == 3
    basic = "Basic " + base64.b64encode(f"{USERNAME}:{KEY}".encode()).decode()
    assert sent == [(1, "call", basic), (2, "call", basic)]


def test_wrong_credentials_name_the_settings_and_never_show(sandbox):
    refused = pytest.raises((AccessDenied, Unauthorized), match="WMS_MERCHANT_API_KEY")
    with client(sandbox, key="planted-secret") as api, refused as error:
        api.call(*LIST)
    assert error.value.exit_code == 2
    assert "planted-secret" not in str(error.value)
    assert len(sandbox.sandbox.requests) == 1


@pytest.mark.parametrize(
    ("code", "kind"), [(2, AccessDenied), (-32002, AccessDenied), (6, CallFailed), (-32006, CallFailed)]
)
def test_wrong_credentials_have_two_codes(sandbox, code, kind):
    refused = {"jsonrpc": "2.0", "id": 1, "error": {"code": code, "message": "No."}}
    answer_first(sandbox, 1, lambda: JSONResponse(refused))
    with client(sandbox) as api, pytest.raises(CallFailed, match=rf"No\. \(code {code}\)") as error:
        api.call(*LIST)
    assert type(error.value) is kind


RESULT = {"jsonrpc": "2.0", "id": 1, "result": {"results": [{}, {}, {}]}}
UNDERSTOOD = {
    "a number for a version": JSONResponse(RESULT | {"jsonrpc": 2.0}),
    "null for no error": JSONResponse(RESULT | {"error": None}),
    **{
        f"{status}, whatever the body says": JSONResponse(RESULT | {"result": {"results": "wrong"}}, status)
        for status in (429, 409, 503)
    },
}


@pytest.mark.parametrize("first", UNDERSTOOD.values(), ids=UNDERSTOOD)
def test_which_answers_are_understood(sandbox, first):
    answer_first(sandbox, 1, lambda: first)
    with client(sandbox) as api:
        assert len(api.call(*LIST)["results"]) == 3


@pytest.mark.parametrize(
    "answer",
    [
        Response(b""),
        Response(b'{"jsonrpc": "2.0", "error": 5}'),
        Response(b"<html>In maintenance</html>"),
        Response(b"[]"),
        Response(b"{}"),
        Response(b'{"status": "maintenance"}'),
        Response(b'{"errors": ["odd"]}'),
        Disconnect(),
        ProxyAnswer(503),
    ],
)
def test_a_call_is_repeated_when_something_else_answers(sandbox, answer):
    answer_first(sandbox, 1, lambda: answer)
    with client(sandbox) as api:
        assert api.call(*LIST)
    assert len(sandbox.sandbox.requests) == 2


@pytest.mark.parametrize("body", [b'{"jsonrpc": "1.0", "result": 1}', b'{"jsonrpc": "2.0"}'])
def test_what_breaks_json_rpc_is_a_protocol_error(sandbox, body):
    answer_first(sandbox, 1, lambda: Response(body))
    with client(sandbox) as api, pytest.raises(ProtocolError):
        api.call(*LIST)
