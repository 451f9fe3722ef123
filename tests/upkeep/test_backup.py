"""Backups: what comes back is what was there, nothing that was forgotten comes back, and nothing is created twice."""

import gzip
import json
import os
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from pydantic import SecretStr
from sqlalchemy import select

from tests.bench import NOW, Bench, no_file_larger_than, opened_store, queried, settings_in
from tests.lakes import Lakes
from tests.running import run_sync, unrecorded_run
from tests.survival.moments import watched
from tests.upkeep.test_forget import holding, marked_in_new_places, orders_with_addresses
from wms_sandbox.transport import InProcess
from wms_sync.errors import SettingsError
from wms_sync.layout import backups_in, unfinished_backups_in
from wms_sync.settings import Settings
from wms_sync.state.errors import RestoreUnfinished, StateError
from wms_sync.state.ledger import LEDGER_LACKS, Entry, PushLedger, State
from wms_sync.state.schema import METADATA
from wms_sync.state.store import StateStore
from wms_sync.storage.durable import Inaccessible
from wms_sync.targets.errors import AnotherServiceError
from wms_sync.targets.target import target_of
from wms_sync.upkeep.backup import BackupReport, backup
from wms_sync.upkeep.forgotten_orders import add_to_list
from wms_sync.upkeep.restore import DataFolderInUse, restore, trust_ledger
from wms_sync.upkeep.verify import BackupError, verify

CREATED = Entry(InProcess.base_url, "products", "k", State.CREATED, "{}", "00", 7, "r", 1, None, NOW, NOW, None)


def state_of(settings: Settings) -> dict[str, list[dict[str, Any]]]:
    """Every row of the state store, by table."""
    with StateStore.opened(settings.database_url) as store, store.engine.connect() as connection:
        return {
            table.name: [dict(row._mapping) for row in connection.execute(select(table).order_by(*table.primary_key))]
            for table in METADATA.sorted_tables
            if table.name != "leases"
        }


SHIPMENTS = "select * exclude (_window_id, _page, _extracted_at) from shipments order by id"
"""What they are, wherever it was read."""


def shipments(settings: Settings) -> list[tuple[Any, ...]]:
    return queried(settings.layout.published, SHIPMENTS)


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a data folder but the writer's private files and the state store, by its place."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "work" not in path.parts and "state.db" not in path.name
    }


def test_what_is_restored_is_what_was_there(settings, backups):
    """Files are links to the data folder or to the last backup; rejected rows, which people correct, are copied."""
    rejected = settings.layout.rejects / "given.csv"
    rejected.parent.mkdir()
    rejected.write_text("as they were")
    with opened_store(settings) as store:
        store.ledger.record([CREATED])
    second, third = backup(settings, backups), backup(settings, backups)
    page = min(settings.data_dir.glob("raw/shipments/2*/page-*")).relative_to(settings.data_dir)
    assert (second.path / "analytics.duckdb").samefile(third.path / "analytics.duckdb")
    assert not (second.path / page).samefile(settings.data_dir / page), "the first backup has it too"
    assert (second.path / page).samefile(min(backups.glob(f"*/{page}")))
    assert not any(key.startswith(("raw/shipments", "parquet", "analytics")) for key in third.copied.new)
    before, state = contents(settings.data_dir), state_of(settings)

    rejected.write_text("corrected")
    shutil.rmtree(settings.data_dir)
    restored = restore(settings, backups)
    assert (restored.path, restored.copied.left_out) == (third.path, {})
    after = contents(settings.data_dir)
    assert {place: after[place] for place in after if "/state-" not in place} == {
        place: before[place] for place in before if "/state-" not in place and place != "metrics.prom"
    }
    assert state_of(settings) | {"observations": [], "installation": []} == state | {
        "observations": [],
        "installation": [],
    }
    assert (settings.data_dir / page).samefile(third.path / page)
    assert not rejected.samefile(third.path / "rejects" / "given.csv")
    assert verify(settings).damaged == verify(settings, backups).damaged == ()

    assert restored.creates_unknown_since is not None
    with StateStore.opened(settings.database_url) as store:
        assert store.observation(LEDGER_LACKS) is not None, "until somebody vouches for it"
        trust_ledger(settings)
        assert store.observation(LEDGER_LACKS) is None


