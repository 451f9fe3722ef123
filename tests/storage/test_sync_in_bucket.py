"""A whole installation whose raw pages and Parquet files lie in object storage, on machines whose disks vanish."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.bench import CONFIG, pages_asked, queried
from tests.running import run_push, run_sync, unrecorded_run
from tests.storage.conftest import KEYS, Wire
from tests.survival.installation import rows
from wms_sandbox.app import Sandbox
from wms_sandbox.server import SandboxServer
from wms_sync.layout import CREATES
from wms_sync.master_data.kinds import PRODUCTS
from wms_sync.reports.doctor import examine
from wms_sync.reports.findings import findings_of
from wms_sync.settings import Settings
from wms_sync.state.ledger import LEDGER_LACKS
from wms_sync.state.snapshot_files import AnotherInstallation, write_snapshot
from wms_sync.state.store import StateStore
from wms_sync.storage.files import FilesUnavailable
from wms_sync.upkeep.backup import backup
from wms_sync.upkeep.forget import forget
from wms_sync.upkeep.restore import DataFolderInUse, restore
from wms_sync.upkeep.verify import BackupError, verify

SHIPMENTS, PAGES = 120, 12
SMALL: dict[str, object] = {"page_size": SHIPMENTS // PAGES, "max_parallel_requests": 1, "audit_pages": 0}


@pytest.fixture
def service(sandbox: SandboxServer) -> SandboxServer:
    sandbox.sandbox = Sandbox(replace(CONFIG, shipments=SHIPMENTS))
    return sandbox


@pytest.fixture
def settings(service, settings_for, in_bucket):
    return settings_for(service, **SMALL, **in_bucket)


@pytest.fixture
def beside(service, settings_for, tmp_path) -> Settings:
    """An installation after a sync whose pages and Parquet lie in its data folder."""
    settings: Settings = settings_for(service, **SMALL, data_dir=tmp_path / "beside")
    run_sync(settings)
    service.sandbox.requests.clear()
    return settings


def recorded(settings: Settings) -> set[str]:
    """The names of all pages that the state store has, each with its window."""
    with StateStore.opened(settings.database_url) as store:
        return {
            f"raw/shipments/{window.id}/{page.file}" for window in store.windows() for page in store.pages(window.id)
        }


def raw_pages(keys: Callable[[], set[str]]) -> set[str]:
    return {key for key in keys() if "/page-" in key}


def test_the_next_machine_continues_after_an_outage(service, settings, beside, s3: Wire, keys):
    expected = rows(beside.layout)

    def cut(_: Any) -> None:
        if len(pages_asked(service)) >= 4:
            s3.is_cut = True

    service.sandbox.intercept = cut
    with pytest.raises(FilesUnavailable, match="continues from there") as outage:
        run_sync(settings)
    assert KEYS["AWS_SECRET_ACCESS_KEY"] not in str(outage.value)
    service.sandbox.intercept = None
    s3.is_cut = False
    landed = recorded(settings)
    with unrecorded_run(settings, "sync") as run:
        run.layout.files.put(
            run.lease, f"{next(iter(landed)).rpartition('/')[0]}/page-99999.json.gz", b"of a killed run"
        )
    shutil.rmtree(settings.data_dir)

    done = run_sync(settings)
    assert landed < recorded(settings) == raw_pages(keys), "what was not recorded is gone"
    assert rows(settings.layout) == expected
    assert (settings.layout.raw.exists(), settings.layout.parquet.exists()) == (False, False)

    shutil.rmtree(settings.data_dir)
    service.sandbox.requests.clear()
    again = run_sync(settings)
    assert done.refreshed
    assert again.refreshed
    assert set(done.refreshed.windows) == set(again.refreshed.windows), "merged again, from their Parquet files"
    assert rows(settings.layout) == expected
    assert len(pages_asked(service)) < PAGES / 2, "the overlap"
    assert not verify(settings).damaged


def test_a_bucket_that_fails_at_the_end_of_a_push_changes_no_outcome(service, settings, s3: Wire, tmp_path):
    """What could not be kept beside the pages is a finding, until the next run keeps it."""
    path = tmp_path / "products.csv"
    path.write_text("sku,name\nP1,One\n")

    def cut(request: Any) -> None:
        s3.is_cut = request.method == "POST"

    service.sandbox.intercept = cut
    for is_down in (True, False):
        report = run_push(settings, PRODUCTS, path)
        s3.is_cut = False
        assert (report.exit_code, settings.layout.files.size(CREATES) is None) == (0, is_down)
        assert ["no-snapshot" in finding.name for finding in findings_of(settings)].count(True) == is_down
        service.sandbox.intercept = None


@pytest.fixture
def moved(beside: Settings, settings: Settings, tmp_path: Path) -> Settings:
    """Settings of the installation, which a backup and a restore have moved into the bucket."""
    backup(beside, tmp_path / "backups")
    restore(settings, tmp_path / "backups", creates_are_known=True)
    return settings


def test_an_installation_moves_into_a_bucket_and_out_of_it(beside, moved, keys, download, tmp_path):
    """Any program may copy the objects into a folder; tables are built from them."""
    assert rows(moved.layout) == rows(beside.layout)
    assert {str(path.relative_to(beside.data_dir)) for path in beside.layout.raw.rglob("*.*")} <= keys()
    assert not moved.layout.raw.exists()
    with pytest.raises(DataFolderInUse, match="a different prefix"):
        restore(moved, tmp_path / "backups")
    found = verify(moved)
    assert (found.damaged, found.examined["page"] >= PAGES) == ((), True)
    assert [finding.text for finding in examine(moved) if finding.name == "files"] == [
        f"{moved.files_url} supports write, read, list and delete, and does not overwrite objects"
    ]
    for wrong in (f"{moved.files_url}x", None):
        elsewhere = moved.model_copy(update={"files_url": wrong})
        with pytest.raises(AnotherInstallation, match=r"the files in .*: 0 windows are there") as error:
            run_sync(elsewhere)
        assert str(error.value) in {finding.text for finding in findings_of(elsewhere)}
        assert elsewhere.layout.snapshots() == [], "nothing was written there"

    run_sync(moved)
    back = beside.model_copy(update={"data_dir": tmp_path / "back"})
    restore(back, download(tmp_path / "copied"), creates_are_known=True)
    run_sync(back)
    assert (rows(back.layout), verify(back).damaged) == (rows(moved.layout), ())


def test_a_killed_forget_is_finished(beside, moved, keys):
    """It has recorded the names that its files were about to get, and no such file is there."""
    [(order,)] = queried(moved.layout.published, "select id from orders order by id limit 1 offset 3")
    with unrecorded_run(moved, "forget") as run:
        files = run.layout.files
        before = {key: files.get(key) for key in keys() if key.endswith(".parquet")}
        assert forget(run, [order]).parquet_files
        for key in {key for key in keys() if key.endswith(".parquet")} - before.keys():
            files.delete(run.lease, key)
        put = [files.put(run.lease, key, content) for key, content in before.items() if key not in keys()]
        assert forget(run, [order]).parquet_files == len(put) > 0
        assert forget(run, [order]).parquet_files == 0
    assert not verify(moved).damaged


def test_what_a_bucket_and_a_backup_restore(beside, moved, service, tmp_path, keys):
    """The machine is lost with the state; the backup is of before somebody had an order forgotten."""
    assert (
        [key.rpartition("-")[0] for key in backup(moved, tmp_path / "from the bucket").copied.sizes if "/" in key],
        verify(moved, tmp_path / "from the bucket").damaged,
    ) == (["raw/state"], ())
    [(order,)] = queried(moved.layout.published, "select id from orders order by id limit 1 offset 3")
    with unrecorded_run(moved, "forget") as run:
        assert forget(run, [order]).pages > 0
        forgotten = run.store.forgotten()
        write_snapshot(run.layout, run.store)
    service.sandbox.requests.clear()
    for is_restored in (False, True):
        shutil.rmtree(moved.data_dir)
        Path(moved.database_url.removeprefix("sqlite:///")).unlink()
        if is_restored:
            done = restore(moved, tmp_path / "from the bucket", creates_are_known=True)
            assert done.forgotten == len(forgotten)
        with unrecorded_run(moved, "sync") as run:
            assert (run.store.forgotten(), run.store.windows("abandoned")) == (forgotten, ())
            assert (run.store.observation(LEDGER_LACKS) is None) == is_restored
        assert raw_pages(keys) == recorded(moved)
    run_sync(moved)
    assert rows(moved.layout).keys() == rows(beside.layout).keys()
    assert not verify(moved).damaged
    assert len(pages_asked(service)) < PAGES, "the overlap"
    with pytest.raises(BackupError, match="Set WMS_FILES_URL to their current location"):
        restore(beside.model_copy(update={"data_dir": tmp_path / "empty"}), tmp_path / "from the bucket")
