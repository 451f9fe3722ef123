"""``wms-sync sandbox``, and ``wms-sync ui``: Dagster's UI with your settings, or with a sandbox without a service.

Dagster's home is ``DAGSTER_HOME`` if set, else a folder next to the data folder. The sandbox keeps everything in its
own folder, including Dagster's home; it uses only ``WMS_PUSH_ENABLED`` of your settings. Dagster runs in its own
processes, as under the units of ``deploy/systemd``: code server, daemon and webserver. This module does not import it.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NoReturn

import click

from wms_sync.cli.commands import FILE, command, exits_with_code, say
from wms_sync.cli.operations import DAGSTER_HOME
from wms_sync.errors import SettingsError, WmsSyncError, lacks
from wms_sync.interrupts import sigterm_interrupts
from wms_sync.layout import Layout
from wms_sync.master_data.kinds import SAMPLES
from wms_sync.settings import LOCATION, PREFIX, Settings

LAST_PORT, COUNT = 65_535, click.IntRange(0, 99_999_999)
SHIPMENTS, SEED, DAYS = 5000, 7, 30
SANDBOX_FOLDER = Path("data/ui-sandbox")
HOST = "127.0.0.1"
LOG = "wms-sync-ui.log"
POLL_SECONDS, STOP_SECONDS = 0.2, 90
TOKEN = "sandbox-token"  # noqa: S105 - token of the sandbox, which has made-up data
MERCHANT_USERNAME, MERCHANT_API_KEY = "sandbox-merchant", "sandbox-api-key"


Processes = Mapping[str, subprocess.Popen[bytes]]


@click.command(epilog="Example: wms-sync ui --port 3001")
@click.option(
    "--port", type=click.IntRange(1, LAST_PORT), default=3000, show_default=True, help="Port of the UI on 127.0.0.1."
)
@exits_with_code
def ui(port: int) -> int:
    """Serve Dagster's UI until you press Ctrl-C.

    If WMS_BASE_URL is not set, the UI runs on a sandbox.
    """
    return serve(Settings.load(), port)


@click.command(epilog="Example: wms-sync sandbox --shipments 10000")
@click.option(
    "--port",
    type=click.IntRange(0, LAST_PORT),
    default=8808,
    show_default=True,
    help="Port on 127.0.0.1; 0 picks a free one.",
)
@click.option("--shipments", type=COUNT, default=2000, show_default=True, help="Number of shipments, up to millions.")
@click.option("--seed", type=COUNT, default=1, show_default=True, help="The same seed gives the same data.")
@click.option("--replay", metavar="DIR", type=FILE, help="Serve this recording instead.")
def sandbox(port: int, shipments: int, seed: int, replay: Path | None) -> NoReturn:
    """Serve a stand-in for the service with made-up shipments, until you press Ctrl-C."""
    arguments = ["--port", str(port), "--shipments", str(shipments), "--seed", str(seed)]
    arguments += [] if replay is None else ["--replay", str(replay)]
    arguments += ["--called", "wms-sync sandbox"]
    os.execv(sys.executable, [sys.executable, "-m", "wms_sandbox", *arguments])  # noqa: S606 - our own module


def serve(settings: Settings, port: int) -> int:
    """Serve the UI until Ctrl-C. Raise ``SettingsError`` if the port is taken, ``WmsSyncError`` if a process ends."""
    if _accepts(port):
        raise SettingsError(
            f"Another program listens on {HOST}:{port}, most likely another UI. Nothing was started. "
            f"Open http://{HOST}:{port}, or end that program, or, if it is none of wms-sync, choose another port: "
            f"{command()} ui --port {port + 1}"
        )
    if settings.base_url is None:
        with on_sandbox(port) as (environment, folder):
            return _serve(environment, folder, port, LOCATION)
    if settings.push_enabled:
        say(
            "WMS_PUSH_ENABLED is on, and Dagster's UI has no login: any web page in a browser on this machine can "
            "start pushes. Switch it off and approve plans, or put the proxy of deploy/nginx in front of the units."
        )
    home = Path(os.environ.get(DAGSTER_HOME) or settings.layout.dagster_home).expanduser().absolute()
    return _serve({**os.environ, DAGSTER_HOME: str(home)}, Path.cwd(), port, settings.instance or LOCATION)


@contextmanager
def on_sandbox(port: int) -> Iterator[tuple[Mapping[str, str], Path]]:
    """Run a sandbox with sample files; yield the UI's environment variables and its working folder without a .env.

    The folder is named after the port, because a UI on another port may be running.
    """
    say("WMS_BASE_URL is not set: the UI runs on a sandbox with made-up shipments.")
    folder = (SANDBOX_FOLDER / str(port)).absolute()
    shutil.rmtree(folder, ignore_errors=True)
    files, data = Path(shutil.copytree(SAMPLES, folder / "master-data")), folder / "data"
    say(
        f"Sample files of master data are in {files}. They are planned after the first sync (the job nightly_sync) "
        f"and sent when you approve the plan; WMS_PUSH_ENABLED=true {command()} ui sends them at once."
    )
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
            "WMS_START_DATE": str((datetime.now(UTC) - timedelta(days=DAYS)).date()),
            "WMS_REPORT": str(lacks("report") is None),
            DAGSTER_HOME: str(Layout(data).dagster_home),
        }
        yield environment, folder


def _serve(environment: Mapping[str, str], folder: Path, port: int, location: str) -> int:
    home = Path(environment[DAGSTER_HOME])
    environment = {**environment, "PYTHONSAFEPATH": "1"}  # a module in the folder must not take the place of an import
    if code := subprocess.run(
        [sys.executable, "-m", "wms_sync_pipelines.home"], env=environment, cwd=folder, check=False
    ).returncode:
        return code
    # each ends the UI. A background process of a script ignores SIGINT, and Dagster would inherit that
    hangup = signal.SIGHUP if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN else signal.SIGTERM  # nohup ignores it
    for number in (signal.SIGINT, signal.SIGTERM, hangup):
        signal.signal(number, signal.default_int_handler)
    processes: dict[str, subprocess.Popen[bytes]] = {}
    with TemporaryDirectory(prefix="wms-sync-") as private, (home / LOG).open("wb") as log:
        # only this user can open the socket; through a port every user of the machine could start runs
        code_server, workspace = Path(private, "code-server"), Path(private, "workspace.yaml")
        server = {"grpc_server": {"socket": str(code_server), "location_name": location}}
        workspace.write_text(json.dumps({"load_from": [server]}))
        say(f"Dagster starts (home {home}, log {log.name}).")
        try:
            for name, (program, *arguments) in _commands(code_server, workspace, port, location).items():
                processes[name] = subprocess.Popen(  # noqa: S603
                    [Path(sys.executable).with_name(program), *arguments],
                    env=environment,
                    cwd=folder,
                    stdout=log,
                    stderr=log,
                    process_group=_group(processes),
                )
                _wait(processes, code_server.exists, log.name)
            _wait(processes, partial(_accepts, port), log.name)
            say(f"Dagster at http://{HOST}:{port}. Press Ctrl-C to stop.")
            _wait(processes, lambda: False, log.name)
        except KeyboardInterrupt:
            say("Stopping Dagster and its runs.")
        finally:
            if processes:
                _stop(processes)
    return 0


def _commands(code_server: Path, workspace: Path, port: int, location: str) -> Mapping[str, Sequence[str]]:
    """Return the commands of Dagster's processes by name, in the order of their start."""
    module = ["-m", "wms_sync_pipelines.definitions", "-d", str(Path(__file__).parents[2])]
    named, shown = ["--location-name", location], ["-w", str(workspace)]
    return {
        "code server": ["dagster", "code-server", "start", "-s", str(code_server), *module, *named],
        "daemon": ["dagster-daemon", "run", *shown, "--log-level", "warning"],
        "webserver": ["dagster-webserver", *shown, "-h", HOST, "-p", str(port), "--dagster-log-level", "warning"],
    }