@pytest.mark.parametrize("in_part", [False, True])
def test_a_lost_or_damaged_journal_of_creates_is_named(settings, backups, service, in_part):
    """In the data folder, whose state store has the creates; in a backup, whose snapshot counts them only."""
    with opened_store(settings) as store:
        store.ledger.record([CREATED, replace(CREATED, key="another")])
    made = backup(settings, backups)
    for path in (settings.layout.creates, made.path / "creates.jsonl"):
        path.write_bytes(path.read_bytes().partition(b"\n")[0] + b"\n") if in_part else path.unlink()
    for folder in (None, made.path):
        assert [damage.place for damage in verify(settings, folder).damaged] == ["creates.jsonl"]
    settings.layout.state.unlink()
    restored = restore(settings, made.path, over=settings.data_dir)
    assert (restored.creates_unknown_since, [*restored.copied.left_out]) == (0, ["creates.jsonl"])


def test_old_and_unfinished_backups_go(settings, backups):
    """Also one that was to be deleted; the newest sorts last even if an earlier one is of the future.

    A folder that has the name of a backup, but no record, is of another tool.
    """
    [old] = backups_in(backups)
    old.rename(backups / "20990101T000000Z")
    shutil.copytree(backups / "20990101T000000Z", backups / ".20260101T000000Z")
    (notes := backups / "notes").mkdir()
    (other := backups / "20250101T000000Z").mkdir()
    made = [backup(settings, backups) for _ in range(2)]
    assert unfinished_backups_in(backups) == []
    assert backups_in(backups)[2:] == [report.path for report in made]
    last = backup(settings, backups, most=1)
    assert (backups_in(backups), last.deleted, notes.exists()) == ([other, last.path], 3, True)
    other.rmdir()
    assert verify(settings, backups).damaged == ()


def test_it_is_consistent_while_a_sync_runs(settings, backups, service, tmp_path):
    """Between the pages of a backfill, which the next run continues from what the backup has of it."""
    made: list[BackupReport] = []
    before = shipments(settings)
    settings = settings.model_copy(update={"page_size": 5, "max_parallel_requests": 1})

    def backed_up_on_the_way(envelope: dict[str, Any]) -> dict[str, Any]:
        if not made and any(
            window["state"] == "reading" and window["pages"] for window in state_of(settings)["windows"]
        ):
            made.append(backup(settings, backups))
        return marked_in_new_places(envelope)

    service.sandbox.rewrite = backed_up_on_the_way
    with opened_store(settings) as store:
        Bench(settings, store, service).backfill(settings.start, settings.start.replace(day=31))
    service.sandbox.rewrite = marked_in_new_places
    elsewhere = settings.model_copy(update={"data_dir": tmp_path / "elsewhere"})
    assert restore(elsewhere, made[0].path).copied.left_out == {}
    assert "reading" in {window["state"] for window in state_of(elsewhere)["windows"]}
    run_sync(elsewhere, service)
    assert verify(elsewhere).damaged == ()
    assert shipments(elsewhere) == before


def test_what_was_forgotten_later_is_not_restored(settings, backups, tmp_path):
    """The state store, which outlives the folder, knows an order and a create; the list and a later backup others."""
    of_backup, of_list, of_state, other = orders_with_addresses(settings.layout.published)
    elsewhere = tmp_path / "elsewhere.db"
    shutil.copy(settings.layout.state, elsewhere)
    settings = settings.model_copy(update={"state_url": SecretStr(f"sqlite:///{elsewhere}")})
    earlier = backup(settings, backups)
    with opened_store(settings) as store:
        # as two runs of `wms-sync forget` that were killed as soon as they had recorded the order
        add_to_list(settings.layout, store, [of_backup])
        (backup(settings, backups).path / "forgotten-orders.json").unlink()  # its snapshot knows the order, too
        store.take_off_forgotten([of_backup])  # as an old copy of the state store
        add_to_list(settings.layout, store, [of_state])
        store.ledger.record([CREATED])
    shutil.rmtree(settings.data_dir)
    settings.data_dir.mkdir()
    settings.layout.forgotten_orders.write_text(json.dumps([of_list]))
    restored = restore(settings, earlier.path)
    assert (restored.forgotten, restored.creates_unknown_since) == (3, None)
    assert [holding(settings, order) for order in (of_backup, of_list, of_state)] == [set()] * 3
    assert holding(settings, other)
    with PushLedger.opened(settings.database_url) as ledger:
        assert CREATED in ledger.all()


