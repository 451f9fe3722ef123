"""Backups: what comes back is what was kept, nothing that was forgotten comes back, and nothing is created twice."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest
from pydantic import SecretStr

from tests.conftest import CONFIG, NOW, Bench, logged, opened_store, turn_at
from tests.unpacked import files_holding
from tests.upkeep.test_forget import MARK, marked, orders_with_addresses, settings_in, sync
from wms_sandbox.app import Sandbox
from wms_sandbox.server import SandboxServer
from wms_sync.analytics.errors import AnotherServiceError
from wms_sync.durable import Inaccessible
from wms_sync.settings import Settings
from wms_sync.state.errors import RestoreUnfinished
from wms_sync.state.ledger import LEDGER_LACKS, Entry, PushLedger, State
from wms_sync.state.portable import decoded, put_back, read_snapshot
from wms_sync.upkeep.backup import BackupReport, backup
from wms_sync.upkeep.backups import BackupError, Backups
from wms_sync.upkeep.forgotten_orders import add_to_list
from wms_sync.upkeep.recovery import begin
from wms_sync.upkeep.restore import DataFolderInUse, restore, trust_ledger
from wms_sync.upkeep.verify import verify, verify_backups

SMALL = replace(CONFIG, shipments=60, families=20)


@pytest.fixture(scope="module")
def service() -> Iterator[SandboxServer]:
    with SandboxServer(Sandbox(SMALL)) as server:
        server.sandbox.rewrite = marked
        yield server


@pytest.fixture(scope="module")
def read_once(service: SandboxServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two nights, in `data`; after the first of them a backup was made, in `backups`."""
    folder = tmp_path_factory.mktemp("kept")
    settings = settings_in(folder / "data", service)
    with closing(opened_store(settings)) as store:
        sync(Bench(settings, store))
        backup(settings, folder / "backups")
        service.sandbox.advance(seconds=3600, changed=40, orders=20)
        service.sandbox.advance(seconds=10)
        sync(Bench(settings, store))
    return folder


@pytest.fixture
def folder(read_once: Path, tmp_path: Path) -> Path:
    """A copy of both, with hard links as they are."""
    return Path(shutil.copytree(read_once, tmp_path / "here"))


@pytest.fixture
def settings(folder: Path, service: SandboxServer) -> Settings:
    return settings_in(folder / "data", service)


@pytest.fixture
def backups(folder: Path) -> Path:
    return folder / "backups"


def tables(settings: Settings) -> dict[str, list[tuple[Any, ...]]]:
    with duckdb.connect(settings.layout.published, read_only=True) as connection:
        names = connection.execute("select schema_name, table_name from duckdb_tables() order by all").fetchall()
        return {
            f"{schema}.{name}": sorted(connection.execute(f'from "{schema}"."{name}"').fetchall(), key=repr)
            for schema, name in names
        }


def shipments(settings: Settings) -> list[tuple[Any, ...]]:
    """What they are, wherever it was read."""
    query = "select * exclude (_window_id, _page, _extracted_at) from shipments order by id"
    with duckdb.connect(settings.layout.published, read_only=True) as connection:
        return connection.execute(query).fetchall()


def rows(settings: Settings, *without: str) -> dict[str, Any]:
    found = read_snapshot(settings.database_url).tables
    return {name: there for name, there in found.items() if name not in without}


def raw_pages(settings: Settings) -> dict[str, bytes]:
    return {str(path.relative_to(settings.data_dir)): path.read_bytes() for path in settings.layout.raw.rglob("page-*")}


def lose(settings: Settings) -> None:
    shutil.rmtree(settings.data_dir)


def night(settings: Settings) -> None:
    with closing(opened_store(settings)) as store:
        sync(Bench(settings, store))


def holding(settings: Settings, order: int) -> set[str]:
    return files_holding(settings.data_dir, (MARK % order).encode())


def remember(settings: Settings, order: int) -> None:
    """As a `wms-sync forget` that was killed as soon as it had recorded the order."""
    with closing(opened_store(settings)) as store:
        add_to_list(settings.layout, store, [order])


def test_what_is_restored_is_what_was_kept(settings, backups):
    made = backup(settings, backups)
    before = tables(settings), rows(settings, "observations"), raw_pages(settings)
    lose(settings)
    restored = restore(settings, backups, creates_are_known=True)
    assert (restored.path, restored.left_out) == (made.path, {})
    assert (tables(settings), rows(settings, "observations"), raw_pages(settings)) == before
    assert verify(settings).damaged == ()


def test_a_second_backup_costs_what_is_new_and_shares_the_files(settings, backups):
    second = backup(settings, backups)
    assert 0 < second.new_bytes < second.backup.size
    third = backup(settings, backups)
    assert (third.new_files, third.new_bytes) == (0, 0)
    page = next(settings.layout.raw.rglob("page-*"))
    kept = third.backup.files[page.relative_to(settings.data_dir).as_posix()]
    copy = Backups.at(backups).layout.file(kept.sha256)
    assert copy.read_bytes() == page.read_bytes()
    lose(settings)
    restore(settings, backups)
    assert page.samefile(copy)


