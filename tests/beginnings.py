"""How many tests begin: with a data folder after a first sync, which takes most of such a test's time.

It is made once in a process and copied to each test that begins alike: with the same service, to which nothing happened
yet, read with the same settings. The service is a function of its configuration and its clock stands still, so the copy
is what the test would have made.
"""

import shutil
from collections.abc import Callable, Hashable
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, TypeVar

from tests.services import Service
from wms_sandbox.app import Sandbox
from wms_sync.settings import Settings
from wms_sync.storage.durable import make_private
from wms_sync.targets.opening import open_for_writing
from wms_sync.upkeep.recovery import recover_state

T = TypeVar("T")


NEW = {"state.db", "raw", "creates.jsonl", "forgotten-orders.json", "work"}
"""What a new installation has."""
root = Path()
"""Where the folders are as long as this process runs; ``conftest.py`` sets it."""
_MADE: dict[Hashable, tuple[Path, Any]] = {}


def made(key: Hashable, make: Callable[[Path], T]) -> tuple[Path, T]:
    """The folder of this key and what ``make`` returned, which is called with it where it is not there yet.

    Nobody writes into it later.
    """
    if key not in _MADE:
        folder = Path(mkdtemp(dir=root))
        _MADE[key] = folder, make(folder)
    return _MADE[key]


def alike(service: Service, settings: Settings) -> Hashable:
    """The key of a service to which nothing happened yet and of the settings it is read with, wherever the data is."""
    sandbox, new = service.sandbox, Sandbox(service.sandbox.config)
    assert type(sandbox) is Sandbox
    assert sandbox.config.now is not None, "its clock must stand still"
    assert (sandbox._store.version, sandbox.clock.now()) == (new._store.version, new.clock.now())
    assert (sandbox.intercept, sandbox.rewrite, sandbox.redate) == (None, None, None)
    assert sandbox.field_treatment == new.field_treatment
    return service.base_url, sandbox.config, settings.model_dump_json(exclude={"data_dir"})


def empty_state(settings: Settings) -> None:
    """Put a state store there that no run has written into, unless there is one: its migrations take as long as many
    a test."""
    if any(settings.data_dir.glob("state.db*")):
        return
    if settings.state_url is not None or settings.files_url is not None:
        recover_state(settings)
        return
    assert not any(settings.data_dir.glob("raw/*"))

    assert not any(settings.data_dir.glob("raw/*"))

    def make(folder: Path) -> None:
        recover_state(settings.model_copy(update={"data_dir": folder}))
        assert {path.name for path in folder.iterdir()} == NEW

    folder, _ = made("empty state", make)
    shutil.copytree(folder, make_private(settings.data_dir), dirs_exist_ok=True)


def empty_tables(path: Path) -> Path:
    """Put a file there that has every table, view and comment and no row, which takes a load 0.2 s to make."""

    def make(folder: Path) -> Path:
        with open_for_writing(folder / "empty.duckdb", memory_limit="300MB"):
            return folder / "empty.duckdb"

    _, tables = made("empty tables", make)
    make_private(path.parent)
    shutil.copyfile(tables, path)
    return path
