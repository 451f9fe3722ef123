"""Data folders that earlier releases left: a sync of this one goes on with them, and every table equals the service."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest

from tests.conftest import Bench, opened_store
from tests.oracle import differences, expected_tables
from tests.survival.installation import rows
from tests.test_sync import synced
from tests.upgrades.lives import LIVES, RELEASES, SETTINGS, first_order, relived, unpacked
from wms_sync.analytics.refresh import rebuild
from wms_sync.layout import Layout
from wms_sync.sandbox.server import SandboxServer
from wms_sync.settings import Settings

Upgraded = Callable[[str], Bench]


@pytest.fixture(params=RELEASES)
def upgraded(request, server: SandboxServer, tmp_path: Path) -> Iterator[Upgraded]:
    """Gives the data folder of a life, and the service as it was then."""
    opened: list[Bench] = []

    def give(name: str) -> Bench:
        relived(name, server)
        variables = {**SETTINGS, **LIVES[name].settings}
        settings = Settings.load(
            _env_file=None,
            base_url=server.base_url,
            api_token=server.sandbox.config.token,
            data_dir=unpacked(request.param, name, tmp_path),
            **{variable.removeprefix("WMS_").lower(): value for variable, value in variables.items()},
        )
        opened.append(Bench(settings, opened_store(settings)))
        return opened[-1]

    yield give
    for bench in opened:
        bench.store.close()


def found(bench: Bench, server: SandboxServer) -> list[str]:
    with duckdb.connect(bench.layout.published, read_only=True) as connection:
        connection.execute("set timezone = 'UTC'")
        return differences(connection, expected_tables(server))


def test_a_sync_goes_on_with_a_whole_data_folder(upgraded, server):
    bench = upgraded("whole")
    server.sandbox.advance(seconds=86_400, changed=20, new=5, packages_removed=5, orders=5)
    server.sandbox.advance(seconds=10)
    synced(bench)
    assert found(bench, server) == []
    with duckdb.connect(bench.layout.published, read_only=True) as connection:
        order = first_order(server.sandbox)
        assert connection.sql(f"select 1 from pii.order_addresses where order_id = {order}").fetchall() == []
        assert connection.sql("select 1 from pii.order_addresses limit 1").fetchall() == [(1,)]


def test_a_rebuild_of_a_whole_data_folder_makes_the_tables_that_it_had(upgraded):
    bench = upgraded("whole")
    before = rows(Layout(bench.settings.data_dir))
    assert rebuild(bench.settings, bench.store, run_id="test", say=print).published
    assert rows(Layout(bench.settings.data_dir)) == before
