"""What a release leaves behind, for the tests of later ones: ``python -m tests.releases.freezing FOLDER``.

``data.tar.xz`` is a data folder after two syncs, a push and a ``forget``; ``state.sql`` is its state store as
PostgreSQL has it. Once the release is out, they are never made again: they are what its users have.
"""

import subprocess
import sys
import tarfile
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from typing import Any

from pydantic import SecretStr

from tests.bench import CONFIG, let_pass, settings_in
from tests.master_data.conftest import MERCHANT
from tests.postgres import plain, postgres_where_installed
from wms_sandbox.app import Sandbox
from wms_sandbox.transport import InProcess
from wms_sync.cli.operations import COMMAND_LINE
from wms_sync.master_data.kinds import KINDS, SAMPLES, files_of
from wms_sync.runs import Operation, push
from wms_sync.settings import Settings
from wms_sync.upkeep.recovery import recover_state

WORLD = replace(CONFIG, shipments=120, families=20)
FORGOTTEN = 3


def service() -> InProcess:
    """The service as it is when the release ends."""
    made = InProcess(Sandbox(WORLD))
    let_pass(made.sandbox, seconds=3600, changed=20, new=10, orders=5)
    return made


def settings_of(folder: Path, served: InProcess, **overrides: Any) -> Settings:
    return settings_in(folder, served, include_addresses=True, **MERCHANT, **overrides)


def freeze(folder: Path) -> None:
    """Make both files."""
    with TemporaryDirectory() as made, postgres_where_installed() as url:
        settings = write(Path(made) / "data")
        with tarfile.open(folder / "data.tar.xz", "w:xz") as packed:
            packed.add(settings.data_dir, "data")
        recover_state(settings.model_copy(update={"state_url": SecretStr(url)}))
        text = subprocess.check_output(
            ["pg_dump", "--inserts", "--no-owner", "--no-comments", "--schema", "public", plain(url)], text=True
        )
    lines = [line for line in text.splitlines() if line and not line.startswith(("--", "\\", "CREATE SCHEMA"))]
    (folder / "state.sql").write_text("\n".join(lines) + "\n")


def write(folder: Path) -> Settings:
    """Do what users do, and return the settings."""
    served = InProcess(Sandbox(WORLD))
    settings = settings_of(folder, served)
    Operation(settings, source=COMMAND_LINE, transport=served).sync()
    for kind in KINDS:
        for path in files_of(SAMPLES, kind):
            push(
                settings,
                kind,
                path,
                source=COMMAND_LINE,
                resend=False,
                planned=lambda _: None,
                stop=Event(),
                transport=served,
            )
    let_pass(served.sandbox, seconds=3600, changed=20, new=10, orders=5)
    Operation(settings, source=COMMAND_LINE, transport=served).sync()
    Operation(settings, source=COMMAND_LINE).forget([FORGOTTEN])
    return settings


if __name__ == "__main__":
    freeze(Path(sys.argv[1]))
