"""The sandbox on 127.0.0.1, in a process of its own: the one service that all contenders read."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import urljoin

import httpx

from wms_sync.service.selection import Selection
from wms_sync.service.shipments import PATH

SEED, DAYS, PAGE_SIZE, PARALLEL = 11, 30, 1000, 4
CHANGES = {"changed": 800, "new": 100, "orders": 100}
"""Shipments that change, are new, or change with their order, before each night."""
_HOUR, _MARGIN = 3600, 10


@dataclass(frozen=True)
class Service:
    """A running sandbox."""

    base_url: str
    token: str

    @property
    def environment(self) -> Mapping[str, str]:
        """Return the environment of a contender: the product's settings, and the fields to request as JSON."""
        return {
            "WMS_BASE_URL": self.base_url,
            "WMS_API_TOKEN": self.token,
            "WMS_START_DATE": (datetime.now(UTC) - timedelta(days=DAYS + 1)).date().isoformat(),
            "WMS_CLOCK_TOLERANCE_SECONDS": "604800",  # its clock is ahead once time has passed there
            "WMS_PAGE_SIZE": str(PAGE_SIZE),
            "WMS_MAX_PARALLEL_REQUESTS": str(PARALLEL),
            "BENCH_SELECTION": json.dumps(Selection(include_addresses=False).params),
        }

    def pages(self) -> Iterator[bytes]:
        """Yield every page. The sandbox keeps what it makes for a page, so the first reader costs it the most."""
        params = (("sort", "id"), ("limit", str(PAGE_SIZE)), *Selection(include_addresses=False).params)
        target = f"{PATH}?{httpx.QueryParams(params)}"
        with self._client() as client:
            while target:
                content = client.get(urljoin(self.base_url, target)).raise_for_status().content
                yield content
                page = json.loads(content)
                target = page["next"] if page["has_more"] else ""

    def let_an_hour_pass(self) -> None:
        """Let an hour pass with `CHANGES`, and a little more, so that nobody's horizon lies before a change."""
        with self._client() as client:
            for wish in ({"seconds": _HOUR, **CHANGES}, {"seconds": _MARGIN}):
                client.post(f"{self.base_url}/sandbox/advance", json=wish).raise_for_status()

    def _client(self) -> httpx.Client:
        return httpx.Client(headers={"Authorization": f"Bearer {self.token}"}, timeout=300)


@contextmanager
def serving(shipments: int, *, persons: bool = False) -> Iterator[Service]:
    """Run a sandbox with this many shipments over the last 30 days.

    With ``persons``, it sends a telephone number with each address, although none was requested.
    """
    command = [sys.executable, "-m", "wms_sandbox", "--port", "0", "--seed", str(SEED), "--days", str(DAYS)]
    command += ["--shipments", str(shipments), "--odd-values"]
    command += ["--unasked-telephones"] if persons else []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            ready = process.stdout.readline().split() if process.stdout else []
            yield Service(base_url=ready[1], token=ready[3])
        finally:
            process.terminate()
