"""The project in deploy/dbt builds, from the Parquet files alone, the tables that are published."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import duckdb
import pytest

from tests.conftest import queried
from tests.dbt import dbt_where_installed
from tests.oracle import differing_rows
from tests.shipments.audit.test_audit import night as read_with_an_audit
from tests.shipments.read.test_field_selection import a_day_passes, refuse
from tests.test_sync import first_synced
from wms_sync.catalogue import tables
from wms_sync.shipments.load.refresh import rebuild, refresh
from wms_sync.upkeep.forget import forget

pytestmark = pytest.mark.proof

PROJECT = Path(__file__).parents[3] / "deploy" / "dbt"


def test_there_is_a_model_for_each_table():
    slugs = {one.slug for one in tables()}
    assert {path.stem for path in (PROJECT / "models" / "tables").iterdir()} == slugs
    assert {path.stem.removeprefix("landed_") for path in (PROJECT / "models" / "landed").iterdir()} == slugs


def test_dbt_builds_the_published_tables_night_after_night(bench, sandbox, tmp_path):
    dbt = dbt_where_installed()
    project = shutil.copytree(PROJECT, tmp_path / "project", ignore=shutil.ignore_patterns("target", "logs"))
    built = tmp_path / "built.duckdb"

    def build_and_compare():
        done = subprocess.run(
            [dbt, "build", "--profiles-dir", "."],
            cwd=project,
            capture_output=True,
            text=True,
            env=os.environ | {"BATCHES": str(bench.layout.parquet), "BUILT": str(built)},
        )
        assert done.returncode == 0, done.stdout
        with duckdb.connect() as connection:
            connection.execute("set timezone = 'UTC'")
            connection.execute(f"attach '{built}' as built (read_only)")
            connection.execute(f"attach '{bench.layout.published}' as published (read_only)")
            for one in tables():
                names = ", ".join(name for name in one.column_names if name != "timezone")
                rows_built = f"select {names} from built.main.{one.slug}"
                published = f"select {names} from published.{one.qualified}"
                assert differing_rows(connection, rows_built, published) == 0, one.slug

    def night():
        sandbox.sandbox.advance(seconds=7200, changed=40, new=5, packages_added=5, packages_removed=12, orders=20)
        read_with_an_audit(bench, sandbox)
        build_and_compare()

    bench.settings = bench.settings.model_copy(update={"include_addresses": True, "audit_pages": 10})
    first_synced(bench, sandbox)
    build_and_compare()
    refuse(sandbox, "fields:packages.items", "fields:warehouse", "fields:order.status_history")
    night()
    [(gone,)] = queried(built, "select min(id) from shipments")
    sandbox.sandbox.delete_shipments([gone])
    refuse(sandbox)
    a_day_passes(bench)
    night()
    assert queried(built, "select id from shipments where _missing_since is not null") == [(gone,)]
    [(order,)] = queried(built, "select min(order_id) from pii_order_addresses")
    forget(bench.run, [order])
    refresh(bench.run)
    build_and_compare()
    query = "select count(*) from landed_pii_order_addresses where order_id = ?"
    assert queried(built, query, order) == [(0,)]
    assert rebuild(bench.run).published
    build_and_compare()
