"""Backups: what comes back is what was kept, nothing that was forgotten comes back, and nothing is created twice."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import msgspec
import pytest
from pydantic import SecretStr

from tests.conftest import CONFIG, NOW, Bench, logged, no_file_larger_than, opened_store, queried
from tests.lakes import Lakes
from tests.survival.moments import watched
from tests.unpacked import files_holding
from tests.upkeep.test_forget import MARK, marked, orders_with_addresses, settings_in, sync
from wms_sandbox.app import Sandbox
from wms_sandbox.transport import InProcess
from wms_sync.settings import Settings
from wms_sync.state.errors import RestoreUnfinished
from wms_sync.state.ledger import LEDGER_LACKS, Entry, PushLedger, State
from wms_sync.state.portable import decoded, put_back, read_snapshot
from wms_sync.state.store import StateStore
from wms_sync.storage.durable import Inaccessible
from wms_sync.targets.errors import AnotherServiceError
from wms_sync.targets.target import target_of
from wms_sync.upkeep.backup import BackupReport, backup
from wms_sync.upkeep.backups import BackupError, Backups, FoldersOverlap, read_backup
from wms_sync.upkeep.forgotten_orders import add_to_list
from wms_sync.upkeep.recovery import begin
from wms_sync.upkeep.restore import DataFolderInUse, restore, trust_ledger
from wms_sync.upkeep.verify import verify, verify_backups

SMALL = replace(CONFIG, shipments=60, families=20)


@pytest.fixture(scope="module")
def service() -> InProcess:
    within = InProcess(Sandbox(SMALL))
    within.sandbox.rewrite = marked
    return within


@pytest.fixture(scope="module")
def read_once(service: InProcess, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two nights, in `data`; after the first of them a backup was made, in `backups`."""
    folder = tmp_path_factory.mktemp("kept")
    settings = settings_in(folder / "data", service)
    with closing(opened_store(settings)) as store:
        sync(Bench(settings, store, service))
        backup(settings, folder / "backups")
        service.sandbox.advance(seconds=3600, changed=40, orders=20)
        service.sandbox.advance(seconds=10)
        sync(Bench(settings, store, service))
    return folder


@pytest.fixture
def folder(read_once: Path, tmp_path: Path) -> Path:
    """A copy of both, with hard links as they are."""
    return Path(shutil.copytree(read_once, tmp_path / "here"))


@pytest.fixture
def settings(folder: Path, service: InProcess) -> Settings:
    return settings_in(folder / "data", service)


@pytest.fixture
def backups(folder: Path) -> Path:
    return folder / "backups"


SHIPMENTS = "select * exclude (_window_id, _page, _extracted_at) from shipments order by id"
"""What they are, wherever it was read."""


def tables(settings: Settings) -> dict[str, list[tuple[Any, ...]]]:
    with duckdb.connect(settings.layout.published, read_only=True) as connection:
        names = connection.execute("select schema_name, table_name from duckdb_tables()").fetchall()
        return {
            f"{schema}.{name}": sorted(connection.execute(f'from "{schema}"."{name}"').fetchall(), key=repr)
            for schema, name in names
        }


def shipments(settings: Settings) -> list[tuple[Any, ...]]:
    return queried(settings.layout.published, SHIPMENTS)


def rows(settings: Settings, *without: str) -> dict[str, Any]:
    found = read_snapshot(settings.database_url).tables
    return {name: there for name, there in found.items() if name not in without}


@pytest.fixture
def night(service: InProcess) -> Callable[[Settings], None]:
    def pass_with(settings: Settings) -> None:
        with closing(opened_store(settings)) as store:
            sync(Bench(settings, store, service))

    return pass_with


def holding(settings: Settings, order: int) -> set[str]:
    return files_holding(settings.data_dir, (MARK % order).encode())


