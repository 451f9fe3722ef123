"""``wms-sync ui``: start Dagster's UI with your settings, or with a sandbox if no service is configured.

Dagster's home is ``DAGSTER_HOME`` if set, else a folder next to the data folder. The sandbox keeps everything in its
own folder, including Dagster's home; it uses only ``WMS_PUSH_ENABLED`` of your settings. Dagster runs in its own
process: this module does not import it.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from wms_sync.cli.printing import command, say
from wms_sync.cli.runs import DAGSTER_HOME
from wms_sync.errors import SettingsError, WmsSyncError, lacks
from wms_sync.interrupts import sigterm_interrupts
from wms_sync.layout import Layout
from wms_sync.master_data.kinds import SAMPLES
from wms_sync.settings import PREFIX, Settings

SHIPMENTS, SEED, DAYS = 5000, 7, 30
SANDBOX_FOLDER = Path("data/ui-sandbox")
HOST = "127.0.0.1"
TOKEN = "sandbox-token"  # noqa: S105 - token of the sandbox, which has made-up data
MERCHANT_USERNAME, MERCHANT_API_KEY = "sandbox-merchant", "sandbox-api-key"


class PortTaken(SettingsError):
    """Another program is listening on the port."""

    def __init__(self, port: int, reason: str | None) -> None:
        super().__init__(
            f"The UI cannot listen on {HOST}:{port} ({reason}). Most likely another UI is running there. Nothing was "
            f"started. Open http://{HOST}:{port}, or choose another port: {command()} ui --port {port + 1}"
        )


def serve(settings: Settings, port: int) -> int:
    """Serve the UI until Ctrl-C; return Dagster's exit code. Raise ``PortTaken`` before starting anything."""
    _refuse_taken(port)
    if settings.base_url is not None:
        home = os.environ.get(DAGSTER_HOME) or str(settings.layout.dagster_home)
        return _serve({**os.environ, DAGSTER_HOME: str(Path(home).absolute())}, Path.cwd(), port)
    with sandbox() as (environment, folder):
        return _serve(environment, folder, port)


def _refuse_taken(port: int) -> None:
    """Raise ``PortTaken`` if the port is taken. Dagster would choose another port, and links to the UI would break."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a port that was just released counts as free
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise PortTaken(port, error.strerror) from None


@contextmanager
def sandbox() -> Iterator[tuple[Mapping[str, str], Path]]:
    """Run a sandbox with sample files; yield the UI's environment variables and its working folder without a .env."""
    say("WMS_BASE_URL is not set: the UI runs on a sandbox with made-up shipments.")
    folder = SANDBOX_FOLDER.absolute()
    shutil.rmtree(folder, ignore_errors=True)
    files, data = Path(shutil.copytree(SAMPLES, folder / "master-data")), folder / "data"
    say(
        f"Sample files of master data are in {files}. They are planned after the first sync (the job nightly_sync) "
        f"and sent when you approve the plan; WMS_PUSH_ENABLED=true {command()} ui sends them at once."
    )
    start = (datetime.now(UTC) - timedelta(days=DAYS)).date()
    with local_sandbox(shipments=SHIPMENTS, seed=SEED, days=DAYS) as base_url:
        environment = {
            **{
                name: value
                for name, value in os.environ.items()
                if not name.upper().startswith(PREFIX) or name.upper() == "WMS_PUSH_ENABLED"
            },
            "WMS_BASE_URL": base_url,
            "WMS_API_TOKEN": TOKEN,
            "WMS_MERCHANT_USERNAME": MERCHANT_USERNAME,
            "WMS_MERCHANT_API_KEY": MERCHANT_API_KEY,
            "WMS_MASTER_DATA_DIR": str(files),
            "WMS_DATA_DIR": str(data),
            "WMS_START_DATE": str(start),
            "WMS_REPORT": str(lacks("report") is None),
            DAGSTER_HOME: str(Layout(data).dagster_home),
        }
        yield environment, folder


def _serve(environment: Mapping[str, str], folder: Path, port: int) -> int:
    prepared = subprocess.run([sys.executable, "-m", "pipelines.home"], env=environment, cwd=folder, check=False)
    if prepared.returncode:
        return prepared.returncode
    say(f"Dagster at http://{HOST}:{port} (home {environment[DAGSTER_HOME]}). Press Ctrl-C to stop.")
    command = [str(Path(sys.executable).with_name("dagster")), "dev", "-m", "pipelines.definitions"]
    command += ["-h", HOST, "-p", str(port)]
    signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # a background process of a script ignores SIGINT, and Dagster would inherit that
    with subprocess.Popen(command, env=environment, cwd=folder) as dagster:  # noqa: S603
        # Ctrl-C also reaches Dagster; SIGTERM reaches only this process
        signal.signal(signal.SIGTERM, lambda *_: dagster.send_signal(signal.SIGINT))
        try:
            return dagster.wait()
        except KeyboardInterrupt:
            return dagster.wait()


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
