"""Run the sandbox as a child process, for the demo and for the UI without a service."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from wms_sync.errors import WmsSyncError
from wms_sync.interrupts import sigterm_interrupts

TOKEN = "sandbox-token"  # noqa: S105 - token of the sandbox, which has made-up data
MERCHANT_USERNAME, MERCHANT_API_KEY = "sandbox-merchant", "sandbox-api-key"


class SandboxNotStarted(WmsSyncError):
    """The sandbox's process ended before it accepted requests."""


@contextmanager
def local_sandbox(*, shipments: int, seed: int, days: int) -> Iterator[str]:
    """Run a sandbox on a free port and yield its base URL. Stop it when the block ends; SIGTERM ends the block."""
    command = [sys.executable, "-m", "wms_sandbox", "--port", "0", "--shipments", str(shipments)]
    command += ["--seed", str(seed), "--days", str(days), "--token", TOKEN, "--only-known-statuses"]
    with sigterm_interrupts(), subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - our own module
        try:
            ready = process.stdout.readline() if process.stdout else ""
            if not ready.startswith("sandbox: "):
                raise SandboxNotStarted("The sandbox did not start: run `wms-sync sandbox` to see why.")
            yield ready.split()[1]
        finally:
            process.terminate()