def test_what_is_restored_is_what_was_kept(settings, backups):
    """Files are shared with the backups; rejected rows, which people correct in place, are copied."""
    rejected = settings.layout.rejects / "given.csv"
    rejected.parent.mkdir()
    rejected.write_text("as they were")
    second, third = backup(settings, backups), backup(settings, backups)
    assert 0 < second.new_bytes < second.backup.size
    assert (third.new_files, third.new_bytes) == (0, 0)

    def held() -> tuple[object, ...]:
        pages = {path: path.read_bytes() for path in settings.layout.raw.rglob("page-*")}
        return tables(settings), rows(settings, "observations"), pages

    before, page = held(), first(settings, "raw/shipments/2*/page-*")
    rejected.write_text("corrected")
    shutil.rmtree(settings.data_dir)
    restored = restore(settings, backups)
    assert (restored.path, restored.left_out) == (third.path, {})
    assert held() == before
    kept = third.backup.files[page.relative_to(settings.data_dir).as_posix()]
    assert page.samefile(Backups.at(backups).layout.file(kept.sha256))
    assert rejected.read_text() == "as they were"
    assert verify(settings).damaged == ()

    assert restored.creates_unknown_since == restored.backup.began_at.replace(microsecond=0)
    with StateStore(settings.database_url) as store:
        assert store.observation(LEDGER_LACKS) is not None, "until somebody vouches for it"
        trust_ledger(settings)
        assert store.observation(LEDGER_LACKS) is None


def test_old_and_unfinished_backups_go(settings, backups):
    """What only they have goes with them; what a killed one left goes with the next."""
    left = [backups / "files" / f".{'0' * 16}", backups / ".backup-000009-20260101T000000Z.json.tmp"]
    for path in left:
        path.write_bytes(b"half")
    backup(settings, backups)
    layout = Backups.at(backups).layout
    assert [path for path in left if path.exists()] == layout.unfinished() == []
    last = backup(settings, backups, most=1)
    assert layout.backups() == [last.path]
    assert {path.name for path in layout.kept()} == {kept.sha256 for _, kept in last.backup.kept()}
    assert verify_backups(backups, settings.layout).damaged == ()


def test_it_is_consistent_while_a_sync_runs(settings, backups, service, tmp_path, night):
    """Between the pages of a backfill, which the next run continues from what the backup has of it."""
    made: list[BackupReport] = []
    before = shipments(settings)
    settings = settings.model_copy(update={"page_size": 5, "max_parallel_requests": 1})

    def begun(tables: Mapping[str, Any]) -> list[dict[str, Any]]:
        return [window for window in tables["windows"] if window["state"] == "reading" and window["pages"]]

    def kept_on_the_way(envelope: dict[str, Any]) -> dict[str, Any]:
        if not made and begun(rows(settings)):
            made.append(backup(settings, backups))
        return marked(envelope)

    service.sandbox.rewrite = kept_on_the_way
    with closing(opened_store(settings)) as store:
        Bench(settings, store, service).backfill(settings.start, settings.start.replace(day=31))
    service.sandbox.rewrite = marked
    assert begun(decoded(Backups.at(backups).layout.file(made[0].backup.state.sha256).read_bytes()).tables)
    elsewhere = settings.model_copy(update={"data_dir": tmp_path / "elsewhere"})
    assert restore(elsewhere, made[0].path).left_out == {}
    night(elsewhere)
    assert verify(elsewhere).damaged == ()
    assert shipments(elsewhere) == before


