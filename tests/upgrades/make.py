"""Make the data folders of a release, for later releases to be tested on: ``python -m tests.upgrades.make 0.1.0``.

Run it with the code of that release, once: the folders of an earlier release are never made again.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pandas as pd

from tests.upgrades.lives import CONFIG, FOLDER, LIVES, PUSHED, SETTINGS, packed
from wms_sandbox.app import Sandbox
from wms_sandbox.server import SandboxServer


def main(release: str) -> None:
    """Live through every life and pack what is left."""
    folder = FOLDER / release
    folder.mkdir()
    for name, life in LIVES.items():
        with tempfile.TemporaryDirectory() as scratch, SandboxServer(Sandbox(CONFIG)) as server:
            for kind, rows in PUSHED.items():
                pd.DataFrame(rows).to_csv(Path(scratch) / f"{kind}.csv", index=False)
            environment = {
                **{key: value for key, value in os.environ.items() if not key.startswith(("WMS_", "DAGSTER_"))},
                "WMS_BASE_URL": server.base_url,
                "WMS_API_TOKEN": CONFIG.token,
                "WMS_DATA_DIR": f"{scratch}/data",
                **SETTINGS,
                **life.settings,
            }

            def run(
                *command: str,
                ends: tuple[int, ...] = (0,),
                environment: dict[str, str] = environment,
                scratch: str = scratch,
            ) -> None:
                ended = subprocess.run(
                    [Path(sys.executable).with_name("wms-sync"), *command], env=environment, cwd=scratch
                )
                assert ended.returncode in ends, command

            life.through(server, run)
            packed(Path(scratch) / "data", folder / f"{name}.tar.xz")


if __name__ == "__main__":
    main(sys.argv[1])
