"""HTTP around the service, on a socket and in this process alike: gzip and the Date header."""

import gzip
from collections.abc import Iterator

import httpx
import pytest

from tests.sandbox.conftest import AUTHORISED, Service
from wms_sandbox.app import SHIPMENTS, STATUS
from wms_sandbox.server import SandboxServer


@pytest.fixture(scope="module", params=["on a socket", "in this process"])
def client(request: pytest.FixtureRequest, service: Service) -> Iterator[httpx.Client]:
    if request.param == "in this process":
        yield service.client
        return
    with (
        SandboxServer(service.sandbox) as server,
        httpx.Client(base_url=server.base_url, headers=AUTHORISED, timeout=30) as client,
    ):
        yield client


@pytest.mark.parametrize(
    ("accepted", "is_compressed"),
    [("gzip", True), ("deflate, gzip;q=0.5", True), ("identity", False)],
)
def test_gzip_only_when_it_is_offered(client, accepted: str, is_compressed: bool):
    with client.stream("GET", SHIPMENTS, headers={"Accept-Encoding": accepted}) as response:
        raw = b"".join(response.iter_raw())
    assert (response.headers.get("content-encoding") == "gzip") is is_compressed
    assert int(response.headers["content-length"]) == len(raw)
    plain = client.get(SHIPMENTS, headers={"Accept-Encoding": "identity"}).content
    assert (gzip.decompress(raw) if is_compressed else raw) == plain


@pytest.mark.parametrize("path", [SHIPMENTS, STATUS, "/nowhere"])
def test_every_answer_has_the_date_of_the_sandbox(client, path):
    assert client.get(path).headers.get_list("date") == ["Sun, 01 Jun 2025 00:00:00 GMT"]
