"""A first sync in a process whose memory the kernel bounds: the bound is too low, and the next sync mends it.

The bound is ``RLIMIT_DATA``, at which a request for memory fails. It counts address space that DuckDB's allocator keeps
and does not use. The pages are long by blanks between their values.
"""

import resource
from dataclasses import replace
from pathlib import Path

from isal import igzip
from starlette.requests import Request
from starlette.responses import Response

from tests.bench import asks_for_page
from tests.oracle import expected_tables
from tests.processes import Command
from tests.services import content_of
from tests.survival.conftest import SMALL
from tests.survival.installation import SECONDS, Installation
from wms_sandbox.app import Sandbox
from wms_sync.cli.main import main

MIB = 1024 * 1024


def sync_within_too_little() -> None:
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    bound = int(lines["VmData"].split()[0]) * 1024 + 150 * MIB
    resource.setrlimit(resource.RLIMIT_DATA, (bound, bound))
    main(["sync"])


def test_too_little_memory_is_reported_and_mended(server, tmp_path):
    sandbox = server.sandbox = Sandbox(replace(SMALL, shipments=60))

    async def pad(request: Request) -> Response | None:
        if not asks_for_page(request.url.query):
            return None
        padded = content_of(await sandbox._serve(request))[:-1] + b" " * (3 * MIB) + b"}"
        return Response(igzip.compress(padded, 0), headers={"Content-Encoding": "gzip"})

    expected = expected_tables(server)
    sandbox.intercept = pad
    installation = Installation(tmp_path / "data", server, {"WMS_PAGE_SIZE": "1", "WMS_MEMORY_LIMIT": "300MB"})
    failed = Command(sync_within_too_little, installation.environment, tmp_path).ended(SECONDS)
    seen = failed.returncode, "Traceback" in failed.said, "WMS_MEMORY_LIMIT" in failed.said
    assert seen == (1, False, True), failed.said
    assert not installation.layout.published.exists()
    installation.assert_coverage_is_true()

    installation.runs("sync")
    assert installation.differences(expected) == []
    installation.assert_coverage_is_true()
