"""HTTP around the service, on a socket and in this process alike: gzip, keep-alive, the Date header, the log, answers
that tests put in its place."""

import gzip
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from email.utils import parsedate_to_datetime
from typing import Any

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from tests.sandbox.conftest import Service
from wms_sandbox.app import LOCATION_TAGS, SHIPMENTS, STATUS
from wms_sandbox.faults import AnswerLost, Disconnect, Truncated, some


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


def test_no_accepted_encoding_at_all_means_no_gzip(service):
    request = service.client.build_request("GET", SHIPMENTS)
    del request.headers["Accept-Encoding"]
    response = service.client.send(request)
    assert "content-encoding" not in response.headers
    assert response.headers["content-type"] == "application/json"


def test_every_answer_has_the_date_of_the_sandbox(service):
    for path, headers in ((SHIPMENTS, {}), (STATUS, {}), ("/nowhere", {}), (STATUS, {"Authorization": "no"})):
        response = service.client.get(path, headers=headers)
        assert response.headers.get_list("date") == ["Sun, 01 Jun 2025 00:00:00 GMT"]
    assert service.get(("limit", "0")).headers["date"] == "Sun, 01 Jun 2025 00:00:00 GMT"


def test_without_a_fixed_now_the_clock_runs(start: Callable[..., Any]):
    running = start(shipments=5, families=20, now=None)
    before = parsedate_to_datetime(running.get().headers["date"])
    running.sandbox.advance(seconds=3600)
    after = parsedate_to_datetime(running.get().headers["date"])
    assert 3600 <= (after - before).total_seconds() < 3700


def test_connections_are_kept(on_socket):
    client = on_socket(shipments=0, families=20).client
    streams = [client.get(STATUS).extensions["network_stream"].get_extra_info("client_addr") for _ in range(4)]
    assert len(set(streams)) == 1


def test_requests_are_logged(fresh):
    fresh.client.get(SHIPMENTS, params={"limit": "2"}, headers={"User-Agent": "a-reader/1.0"})
    fresh.client.get("/nowhere")
    first, second = fresh.sandbox.requests
    assert (first.method, first.path, first.query, first.status) == ("GET", SHIPMENTS, "limit=2", 200)
    assert first.user_agent == "a-reader/1.0"
    assert (second.path, second.status) == ("/nowhere", 404)


def test_intercept_answers_in_its_place(fresh):
    answers: list[Response | None] = [
        JSONResponse({}, status_code=429, headers={"Retry-After": "2"}),
        HTMLResponse("<h1>Bad gateway</h1>", status_code=502),
        None,
    ]
    fresh.sandbox.intercept = lambda request: answers.pop(0)
    found = [fresh.client.get(SHIPMENTS) for _ in range(3)]
    assert [each.status_code for each in found] == [429, 502, 200]
    assert found[0].headers["retry-after"] == "2"
    assert all("date" in each.headers for each in found)


def test_intercept_may_be_asynchronous(fresh):
    async def teapot(request: Request) -> Response:
        return Response(await request.body(), status_code=418)

    fresh.sandbox.intercept = teapot
    assert fresh.client.get(STATUS).status_code == 418


def test_requests_of_many_threads_are_served_and_intercepted_one_at_a_time(fresh):
    seen: list[bool] = []
    alone = threading.Lock()

    def look(request: Request) -> None:
        seen.append(alone.acquire(blocking=False))
        time.sleep(0.001)
        alone.release()

    fresh.sandbox.intercept = look
    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(lambda _: fresh.get(("limit", "1")).json()["collection"], range(40)))
    assert answers == [answers[0]] * 40
    assert seen == [True] * 40
    assert [request.status for request in fresh.sandbox.requests] == [200] * 40


@pytest.mark.parametrize("answer", [Disconnect(), Truncated(b'{"collection":[]}' * 50)])
def test_broken_connections(fresh, answer: Response):
    fresh.sandbox.intercept = lambda request: answer
    with pytest.raises(httpx.TransportError):
        fresh.client.get(SHIPMENTS)
    fresh.sandbox.intercept = None
    assert fresh.get().status_code == 200


def test_rewrite_changes_the_envelope(fresh):
    plain = fresh.listing(("limit", "3"))
    fresh.sandbox.rewrite = lambda envelope: envelope | {"has_more": True, "next": None}
    changed = fresh.listing(("limit", "3"))
    assert changed == plain | {"has_more": True, "next": None}


def create_tags(service: Any, count: int) -> list[int | None]:
    """The statuses of so many creates; None where no answer came."""
    statuses: list[int | None] = []
    for number in range(count):
        try:
            response = service.client.post(LOCATION_TAGS, json={"name": f"tag {number}", "color": "red1"})
            statuses.append(response.status_code)
        except httpx.TransportError:
            statuses.append(None)
    return statuses


def test_an_answer_can_get_lost_after_the_work_was_done(fresh):
    fresh.sandbox.intercept = lambda request: AnswerLost()
    assert create_tags(fresh, 2) == [None, None]
    fresh.sandbox.intercept = None
    assert [tag["name"] for tag in fresh.sandbox.location_tags()] == ["tag 0", "tag 1"]
    assert create_tags(fresh, 1) == [422]
    assert [request.status for request in fresh.sandbox.requests] == [201, 201, 422]


def test_a_fault_can_be_for_a_share_of_the_requests(start: Callable[..., Any]):
    found: list[list[int | None]] = []
    for fault in (AnswerLost(), Disconnect(), AnswerLost()):
        service = start(shipments=0, families=20)
        service.sandbox.intercept = some(0.3, fault)
        found.append(create_tags(service, 100))
        done = 100 if isinstance(fault, AnswerLost) else found[-1].count(201)
        assert len(service.sandbox.location_tags()) == done
    assert found[0] == found[1] == found[2]
    assert 15 < found[0].count(None) < 45
