"""An answer of which a byte comes now and then reaches no time limit of a read. It ends with the request's deadline."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from socketserver import BaseRequestHandler, ThreadingTCPServer
from time import monotonic, sleep

import pytest
from pydantic import SecretStr

from wms_sync.service.answers import RetryPolicy
from wms_sync.service.client import GlobalApi
from wms_sync.service.connection import TimeLimits
from wms_sync.service.errors import InDoubt, ServiceFailed, Unreachable

pytestmark = pytest.mark.proof

EVERY = 0.05
PIECES = 60
"""The number of pieces in an answer: it takes six times as long as an answer may."""
LIMITS = TimeLimits(connect=2, read=2, answer=0.5)
ONCE = RetryPolicy(attempts=1, total_seconds=60, first_wait=0.01, longest_wait=0.05)
TOO_LATE = "was not complete after"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
SENT_FOR_EVER = {
    # the piece, and what comes before it
    "a header": (b"a", HEAD + b"X-Slow: "),
    "a header after header": (b"X-Slow: a\r\n", HEAD),
    "interim answers": (b"HTTP/1.1 100 Continue\r\n\r\n", b""),
    "the size of a chunk": (b"0", HEAD + b"Transfer-Encoding: chunked\r\n\r\n"),
    "chunks": (b"1\r\n \r\n", HEAD + b"Transfer-Encoding: chunked\r\n\r\n"),
    "trailers": (b"X-Slow: a\r\n", HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n"),
    "a body that ends with its connection": (b" ", HEAD + b"\r\n{}"),
    "a body with a length": (b" ", HEAD + b"Content-Length: 1000000\r\n\r\n{"),
}


@contextmanager
def dripping(piece: bytes, *beginnings: bytes):
    """A server that begins its answers so, one after the other on a connection, and sends pieces after the last one."""

    class Drip(BaseRequestHandler):
        def handle(self) -> None:
            with suppress(OSError):
                for begins in beginnings:
                    self.request.recv(65536)
                    self.request.sendall(begins)
                for _ in range(PIECES):
                    sleep(EVERY)
                    self.request.sendall(piece)

    with ThreadingTCPServer(("127.0.0.1", 0), Drip) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def client(url, limits=LIMITS):
    return GlobalApi(url, SecretStr("t"), policy=ONCE, limits=limits, parallel=1)


@pytest.mark.parametrize("name", SENT_FOR_EVER)
def test_a_read_ends_with_its_deadline(name):
    with dripping(*SENT_FOR_EVER[name]) as url, client(url) as reads, client(url) as creates:
        with pytest.raises(Unreachable, match=TOO_LATE):
            reads.get("/x", read=bytes)
        with pytest.raises(InDoubt, match=TOO_LATE):
            creates.post("/x", {})


@pytest.mark.parametrize(
    ("piece", "begins", "limits", "error", "says"),
    [
        # long before the deadline, which large pages need
        (b"", HEAD, TimeLimits(connect=2, read=0.1, answer=3), Unreachable, "ReadTimeout"),
        (b" ", b"HTTP/1.1 502 Bad\r\nContent-Length: 100000\r\n\r\n", LIMITS, ServiceFailed, "502"),
    ],
    ids=["a silence", "a refusal"],
)
def test_a_silence_ends_with_its_time_limit_and_a_refusal_at_once(piece, begins, limits, error, says):
    with dripping(piece, begins) as url, client(url, limits) as api, pytest.raises(error, match=says):
        api.get("/x", read=bytes)


def test_bytes_after_an_answer_are_not_taken_for_the_next_one():
    """A peer that sends each answer twice: each request got the answer before, and 0 of 120 shipments landed."""
    answers = HEAD + b"Content-Length: 2\r\n\r\n{}" + HEAD + b"Content-Length: 2\r\n\r\n[]"
    with dripping(b"", answers) as url, client(url) as api:
        assert [api.get("/x", read=bytes).envelope for _ in range(2)] == [b"{}", b"{}"]


def test_an_interrupt_ends_requests_of_other_threads():
    """At once: the deadline of a request is ten minutes, and these would be sent for three seconds."""
    began = monotonic()
    with dripping(*SENT_FOR_EVER["a header"]) as url, GlobalApi(url, SecretStr("t"), policy=ONCE) as api:
        with suppress(KeyboardInterrupt), ThreadPoolExecutor(2) as pool, api.cut_by_interrupts():
            reads = [pool.submit(api.get, "/x", read=bytes) for _ in range(2)]
            sleep(0.5)
            raise KeyboardInterrupt
        assert monotonic() - began < EVERY * PIECES
        assert [type(read.exception()) for read in reads] == [Unreachable, Unreachable]
