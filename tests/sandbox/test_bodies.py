"""What holds for the body of every create: token, content type, JSON, size; and that a refusal does nothing."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from starlette.responses import Response

from tests.sandbox.conftest import Service
from wms_sandbox.app import LOCATION_TAGS, PRODUCTS, RETAILERS
from wms_sandbox.body import LARGEST

BODIES: dict[str, dict[str, Any]] = {
    LOCATION_TAGS: {"name": "Cold", "color": "blue1"},
    RETAILERS: {"code": "ACME", "name": "Acme"},
    PRODUCTS: {"resource": {"type": "Product", "sku": "S", "name": "N"}},
}
JSON = {"Content-Type": "application/json"}

pytestmark = pytest.mark.parametrize("path", BODIES)


@pytest.fixture(scope="module")
def bare(start: Callable[..., Service]) -> Service:
    """Nothing is ever created in it."""
    return start(shipments=0, families=20)


@pytest.fixture(autouse=True)
def _nothing_was_done(bare: Service):
    yield
    assert bare.sandbox.location_tags() == bare.sandbox.retailers() == bare.sandbox.products() == []


def refusal(response: httpx.Response) -> str:
    """The message of a 400 for what is no JSON."""
    assert response.status_code == 400, response.text
    (error,) = response.json()["errors"]
    assert list(error) == ["type", "message"]
    assert error["type"] == "parser"
    return str(error["message"])


@pytest.mark.parametrize("authorization", [None, "Bearer wrong", "Bearer", "Basic YTpi"])
def test_the_token_comes_first(bare: Service, path: str, authorization: str | None):
    headers = JSON | ({"Authorization": authorization} if authorization else {})
    with bare.stranger() as client:
        assert client.post(path, content=b"{", headers=headers).status_code == 401


@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE"])
def test_only_posts_are_allowed(bare: Service, path: str, method: str):
    response = bare.client.request(method, path)
    assert (response.status_code, response.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b" ",
        b"{",
        b"{}x",
        b"{'name': 1}",
        b'{"a": 1,}',
        b'{"a": NaN}',
        b'{"a": -Infinity}',
        b'{"a": 1e999}',
        b'{"a": "\xff"}',
        b'{"a": "\\ud800"}',
        b'{"\\udfff": 1}',
        b'\xef\xbb\xbf{"a": 1}',
        '{"a": 1}'.encode("utf-16"),
        b'{"a": ' + b"1" * 5000 + b"}",
        b"[" * 65 + b"]" * 65,
        b"[" * 90_000 + b"]" * 90_000,
    ],
    ids=lambda content: str(content[:12]),
)
def test_what_is_no_json_is_refused(bare: Service, path: str, content: bytes):
    assert refusal(bare.client.post(path, content=content, headers=JSON)).startswith("The body is not valid JSON: ")


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded", "application/jsonx"])
def test_another_content_type_is_refused(bare: Service, path: str, kind: str | None):
    headers = {"Content-Type": kind} if kind else {}
    message = refusal(bare.client.post(path, content=b'{"a": 1}', headers=headers))
    assert message == "The content type must be application/json."


@pytest.mark.parametrize("kind", ["application/json", "application/json; charset=utf-8", "Application/JSON"])
def test_json_may_name_its_encoding(bare: Service, path: str, kind: str):
    response = bare.client.post(path, content=b"[]", headers={"Content-Type": kind})
    assert response.json()["errors"][0]["type"] == "parameters"


@pytest.mark.parametrize(("size", "status"), [(LARGEST, 400), (LARGEST + 1, 413), (5 * LARGEST, 413)])
def test_large_bodies_are_refused(bare: Service, path: str, size: int, status: int):
    content = b'{"x":"' + b"x" * (size - 8) + b'"}'
    assert bare.client.post(path, content=content, headers=JSON).status_code == status


def test_unknown_parameters_are_refused(bare: Service, path: str):
    response = bare.post(path, BODIES[path], params={"dry_run": "1"})
    assert response.json()["errors"][0]["details"] == [{"key": "dry_run", "message": "Unknown parameter."}]


@pytest.mark.parametrize("status", [429, 409, 500, 503])
def test_any_answer_put_in_its_place_means_that_nothing_was_done(bare: Service, path: str, status: int):
    bare.sandbox.intercept = lambda request: Response(status_code=status)
    try:
        assert bare.post(path, BODIES[path]).status_code == status
    finally:
        bare.sandbox.intercept = None
