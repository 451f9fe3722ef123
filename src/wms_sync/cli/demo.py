"""``wms-sync demo``: run the main jobs on a sandbox: a first sync, a push of CSV files, a second sync.

Its runs are not reported to Dagster: runs with made-up shipments do not belong in the history of a ``DAGSTER_HOME``.
"""

from __future__ import annotations

import logging
import shlex
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click
import duckdb
import httpx

from wms_sync import sql_files
from wms_sync.cli.commands import FOLDER, command, exits_with_code, say, shown
from wms_sync.cli.operations import run_push, run_sync
from wms_sync.cli.ui import MERCHANT_API_KEY, MERCHANT_USERNAME, TOKEN, local_sandbox
from wms_sync.errors import SettingsError, lacks
from wms_sync.logs import LIBRARY
from wms_sync.master_data.kinds import KINDS, SAMPLES, files_of
from wms_sync.master_data.plan import SHOWN
from wms_sync.settings import Settings
from wms_sync.storage.durable import make_private

SHIPMENTS, SEED, DAYS = 2000, 7, 70
CHANGES = {"seconds": 3600, "changed": 120, "new": 40, "orders": 30, "retailers": 3}
"""What happens in the hour between the syncs. The new shipments use the pushed retailers and products."""
TOLERANCE_SECONDS = 86_400
"""A day, because the sandbox's clock is an hour ahead of this machine's after the demo has let time pass."""
MARK = ".wms-sync-demo"
QUERY = "queries/demo_days.sql"
TAKEN = frozenset({"log_format", "memory_limit", "on_time_target"})
"""The settings that a demo takes from the environment: none of them names a place or a receiver of a production."""


@click.command(epilog="Example: wms-sync demo")
@click.option(
    "--data-dir",
    type=FOLDER,
    default=Path("data/demo"),
    show_default=True,
    help="Folder for the demo's files; replaces an earlier demo there.",
)
@exits_with_code
def demo(data_dir: Path) -> int:
    """Run the whole pipeline against a sandbox and show the result."""
    _empty(data_dir)
    if LIBRARY.level == logging.INFO:
        LIBRARY.setLevel(logging.WARNING)  # all that it says fits one screen
    with local_sandbox(shipments=SHIPMENTS, seed=SEED, days=DAYS) as base_url:
        settings = own_settings(data_dir, base_url)
        _title(f"1. First sync: {SHIPMENTS:,} shipments from the sandbox at {base_url}")
        run_sync(settings, is_shown=False)
        _title("2. Push: master data from CSV files")
        codes = [
            run_push(settings, kind, path, most=SHOWN, is_shown=False)
            for kind in KINDS
            for path in files_of(SAMPLES, kind)
        ]
        _title("3. Second sync: the changes of an hour, whose new shipments use what was pushed")
        httpx.post(
            f"{base_url}/sandbox/advance", json=CHANGES, headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60
        ).raise_for_status()
        run_sync(settings, is_shown=False)
    published = settings.layout.published
    _title("4. What an analyst sees")
    _show(published)
    _title("Next steps")
    say(_next_steps(settings, published))
    return max(codes)


def own_settings(data_dir: Path, base_url: str) -> Settings:
    """Return the settings of the demo, which takes only ``TAKEN`` from the environment."""
    defaults = {name: field.default for name, field in Settings.model_fields.items() if name not in TAKEN}
    own = {
        "base_url": base_url,
        "api_token": TOKEN,
        "merchant_username": MERCHANT_USERNAME,
        "merchant_api_key": MERCHANT_API_KEY,
        "data_dir": data_dir,
        "report": lacks("report") is None,
        "start_date": (datetime.now(UTC) - timedelta(days=DAYS + 1)).date(),
        "clock_tolerance_seconds": TOLERANCE_SECONDS,
    }
    return Settings.load(_env_file=None, **{**defaults, **own})


def _title(text: str) -> None:
    say(f"\n== {text}")


def _empty(data_dir: Path) -> None:
    """Empty the folder if an earlier demo created it. Raise ``SettingsError`` if it has other files."""
    if data_dir.exists() and any(data_dir.iterdir()):
        if not (data_dir / MARK).exists():
            raise SettingsError(f"{data_dir} is not empty, and no demo created it: choose another --data-dir.")
        shutil.rmtree(data_dir)
    (make_private(data_dir) / MARK).touch()


def _show(published: Path) -> None:
    with duckdb.connect(published, read_only=True) as connection:
        connection.execute("set timezone = 'UTC'")
        query = sql_files.read(QUERY)
        say(f"{sql_files.headers(query)['grain']}\n{str(connection.sql(query)).rstrip()}")


def _next_steps(settings: Settings, published: Path) -> str:
    report, python = settings.layout.report, command("python")
    opened = f"{shown(report)}\n    {python} -m webbrowser {report.absolute().as_uri()}"
    connected = f'import duckdb; db = duckdb.connect("{shown(published)}", read_only=True)'
    return f"""\
  report    {opened if settings.report else f"it {lacks('report')}"}
  tables    {shown(published)}
    {python} -ic {shlex.quote(f'{connected}; db.sql("from marts.shipments").show()')}
  Dagster   the same jobs in a browser: {command()} ui
  your own  set WMS_BASE_URL and WMS_API_TOKEN (or write .env), then {command()} doctor"""