def test_what_was_forgotten_later_is_not_restored(settings, backups, tmp_path):
    """The state store, which outlives the folder, knows an order and a create; the list and a later backup others."""
    with closing(opened_store(settings)) as store:
        of_backup, of_list, of_state, other = orders_with_addresses(Bench(settings, store))
    url = f"sqlite:///{tmp_path}/elsewhere.db"
    put_back(url, read_snapshot(settings.database_url))
    settings = settings.model_copy(update={"state_url": SecretStr(url)})
    created = Entry("s", "products", "k", State.CREATED, "{}", "00", 7, "r", 1, None, NOW, NOW, None)
    earlier = backup(settings, backups)
    with closing(opened_store(settings)) as store, PushLedger(url, store.turn) as ledger:
        # as two runs of `wms-sync forget` that were killed as soon as they had recorded the order
        add_to_list(settings.layout, store, [of_backup])
        backup(settings, backups)
        add_to_list(settings.layout, store, [of_state])
        ledger.record([created])
    shutil.rmtree(settings.data_dir)
    settings.data_dir.mkdir()
    settings.layout.forgotten_orders.write_text(json.dumps([of_list]))
    restored = restore(settings, earlier.path)
    assert (restored.forgotten, restored.creates_unknown_since) == (3, None)
    assert [holding(settings, order) for order in (of_backup, of_list, of_state)] == [set()] * 3
    assert holding(settings, other)
    assert shipments(settings)
    with PushLedger(url) as ledger:
        assert created in ledger.all()


def test_a_folder_with_data_is_replaced_by_name(settings, backups, tmp_path):
    """At each moment there is a published file, and nothing runs; the present ledger continues the kept one."""
    before = tables(settings)
    for over in (None, tmp_path):
        with pytest.raises(DataFolderInUse, match="--over"):
            restore(settings, backups, over=over)
    assert tables(settings) == before
    published: dict[str, bool] = {}
    settings.layout.restoring.write_text(str(backups))  # as one that was killed
    with pytest.raises(RestoreUnfinished, match="wms-sync restore"), begin(settings, "sync"):
        pass
    with pytest.raises(RestoreUnfinished):
        backup(settings, backups)
    with watched(lambda moment: published.update({moment: settings.layout.published.exists()})):
        restored = restore(settings, backups, over=settings.data_dir)
    assert [moment for moment, exists in published.items() if not exists] == []
    assert restored.creates_unknown_since is None
    assert tables(settings) != before
    with begin(settings, "sync"):
        pass


def test_impossible_backups_and_restores_are_named(settings, backups, tmp_path):
    """A folder that cannot be written, a backup of another service, and where there is nothing."""
    new = settings.model_copy(update={"data_dir": tmp_path / "new"})
    other = new.model_copy(update={"base_url": "https://other.example.com"})
    (tmp_path / "a file").touch()
    (tmp_path / "in the way").mkdir()
    (tmp_path / "in the way" / "files").touch()
    for use, given, folder, error, says in (
        (backup, settings, tmp_path / "a file", Inaccessible, "a file"),
        (backup, settings, tmp_path / "in the way", Inaccessible, "in the way"),
        (backup, new, tmp_path / "kept", BackupError, "nothing to back up"),
        (restore, new, tmp_path, BackupError, "no backup in"),
        (restore, other, backups, AnotherServiceError, "other.example.com"),
    ):
        with pytest.raises(error, match=says):
            use(given, folder)
    assert not other.layout.restoring.exists()


def first(settings: Settings, pattern: str) -> Path:
    return min(settings.data_dir.glob(pattern))


def replace_by_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def replace_by_link(path: Path) -> None:
    elsewhere = path.rename(path.parents[3] / "elsewhere")
    path.symlink_to(elsewhere)


DAMAGE: dict[str, Callable[[Path], object]] = {
    "altered": lambda path: path.write_bytes(path.read_bytes()[:-8] + b"8 others"),
    "missing": lambda path: path.unlink(),
    "a folder": replace_by_folder,
}
PLACES = ("raw/shipments/2*/page-*", "raw/shipments/2*/manifest.json", "parquet/orders/*", "parquet/_windows/2*")
IN_BACKUP: tuple[tuple[str, Callable[[Path], object], str], ...] = (
    ("parquet/orders/2*", DAMAGE["missing"], "its copy is missing"),
    ("analytics.duckdb", DAMAGE["altered"], "its copy is altered"),
    ("clocks.json", replace_by_link, "its copy is not a file"),
)


