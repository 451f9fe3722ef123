"""What alerts are sent to: a real socket that takes them, refuses them, or keeps the sender waiting."""

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Receiver(ThreadingHTTPServer):
    """``taken`` is what was posted and ``put`` what was put, ``asked`` each request; ``status`` and ``says`` are the
    answer; ``answers`` holds it back."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.origin = f"http://127.0.0.1:{self.server_port}"
        self.url = f"{self.origin}/hooks/a-secret"
        self.answers = threading.Event()
        self.clear()

    def clear(self) -> None:
        """Begin anew."""
        self.taken: list[dict[str, Any]] = []
        self.put: list[str] = []
        self.asked: list[str] = []
        self.status = 204
        self.says = b""
        self.answers.set()

    @property
    def heard(self) -> list[str]:
        """The alerts: ``new:run-sync``. A name is without what tells findings of one kind apart."""
        return [f"{body['status']}:{re.sub('-[0-9a-f]{6}$', '', body['finding'])}" for body in self.taken]


class _Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.server.status < 300:
            self.server.taken.append(body)
        self.do_GET()

    def do_PUT(self) -> None:
        self.server.put.append(self.rfile.read(int(self.headers["content-length"])).decode())
        self.do_GET()

    def do_GET(self) -> None:
        self.server.asked.append(f"{self.command} {self.path}")
        self.server.answers.wait(20)
        self.send_response(self.server.status)
        self.send_header("location", f"{self.server.origin}/elsewhere")
        self.send_header("content-length", str(len(self.server.says)))
        self.end_headers()
        self.wfile.write(self.server.says)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def receiving() -> Iterator[Receiver]:
    """A receiver while the block lasts."""
    with Receiver() as receiver:
        threading.Thread(target=receiver.serve_forever, args=(0.05,), daemon=True).start()
        yield receiver
        receiver.answers.set()
        receiver.shutdown()
