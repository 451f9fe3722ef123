"""Run the sandbox in a process of its own, warmed up, so that it costs every contender the same.

Where there are more than two processors it has one of them for itself, and the contenders have the others.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from urllib.parse import urljoin

import httpx

from wms_sync.service.selection import Selection
from wms_sync.service.shipments import PATH

SEED, DAYS, PAGE_SIZE = 11, 30, 1000
PARALLEL = 4
SHARED_CORES = 2
_SECONDS = 300.0


@dataclass(frozen=True)
class Service:
    """A running sandbox. `start` is the first day of its data."""

    base_url: str
    token: str
    process: int
    start: date

    @property
    def settings(self) -> Mapping[str, str]:
        """Return the product's settings for it."""
        return {
            "WMS_BASE_URL": self.base_url,
            "WMS_API_TOKEN": self.token,
            "WMS_START_DATE": self.start.isoformat(),
            "WMS_CLOCK_TOLERANCE_SECONDS": "604800",  # its clock is ahead once time has passed there
            "WMS_PAGE_SIZE": str(PAGE_SIZE),
            "WMS_MAX_PARALLEL_REQUESTS": str(PARALLEL),
        }

    def warm_up(self, pages: int | None = None) -> int:
        """Request pages of the full selection, all by default, so that its templates are made.

        Return the number of pages.
        """
        target, read = self._first_page(), 0
        with self._client() as client:
            while target and (pages is None or read < pages):
                page = client.get(target).raise_for_status().json()
                target, read = urljoin(self.base_url, page["next"]) if page["has_more"] else "", read + 1
        return read

    def page(self) -> bytes:
        """Return the first page."""
        with self._client() as client:
            return client.get(self._first_page()).raise_for_status().content

    def advance(self, *, seconds: int, changed: int, new: int, orders: int) -> None:
        """Let time pass: this many shipments change, are new, or change with their order."""
        wish = {"seconds": seconds, "changed": changed, "new": new, "orders": orders}
        with self._client() as client:
            client.post(f"{self.base_url}/sandbox/advance", json=wish).raise_for_status()

    def _first_page(self) -> str:
        params = (("sort", "id"), ("limit", str(PAGE_SIZE)), *Selection.whole(include_addresses=False).params)
        return f"{self.base_url}{PATH}?{httpx.QueryParams(params)}"

    def _client(self) -> httpx.Client:
        return httpx.Client(headers={"Authorization": f"Bearer {self.token}"}, timeout=_SECONDS)


@contextmanager
def serving(
    shipments: int, *, days: int = DAYS, unasked_telephones: int = 0, delay: float | None = None
) -> Iterator[Service]:
    """Run a sandbox with this many shipments over the last `days` days, perhaps with a `delay` of seconds a page."""
    command = [sys.executable, "-m"]
    command += ["wms_sandbox", "--port", "0", "--unasked-telephones", str(unasked_telephones)]
    if delay is not None:
        command[2:] = ["benchmarks.slow_service", "--delay", str(delay)]
    command += ["--shipments", str(shipments), "--seed", str(SEED), "--days", str(days)]
    start = (datetime.now(UTC) - timedelta(days=days + 1)).date()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        cores = os.sched_getaffinity(0)
        try:
            if len(cores) > SHARED_CORES:
                os.sched_setaffinity(process.pid, {max(cores)})
                os.sched_setaffinity(0, cores - {max(cores)})
            ready = process.stdout.readline().split() if process.stdout else []
            yield Service(base_url=ready[1], token=ready[3], process=process.pid, start=start)
        finally:
            os.sched_setaffinity(0, cores)
            process.terminate()