def test_verify_names_damage_in_the_data_folder(settings):
    for how, harm in DAMAGE.items():
        for pattern in PLACES:
            path = first(settings, pattern)
            content = path.read_bytes()
            harm(path)
            # a missing list of Parquet files is as before the window was flattened: the next rebuild makes it
            is_damage = (how, pattern) != ("missing", "parquet/_windows/2*")
            expected = [path.relative_to(settings.data_dir).as_posix()] * is_damage
            assert [found.place for found in verify(settings).damaged] == expected, f"{how}: {pattern}"
            if path.is_dir():
                path.rmdir()
            path.write_bytes(content)


def test_damage_in_a_backup_is_named_and_mended(settings, backups, night):
    """It is left out of the restore, and the next night makes it again."""
    made, layout = backup(settings, backups), Backups.at(backups).layout
    before = shipments(settings)
    damaged: dict[str, str] = {}
    for pattern, harm, reason in IN_BACKUP:
        place = first(settings, pattern).relative_to(settings.data_dir).as_posix()
        copy = layout.file(made.backup.files[place].sha256)
        content = copy.read_bytes()
        copy.unlink()
        copy.write_bytes(content)  # no link any more
        harm(copy)
        damaged[place] = reason
    found = {one.place.split(" of ")[0]: one.reason for one in verify_backups(backups, settings.layout).damaged}
    assert {place: found[place].partition(":")[0] for place in damaged} == damaged
    shutil.rmtree(settings.data_dir)
    assert set(restore(settings, made.path).left_out) == damaged.keys()
    night(settings)
    assert shipments(settings) == before


def test_a_damaged_record_stops_no_later_backup(settings, backups):
    first = backup(settings, backups)
    damaged = backup(settings, backups).path
    damaged.write_bytes(damaged.read_bytes()[:-9])
    with pytest.raises(BackupError, match=r"Name an older backup-\*\.json"):
        restore(settings, backups, over=settings.data_dir)
    with logged() as said:
        made = backup(settings, backups)
    assert (made.new_files, made.backup.files.keys()) == (0, first.backup.files.keys())
    assert "no file is deleted" in said[-1]
    assert [damage.place for damage in verify_backups(backups, settings.layout).damaged] == [damaged.name]
    damaged.unlink()
    with logged() as said:
        backup(settings, backups, most=1)
    assert verify_backups(backups, settings.layout).damaged == ()
    assert not said


def test_a_damaged_page_is_recorded_as_damaged(settings, backups):
    page = first(settings, "raw/shipments/2*/page-*")
    DAMAGE["altered"](page)
    made = backup(settings, backups)
    assert list(made.backup.damaged) == [page.relative_to(settings.data_dir).as_posix()]
    assert made.backup.damaged.keys().isdisjoint(made.backup.files)


def test_a_lost_state_store_is_not_backed_up(settings, backups):
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


def contents(settings: Settings) -> dict[str, object]:
    """Everything in the data folder but the writer's private files."""
    files = [path for path in settings.data_dir.rglob("*") if path.is_file() and not path.name.startswith("state.db")]
    private = settings.layout.work
    held = {str(path): path.read_bytes() for path in files if not path.is_relative_to(private)}
    return held | {"state": rows(settings), "private": sorted(path.name for path in private.rglob("*.duckdb"))}


def changed_record(made: BackupReport, state: bytes | None = None, /, **changes: object) -> None:
    """Write other things into the record of a backup, with a state that has the hash that it names."""
    record = json.loads(made.path.read_bytes())
    if state is not None:
        sha256 = hashlib.sha256(state).hexdigest()
        path = Backups.at(made.path.parent).layout.file(sha256)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(state)
        record["state"] |= {"sha256": sha256, "size": len(state)}
    made.path.write_bytes(msgspec.json.encode(record | changes))