def test_old_backups_go_with_what_only_they_have(settings, backups):
    backup(settings, backups)
    last = backup(settings, backups, most=1)
    layout = Backups.at(backups).layout
    assert layout.backups() == [last.path]
    assert {path.name for path in layout.kept()} == {kept.sha256 for _, kept in last.backup.kept()}
    assert verify_backups(backups).damaged == ()


def test_it_is_consistent_while_a_sync_runs(settings, backups, service, tmp_path):
    """Between the pages of a backfill; what the backup has of it is gone on with."""
    made: list[BackupReport] = []
    settings = settings.model_copy(update={"page_size": 5, "max_parallel_requests": 1})

    def kept_on_the_way(envelope: dict[str, Any]) -> dict[str, Any]:
        if not made and any(one["state"] == "reading" and one["pages"] for one in rows(settings)["windows"]):
            made.append(backup(settings, backups))
        return marked(envelope)

    service.sandbox.rewrite = kept_on_the_way
    with closing(opened_store(settings)) as store, Bench(settings, store).api() as api:
        Bench(settings, store).reading(api).backfill(settings.start, settings.start.replace(day=31))
    service.sandbox.rewrite = marked
    kept = decoded(Backups.at(backups).layout.file(made[0].backup.state.sha256).read_bytes())
    assert [one["pages"] for one in kept.tables["windows"] if one["state"] == "reading"]
    elsewhere = settings.model_copy(update={"data_dir": tmp_path / "elsewhere"})
    assert restore(elsewhere, made[0].path).left_out == {}
    night(elsewhere)
    night(settings)
    assert verify(elsewhere).damaged == ()
    assert shipments(elsewhere) == shipments(settings)


def test_what_was_forgotten_after_the_backup_is_gone_before_anything_can_be_read(settings, backups):
    """The present list knows one, although the folder is to be replaced; a later backup knows another."""
    with closing(opened_store(settings)) as store:
        first, second, third, _ = orders_with_addresses(Bench(settings, store))
    earlier = backup(settings, backups)
    remember(settings, first)
    backup(settings, backups)
    lose(settings)
    settings.data_dir.mkdir()
    settings.layout.forgotten_orders.write_text(json.dumps([second]))
    assert restore(settings, earlier.path).forgotten == 2
    assert (holding(settings, first), holding(settings, second)) == (set(), set())
    assert holding(settings, third)
    assert shipments(settings)


def test_a_folder_that_holds_data_is_replaced_only_by_name(settings, backups, tmp_path):
    before = tables(settings)
    for over in (None, tmp_path):
        with pytest.raises(DataFolderInUse, match="--over"):
            restore(settings, backups, over=over)
    assert tables(settings) == before
    restore(settings, backups, over=settings.data_dir)
    assert tables(settings) != before


def test_a_folder_of_backups_that_cannot_be_written_is_named(settings, tmp_path):
    for blocked in (tmp_path / "a file", tmp_path / "files are in the way" / "files"):
        blocked.parent.mkdir(exist_ok=True)
        blocked.touch()
        folder = blocked if blocked.name == "a file" else blocked.parent
        with pytest.raises(Inaccessible, match=str(folder)):
            backup(settings, folder)


def test_a_backup_of_another_service_is_refused_both_ways(settings, backups, tmp_path):
    other = settings.model_copy(update={"base_url": "https://other.example.com", "data_dir": tmp_path / "other"})
    with pytest.raises(AnotherServiceError):
        restore(other, backups)
    assert not other.layout.restoring.exists()


def test_without_data_or_backups_it_says_so(settings, tmp_path):
    with pytest.raises(BackupError, match="no backup in"):
        restore(settings.model_copy(update={"data_dir": tmp_path / "new"}), tmp_path)
    with pytest.raises(BackupError, match="nothing to back up"):
        backup(settings.model_copy(update={"data_dir": tmp_path / "new"}), tmp_path)


def first(settings: Settings, pattern: str) -> Path:
    return min(settings.data_dir.glob(pattern))


def replace_by_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


DAMAGE: dict[str, Callable[[Path], object]] = {
    "altered": lambda path: path.write_bytes(path.read_bytes()[:-8] + b"8 others"),
    "missing": lambda path: path.unlink(),
    "a folder": replace_by_folder,
}
PLACES = ["raw/shipments/2*/page-*", "raw/shipments/2*/manifest.json", "parquet/orders/*", "parquet/_windows/2*"]


@pytest.mark.parametrize("pattern", PLACES)
@pytest.mark.parametrize("how", DAMAGE)
def test_verify_names_what_is_damaged_in_the_data_folder(settings, pattern, how):
    path = first(settings, pattern)
    DAMAGE[how](path)
    places = {one.place for one in verify(settings).damaged}
    expected = {path.relative_to(settings.data_dir).as_posix()}
    if pattern.startswith("parquet/_windows") and how == "missing":
        expected = set()  # as before it was flattened: the next rebuild makes it
    assert places == expected


