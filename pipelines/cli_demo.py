"""``wms-sync demo``: the main job on the sandbox, from nothing to tables, in real processes over real HTTP."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click
import duckdb
import httpx
from rich.console import Console
from rich.table import Table

from pipelines.cli_runs import run_sync
from pipelines.local_sandbox import TOKEN, local_sandbox
from wms_sync import sql_files
from wms_sync.durable import make_private
from wms_sync.errors import SettingsError
from wms_sync.layout import Layout
from wms_sync.settings import Settings

SHIPMENTS, SEED, DAYS = 5000, 7, 30
CHANGES = {"seconds": 3600, "changed": 120, "new": 40, "orders": 30, "retailers": 3}
MARK = ".wms-sync-demo"
QUERIES = ("queries/demo_shipped_per_day.sql", "queries/demo_retailers.sql", "queries/demo_tables.sql")


def run_demo(data_dir: Path) -> int:
    """Sandbox, first sync, changes, second sync, some queries."""
    _empty(data_dir)
    with local_sandbox(shipments=SHIPMENTS, seed=SEED, days=DAYS) as base_url:
        start = (datetime.now(UTC) - timedelta(days=DAYS + 1)).date()
        settings = Settings.load(
            _env_file=None, base_url=base_url, api_token=TOKEN, data_dir=data_dir, start_date=start, state_url=None
        )
        _title(f"1. First sync: {SHIPMENTS:,} shipments from the sandbox at {base_url}")
        code = run_sync(settings)
        _title("2. Time passes: shipments change, packages come and go, orders change")
        _let_time_pass(base_url)
        _title("3. Second sync: only what changed, and ten minutes of overlap")
        code = max(code, run_sync(settings))
    published = Layout(settings.data_dir).published
    _title("4. What an analyst sees")
    _show(published)
    _title("What to look at next")
    click.echo(_next_steps(published))
    return code


def _title(text: str) -> None:
    click.echo(f"\n== {text}")


def _empty(data_dir: Path) -> None:
    """Start from nothing; only a folder that an earlier demo made is emptied."""
    if data_dir.exists() and any(data_dir.iterdir()):
        if not (data_dir / MARK).exists():
            raise SettingsError(f"{data_dir} holds something that is no demo; choose another --data-dir.")
        shutil.rmtree(data_dir)
    (make_private(data_dir) / MARK).touch()


def _let_time_pass(base_url: str) -> None:
    answer = httpx.post(
        f"{base_url}/sandbox/advance", json=CHANGES, headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60
    )
    answer.raise_for_status()
    click.echo(", ".join(f"{name} {value}" for name, value in CHANGES.items()))


def _show(published: Path) -> None:
    console = Console(width=110)
    with duckdb.connect(published, read_only=True) as connection:
        connection.execute("set timezone = 'UTC'")
        for path in QUERIES:
            query = sql_files.read(path)
            result = connection.execute(query)
            table = Table(title=sql_files.headers(query)["grain"], title_justify="left")
            for column in result.description or []:
                table.add_column(column[0])
            for row in result.fetchall():
                table.add_row(*(str(value) for value in row))
            console.print(table)


def _next_steps(published: Path) -> str:
    shown = published.relative_to(Path.cwd()) if published.is_relative_to(Path.cwd()) else published
    return f"""\
  tables     in Python: import duckdb; duckdb.connect("{shown}", read_only=True).sql("show all tables")
  columns    select table_name, column_name, comment from duckdb_columns() where schema_name = 'main'
  status     WMS_DATA_DIR={shown.parent} .venv/bin/wms-sync status
  Dagster    make ui: the same jobs, a backfill of days, checks and the catalogue in the browser
  your own   set WMS_BASE_URL and WMS_API_TOKEN (or write .env), then .venv/bin/wms-sync doctor and sync"""
