"""A whole installation whose raw pages and Parquet files lie in object storage, on machines whose disks vanish."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Hashable
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.beginnings import BEGINNINGS
from tests.conftest import CONFIG, asks_for_page
from tests.storage.conftest import KEYS, Wire, foretold
from tests.survival.installation import Installation, Rows, rows
from tests.survival.moments import Moment
from wms_sandbox.app import Sandbox
from wms_sandbox.server import SandboxServer
from wms_sync.master_data.products import PRODUCTS
from wms_sync.master_data.push import plan_file
from wms_sync.reports.doctor import examine
from wms_sync.reports.status import status
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
RECORDED = "WindowReader._read_on > WindowReader._land > StateStore.record_page > Guarded._transaction: before commit"


@pytest.fixture
def service(sandbox: SandboxServer) -> SandboxServer:
    sandbox.sandbox = Sandbox(replace(CONFIG, shipments=SHIPMENTS))
    return sandbox


@pytest.fixture
def settings(service, settings_for, in_bucket):
    return settings_for(service, **SMALL, **in_bucket)


@pytest.fixture
def expected(service, settings_for) -> Rows:
    """The tables of an installation whose pages and Parquet lie in its data folder."""

    def make(folder: Path) -> Rows:
        beside = settings_for(service, **SMALL, data_dir=folder)
        sync(beside)
        service.sandbox.requests.clear()
        return rows(beside.layout)

    return BEGINNINGS.made(kept_as(service), make)[1]


def kept_as(service: SandboxServer) -> Hashable:
    return "a sync beside a bucket", service.base_url


def beside(service: SandboxServer) -> Path:
    """The data folder of what is expected."""
    return BEGINNINGS.made(kept_as(service), Path)[0]


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


def test_the_next_machine_continues_after_outage_and_kill(service, settings, expected, in_bucket, s3: Wire, keys):
    def cut(_: Any) -> None:
        if len(pages_asked(service)) >= 4:
            s3.cut()

    service.sandbox.intercept = cut
    with pytest.raises(FilesUnavailable, match="continues from there"):
        sync(settings)
    service.sandbox.intercept = None
    s3.mend()
    landed = recorded(settings)
    assert landed
    shutil.rmtree(settings.data_dir)

    named = {f"WMS_{name.upper()}": str(value) for name, value in {**SMALL, **in_bucket}.items()}
    pod = Installation(settings.data_dir, service, {**named, **KEYS})
    assert pod.run("sync", kill=Moment(RECORDED, 3)).exitcode == -9
    assert len(raw_pages(keys) - recorded(settings)) >= 1
    assert KEYS["AWS_SECRET_ACCESS_KEY"] not in pod.log.read_text()
    shutil.rmtree(settings.data_dir)

    service.sandbox.requests.clear()
    done = sync(settings)
    assert done.refreshed is not None
    assert done.refreshed.published
    assert landed < recorded(settings) == raw_pages(keys), "what was not recorded is gone"
    assert rows(settings.layout) == expected
    assert not settings.layout.raw.exists()
    assert not settings.layout.parquet.exists()

    shutil.rmtree(settings.data_dir)
    service.sandbox.requests.clear()
    again = sync(settings)
    assert again.refreshed is not None
    assert set(done.refreshed.windows) == set(again.refreshed.windows), "merged again, from their Parquet files"
    assert rows(settings.layout) == expected
    assert len(pages_asked(service)) < PAGES / 2, "the overlap"
    assert not verify(settings).damaged


@pytest.fixture
def moved(service, settings_for, expected, settings, tmp_path) -> Settings:
    """An installation beside the bucket, which a backup and a restore have moved into it."""
    here: Settings = settings_for(service, **SMALL, data_dir=shutil.copytree(beside(service), tmp_path / "moved"))
    backup(here, tmp_path / "backups")
    restore(settings, tmp_path / "backups", creates_are_known=True)
    return here


def test_an_installation_moves_by_backup_and_restore(moved, expected, settings, keys, tmp_path):
    here, there = moved, settings
    assert rows(there.layout) == expected
    assert {str(path.relative_to(here.data_dir)) for path in here.layout.raw.rglob("*.*")} <= keys()
    assert not there.layout.raw.exists()
    with pytest.raises(DataFolderInUse, match="a different prefix"):
        restore(there, tmp_path / "backups")
    found = verify(there)
    assert (found.damaged, found.examined["page"] >= PAGES) == ((), True)
    assert [finding.text for finding in examine(there) if finding.name == "files"] == [
        f"{there.files_url} supports write, read, list and delete, and does not overwrite objects"
    ]
    with StateStore(there.database_url) as store:
        assert status(there, store).files_in == there.files_url
    for wrong, where in ((f"{there.files_url}x", f"{there.files_url}x"), (None, "the data folder")):
        elsewhere = there.model_copy(update={"files_url": wrong})
        with pytest.raises(FilesElsewhere, match=f"were in {there.files_url} until now, and {where} has none") as error:
            sync(elsewhere)
        assert foretold(elsewhere) == [str(error.value)] * 2
        assert not [finding for finding in examine(elsewhere) if finding.name == "raw pages"], "none is damaged"


def test_what_a_bucket_and_a_backup_restore(moved, expected, service, settings, tmp_path, keys):
    """The machine is lost with the state; the backup is of before somebody had an order forgotten."""
    made = backup(settings, tmp_path / "from the bucket").backup
    assert (made.files_in, [place for place in made.files if "/" in place]) == (settings.files_url, [])
    with begin(settings, "forget") as run:
        assert forget(run, [an_order(settings)]).pages > 0
        forgotten = run.store.forgotten()
        page = run.store.pages(run.store.windows("loaded")[0].id)[0].file
    service.sandbox.requests.clear()
    file = tmp_path / "products.csv"
    file.write_text("sku,name\nP1,One\n")
    for how in ("the bucket alone", "the bucket and the backup"):
        shutil.rmtree(settings.data_dir)
        Path(settings.database_url.removeprefix("sqlite:///")).unlink()
        if how == "the bucket and the backup":
            done = restore(settings, tmp_path / "from the bucket", creates_are_known=True)
            assert done.forgotten == len(forgotten)
        planned = plan_file(settings, PRODUCTS, file)  # before any run has mended the state
        assert planned.sends == (how == "the bucket and the backup"), "it may have been created by the lost machine"
        with begin(settings, "sync") as run:
            assert run.store.forgotten() == forgotten
            assert page in {landed.file for window in run.store.windows() for landed in run.store.pages(window.id)}
            assert (run.store.observation(LEDGER_LACKS) is not None) == (how == "the bucket alone")
        assert raw_pages(keys) == recorded(settings)
    sync(settings)
    assert rows(settings.layout).keys() == expected.keys()
    assert not verify(settings).damaged
    assert len(pages_asked(service)) < PAGES, "the overlap"
    elsewhere = settings.model_copy(update={"files_url": None, "data_dir": tmp_path / "empty"})
    with pytest.raises(BackupError, match="Set WMS_FILES_URL to their current location"):
        restore(elsewhere, tmp_path / "from the bucket")


def an_order(settings: Settings) -> int:
    with duckdb.connect(settings.layout.published, read_only=True) as connection:
        [(order,)] = connection.execute("select id from orders order by id limit 1 offset 3").fetchall()
    return int(order)