def _wait(processes: Processes, until: Callable[[], bool], log: str) -> None:
    """Wait until the condition is true. Raise ``WmsSyncError`` if a process ends."""
    while not until():
        for name, process in processes.items():
            if process.poll() is not None:
                raise WmsSyncError(
                    f"Dagster's {name} ended by itself (exit code {process.returncode}), so the UI was stopped. The "
                    f"end of {log} says why. Start it again: {command()} ui"
                )
        time.sleep(POLL_SECONDS)


def _accepts(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((HOST, port)) == 0


def _group(processes: Processes) -> int:
    """Return the group of the processes and of the runs that they start; 0, a new group, for the first process."""
    return next((process.pid for process in processes.values()), 0)


def _stop(processes: Processes) -> None:
    """End the processes and their runs, as systemd ends a unit."""
    group, deadline = _group(processes), time.monotonic() + STOP_SECONDS
    with suppress(ProcessLookupError):  # nothing is left of the group
        os.killpg(group, signal.SIGTERM)
        while time.monotonic() < deadline:
            for process in processes.values():
                process.poll()
            os.killpg(group, 0)
            time.sleep(POLL_SECONDS)
        os.killpg(group, signal.SIGKILL)


@contextmanager
def local_sandbox(*, shipments: int, seed: int, days: int) -> Iterator[str]:
    """Run a sandbox on a free port and yield its base URL. Stop it when the block ends; SIGTERM ends the block."""
    command = [sys.executable, "-m", "wms_sandbox", "--port", "0", "--shipments", str(shipments)]
    command += ["--seed", str(seed), "--days", str(days), "--token", TOKEN]
    with sigterm_interrupts(), subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - our own module
        try:
            ready = process.stdout.readline() if process.stdout else ""
            if not ready.startswith("sandbox: "):
                raise WmsSyncError("The sandbox did not start: run `wms-sync sandbox` to see why.")
            yield ready.split()[1]
        finally:
            process.terminate()
