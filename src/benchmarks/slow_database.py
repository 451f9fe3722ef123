"""A PostgreSQL as far away as one likes: what a client sends comes to the server so many seconds later.

What the server answers comes at once, so each request takes that much longer, as with a network between them.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from time import monotonic

from sqlalchemy import make_url

from wms_sandbox.server import HOST

CHUNK = 1 << 20
Connect = Callable[[], Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]


class SlowDatabase:
    """A proxy on a port of its own. ``requests`` counts what clients have sent."""

    def __init__(self, connect: Connect, delay: float) -> None:
        self.requests = 0
        self.port = 0
        self._connect = connect
        self._delay = delay

    async def serve(self, ready: threading.Event) -> None:
        """Serve until ``end`` is called."""
        self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
        async with await asyncio.start_server(self._pass_on, HOST, 0) as server:
            self.port = server.sockets[0].getsockname()[1]
            ready.set()
            await self._ended.wait()

    def end(self) -> None:
        """End ``serve``, from another thread."""
        self._loop.call_soon_threadsafe(self._ended.set)

    async def _pass_on(self, client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        server, to_server = await self._connect()
        sent: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()
        try:
            async with asyncio.TaskGroup() as copying:
                copying.create_task(_write_in_time(sent, to_server))
                copying.create_task(_copy(server, to_client))
                while data := await client.read(CHUNK):
                    self.requests += 1
                    sent.put_nowait((monotonic() + self._delay, data))
                sent.put_nowait((monotonic(), b""))
        finally:
            for writer in (to_client, to_server):
                writer.transport.abort()


@contextmanager
def slow_database(url: str, delay: float) -> Iterator[tuple[SlowDatabase, str]]:
    """Serve the database of this URL with a delay while the block lasts; yield the proxy and its URL."""
    parts = make_url(url)
    port = int(parts.query.get("port", parts.port or 5432))  # type: ignore[arg-type]
    host = str(parts.query.get("host", parts.host))

    async def connect() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if host.startswith("/"):
            return await asyncio.open_unix_connection(f"{host}/.s.PGSQL.{port}")
        return await asyncio.open_connection(host, port)

    proxy, ready = SlowDatabase(connect, delay), threading.Event()
    thread = threading.Thread(target=lambda: asyncio.run(proxy.serve(ready)), daemon=True)
    thread.start()
    ready.wait()
    try:
        yield proxy, parts.set(host=HOST, port=proxy.port, query={}).render_as_string(hide_password=False)
    finally:
        proxy.end()
        thread.join()


async def _write_in_time(sent: asyncio.Queue[tuple[float, bytes]], writer: asyncio.StreamWriter) -> None:
    """Write what is in the queue when its moment has come, until nothing is sent any more."""
    data = b"more"
    while data:
        moment, data = await sent.get()
        await asyncio.sleep(max(0.0, moment - monotonic()))
        writer.write(data)
        await writer.drain()
    writer.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(CHUNK):
            writer.write(data)
            await writer.drain()
