"""A first sync in a process whose memory the kernel bounds: one bound is too low, another is enough for any length.

What is too low is ``RLIMIT_DATA``, at which a request for memory fails. It counts address space that DuckDB's allocator
keeps and does not use, so it cannot measure. What measures is the high-water mark of the resident memory, from when
everything is imported. The pages are long by blanks between their values: only who keeps pages keeps these.
"""

from __future__ import annotations

import resource
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from isal import igzip
from starlette.requests import Request
from starlette.responses import Response

from tests.conftest import asks_for_page
from tests.oracle import Tables, expected_tables
from tests.processes import PROCESSES
from tests.services import content_of
from tests.survival.conftest import SMALL
from tests.survival.installation import ENDED, Installation, _command
from wms_sandbox.app import Sandbox
from wms_sandbox.server import SandboxServer

MIB = 1024 * 1024
ROOM, TOO_LITTLE = 350 * MIB, 150 * MIB
BLANKS = b" " * (3 * MIB)
FEW, ENOUGH = 60, 180
"""Shipments, and so pages: what is too little for few is for more; enough take more than the room."""
SETTINGS = {"WMS_PAGE_SIZE": "1", "WMS_MEMORY_LIMIT": "300MB"}


@pytest.fixture
def wordy(server: SandboxServer) -> Callable[[int], tuple[SandboxServer, Tables]]:
    """A service with so many shipments, whose pages are long, and what the tables must hold of it."""
    return partial(made_wordy, server)


def made_wordy(server: SandboxServer, shipments: int) -> tuple[SandboxServer, Tables]:
    sandbox = server.sandbox = Sandbox(replace(SMALL, shipments=shipments))

    async def pad(request: Request) -> Response | None:
        if not asks_for_page(request.url.query):
            return None
        answer = await sandbox._serve(request)
        padded = content_of(answer)[:-1] + BLANKS + b"}"
        return Response(igzip.compress(padded, 0), headers={"Content-Encoding": "gzip"})

    expected = expected_tables(server)
    sandbox.intercept = pad
    return server, expected


def synced(installation: Installation, *, data: int | None = None) -> int | None:
    """The exit code of a sync in a process with a bound on its data."""
    arguments = (data, installation.environment, installation.log)
    process = PROCESSES.Process(target=_bounded, args=arguments, daemon=True)
    process.start()
    process.join()
    return process.exitcode


def _bounded(data: int | None, environment: dict[str, str], log: Path) -> None:
    if data is not None:
        resource.setrlimit(resource.RLIMIT_DATA, (_kept("VmData") + data,) * 2)
    before = _kept("VmRSS")
    try:
        _command(("sync",), environment, log, None, None, None)
    finally:
        log.with_suffix(".peak").write_text(str(_kept("VmHWM") - before))


def _kept(name: str) -> int:
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(lines[name].split()[0]) * 1024


def test_too_little_memory_is_reported_and_mended(wordy, tmp_path):
    server, expected = wordy(FEW)
    installation = Installation(tmp_path / "data", server, SETTINGS)
    assert synced(installation, data=TOO_LITTLE) == 1, installation.log.read_text()
    told = installation.log.read_text()
    assert "Traceback" not in told, told
    assert "WMS_MEMORY_LIMIT" in told
    assert not installation.layout.published.exists()
    installation.assert_coverage_is_true()

    assert synced(installation) in ENDED, installation.log.read_text()
    assert installation.differences(expected) == []
    installation.assert_coverage_is_true()


def test_memory_does_not_grow_with_the_windows(wordy, tmp_path, request):
    if not request.config.getoption("--soak"):
        pytest.skip("only under --soak")
    server, expected = wordy(ENOUGH)
    server.sandbox.requests.clear()
    installation = Installation(tmp_path / "data", server, SETTINGS)
    assert synced(installation) in ENDED, installation.log.read_text()
    assert len(installation.pages_asked()) * len(BLANKS) > 1.5 * ROOM
    assert int(installation.log.with_suffix(".peak").read_text()) < ROOM
    with installation.store() as store:
        assert len(store.windows("loaded")) > 10
    assert installation.differences(expected) == []
    installation.assert_coverage_is_true()