def test_backups_and_data_are_in_separate_folders(settings, backups, folder, tmp_path):
    (tmp_path / "link").symlink_to(settings.data_dir)
    inside = Path(shutil.copytree(backups, settings.data_dir / "backups"))
    shutil.copytree(backups, folder, dirs_exist_ok=True)
    before = contents(settings)
    for wrong in (inside, folder, settings.data_dir, tmp_path / "link" / "backups", inside / ".." / "other"):
        with pytest.raises(FoldersOverlap, match="must be separate"):
            backup(settings, wrong)
        with pytest.raises(FoldersOverlap, match="must be separate"):
            verify_backups(wrong, settings.layout)
        if (wrong / "files").exists():
            record = Backups.at(wrong).layout.backups()[-1]
            for source in (wrong, record):
                with pytest.raises(FoldersOverlap, match="must be separate"):
                    restore(settings, source, over=settings.data_dir)
    assert contents(settings) == before


def refuse_deletes(settings: Settings) -> None:
    with closing(sqlite3.connect(settings.layout.state)) as connection:
        connection.execute("create trigger no before delete on windows begin select raise(abort, 'not now'); end")


Wrong = Callable[[Settings, BackupReport], AbstractContextManager[None] | None]
WRONG: dict[str, Wrong] = {
    "no room for a copy": lambda here, _: no_file_larger_than(here.layout.published.stat().st_size // 2),
    "no room for the state": lambda _, __: no_file_larger_than(20_000),
    "a page of no window": lambda _, made: changed_record(made, state_with(made, windows=[])),
    "a name that is too long": lambda _, made: changed_record(
        made, files={"rejects/" + "x" * 300: made.backup.files["clocks.json"]}
    ),
    "a present state that refuses": lambda here, _: refuse_deletes(here),
}


def test_a_restore_that_fails_leaves_the_folder(settings, backups):
    [path] = Backups.at(backups).layout.backups()
    record, made = path.read_bytes(), BackupReport(path, read_backup(path), 0, 0, 0)
    before = contents(settings)
    for what, wrong in WRONG.items():
        with (
            wrong(settings, made) or nullcontext(),
            pytest.raises(BackupError, match=r"was not restored, and .* is unchanged"),
        ):
            restore(settings, path, over=settings.data_dir)
        assert contents(settings) == before, what
        path.write_bytes(record)
    with begin(settings, "sync"):
        pass


def test_a_failed_restore_leaves_a_damaged_state_store(settings, backups):
    damaged = b"SQLite format 3\0" + b"no database" * 1000
    for path in settings.data_dir.glob("state.db*"):
        path.unlink()
    settings.layout.state.write_bytes(damaged)
    size = settings.layout.published.stat().st_size
    with no_file_larger_than(size // 2), pytest.raises(BackupError, match="is unchanged"):
        restore(settings, backups, over=settings.data_dir)
    assert settings.layout.state.read_bytes() == damaged
    assert restore(settings, backups, over=settings.data_dir).creates_unknown_since is not None
    assert sorted(path.name for path in settings.data_dir.glob("*damaged*")) == []
    assert verify(settings).damaged == ()


NAMES = (
    "../x",
    "/tmp/x",
    "",
    ".",
    "state.db",
    "restoring.json",
    "work/x",
    "raw/shipments/../../state.db",
    "raw/shipments/20260301T000000Z-20260302T000000Z-000000/x",
    "rejects/..",
    "rejects/a/b.csv",
    "analytics.duckdb\0",
    "parquet/../x/20260301T000000Z-20260302T000000Z-000000-00001.parquet",
)


def kept_state(made: BackupReport) -> Path:
    return Backups.at(made.path.parent).layout.file(made.backup.state.sha256)


def state_with(made: BackupReport, **tables: object) -> bytes:
    """The state store of a backup with other tables."""
    state = json.loads(kept_state(made).read_bytes())
    return json.dumps(state | {"tables": state["tables"] | tables}).encode()


def row_with(table: str, **values: object) -> Callable[[BackupReport], bytes]:
    """What makes the state store of a backup with other values in a row."""

    def make(made: BackupReport) -> bytes:
        first, *rest = json.loads(kept_state(made).read_bytes())["tables"][table]
        return state_with(made, **{table: [first | values, *rest]})

    return make


KEPT = {"sha256": "a" * 64, "size": 1, "changed": 1}
HASHES = ("../../data/state.db", "", "a" * 63, "A" * 64, "/etc/passwd", "a" * 64 + "\n")
NO_STATES: dict[str, Callable[[BackupReport], bytes]] = {
    "no JSON": lambda _: b"PAR1",
    "a list": lambda _: b"[]",
    "an empty object": lambda _: b"{}",
    "rows of another kind": lambda _: b'{"migrations": [], "tables": {"windows": [[1]]}}',
    "a row without its columns": lambda _: b'{"migrations": [], "tables": {"windows": [{"id": "w"}]}}',
    "a text for a time": row_with("windows", from_at="yesterday"),
    "a time out of range": row_with("windows", from_at="0001-01-01T00:00:00+14:00"),
    "null for a name": row_with("windows", id=None),
    "a text for a number": row_with("pages", number="one"),
    "a number out of range": row_with("pages", bytes=2**63),
    "one column more": row_with("pages", more=1),
    "a path for a page": row_with("pages", file="../../../state.db"),
    "a path for a window": row_with("windows", id="../../state"),
}


def with_state(state: Callable[[BackupReport], bytes], made: BackupReport) -> None:
    changed_record(made, state(made))


def with_hash(sha256: str, where: str, made: BackupReport) -> None:
    kept = KEPT | {"sha256": sha256}
    changed_record(made, **{where: kept if where == "state" else {"clocks.json": kept}})


NO_NAME, NO_RECORD = "cannot be in a data folder", "is not the record of a backup"
NO_STATE = r"cannot be restored, because its state store is damaged: .*Nothing was changed"
WRONG_RECORDS: dict[str, tuple[Callable[[BackupReport], object], str, str]] = {
    # what is done to a record, what is said of it, and what a verification names
    **{
        f"{where}: {name}": (partial(changed_record, **{where: {name: value}}), NO_NAME, "{}")
        for where, value in (("files", KEPT), ("damaged", "it is missing"))
        for name in NAMES
    },
    **{
        f"a hash of {where}: {sha256}": (partial(with_hash, sha256, where), NO_RECORD, "{}")
        for where in ("state", "files")
        for sha256 in HASHES
    },
    **{
        f"a state: {what}": (partial(with_state, state), NO_STATE, "the state store of {}")
        for what, state in NO_STATES.items()
    },
    "a state of another hash": (
        lambda made: kept_state(made).write_bytes(b"{}"),
        "state store",
        "the state store of {}",
    ),
}


def test_a_wrong_record_is_refused(settings, backups):
    """No name in it leads out, no hash is a path, and nothing else is taken for a state store."""
    made, before = backup(settings, backups), contents(settings)
    record = made.path.read_bytes()
    for what, (spoil, refused, place) in WRONG_RECORDS.items():
        made.path.write_bytes(record)
        spoil(made)
        with pytest.raises(BackupError, match=refused):
            restore(settings, backups, over=settings.data_dir)
        damaged = [found.place for found in verify_backups(backups, settings.layout).damaged]
        assert damaged == [place.format(made.path.name)], what
    assert contents(settings) == before


def test_a_file_moves_into_a_lake(settings, backups, tmp_path, postgres_url, night):
    before = shipments(settings)
    backup(settings, backups)
    moved = settings.model_copy(
        update={
            "analytics": "ducklake",
            "data_dir": tmp_path / "not" / "there",
            "state_url": SecretStr(Lakes(postgres_url).new()),
        }
    )
    restore(moved, backups, creates_are_known=True)
    night(moved)
    with target_of(moved).published() as connection:
        assert connection.execute(SHIPMENTS).fetchall() == before
    assert verify(moved).damaged == ()
