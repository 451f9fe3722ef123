"""``make ui``: Dagster's UI on your settings, or on a sandbox of its own when no instance is configured.

``python -m pipelines.ui [--port 3000]``. Dagster's home is ``DAGSTER_HOME`` when set, else a folder in the data folder.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click

from pipelines.instance import HOME_VARIABLE, prepare_home
from pipelines.local_sandbox import MERCHANT_API_KEY, MERCHANT_USERNAME, TOKEN, local_sandbox
from wms_sync.durable import keep_private
from wms_sync.errors import WmsSyncError
from wms_sync.master_data.folder import SAMPLES
from wms_sync.settings import Settings

SHIPMENTS, SEED, DAYS = 5000, 7, 30
SANDBOX_DATA = Path("data/ui-sandbox")


@click.command()
@click.option("--port", type=int, default=3000, show_default=True, help="Port of the UI on 127.0.0.1.")
def main(port: int) -> None:
    """Open Dagster's UI on this pipeline."""
    keep_private()
    try:
        settings = Settings.load()
    except WmsSyncError as error:
        click.echo(f"wms-sync: {error}", err=True)
        sys.exit(error.exit_code)
    if settings.base_url is not None:
        sys.exit(_serve({}, settings.data_dir, port))
    with _sandbox_settings() as environment:
        sys.exit(_serve(environment, Path(environment["WMS_DATA_DIR"]), port))


@contextmanager
def _sandbox_settings() -> Iterator[Mapping[str, str]]:
    click.echo("WMS_BASE_URL is not set: the UI opens on a sandbox with made-up shipments.")
    data = SANDBOX_DATA.absolute()
    shutil.rmtree(data, ignore_errors=True)
    files = Path(shutil.copytree(SAMPLES, data / "master-data"))
    click.echo(
        f"Sample files of master data are in {files}. They are planned; WMS_PUSH_ENABLED=true make ui pushes them."
    )
    click.echo("Run the job shipments first: the samples name merchants and warehouses that shipments show.")
    start = (datetime.now(UTC) - timedelta(days=DAYS)).date()
    with local_sandbox(shipments=SHIPMENTS, seed=SEED, days=DAYS) as base_url:
        yield {
            "WMS_BASE_URL": base_url,
            "WMS_API_TOKEN": TOKEN,
            "WMS_MERCHANT_USERNAME": MERCHANT_USERNAME,
            "WMS_MERCHANT_API_KEY": MERCHANT_API_KEY,
            "WMS_MASTER_DATA_DIR": str(files),
            "WMS_DATA_DIR": str(data),
            "WMS_STATE_URL": "",
            "WMS_START_DATE": str(start),
        }


def _serve(environment: Mapping[str, str], data: Path, port: int) -> int:
    home = prepare_home(Path(os.environ.get(HOME_VARIABLE) or data / "dagster"))
    click.echo(f"Dagster at http://127.0.0.1:{port} (home {home}); Ctrl-C ends it.")
    command = [str(Path(sys.executable).with_name("dagster")), "dev", "-w", "workspace.yaml"]
    command += ["-h", "127.0.0.1", "-p", str(port)]
    with subprocess.Popen(command, env={**os.environ, **environment, HOME_VARIABLE: str(home)}) as dagster:  # noqa: S603
        try:
            return dagster.wait()
        except KeyboardInterrupt:
            return dagster.wait()


if __name__ == "__main__":
    main()