def test_a_folder_with_data_is_replaced_by_name(settings, backups, service, tmp_path):
    """At each moment there is a published file, and nothing runs; the present ledger continues the kept one."""
    before = shipments(settings)
    for over in (None, tmp_path):
        with pytest.raises(DataFolderInUse, match="--over"):
            restore(settings, backups, over=over)
    assert shipments(settings) == before
    published: dict[str, bool] = {}
    settings.layout.restoring.write_text(str(backups))  # as one that was killed
    for use in (
        lambda: run_sync(settings, service),
        lambda: backup(settings, backups),
        lambda: verify(settings),
    ):
        with pytest.raises(RestoreUnfinished, match="wms-sync restore"):
            use()
    with watched(lambda moment: published.update({moment: settings.layout.published.exists()})):
        restored = restore(settings, backups, over=settings.data_dir)
    assert [moment for moment, exists in published.items() if not exists] == []
    assert restored.creates_unknown_since is None
    assert shipments(settings) != before
    with unrecorded_run(settings, "sync"):
        pass
    assert shipments(settings) != before, "no later snapshot is left that would come back"


def test_impossible_backups_and_restores_are_named(settings, backups, service, tmp_path):
    """Nothing is changed by them."""
    new = settings.model_copy(update={"data_dir": tmp_path / "new"})
    other = new.model_copy(update={"base_url": "https://other.example.com"})
    in_backup = settings.model_copy(update={"data_dir": backups_in(backups)[-1]})
    neighbour = settings_in(tmp_path / "neighbour", service)
    run_sync(neighbour, service)
    with opened_store(neighbour) as store:
        store.ledger.record([replace(CREATED, service="https://trial.example.com")])
    (tmp_path / "a file").touch()
    (tmp_path / "link").symlink_to(settings.data_dir)
    inside = Path(shutil.copytree(backups, settings.data_dir / "backups"))
    before = contents(tmp_path)
    cases: list[tuple[Callable[..., object], Settings, Path, type[Exception], str]] = [
        (backup, settings, tmp_path / "a file", Inaccessible, "a file"),
        (backup, new, tmp_path / "kept", BackupError, "nothing to back up"),
        (backup, neighbour, backups, BackupError, "another installation"),
        (backup, in_backup, tmp_path / "kept", StateError, "is a backup, which stays as it is"),
        (verify, new, tmp_path / "kept", BackupError, "no backup in"),
        (restore, new, tmp_path / "kept", BackupError, "no backup in"),
        (restore, other, backups, AnotherServiceError, "other.example.com"),
        (
            lambda given, folder: restore(given, folder, over=given.data_dir),
            neighbour,
            backups,
            AnotherServiceError,
            "trial.example.com",
        ),
        (restore, in_backup, neighbour.data_dir, StateError, "is a backup, which stays as it is"),
        (
            lambda given, _: run_sync(given, service),
            in_backup,
            backups,
            StateError,
            "is a backup, which stays as it is",
        ),
        *(
            (backup, settings, wrong, SettingsError, "must be separate")
            for wrong in (inside, settings.data_dir.parent, settings.data_dir, tmp_path / "link" / "x", inside / "..")
        ),
        *((restore, settings, wrong, SettingsError, "must be separate") for wrong in (inside, tmp_path / "link")),
    ]
    for use, given, folder, error, says in cases:
        with pytest.raises(error, match=says):
            use(given, folder)
    assert contents(tmp_path) == before
    settings.layout.state.unlink()
    with pytest.raises(BackupError, match="wms-sync sync"):
        backup(settings, backups)
    with pytest.raises(DataFolderInUse, match="The state store is in use"):
        restore(new.model_copy(update={"state_url": SecretStr(neighbour.database_url)}), backups)


DAMAGE: dict[str, Callable[[Path, Path], object]] = {
    # what comes in the place of a file, which was moved away, so that no other name of it is damaged
    "altered": lambda place, file: place.write_bytes(file.read_bytes()[:-8] + b"8 others"),
    "missing": lambda *_: None,
    "a folder": lambda place, _: place.mkdir(),
    "a device": lambda place, _: os.mkfifo(place),  # whoever opens it waits for ever
    "a link": lambda place, file: place.symlink_to(file),
}
NO_DAMAGE = {("missing", "raw/state-*"), ("missing", "parquet/_windows/2*")}
"""The next run writes another snapshot, and the next rebuild flattens again."""


def harm(path: Path, how: str) -> None:
    DAMAGE[how](path, path.rename(path.with_name(f".{path.name}")))


