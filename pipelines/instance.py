"""Prepare Dagster's home, the folder of `DAGSTER_HOME`, with a `dagster.yaml` that suits this pipeline.

`wms-sync ui`, the command line and the tests use it; `python -m pipelines.instance` does nothing else, for what starts
Dagster itself. An existing `dagster.yaml` stays as it is; copy from this one.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dagster as dg
from sqlalchemy.exc import DBAPIError

from pipelines.home import HOME_VARIABLE, home_of_user
from wms_sync.durable import Inaccessible, accessing, make_private, write_whole
from wms_sync.errors import SettingsError
from wms_sync.state.engine import reason_of, refused

CONFIGURATION = """\
# Written by wms-sync because there was none. You may change it.
telemetry:
  enabled: false
nux:
  enabled: false

# SQLite below DAGSTER_HOME, many times faster than Dagster's own storage (pipelines/event_log.py)
storage:
  custom:
    module: pipelines.event_log
    class: FastSqliteStorage
    config:
      base_dir:
        env: DAGSTER_HOME

# only the API client retries
run_retries:
  enabled: false

# a run whose process did not start or did not end is marked as failed; a killed run is not started again
run_monitoring:
  enabled: true
  start_timeout_seconds: 180
  cancel_timeout_seconds: 180
  max_resume_run_attempts: 0

# Runs wait for the writer's lock and log whom they wait for. No Dagster pool limits them to one at a time: the kernel
# releases the lock when its process ends, but the slot of a pool stays taken when its run is killed.
concurrency:
  runs:
    max_concurrent_runs: 5

# a run starts soon after it was requested
run_queue:
  dequeue_interval_seconds: 2

# the next run reads what missed nights left, so there is nothing to catch up
scheduler:
  module: dagster._core.scheduler
  class: DagsterDaemonScheduler
  config:
    max_catchup_runs: 1

# the sensors tick often and mostly have nothing to do
retention:
  sensor:
    purge_after_days:
      skipped: 1
      failure: 30
      success: 30
"""
UNUSABLE = frozenset("%?")
"""Dagster puts the path into an URL as it is."""


def prepare_home(home: Path) -> Path:
    """Create the folder and its `dagster.yaml` if they do not exist; return its absolute path.

    Raise `Inaccessible`, or `SettingsError` for a path that Dagster's storage would take for another.
    """
    home = home.expanduser().absolute()
    if not UNUSABLE.isdisjoint(str(home)):
        raise SettingsError(f"{HOME_VARIABLE} is {home}: Dagster cannot keep a history below a name with % or ?.")
    make_private(home)
    configuration = home / "dagster.yaml"
    with accessing(home):
        if not configuration.exists():
            write_whole(configuration, CONFIGURATION.encode())
    return home


@contextmanager
def used_instance(given: dg.DagsterInstance | None) -> Iterator[dg.DagsterInstance]:
    """Yield the instance that a run belongs to: the given one, that of `DAGSTER_HOME`, or one in memory.

    Raise `Inaccessible` if the home cannot be used.
    """
    if given is not None:
        yield given
        return
    home = home_of_user()
    if home is not None:
        os.environ[HOME_VARIABLE] = str(prepare_home(home))  # Dagster accepts only an absolute path
    with without_history() if home is None else _opened(home) as instance:
        yield instance


@contextmanager
def naming_home() -> Iterator[None]:
    """Raise `Inaccessible` for the home where SQLite refuses what Dagster wants to keep there, such as on a full disk.

    Our own state says so itself.
    """
    try:
        yield
    except (DBAPIError, sqlite3.Error) as error:
        reason, home = reason_of(error), home_of_user()
        if home is None or not isinstance(reason, sqlite3.Error):
            raise
        raise refused(home, str(reason)) from None


def _opened(home: Path) -> dg.DagsterInstance:
    try:
        return dg.DagsterInstance.get()
    except OSError as error:
        raise Inaccessible.by(home, error) from None
    except (DBAPIError, sqlite3.Error) as error:  # on a full disk, or of another user
        raise refused(home, str(reason_of(error))) from None


def without_history() -> dg.DagsterInstance:
    """Return an instance in memory, which keeps no history and writes nothing to the user's home folder."""
    return dg.DagsterInstance.ephemeral(settings={"telemetry": {"enabled": False}})


def main() -> None:
    """Prepare the folder of `DAGSTER_HOME` with its databases.

    Processes that start at once and find none would all make them, and most of them fail: one makes them, others wait.
    """
    home = home_of_user()
    if home is None:
        sys.exit(f"{HOME_VARIABLE} is not set: name the folder of Dagster's history.")
    os.environ[HOME_VARIABLE] = str(prepare_home(home))
    with (home / "prepare.lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with dg.DagsterInstance.get() as instance:
            instance.get_runs(limit=1)
            instance.get_asset_keys(limit=1)
            instance.all_instigator_state()


if __name__ == "__main__":
    main()
