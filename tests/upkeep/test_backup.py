"""Backups: what comes back is what was kept, nothing that was forgotten comes back, and nothing is created twice."""

import hashlib
import json
import shutil
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from pyarrow import parquet
from pydantic import SecretStr

from tests.conftest import CONFIG, NOW, Bench, no_file_larger_than, opened_store, queried, settings_in
from tests.lakes import Lakes
from tests.survival.moments import watched
from tests.unpacked import files_holding
from tests.upkeep.test_forget import MARK, marked, orders_with_addresses, sync
from wms_sandbox.app import Sandbox
from wms_sandbox.transport import InProcess
from wms_sync.settings import Settings
from wms_sync.state.errors import RestoreUnfinished
from wms_sync.state.ledger import LEDGER_LACKS, Entry, PushLedger, State
from wms_sync.state.portable import Snapshot, put_back, read_snapshot
from wms_sync.state.store import StateStore
from wms_sync.storage.durable import Inaccessible
from wms_sync.targets.errors import AnotherServiceError
from wms_sync.targets.target import target_of
from wms_sync.upkeep.backup import BackupReport, backup
from wms_sync.upkeep.backups import BackupError, Backups, FoldersOverlap, read_backup
from wms_sync.upkeep.forgotten_orders import add_to_list
from wms_sync.upkeep.recovery import unrecorded_run
from wms_sync.upkeep.restore import DataFolderInUse, restore, trust_ledger
from wms_sync.upkeep.verify import verify, verify_backups


@pytest.fixture(scope="module")
def service() -> InProcess:
    within = InProcess(Sandbox(replace(CONFIG, shipments=60, families=20)))
    within.sandbox.rewrite = marked
    return within


def snapshot_of(settings: Settings) -> Snapshot:
    with StateStore.opened(settings.database_url) as store:
        return read_snapshot(store.engine)


def night(settings: Settings, service: InProcess) -> None:
    with closing(opened_store(settings)) as store:
        sync(Bench(settings, store, service))