@pytest.mark.parametrize("how", DAMAGE)
@pytest.mark.parametrize(
    "pattern",
    ["raw/shipments/2*/page-*", "raw/state-*", "parquet/orders/*", "parquet/_windows/2*", "forgotten-orders.json"],
)
def test_verify_names_damage(settings, backups, pattern, how):
    """In the data folder, in a backup, and in a copy of the data folder."""
    backup(settings, backups)
    copy = Path(shutil.copytree(settings.data_dir, settings.data_dir.with_name("copy")))
    for where, given in ((settings.data_dir, None), (copy, copy), (backups_in(backups)[-1], backups)):
        path = min(where.glob(pattern))
        harm(path, how)
        place = path.relative_to(where if given != backups else backups).as_posix()
        is_state = pattern == "raw/state-*" and given == backups
        is_damage = (how, pattern) not in NO_DAMAGE or is_state
        assert [damage.place for damage in verify(settings, given).damaged] == (
            [place] * is_damage if not is_state else [*([place] * (how != "missing")), f"{path.parents[1].name}/raw"]
        )


LEFT_OUT: tuple[tuple[str, str, str], ...] = (
    ("raw/shipments/2*/page-*", "a link", "it cannot be used (a link)"),
    ("parquet/orders/2*", "missing", "it is missing"),
    ("parquet/shipments/2*", "altered", "it is altered"),
    ("analytics.duckdb", "altered", "it is altered"),
    ("rejects/a\nb.csv", "a device", "not a regular file"),
)


@pytest.mark.proof
def test_damage_in_a_backup_is_left_out_and_mended(settings, backups, service):
    """The next night makes it again; so it does with a page that was damaged before the backup."""
    before = shipments(settings)
    settings.layout.rejects.mkdir()
    (settings.layout.rejects / "a\nb.csv").write_text("rejected")
    page = max(settings.data_dir.glob("raw/shipments/2*/page-*"))
    harm(page, "altered")
    made = backup(settings, backups)
    assert [*made.copied.left_out] == [page.relative_to(settings.data_dir).as_posix()]
    expected = {}
    for pattern, how, reason in LEFT_OUT:
        path = min(made.path.glob(pattern))
        harm(path, how)
        expected[path.relative_to(made.path).as_posix()] = reason
    found = {damage.place.partition("/")[2]: damage.reason for damage in verify(settings, backups).damaged}
    assert {place for place in expected if "rejects" not in place} <= found.keys()
    assert [place for place, reason in found.items() if expected.get(place, "it is missing") not in reason] == []
    shutil.rmtree(settings.data_dir)
    left_out = restore(settings, made.path).copied.left_out
    assert left_out.keys() == {*expected, *made.copied.left_out}
    assert [place for place, reason in expected.items() if reason not in left_out[place]] == []
    for _ in range(2):  # the first one finds the damaged page
        run_sync(settings, service)
    assert shipments(settings) == before


def test_links_lead_nowhere(settings, backups, tmp_path):
    """A link in place of a folder of a backup, of a backup, or of one that was killed, is never followed."""
    made = backup(settings, backups)
    secret = Path(shutil.copytree(made.path / "parquet", tmp_path / "secret"))
    shutil.rmtree(made.path / "parquet")
    (made.path / "parquet").symlink_to(secret)
    for name in ("20990101T000000Z", ".20990101T000000Z"):
        (backups / name).symlink_to(secret)
    assert backups_in(backups)[-1] == made.path
    assert "parquet: it cannot be used (a link)" in "\n".join(map(str, verify(settings, backups).damaged))
    assert restore(settings, backups, over=settings.data_dir).copied.left_out["parquet"] == "it cannot be used (a link)"
    assert not any(settings.layout.parquet.glob("*"))
    backup(settings, backups, most=1)
    assert any(secret.rglob("*.parquet"))


def changed_state(table: str, **values: object) -> Callable[[dict[str, Any]], object]:
    """Other values in the first row of a table."""
    return lambda snapshot: snapshot["tables"][table][0].update(values)


NO_STATES: dict[str, Callable[[dict[str, Any]], object]] = {
    "an empty object": dict.clear,
    "a table that lacks": lambda snapshot: snapshot["tables"].pop("pages"),
    "rows of another kind": lambda snapshot: snapshot["tables"].update(windows=[[1]]),
    "a row without its columns": lambda snapshot: snapshot["tables"].update(windows=[{"id": "w"}]),
    "a text for a time": changed_state("windows", from_at="yesterday"),
    "a time out of range": changed_state("windows", from_at="0001-01-01T00:00:00+14:00"),
    "null for a name": changed_state("windows", id=None),
    "a text for a number": changed_state("pages", number="one"),
    "a number out of range": changed_state("pages", bytes=2**63),
    "a path for a page": changed_state("pages", file="../../../state.db"),
    "a path for a window": changed_state("windows", id="../../state"),
    "a path out of a window": changed_state("windows", id="w1/.."),
    "a line break in a window": changed_state("windows", id="w\n1"),
    "an absolute path for a window": changed_state("windows", id="/w1"),
    "a later release": lambda snapshot: snapshot["migrations"].append("9999_later"),
}