@pytest.mark.parametrize(
    ("pattern", "how"),
    [("parquet/orders/2*", "missing"), ("analytics.duckdb", "altered")],
)
def test_what_is_damaged_in_a_backup_is_named_and_left_out_and_comes_again(settings, backups, pattern, how):
    made = backup(settings, backups)
    before = shipments(settings)
    place = first(settings, pattern).relative_to(settings.data_dir).as_posix()
    copy = Backups.at(backups).layout.file(made.backup.files[place].sha256)
    content = copy.read_bytes()
    copy.unlink()
    copy.write_bytes(content)  # no link any more
    DAMAGE[how](copy)
    assert place in {one.place.split(" of ")[0] for one in verify_backups(backups).damaged}
    lose(settings)
    assert list(restore(settings, made.path).left_out) == [place]
    night(settings)
    assert shipments(settings) == before


def test_a_damaged_record_of_a_backup_stops_no_later_one(settings, backups):
    first = backup(settings, backups)
    damaged = backup(settings, backups).path
    damaged.write_bytes(damaged.read_bytes()[:-9])
    with pytest.raises(BackupError, match=r"Name an older backup-\*\.json"):
        restore(settings, backups, over=settings.data_dir)
    with logged() as said:
        made = backup(settings, backups)
    assert (made.new_files, made.backup.files.keys()) == (0, first.backup.files.keys())
    assert "no file is deleted" in said[-1]
    assert [one.place for one in verify_backups(backups).damaged] == [damaged.name]
    damaged.unlink()
    with logged() as said:
        backup(settings, backups, most=1)
    assert verify_backups(backups).damaged == ()
    assert not said


def test_a_page_that_is_damaged_in_the_folder_is_not_taken_for_whole(settings, backups):
    page = first(settings, "raw/shipments/2*/page-*")
    DAMAGE["altered"](page)
    made = backup(settings, backups)
    assert list(made.backup.damaged) == [page.relative_to(settings.data_dir).as_posix()]
    assert made.backup.damaged.keys().isdisjoint(made.backup.files)


def test_a_state_store_that_was_lost_is_not_what_a_backup_keeps(settings, backups):
    before = Backups.at(backups).layout.backups()
    with begin(settings, "sync"):
        pass  # writes the list of forgotten orders, as every run does
    for path in settings.data_dir.glob("state.db*"):
        path.unlink()
    with pytest.raises(BackupError, match="wms-sync sync"):
        backup(settings, backups)
    assert Backups.at(backups).layout.backups() == before
    with begin(settings, "sync"):
        pass
    assert backup(settings, backups).backup.damaged == {}


def test_a_damaged_state_store_in_a_backup_stops_the_restore_before_anything_changes(settings, backups):
    made = backup(settings, backups)
    before = tables(settings)
    Backups.at(backups).layout.file(made.backup.state.sha256).write_bytes(b"{}")
    with pytest.raises(BackupError, match="state store"):
        restore(settings, made.path, over=settings.data_dir)
    assert tables(settings) == before


def test_nothing_runs_while_a_restore_is_unfinished(settings, backups):
    settings.layout.restoring.write_text(str(backups))
    with pytest.raises(RestoreUnfinished, match="wms-sync restore"), begin(settings, "sync"):
        pass
    with pytest.raises(RestoreUnfinished):
        backup(settings, backups)
    restore(settings, backups)
    with begin(settings, "sync"):
        pass


@pytest.mark.parametrize("knows_later", [True, False])
def test_the_ledger_is_doubted_unless_the_present_one_goes_on_from_it(settings, backups, knows_later):
    backup(settings, backups)
    if knows_later:
        restored = restore(settings, backups, over=settings.data_dir)
        assert restored.creates_unknown_since is None
        return
    lose(settings)
    restored = restore(settings, backups)
    assert restored.creates_unknown_since == restored.backup.began_at.replace(microsecond=0)
    with closing(opened_store(settings)) as store:
        assert store.observation(LEDGER_LACKS) is not None
    trust_ledger(settings)
    with closing(opened_store(settings)) as store:
        assert store.observation(LEDGER_LACKS) is None


def test_a_state_store_that_outlived_the_data_folder_keeps_its_creates_and_what_was_forgotten(
    settings, backups, tmp_path
):
    """As PostgreSQL does: it is the one of the backup, only later."""
    url = f"sqlite:///{tmp_path}/elsewhere.db"
    put_back(url, read_snapshot(settings.database_url))
    settings = settings.model_copy(update={"state_url": SecretStr(url)})
    backup(settings, backups)
    later = Entry("s", "products", "k", State.CREATED, "{}", "00", 7, "r", 1, None, NOW, NOW, None)
    with closing(turn_at(url, settings.data_dir)) as turn, PushLedger(url, turn) as ledger:
        ledger.record([later])
    with closing(opened_store(settings)) as store:
        store.remember_forgotten([4711])
    lose(settings)
    restored = restore(settings, backups)
    assert (restored.creates_unknown_since, restored.forgotten) == (None, 1)
    with PushLedger(url) as ledger:
        assert later in ledger.all()
