"""An installation with persons, read twice and backed up in between: made once, and copied to each test."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from tests.bench import CONFIG, let_pass, settings_in
from tests.running import run_sync
from tests.upkeep.test_forget import marked_in_new_places
from wms_sandbox.app import Sandbox
from wms_sandbox.transport import InProcess
from wms_sync.settings import Settings
from wms_sync.upkeep.backup import backup


@pytest.fixture(scope="package")
def service() -> InProcess:
    within = InProcess(Sandbox(replace(CONFIG, shipments=60, families=40)))
    within.sandbox.rewrite = marked_in_new_places
    return within


@pytest.fixture(scope="package")
def read_once(service: InProcess, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two nights in `data`, so that orders stand in several windows; in `backups` a backup of between them."""
    folder = tmp_path_factory.mktemp("kept")
    settings = settings_in(folder / "data", service, include_addresses=True)
    run_sync(settings, service)
    backup(settings, folder / "backups")
    let_pass(service.sandbox, seconds=3600, changed=50, orders=20)
    run_sync(settings, service)
    return folder


@pytest.fixture
def settings(read_once: Path, service: InProcess, tmp_path: Path) -> Settings:
    """Those of a copy of both folders."""
    return settings_in(Path(shutil.copytree(read_once, tmp_path / "here"), "data"), service, include_addresses=True)


@pytest.fixture
def backups(settings: Settings) -> Path:
    return settings.data_dir.with_name("backups")
