"""A whole installation whose raw pages and Parquet files lie in object storage, on machines whose disks vanish."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.beginnings import BEGINNINGS
from tests.conftest import CONFIG, asks_for_page, queried
from tests.storage.conftest import KEYS, Wire, foretold
from tests.survival.installation import Rows, rows
from wms_sandbox.app import Sandbox
from wms_sandbox.server import SandboxServer
from wms_sync.reports.doctor import examine
from wms_sync.runs import Operation, RunReport
from wms_sync.settings import Settings
from wms_sync.state.ledger import LEDGER_LACKS
from wms_sync.state.store import StateStore
from wms_sync.storage.files import FilesUnavailable
from wms_sync.upkeep.backup import backup
from wms_sync.upkeep.backups import BackupError
from wms_sync.upkeep.forget import forget
from wms_sync.upkeep.recovery import FilesElsewhere, begin
from wms_sync.upkeep.restore import DataFolderInUse, restore
from wms_sync.upkeep.verify import verify

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
def beside(service, settings_for) -> tuple[Path, Rows]:
    """The data folder and the tables of an installation whose pages and Parquet lie in its data folder."""

    def make(folder: Path) -> Rows:
        settings = settings_for(service, **SMALL, data_dir=folder)
        sync(settings)
        return rows(settings.layout)

    made: tuple[Path, Rows] = BEGINNINGS.made(("a sync beside a bucket", service.base_url), make)
    service.sandbox.requests.clear()
    return made


@pytest.fixture
def expected(beside) -> Rows:
    tables: Rows = beside[1]
    return tables


def sync(settings: Settings) -> RunReport:
    run = Operation(settings, source="test")
    run.sync()
    return run.report


def pages_asked(service: SandboxServer) -> list[str]:
    return [request.query for request in service.sandbox.requests if asks_for_page(request.query)]


def recorded(settings: Settings) -> set[str]:
    """The names of all pages that the state store has, each with its window."""
    with StateStore(settings.database_url) as store:
        return {
            f"raw/shipments/{window.id}/{page.file}" for window in store.windows() for page in store.pages(window.id)
        }


def raw_pages(keys: Callable[[], set[str]]) -> set[str]:
    return {key for key in keys() if "/page-" in key}


def test_the_next_machine_continues_after_an_outage(service, settings, expected, s3: Wire, keys):
    def cut(_: Any) -> None:
        if len(pages_asked(service)) >= 4:
            s3.cut()

    service.sandbox.intercept = cut
    with pytest.raises(FilesUnavailable, match="continues from there") as outage:
        sync(settings)
    assert KEYS["AWS_SECRET_ACCESS_KEY"] not in str(outage.value)
    service.sandbox.intercept = None
    s3.mend()
    landed = recorded(settings)
    with begin(settings, "sync") as run:
        run.layout.files.put(
            run.turn, f"{next(iter(landed)).rpartition('/')[0]}/page-99999.json.gz", b"of a killed run"
        )
    shutil.rmtree(settings.data_dir)

    done = sync(settings)
    assert landed < recorded(settings) == raw_pages(keys), "what was not recorded is gone"
    assert rows(settings.layout) == expected
    assert not settings.layout.raw.exists()
    assert not settings.layout.parquet.exists()

    shutil.rmtree(settings.data_dir)
    service.sandbox.requests.clear()
    again = sync(settings)
    assert done.refreshed is not None
    assert again.refreshed is not None
    assert set(done.refreshed.windows) == set(again.refreshed.windows), "merged again, from their Parquet files"
    assert rows(settings.layout) == expected
    assert len(pages_asked(service)) < PAGES / 2, "the overlap"
    assert not verify(settings).damaged


@pytest.fixture
def moved(service, settings_for, beside, settings, tmp_path) -> Settings:
    """An installation beside the bucket, which a backup and a restore have moved into it."""
    here: Settings = settings_for(service, **SMALL, data_dir=shutil.copytree(beside[0], tmp_path / "moved"))
    backup(here, tmp_path / "backups")
    restore(settings, tmp_path / "backups", creates_are_known=True)
    return here


def test_an_installation_moves_by_backup_and_restore(moved, expected, settings, keys, tmp_path):
    assert rows(settings.layout) == expected
    assert {str(path.relative_to(moved.data_dir)) for path in moved.layout.raw.rglob("*.*")} <= keys()
    assert not settings.layout.raw.exists()
    with pytest.raises(DataFolderInUse, match="a different prefix"):
        restore(settings, tmp_path / "backups")
    found = verify(settings)
    assert (found.damaged, found.examined["page"] >= PAGES) == ((), True)
    assert [finding.text for finding in examine(settings) if finding.name == "files"] == [
        f"{settings.files_url} supports write, read, list and delete, and does not overwrite objects"
    ]
    for wrong, where in ((f"{settings.files_url}x", f"{settings.files_url}x"), (None, "the data folder")):
        elsewhere = settings.model_copy(update={"files_url": wrong})
        with pytest.raises(FilesElsewhere, match=f"were in {settings.files_url} until now, and {where} has") as error:
            sync(elsewhere)
        assert foretold(elsewhere) == [str(error.value)]


def test_what_a_bucket_and_a_backup_restore(moved, expected, service, settings, tmp_path, keys):
    """The machine is lost with the state; the backup is of before somebody had an order forgotten."""
    made = backup(settings, tmp_path / "from the bucket").backup
    assert (made.files_in, [place for place in made.files if "/" in place]) == (settings.files_url, [])
    [(order,)] = queried(settings.layout.published, "select id from orders order by id limit 1 offset 3")
    with begin(settings, "forget") as run:
        assert forget(run, [order]).pages > 0
        forgotten = run.store.forgotten()
    service.sandbox.requests.clear()
    for is_restored in (False, True):
        shutil.rmtree(settings.data_dir)
        Path(settings.database_url.removeprefix("sqlite:///")).unlink()
        if is_restored:
            done = restore(settings, tmp_path / "from the bucket", creates_are_known=True)
            assert done.forgotten == len(forgotten)
        with begin(settings, "sync") as run:
            assert (run.store.forgotten(), run.store.windows("abandoned")) == (forgotten, ())
            assert (run.store.observation(LEDGER_LACKS) is None) == is_restored
        assert raw_pages(keys) == recorded(settings)
    sync(settings)
    assert rows(settings.layout).keys() == expected.keys()
    assert not verify(settings).damaged
    assert len(pages_asked(service)) < PAGES, "the overlap"
    elsewhere = settings.model_copy(update={"files_url": None, "data_dir": tmp_path / "empty"})
    with pytest.raises(BackupError, match="Set WMS_FILES_URL to their current location"):
        restore(elsewhere, tmp_path / "from the bucket")