def test_a_wrong_snapshot_is_refused(settings, backups):
    """No name in it leads out of the data folder. Where there is an older one, that is restored."""
    made = backup(settings, backups)
    before, state = contents(settings.data_dir), min(made.path.glob("raw/state-*"))
    content = gzip.decompress(state.read_bytes())
    state.unlink()
    for title, change in NO_STATES.items():
        snapshot = json.loads(content)
        change(snapshot)
        state.write_bytes(gzip.compress(json.dumps(snapshot).encode()))
        with pytest.raises(BackupError, match=r"was not restored, and .* is unchanged: .*raw/state-\d+"):
            restore(settings, backups, over=settings.data_dir)
        assert verify(settings, made.path).damaged[0].place == state.relative_to(made.path).as_posix(), title
    assert contents(settings.data_dir) == before
    copy = Path(shutil.copytree(settings.data_dir, settings.data_dir.with_name("copy")))
    newest = max(copy.glob("raw/state-*"))
    newest.write_bytes(b"no snapshot")
    assert [*restore(settings, copy, over=settings.data_dir).copied.left_out] == [newest.relative_to(copy).as_posix()]
    assert Path(settings.layout.snapshots()[-1]).name > newest.name, "so that it is not taken for an old one"


@pytest.mark.parametrize(
    "name", ["../x.parquet", "/tmp/x.parquet", "", ".", "../../state.db", "x\n-00001.parquet", "w-00001.parquet/../x"]
)
def test_a_record_of_parquet_files_leads_nowhere(settings, backups, name):
    path = min(backup(settings, backups).path.glob("parquet/_windows/2*"))
    record = json.loads(path.read_bytes())
    record["parts"]["orders"][0]["name"] = name
    path.unlink()
    path.write_text(json.dumps(record))
    assert [damage.reason for damage in verify(settings, backups).damaged] == ["it is damaged"]
    assert [*restore(settings, backups, over=settings.data_dir).copied.left_out.values()] == ["it is damaged"]


def refuse_deletes(settings: Settings) -> None:
    with StateStore.opened(settings.database_url) as store, store.engine.begin() as connection:
        connection.exec_driver_sql("create trigger no before delete on windows begin select raise(abort, 'no'); end")


WRONG: dict[str, Callable[[Settings, Path], AbstractContextManager[None] | None]] = {
    "no room for a copy": lambda here, _: no_file_larger_than(here.layout.published.stat().st_size // 2),
    "no room for the state": lambda _, __: no_file_larger_than(20_000),
    "a list of forgotten orders that is lost": lambda _, copy: (copy / "forgotten-orders.json").unlink(),
    "a restore into it was killed": lambda _, copy: (copy / "restoring.json").touch(),
    "a present state that refuses": lambda here, _: refuse_deletes(here),
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_a_restore_that_fails_leaves_the_folder(settings, wrong):
    copy = Path(shutil.copytree(settings.data_dir, settings.data_dir.with_name("copy")))
    with wrong(settings, copy) or nullcontext():
        before, state = contents(settings.data_dir), state_of(settings)
        with pytest.raises(BackupError, match=r"was not restored, and .* is unchanged"):
            restore(settings, copy, over=settings.data_dir)
    assert (contents(settings.data_dir), state_of(settings)) == (before, state)
    with unrecorded_run(settings, "sync"):
        pass


def test_a_damaged_state_store_is_named(settings, backups):
    """It may be someone's work, so no restore deletes it."""
    settings.layout.state.write_bytes(b"SQLite format 3\0" + b"no database" * 1000)
    with pytest.raises(BackupError, match="Move it to another folder"):
        restore(settings, backups, over=settings.data_dir)
    settings.layout.state.unlink()
    assert restore(settings, backups, over=settings.data_dir).creates_unknown_since is not None
    assert verify(settings).damaged == ()


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
    run_sync(moved, service)
    with target_of(moved).published() as connection:
        assert connection.execute(SHIPMENTS).fetchall() == before
    assert verify(moved).damaged == ()
