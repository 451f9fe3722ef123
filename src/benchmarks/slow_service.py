"""`python -m benchmarks.slow_service`: the sandbox behind a proxy that gives each page when its time has come.

A request for more than one record is answered so many seconds after it came, or as soon as the sandbox has the page if
that is later; so a page takes its time and no more, whatever else the machine does. `PAGES_ASKED` tells how many such
requests there were.
"""

from __future__ import annotations

import argparse
import asyncio
from time import monotonic
from urllib.parse import parse_qs

from starlette.responses import JSONResponse
from starlette.types import Message, Receive, Scope, Send

from wms_sandbox.app import SHIPMENTS, Sandbox
from wms_sandbox.config import SandboxConfig
from wms_sandbox.server import HOST, listen, make_server

PAGES_ASKED = "/benchmark/pages-asked"


class SlowService:
    """An ASGI application around another one."""

    def __init__(self, sandbox: Sandbox, delay: float) -> None:
        self._sandbox = sandbox
        self._delay = delay
        self._pages = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "http" and scope["path"] == PAGES_ASKED:
            await JSONResponse(self._pages)(scope, receive, send)
        elif scope["type"] == "http" and _asks_for_page(scope):
            self._pages += 1
            await self._sandbox(scope, receive, _later(send, monotonic() + self._delay))
        else:
            await self._sandbox(scope, receive, send)


def _later(send: Send, moment: float) -> Send:
    async def send_later(message: Message) -> None:
        if message["type"] == "http.response.start":
            await asyncio.sleep(max(0.0, moment - monotonic()))
        await send(message)

    return send_later


def _asks_for_page(scope: Scope) -> bool:
    return scope["path"] == SHIPMENTS and parse_qs(scope["query_string"].decode()).get("limit") != ["1"]


def main() -> None:
    """Serve until the process is told to stop."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shipments", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--days", type=int, required=True)
    parser.add_argument("--delay", type=float, required=True, help="seconds a page")
    options = parser.parse_args()
    config = SandboxConfig(options.shipments, options.seed, days=options.days)
    listener = listen(0)
    print(f"sandbox: http://{HOST}:{listener.getsockname()[1]} token {config.token}", flush=True)
    make_server(SlowService(Sandbox(config), options.delay)).run(sockets=[listener])


if __name__ == "__main__":
    main()
