"""History: what the tables held at a moment stands there, and it is the same however it was made."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.changed_files import change
from tests.conftest import CONFIG, Bench, opened_store
from tests.shipments.audit.test_audit import night, store
from tests.test_sync import published, synced
from wms_sandbox.app import Sandbox
from wms_sandbox.clock import as_datetime
from wms_sandbox.transport import InProcess
from wms_sync.catalogue import history_tables, quote, table, tracked
from wms_sync.settings import Settings
from wms_sync.shipments.load.refresh import rebuild, refresh
from wms_sync.shipments.read.raw import drop_pages
from wms_sync.targets.errors import DatabaseOpenError
from wms_sync.upkeep.forget import forget
from wms_sync.upkeep.recovery import recover

SMALL = replace(CONFIG, shipments=120, families=30)
HISTORY = tuple(one.qualified for one in history_tables())
Rows = dict[str, list[tuple[Any, ...]]]


@dataclass
class Life:
    """A data folder with three nights, and what its tables held after each of them."""

    folder: Path
    held: dict[datetime, Rows] = field(default_factory=dict)


@pytest.fixture(scope="module")
def service() -> Iterator[InProcess]:
    with InProcess(Sandbox(SMALL)) as started:
        yield started


def settings_in(folder: Path, service: InProcess) -> Settings:
    return Settings.load(
        _env_file=None,
        base_url=service.base_url,
        api_token=service.sandbox.config.token,
        data_dir=folder,
        start_date="2026-03-01",
        page_size=1000,
        include_addresses=True,
    )


@pytest.fixture(scope="module")
def life(service: InProcess, tmp_path_factory: pytest.TempPathFactory) -> Life:
    """With an audit that voids: what it reads has gone back in time."""
    settings = settings_in(tmp_path_factory.mktemp("life") / "data", service)
    bench = Bench(settings, opened_store(settings), service)
    recover(bench.run)
    lived = Life(settings.data_dir)
    for round_ in range(3):
        if round_ == 2:
            with store(service) as held:
                held.step[7:9] += 1
                held.updated[7:9] -= 86_400_000
            night(bench, service)
        else:
            synced(bench)
        service.sandbox.advance(seconds=10)
        lived.held[as_datetime(service.sandbox.clock.now())] = now_held(bench)
        service.sandbox.advance(seconds=7200, changed=30, new=5, orders=10)
        service.sandbox.advance(seconds=10)
    bench.store.close()
    return lived


@pytest.fixture
def lived(service: InProcess, life: Life, tmp_path: Path) -> Iterator[Bench]:
    settings = settings_in(Path(shutil.copytree(life.folder, tmp_path / "data")), service)
    bench = Bench(settings, opened_store(settings), service)
    yield bench
    bench.store.close()


def ask(bench: Bench, query: str, values: dict[str, object] | None = None) -> list[tuple[Any, ...]]:
    with published(bench) as connection:
        return connection.execute(query, values).fetchall()


def columns(name: str) -> str:
    return ", ".join(map(quote, ("id", *tracked(table(f"history_{name}")))))


def now_held(bench: Bench) -> Rows:
    return {one.name: ask(bench, f"select {columns(one.name)} from {one.name} order by id") for one in history_tables()}


def history(bench: Bench) -> Rows:
    return {name: ask(bench, f"from {name} order by all") for name in HISTORY}


def test_as_of_a_moment_history_holds_what_the_tables_held_then(life, lived):
    as_of = "valid_from <= $moment and (valid_to > $moment or valid_to is null)"
    for moment, held in life.held.items():
        for name, rows in held.items():
            query = f"select {columns(name)} from history.{name} where {as_of} order by id"
            assert ask(lived, query, {"moment": moment}) == rows, (moment, name)
    for one in history_tables():
        ((versions, objects),) = ask(lived, f"select count(*), count(distinct id) from {one.qualified}")
        assert versions > objects > 0


def drops_raw_pages(bench: Bench) -> None:
    for window in bench.store.windows():
        assert drop_pages(bench.store.turn, bench.layout, window.id, datetime.now().astimezone()) > 0


def loses_the_state_store(bench: Bench) -> None:
    bench.store.close()
    for path in bench.layout.root.glob("state.db*"):
        path.unlink()
    bench.store = opened_store(bench.settings)
    assert bench.store.windows() == ()
    recover(bench.run)


def has_a_damaged_published_file(bench: Bench) -> None:
    """Which fails the run until it is moved away."""
    bench.layout.published.chmod(0o600)
    bench.layout.published.write_bytes(b"damaged" * 1000)
    with pytest.raises(DatabaseOpenError, match="move it to another folder"):
        refresh(bench.run)
    bench.layout.published.rename(bench.layout.root / "damaged.duckdb")


def had_a_column_less(bench: Bench) -> None:
    others = "update ops.latest_load set definitions = 'of that release'"
    change(bench.layout.published, "alter table history.orders drop column priority", others)


def forgets_an_order(bench: Bench) -> None:
    before = history(bench)
    ((order,),) = ask(bench, "select min(order_id) from pii.order_addresses")
    assert forget(bench.run, [order]).databases == 1
    assert history(bench) == before


LOSSES = (
    # the load after it, and what happens
    (refresh, loses_the_state_store, had_a_column_less),
    (refresh, has_a_damaged_published_file, loses_the_state_store),
    (rebuild, forgets_an_order, drops_raw_pages),
)


def test_history_is_the_same_whatever_was_lost(lived):
    before = history(lived)
    for load, *losses in LOSSES:
        for happens in losses:
            happens(lived)
        assert load(lived.run).published
        assert history(lived) == before, losses


def test_no_tracked_column_is_personal_or_free_text():
    types = {column.type for one in history_tables() for column in one.columns if column.name in tracked(one)}
    assert types <= {"varchar", "bigint", "boolean", "date", "timestamptz", "double", "decimal(18, 4)"}
    notes = {"customer_note", "custom_greeting", "custom_fields", "automation_data", "submitted_by", "order_ref"}
    assert not notes & {name for one in history_tables() for name in tracked(one)}
