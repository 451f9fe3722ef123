"""Serve the sandbox on a socket: in a thread for tests and demos, or in the foreground for `python -m wms_sandbox`."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from types import TracebackType
from typing import Self

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from wms_sandbox.app import Sandbox

HOST = "127.0.0.1"
_KEEP_ALIVE_SECONDS = 30


class SandboxServer:
    """Runs a sandbox on a free port of the loopback address inside a `with` block.

    `base_url` is the address of the instance for clients, without a path. Another `sandbox` may replace the first one
    at the same address.
    """

    def __init__(self, sandbox: Sandbox, port: int = 0) -> None:
        self.sandbox = sandbox
        self._socket = listen(port)
        self.base_url = f"http://{HOST}:{self._socket.getsockname()[1]}"
        self._server = make_server(self._answer)
        self._thread = threading.Thread(target=self._run, name="sandbox", daemon=True)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.sandbox(scope, receive, send)

    def _run(self) -> None:
        self._server.run(sockets=[self._socket])

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.should_exit = self._server.force_exit = True
        self._thread.join()
        self._socket.close()


class _QuietServer(uvicorn.Server):
    """Leaves signals to the process if it does not run in the main thread."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is threading.main_thread():
            with super().capture_signals():
                yield
        else:
            yield


def listen(port: int) -> socket.socket:
    """Listen at once: a client may connect before the server has started, and is served when it has."""
    listener = socket.socket()
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
        listener.listen(256)
    except (OSError, OverflowError):
        listener.close()
        raise
    return listener


def make_server(sandbox: ASGIApp) -> uvicorn.Server:
    """Return a uvicorn server that leaves the `Date` header to the sandbox."""
    config = uvicorn.Config(
        sandbox,
        interface="asgi3",
        lifespan="off",
        log_level="warning",
        access_log=False,
        date_header=False,
        server_header=False,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=2,
    )
    return _QuietServer(config)
