"""What happened to the data folders that are kept of earlier releases, and the service as it was in the end.

A life does the same to the service whether its commands run (``make``) or not (tests, which go on from there).
"""

from __future__ import annotations

import shutil
import tarfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import httpx
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tests.services import Service
from wms_sandbox.app import PRODUCTS, RETAILERS, Sandbox
from wms_sandbox.config import SandboxConfig
from wms_sandbox.transport import InProcess

FOLDER = Path(__file__).parent
RELEASES = ("0.1.0",)
CONFIG = SandboxConfig(shipments=60, seed=5, days=20, now=datetime(2026, 3, 31, 12, tzinfo=UTC), families=20)
SETTINGS: Mapping[str, str] = {"WMS_START_DATE": "2026-03-01", "WMS_PAGE_SIZE": "10", "WMS_MAX_PARALLEL_REQUESTS": "2"}
AHEAD = "Wed, 01 Jan 2098 00:00:00 GMT"
ODD_TIME = "2026-01-01T00:00:00 EST"

PUSHED: Mapping[str, list[dict[str, str]]] = {
    "retailers": [{"code": "kept-1", "name": "One"}, {"code": "kept-2", "name": "Two"}],
    "products": [{"sku": "KEPT-1", "name": "One"}, {"sku": "KEPT-2", "name": "Two"}],
}

Run = Callable[..., object]
"""Runs a command of ``wms-sync`` on the data folder: its arguments, and the exit codes that are right."""


@dataclass(frozen=True)
class Life:
    """``through`` is told the server and how to run a command; ``settings`` are variables besides the usual."""

    through: Callable[[Service, Run], object]
    settings: Mapping[str, str] = field(default_factory=dict)


def whole(server: Service, run: Run) -> None:
    """Syncs with changes between them, a backfill, pushes, a forgotten order; addresses are stored."""
    run("sync")
    _pass_a_day(server.sandbox)
    run("sync")
    run("backfill", "--from", "2026-03-20", "--to", "2026-03-22")
    run("forget", str(first_order(server.sandbox)))
    for kind in PUSHED:
        run("push", kind, f"{kind}.csv")
    _pass_a_day(server.sandbox)
    run("sync")


def page_lost_for_one_value(server: Service, run: Run) -> None:
    """One time with the name of a zone: release 0.1.0 dropped the whole page and took it as covered."""

    def garble(envelope: dict[str, Any]) -> dict[str, Any]:
        for shipment in envelope["collection"]:
            if shipment["id"] == third:
                shipment["packed_at"] = ODD_TIME
        return envelope

    third = int(server.sandbox._store.ids[2])
    server.sandbox.rewrite = garble
    run("sync", ends=(0, 3))
    server.sandbox.rewrite = None


def clock_ahead(server: Service, run: Run) -> None:
    """The answers of one sync were of a clock far ahead: release 0.1.0 took everything up to then as covered."""
    sandbox = server.sandbox
    server.sandbox = _Ahead(sandbox)  # type: ignore[assignment]
    run("sync")
    server.sandbox = sandbox
    _pass_a_day(sandbox)


LIVES: Mapping[str, Life] = {
    "whole": Life(whole, {"WMS_INCLUDE_ADDRESSES": "true"}),
    "page-lost-for-one-value": Life(page_lost_for_one_value),
    "clock-ahead": Life(clock_ahead),
}


def first_order(sandbox: Sandbox) -> int:
    """The order of the service's first shipment."""
    from wms_sandbox.slots import order_id

    return int(order_id(sandbox._store.order_first[:1].astype(int))[0])


def relived(name: str, server: Service) -> None:
    """Bring the server's service to where it was when the data folder was packed."""
    server.sandbox = Sandbox(CONFIG)
    LIVES[name].through(server, partial(_create, server))


def _create(server: Service, *command: str, ends: tuple[int, ...] = (0,)) -> None:
    """Of what the commands do only the creates change the service."""
    if command[0] != "push":
        return
    path, whole = {"retailers": (RETAILERS, False), "products": (PRODUCTS, True)}[command[1]]
    within, headers = InProcess(server.sandbox), {"Authorization": f"Bearer {CONFIG.token}"}
    with httpx.Client(base_url=within.base_url, headers=headers, transport=within) as http:
        for row in PUSHED[command[1]]:
            body = {"resource": {"type": "Product", **row}} if whole else row
            http.post(path, json=body).raise_for_status()


def unpacked(release: str, name: str, folder: Path) -> Path:
    """The data folder as that release left it, below ``folder``."""
    with tarfile.open(FOLDER / release / f"{name}.tar.xz") as archive:
        archive.extractall(folder, filter="tar")
    return folder / "data"


def packed(data: Path, archive: Path) -> None:
    """Keep a data folder; what a writer only leaves behind is not part of it."""
    shutil.rmtree(data / "work" / "spill", ignore_errors=True)
    with tarfile.open(archive, "w:xz") as file:
        file.add(data, "data")


def _pass_a_day(sandbox: Sandbox) -> None:
    sandbox.advance(seconds=86_400, changed=10, new=5, packages_added=3, packages_removed=3, orders=4, retailers=1)
    sandbox.advance(seconds=10)


class _Ahead:
    """The service with another ``Date`` in each answer."""

    def __init__(self, app: Sandbox) -> None:
        self._app: ASGIApp = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def dated(message: Message) -> None:
            if message["type"] == "http.response.start":
                others = [(name, value) for name, value in message["headers"] if name.lower() != b"date"]
                message["headers"] = [*others, (b"date", AHEAD.encode())]
            await send(message)

        await self._app(scope, receive, dated)
