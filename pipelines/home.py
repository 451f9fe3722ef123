"""Prepare Dagster's home, the folder of `DAGSTER_HOME`, with the `dagster.yaml` next to this module.

`wms-sync ui` and the units of `deploy/systemd` run `python -m wms_sync_pipelines.home` before they start Dagster. An
existing `dagster.yaml` is not changed: copy the settings that you need into it.
"""

from __future__ import annotations

import fcntl
import os
import sys
from pathlib import Path

import dagster as dg

from wms_sync.errors import SettingsError, WmsSyncError
from wms_sync.storage.durable import accessing, make_private, write_whole

HOME_VARIABLE = "DAGSTER_HOME"
CONFIGURATION = Path(__file__).with_name("dagster.yaml")
UNUSABLE = frozenset("%?")
"""Characters that Dagster does not escape when it puts the path into a URL."""


def prepare_home(home: Path) -> Path:
    """Create the folder and its `dagster.yaml` if they do not exist; return its absolute path.

    Raise `Inaccessible`, or `SettingsError` for a path that Dagster's storage would misread.
    """
    home = home.expanduser().absolute()
    if not UNUSABLE.isdisjoint(str(home)):
        raise SettingsError(f"{HOME_VARIABLE} is {home}: Dagster cannot keep a history in a path with % or ?.")
    make_private(home)
    configuration = home / CONFIGURATION.name
    with accessing(home):
        if not configuration.exists():
            write_whole(configuration, CONFIGURATION.read_bytes())
    return home


def main() -> None:
    """Prepare the folder of `DAGSTER_HOME` with its databases.

    Hold a lock meanwhile: if several processes start at once, one creates the databases and the others wait.
    """
    if not os.environ.get(HOME_VARIABLE):
        sys.exit(f"{HOME_VARIABLE} is not set: name the folder of Dagster's history.")
    try:
        home = prepare_home(Path(os.environ[HOME_VARIABLE]))
    except WmsSyncError as error:
        print(f"wms-sync: {error}", file=sys.stderr)  # noqa: T201 - for the operator who starts Dagster
        sys.exit(error.exit_code)
    os.environ[HOME_VARIABLE] = str(home)  # Dagster accepts only an absolute path
    with (home / "prepare.lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with dg.DagsterInstance.get() as instance:
            instance.get_runs(limit=1)
            instance.get_asset_keys(limit=1)


if __name__ == "__main__":
    main()
