"""The list of forgotten orders: lost or damaged in one place it comes back from the other, in both the run says so."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.conftest import CONFIG, Bench, logged, opened_store
from tests.test_sync import synced
from wms_sandbox.app import Sandbox
from wms_sandbox.transport import InProcess
from wms_sync.settings import Settings
from wms_sync.state.store import Run
from wms_sync.targets.errors import ForgottenOrdersLostError
from wms_sync.upkeep.forgotten_orders import add_to_list
from wms_sync.upkeep.recovery import recover

ORDERS = {4711, 4712, 2**62}

DAMAGE: dict[str, Callable[[Path], object]] = {
    "deleted": lambda file: file.unlink(),
    "emptied": lambda file: file.write_bytes(b""),
    "cut short": lambda file: file.write_bytes(file.read_bytes()[:-3]),
    "cut to its first byte": lambda file: file.write_bytes(file.read_bytes()[:1]),
    "no JSON": lambda file: file.write_bytes(b"these: 4711"),
    "not UTF-8": lambda file: file.write_bytes(file.read_bytes() + b"\xff"),
    "zeros": lambda file: file.write_bytes(bytes(file.stat().st_size)),
    "no list": lambda file: file.write_bytes(b'{"orders": [4711]}'),
    "a list of other things": lambda file: file.write_bytes(b'[4711, "4712"]'),
    "beyond 64 bits": lambda file: file.write_bytes(b"[9223372036854775808]"),
}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a window in the tables and forgotten orders; beside it the state store of before both."""
    folder = tmp_path_factory.mktemp("installed")
    within = InProcess(Sandbox(replace(CONFIG, shipments=20)))
    settings = Settings.load(_env_file=None, base_url=within.base_url, api_token=CONFIG.token, data_dir=folder / "data")
    bench = Bench(settings, opened_store(settings), within)
    recover(Run(settings, bench.store, "test"))
    bench.store.close()
    shutil.copy(settings.data_dir / "state.db", folder / "before.db")
    bench.store = opened_store(settings)
    add_to_list(bench.layout, bench.store, ORDERS)
    bench.store.mark_forgotten(ORDERS)
    synced(bench)
    bench.store.close()
    return folder


@pytest.fixture
def bench(installed: Path, tmp_path: Path) -> Iterator[Bench]:
    settings = Settings.load(_env_file=None, data_dir=shutil.copytree(installed / "data", tmp_path / "data"))
    bench = Bench(settings, opened_store(settings))
    yield bench
    bench.store.close()


def listed(bench: Bench) -> set[int]:
    return set(json.loads(bench.layout.forgotten_orders.read_bytes()))


def lose_state(bench: Bench, put_back: Path | None = None) -> None:
    bench.store.close()
    for path in bench.layout.root.glob("state.db*"):
        path.unlink()
    if put_back is not None:
        shutil.copy(put_back, bench.layout.root / "state.db")
    bench.store = opened_store(bench.settings)


def recovered(bench: Bench) -> list[str]:
    with logged() as said:
        recover(bench.run)
    return said


def test_where_nothing_was_read_nothing_is_lost(tmp_path):
    """The file is there from the first run on."""
    settings = Settings.load(_env_file=None, data_dir=tmp_path / "fresh")
    fresh = Bench(settings, opened_store(settings))
    for _ in range(2):
        assert recovered(fresh) == []
        assert listed(fresh) == set()
        fresh.layout.forgotten_orders.unlink()
        lose_state(fresh)
    fresh.store.close()


def test_a_file_comes_back_from_the_state_store(bench):
    file = bench.layout.forgotten_orders
    for damage, harm in DAMAGE.items():
        harm(file)
        [line] = recovered(bench)
        assert str(file) in line, damage
        assert listed(bench) == bench.store.forgotten() == ORDERS, damage
    assert recovered(bench) == []
    file.write_text("[4711, 5]")
    assert sum(str(file) in line for line in recovered(bench)) == 2, "an old copy is completed"
    assert listed(bench) == bench.store.forgotten() == ORDERS | {5}


def test_nothing_is_read_while_both_are_lost(bench, installed):
    """Not by the next run either, which must not take the state store of this one for the true one."""
    file, windows = bench.layout.forgotten_orders, len(bench.store.windows())
    whole = file.read_bytes()
    for put_back in (None, installed / "before.db"):
        for damage in ("deleted", "cut short"):
            file.write_bytes(whole)
            DAMAGE[damage](file)
            lose_state(bench, put_back)
            for _ in range(2):
                with pytest.raises(ForgottenOrdersLostError, match=r"forgotten-orders\.json is .*JSON list"):
                    recovered(bench)
                assert bench.store.windows() == (), damage
    file.write_bytes(whole)
    assert any(str(file) in line for line in recovered(bench)), "it comes from the file"
    assert listed(bench) == bench.store.forgotten() == ORDERS
    assert len(bench.store.windows()) == windows


def test_the_published_file_proves_that_state_is_lost(bench):
    shutil.rmtree(bench.layout.raw)
    bench.layout.forgotten_orders.unlink()
    lose_state(bench)
    with pytest.raises(ForgottenOrdersLostError, match="is missing"):
        recovered(bench)
