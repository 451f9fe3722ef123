"""HTTP around the service, on a socket and in this process alike: gzip, keep-alive and the Date header."""

import gzip
from collections.abc import Callable
from typing import Any

import pytest

from tests.sandbox.conftest import Service
from wms_sandbox.app import SHIPMENTS, STATUS


@pytest.fixture(scope="module", params=["on a socket", "in this process"])
def start(request: pytest.FixtureRequest, start: Callable[..., Service]) -> Callable[..., Service]:
    made: Callable[..., Service] = request.getfixturevalue("on_socket") if request.param == "on a socket" else start
    return made


@pytest.fixture(scope="module")
def service(start: Callable[..., Service]) -> Service:
    return start(shipments=600, families=400)


@pytest.fixture
def fresh(start: Callable[..., Any]) -> Any:
    return start(shipments=40, families=30)


@pytest.mark.parametrize(
    ("accepted", "is_compressed"),
    [("gzip", True), ("deflate, gzip;q=0.5", True), ("identity", False), ("gzip;q=0", False), ("br", False)],
)
def test_gzip_only_when_it_is_offered(service, accepted: str, is_compressed: bool):
    with service.client.stream("GET", SHIPMENTS, headers={"Accept-Encoding": accepted}) as response:
        raw = b"".join(response.iter_raw())
    assert (response.headers.get("content-encoding") == "gzip") is is_compressed
    assert int(response.headers["content-length"]) == len(raw)
    plain = service.client.get(SHIPMENTS, headers={"Accept-Encoding": "identity"}).content
    assert (gzip.decompress(raw) if is_compressed else raw) == plain


def test_every_answer_has_the_date_of_the_sandbox(service):
    for path, headers in ((SHIPMENTS, {}), (STATUS, {}), ("/nowhere", {}), (STATUS, {"Authorization": "no"})):
        response = service.client.get(path, headers=headers)
        assert response.headers.get_list("date") == ["Sun, 01 Jun 2025 00:00:00 GMT"]
    assert service.get(("limit", "0")).headers["date"] == "Sun, 01 Jun 2025 00:00:00 GMT"


def test_connections_are_kept(on_socket):
    client = on_socket(shipments=0, families=20).client
    streams = [client.get(STATUS).extensions["network_stream"].get_extra_info("client_addr") for _ in range(4)]
    assert len(set(streams)) == 1
