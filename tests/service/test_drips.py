"""An answer of which a byte comes now and then reaches no time limit of a read. It ends with the request's deadline."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import chain, repeat
from time import sleep

import pytest
from pydantic import SecretStr

from wms_sync.service.client import GlobalApi
from wms_sync.service.connection import TimeLimits
from wms_sync.service.errors import InDoubt, ServiceFailed, Unreachable
from wms_sync.service.retrying import RetryPolicy

pytestmark = pytest.mark.proof

EVERY = 0.05
LIMITS = TimeLimits(connect=2, read=2, answer=0.5)
ONCE = RetryPolicy(attempts=1, total_seconds=60, first_wait=0.01, longest_wait=0.05)
TOO_LATE = "was not complete after|was still sending after"
"""Between two reads of the body, or in one."""
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
SENT_FOR_EVER = {
    "a header": (HEAD + b"X-Slow: ", b"a"),
    "a header after header": (HEAD, b"X-Slow: a\r\n"),
    "interim answers": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "the size of a chunk": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"0"),
    "chunks": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
    "trailers": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n", b"X-Slow: a\r\n"),
    "a body that ends with its connection": (HEAD + b"\r\n{}", b" "),
    "a body with a length": (HEAD + b"Content-Length: 1000000\r\n\r\n{", b" "),
}


@contextmanager
def dripping(begins: bytes, piece: bytes, *, first: bytes | None = None) -> Iterator[str]:
    """A server that begins each answer so and then sends the piece again and again; yields its address.

    Where a connection has a ``first`` answer, it gives that one whole, and drips the answer to the next request.
    """
    ended = threading.Event()
    listener = socket.create_server(("127.0.0.1", 0))

    def answer(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.recv(65536)
            if first is not None:
                connection.sendall(first)
                connection.recv(65536)
            for part in chain([begins], repeat(piece)):
                connection.sendall(part)
                if ended.wait(EVERY):
                    return

    def serve() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                answering.append(threading.Thread(target=answer, args=[connection], daemon=True))
                answering[-1].start()

    answering: list[threading.Thread] = []
    serving = threading.Thread(target=serve, daemon=True)
    serving.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        ended.set()
        listener.shutdown(socket.SHUT_RDWR)  # ends accept
        listener.close()
        for thread in (serving, *answering):
            thread.join()
    assert first is None or len(answering) == 1, "a kept connection was not used again"


def client(url: str, limits: TimeLimits = LIMITS) -> GlobalApi:
    return GlobalApi(url, SecretStr("t"), policy=ONCE, limits=limits, parallel=1)


@pytest.mark.parametrize("name", SENT_FOR_EVER)
def test_a_read_ends_with_its_deadline(name):
    with dripping(*SENT_FOR_EVER[name]) as url, client(url) as reads, client(url) as creates:
        with pytest.raises(Unreachable, match=TOO_LATE):
            reads.get("/x", read=bytes)
        with pytest.raises(InDoubt, match=TOO_LATE):
            creates.post("/x", {})


def test_a_silence_ends_with_its_time_limit():
    """Long before the deadline, which large pages need."""
    limits = TimeLimits(connect=2, read=0.1, answer=3)
    with dripping(HEAD, b"") as url, client(url, limits) as api, pytest.raises(Unreachable, match="ReadTimeout"):
        api.get("/x", read=bytes)


def test_a_refusal_without_end_is_a_refusal():
    refusal = b"HTTP/1.1 502 Bad\r\nContent-Length: 100000\r\n\r\n"
    with dripping(refusal, b" ") as url, client(url) as api, pytest.raises(ServiceFailed, match="502"):
        api.get("/x", read=bytes)


def test_a_kept_connection_has_deadlines():
    """The second request opens no connection, so nothing hands a socket over."""
    first = HEAD + b"Content-Length: 2\r\n\r\n{}"
    with dripping(HEAD, b"X-Slow: a\r\n", first=first) as url, client(url) as api:
        assert api.get("/x", read=bytes).read == b"{}"
        with pytest.raises(Unreachable, match=TOO_LATE):
            api.get("/x", read=bytes)


INTERRUPTED = """
import signal, sys
from concurrent.futures import ThreadPoolExecutor
from pydantic import SecretStr
from wms_sync.service.client import GlobalApi

signal.signal(signal.SIGINT, signal.default_int_handler)  # a suite in the background ignores it
api = GlobalApi(sys.argv[1], SecretStr("t"))
with ThreadPoolExecutor(2) as pool, api.cut_by_interrupts():
    reads = [pool.submit(api.get, "/x", read=bytes) for _ in range(2)]
    print("reading", flush=True)
    [read.result() for read in reads]
"""


def test_an_interrupt_ends_requests_of_other_threads():
    with dripping(*SENT_FOR_EVER["a header"]) as url:
        command = [sys.executable, "-c", INTERRUPTED, url]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
            assert run.stdout is not None
            assert run.stdout.readline() == b"reading\n"
            sleep(0.5)
            run.send_signal(signal.SIGINT)
            _, said = run.communicate(timeout=60)  # the deadline of a request is ten minutes
    assert run.returncode != 0
    assert b"KeyboardInterrupt" in said