@pytest.fixture(scope="module")
def read_once(service: InProcess, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two nights, in `data`; after the first of them a backup was made, in `backups`."""
    folder = tmp_path_factory.mktemp("kept")
    settings = settings_in(folder / "data", service, include_addresses=True)
    night(settings, service)
    backup(settings, folder / "backups")
    service.sandbox.advance(seconds=3600, changed=40, orders=20)
    service.sandbox.advance(seconds=10)
    night(settings, service)
    return folder


@pytest.fixture
def folder(read_once: Path, tmp_path: Path) -> Path:
    """A copy of both, with hard links as they are."""
    return Path(shutil.copytree(read_once, tmp_path / "here"))


@pytest.fixture
def settings(folder: Path, service: InProcess) -> Settings:
    return settings_in(folder / "data", service, include_addresses=True)


@pytest.fixture
def backups(folder: Path) -> Path:
    return folder / "backups"


SHIPMENTS = "select * exclude (_window_id, _page, _extracted_at) from shipments order by id"
"""What they are, wherever it was read."""


def shipments(settings: Settings) -> list[tuple[Any, ...]]:
    return queried(settings.layout.published, SHIPMENTS)


def contents(settings: Settings) -> dict[str, object]:
    """Everything in the data folder but the writer's private files."""
    private = settings.layout.work
    return {
        "state": snapshot_of(settings).tables,
        "private": sorted(path.name for path in private.rglob("*.duckdb")),
        **{
            str(path): path.read_bytes()
            for path in settings.data_dir.rglob("*")
            if path.is_file() and not path.name.startswith("state.db") and not path.is_relative_to(private)
        },
    }


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
        files = {place: (settings.data_dir / place).read_bytes() for place in third.backup.files}
        return files, {**snapshot_of(settings).tables, "observations": ()}

    before, page = held(), first(settings, "raw/shipments/2*/page-*")
    rejected.write_text("corrected")
    shutil.rmtree(settings.data_dir)
    restored = restore(settings, backups)
    assert (restored.path, restored.left_out) == (third.path, {})
    assert held() == before
    kept = third.backup.files[page.relative_to(settings.data_dir).as_posix()]
    assert page.samefile(Backups.at(backups).layout.file(kept.sha256))
    assert verify(settings).damaged == ()

    assert restored.creates_unknown_since == restored.backup.began_at.replace(microsecond=0)
    with StateStore.opened(settings.database_url) as store:
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


def test_it_is_consistent_while_a_sync_runs(settings, backups, service, tmp_path):
    """Between the pages of a backfill, which the next run continues from what the backup has of it."""
    made: list[BackupReport] = []
    before = shipments(settings)
    settings = settings.model_copy(update={"page_size": 5, "max_parallel_requests": 1})

    def backed_up_on_the_way(envelope: dict[str, Any]) -> dict[str, Any]:
        windows = snapshot_of(settings).tables["windows"]
        if not made and any(window["state"] == "reading" and window["pages"] for window in windows):
            made.append(backup(settings, backups))
        return marked(envelope)

    service.sandbox.rewrite = backed_up_on_the_way
    with closing(opened_store(settings)) as store:
        Bench(settings, store, service).backfill(settings.start, settings.start.replace(day=31))
    service.sandbox.rewrite = marked
    elsewhere = settings.model_copy(update={"data_dir": tmp_path / "elsewhere"})
    assert restore(elsewhere, made[0].path).left_out == {}
    with StateStore.opened(elsewhere.database_url) as store:
        assert store.windows("reading")
    night(elsewhere, service)
    assert verify(elsewhere).damaged == ()
    assert shipments(elsewhere) == before


def test_what_was_forgotten_later_is_not_restored(settings, backups, tmp_path):
    """The state store, which outlives the folder, knows an order and a create; the list and a later backup others."""
    with closing(opened_store(settings)) as store:
        of_backup, of_list, of_state, other = orders_with_addresses(Bench(settings, store))
    url = f"sqlite:///{tmp_path}/elsewhere.db"
    with StateStore.opened(url) as elsewhere:
        put_back(elsewhere.engine, snapshot_of(settings))
    settings = settings.model_copy(update={"state_url": SecretStr(url)})
    created = Entry("s", "products", "k", State.CREATED, "{}", "00", 7, "r", 1, None, NOW, NOW, None)
    earlier = backup(settings, backups)
    with closing(opened_store(settings)) as store:
        # as two runs of `wms-sync forget` that were killed as soon as they had recorded the order
        add_to_list(settings.layout, store, [of_backup])
        backup(settings, backups)
        add_to_list(settings.layout, store, [of_state])
        store.ledger.record([created])
    shutil.rmtree(settings.data_dir)
    settings.data_dir.mkdir()
    settings.layout.forgotten_orders.write_text(json.dumps([of_list]))
    restored = restore(settings, earlier.path)
    assert (restored.forgotten, restored.creates_unknown_since) == (3, None)
    assert [holding(settings, order) for order in (of_backup, of_list, of_state)] == [set()] * 3
    assert holding(settings, other)
    with PushLedger.opened(url) as ledger:
        assert created in ledger.all()


def test_a_folder_with_data_is_replaced_by_name(settings, backups, tmp_path):
    """At each moment there is a published file, and nothing runs; the present ledger continues the kept one."""
    before = shipments(settings)
    for over in (None, tmp_path):
        with pytest.raises(DataFolderInUse, match="--over"):
            restore(settings, backups, over=over)
    assert shipments(settings) == before
    published: dict[str, bool] = {}
    settings.layout.restoring.write_text(str(backups))  # as one that was killed
    with pytest.raises(RestoreUnfinished, match="wms-sync restore"), unrecorded_run(settings, "sync"):
        pass
    with pytest.raises(RestoreUnfinished):
        backup(settings, backups)
    with watched(lambda moment: published.update({moment: settings.layout.published.exists()})):
        restored = restore(settings, backups, over=settings.data_dir)
    assert [moment for moment, exists in published.items() if not exists] == []
    assert restored.creates_unknown_since is None
    assert shipments(settings) != before
    with unrecorded_run(settings, "sync"):
        pass


def test_impossible_backups_and_restores_are_named(settings, backups, tmp_path):
    """A folder that cannot be written, a backup of another service, and where there is nothing."""
    new = settings.model_copy(update={"data_dir": tmp_path / "new"})
    other = new.model_copy(update={"base_url": "https://other.example.com"})
    (tmp_path / "a file").touch()
    for use, given, folder, error, says in (
        (backup, settings, tmp_path / "a file", Inaccessible, "a file"),
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


DAMAGE: dict[str, Callable[[Path], object]] = {
    "altered": lambda path: path.write_bytes(path.read_bytes()[:-8] + b"8 others"),
    "missing": lambda path: path.unlink(),
    "a folder": replace_by_folder,
}
PLACES = ("raw/shipments/2*/page-*", "raw/shipments/2*/manifest.json", "parquet/orders/*", "parquet/_windows/2*")
IN_BACKUP: tuple[tuple[str, str, str], ...] = (
    ("parquet/orders/2*", "missing", "its copy is missing"),
    ("analytics.duckdb", "altered", "its copy is altered"),
    ("parquet/_windows/2*", "a folder", "its copy is not a file"),
)


@pytest.mark.parametrize("how", DAMAGE)
@pytest.mark.parametrize("pattern", PLACES)
def test_verify_names_damage_in_the_data_folder(settings, pattern, how):
    path = first(settings, pattern)
    DAMAGE[how](path)
    # a missing list of Parquet files is as before the window was flattened: the next rebuild makes it
    is_damage = (how, pattern) != ("missing", "parquet/_windows/2*")
    expected = [path.relative_to(settings.data_dir).as_posix()] * is_damage
    assert [found.place for found in verify(settings).damaged] == expected


def test_verify_finds_altered_parquet_files_that_can_be_read(settings):
    path = first(settings, "parquet/orders/2*")
    whole, rows = path.read_bytes(), parquet.read_table(path)
    writer = parquet.read_metadata(path).created_by.encode()
    path.write_bytes(whole.replace(writer, writer.swapcase()))
    assert (path.stat().st_size, parquet.read_table(path)) == (len(whole), rows)
    [found] = verify(settings).damaged
    assert found.reason == "its SHA-256 differs from that of the file written"
    parquet.write_table(rows.slice(1), path)
    [found] = verify(settings).damaged
    assert found.reason == f"it has {path.stat().st_size} bytes instead of the {len(whole)} written"


def test_damage_in_a_backup_is_named_and_mended(settings, backups, service):
    """It is left out of the restore, and the next night makes it again; so is a page that was damaged before."""
    before = shipments(settings)
    page = max(settings.data_dir.glob("raw/shipments/2*/page-*"))
    DAMAGE["altered"](page)
    made, layout = backup(settings, backups), Backups.at(backups).layout
    damaged = {page.relative_to(settings.data_dir).as_posix(): "damaged before the backup was made"}
    assert [*made.backup.damaged] == [*damaged]
    for pattern, how, reason in IN_BACKUP:
        place = first(settings, pattern).relative_to(settings.data_dir).as_posix()
        copy = layout.file(made.backup.files[place].sha256)
        content = copy.read_bytes()
        copy.unlink()
        copy.write_bytes(content)  # no link any more
        DAMAGE[how](copy)
        damaged[place] = reason
    found = {
        damage.place.split(" of ")[0]: damage.reason for damage in verify_backups(backups, settings.layout).damaged
    }
    assert [place for place, reason in damaged.items() if not found[place].startswith(reason)] == []
    shutil.rmtree(settings.data_dir)
    assert restore(settings, made.path).left_out.keys() == damaged.keys()
    night(settings, service)
    assert shipments(settings) == before


def test_a_damaged_record_stops_no_later_backup(settings, backups):
    """No file goes while it is unknown which files it names."""
    damaged, layout = backup(settings, backups).path, Backups.at(backups).layout
    damaged.write_bytes(damaged.read_bytes()[:-9])
    with pytest.raises(BackupError, match=r"Name an older backup-\*\.json"):
        restore(settings, backups, over=settings.data_dir)
    kept = layout.kept()
    backup(settings, backups, most=2)
    assert set(layout.kept()) >= set(kept)
    assert [damage.place for damage in verify_backups(backups, settings.layout).damaged] == [damaged.name]
    damaged.unlink()
    backup(settings, backups, most=1)
    assert set(layout.kept()) < set(kept)
    assert verify_backups(backups, settings.layout).damaged == ()


def test_a_lost_state_store_is_not_backed_up(settings, backups):
    before = Backups.at(backups).layout.backups()
    with unrecorded_run(settings, "sync"):
        pass  # writes the list of forgotten orders, as every run does
    for path in settings.data_dir.glob("state.db*"):
        path.unlink()
    with pytest.raises(BackupError, match="wms-sync sync"):
        backup(settings, backups)
    assert Backups.at(backups).layout.backups() == before


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
    for source in (inside, folder, *inside.glob("backup-*"), tmp_path / "link" / "backups"):
        with pytest.raises(FoldersOverlap, match="must be separate"):
            restore(settings, source, over=settings.data_dir)
    assert contents(settings) == before


def refuse_deletes(settings: Settings) -> None:
    with closing(sqlite3.connect(settings.layout.state)) as connection:
        connection.execute("create trigger no before delete on windows begin select raise(abort, 'not now'); end")


WRONG: dict[str, Callable[[Settings, BackupReport], AbstractContextManager[None] | None]] = {
    "no room for a copy": lambda here, _: no_file_larger_than(here.layout.published.stat().st_size // 2),
    "no room for the state": lambda _, __: no_file_larger_than(20_000),
    "a page of no window": lambda _, made: changed_record(made, state_with("pages", window_id=NO_WINDOW)(made)),
    "a name that is too long": lambda _, made: changed_record(
        made, files={"rejects/" + "x" * 300: made.backup.files["analytics.duckdb"]}
    ),
    "a present state that refuses": lambda here, _: refuse_deletes(here),
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_a_restore_that_fails_leaves_the_folder(settings, backups, wrong):
    [path] = Backups.at(backups).layout.backups()
    before = contents(settings)
    with (
        wrong(settings, BackupReport(path, read_backup(path), 0, 0, 0)) or nullcontext(),
        pytest.raises(BackupError, match=r"was not restored, and .* is unchanged"),
    ):
        restore(settings, path, over=settings.data_dir)
    assert contents(settings) == before
    with unrecorded_run(settings, "sync"):
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
    assert verify(settings).damaged == ()


NO_WINDOW = "20260301T000000Z-20260302T000000Z-000000"
NAMES = (
    "../x",
    "/tmp/x",
    "",
    ".",
    "state.db",
    "restoring.json",
    "work/x",
    "raw/shipments/../../state.db",
    f"raw/shipments/{NO_WINDOW}/x",
    "rejects/..",
    "rejects/a/b.csv",
    "analytics.duckdb\0",
    "parquet/../x/20260301T000000Z-20260302T000000Z-000000-00001.parquet",
)


def state_with(table: str, **values: object) -> Callable[[BackupReport], bytes]:
    """What makes the state store of a backup with other values in the first row of a table."""

    def make(made: BackupReport) -> bytes:
        state = json.loads(Backups.at(made.path.parent).layout.file(made.backup.state.sha256).read_bytes())
        state["tables"][table][0] |= values
        return json.dumps(state).encode()

    return make


KEPT = {"sha256": "a" * 64, "size": 1, "changed": 1}
HASHES = ("../../data/state.db", "", "a" * 63, "A" * 64, "/etc/passwd", "a" * 64 + "\n")
NO_STATES: dict[str, Callable[[BackupReport], bytes]] = {
    "no JSON": lambda _: b"PAR1",
    "a list": lambda _: b"[]",
    "an empty object": lambda _: b"{}",
    "rows of another kind": lambda _: b'{"migrations": [], "tables": {"windows": [[1]]}}',
    "a row without its columns": lambda _: b'{"migrations": [], "tables": {"windows": [{"id": "w"}]}}',
    "a text for a time": state_with("windows", from_at="yesterday"),
    "a time out of range": state_with("windows", from_at="0001-01-01T00:00:00+14:00"),
    "null for a name": state_with("windows", id=None),
    "a text for a number": state_with("pages", number="one"),
    "a number out of range": state_with("pages", bytes=2**63),
    "one column more": state_with("pages", more=1),
    "a path for a page": state_with("pages", file="../../../state.db"),
    "a path for a window": state_with("windows", id="../../state"),
}
NO_NAME, NO_RECORD = "cannot be in a data folder", "is not the record of a backup"
NO_STATE = r"cannot be restored, because its state store is damaged: .*Nothing was changed"
WRONG_RECORDS: tuple[tuple[Mapping[str, object], Callable[[BackupReport], bytes] | None, str, str], ...] = (
    # what is changed in a record, or its state store, what is said of it, and what a verification names
    *(({"files": {name: KEPT}}, None, NO_NAME, "{}") for name in NAMES),
    *(({"damaged": {name: "it is missing"}}, None, NO_NAME, "{}") for name in NAMES),
    *(({"files": {"forgotten-orders.json": KEPT | {"sha256": sha256}}}, None, NO_RECORD, "{}") for sha256 in HASHES),
    *(({"state": KEPT | {"sha256": sha256}}, None, NO_RECORD, "{}") for sha256 in HASHES),
    *(({}, state, NO_STATE, "the state store of {}") for state in NO_STATES.values()),
    ({"state": KEPT}, None, NO_STATE, "the state store of {}"),
)


def test_a_wrong_record_is_refused(settings, backups):
    """No name in it leads out, no hash is a path, and nothing else is taken for a state store."""
    made, before = backup(settings, backups), contents(settings)
    record = made.path.read_bytes()
    for changes, state, refused, place in WRONG_RECORDS:
        made.path.write_bytes(record)
        changed_record(made, state and state(made), **changes)
        with pytest.raises(BackupError, match=refused):
            restore(settings, backups, over=settings.data_dir)
        damaged = [found.place for found in verify_backups(backups, settings.layout).damaged]
        assert damaged == [place.format(made.path.name)], changes
    assert contents(settings) == before


def test_a_file_moves_into_a_lake(settings, backups, service, tmp_path, postgres_url):
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
    night(moved, service)
    with target_of(moved).published() as connection:
        assert connection.execute(SHIPMENTS).fetchall() == before
    assert verify(moved).damaged == ()
