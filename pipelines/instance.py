"""A home for Dagster: the folder of `DAGSTER_HOME` with a `dagster.yaml` that suits this pipeline.

Used by `make ui`, the command line and the tests. A `dagster.yaml` of your own stays; this one is worth copying from.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dagster as dg

from wms_sync.durable import make_private, write_whole

HOME_VARIABLE = "DAGSTER_HOME"

CONFIGURATION = """\
# Written by wms-sync when it found none; yours to change.
telemetry:
  enabled: false
nux:
  enabled: false

# SQLite below DAGSTER_HOME, many times faster at a night's events than Dagster's own (pipelines/event_log.py)
storage:
  custom:
    module: pipelines.event_log
    class: FastSqliteStorage
    config:
      base_dir:
        env: DAGSTER_HOME

# retrying is decided in the API client alone
run_retries:
  enabled: false

# a run whose process did not start or did not end is marked; one that was killed is not started again by itself
run_monitoring:
  enabled: true
  start_timeout_seconds: 180
  cancel_timeout_seconds: 180
  max_resume_run_attempts: 0

# Runs wait for the writer's lock and say for whom. That is the only limit of one: the kernel gives the lock back with
# the process that held it, while the slot of a Dagster pool stays taken when its run is killed.
concurrency:
  runs:
    max_concurrent_runs: 5

# a run begins soon after it was asked for
run_queue:
  dequeue_interval_seconds: 2

# a missed night is read by the next run; there is nothing to catch up with
scheduler:
  module: dagster._core.scheduler
  class: DagsterDaemonScheduler
  config:
    max_catchup_runs: 1

# the sensors look often and mostly have nothing to do
retention:
  sensor:
    purge_after_days:
      skipped: 1
      failure: 30
      success: 30
"""


def prepare_home(home: Path) -> Path:
    """The folder with a `dagster.yaml`, made where there is none; returns its absolute path."""
    home = make_private(home.expanduser().absolute())
    configuration = home / "dagster.yaml"
    if not configuration.exists():
        write_whole(configuration, CONFIGURATION.encode())
    return home


def home_of_user() -> Path | None:
    """What ``DAGSTER_HOME`` names, if anything."""
    named = os.environ.get(HOME_VARIABLE)
    return Path(named) if named else None


def keeps_history(given: dg.DagsterInstance | None) -> bool:
    """Whether what a run did can be seen afterwards; ``given`` is as for ``used_instance``."""
    return home_of_user() is not None if given is None else not given.is_ephemeral


@contextmanager
def used_instance(given: dg.DagsterInstance | None) -> Iterator[dg.DagsterInstance]:
    """The instance that a run belongs to: the given one, that of ``DAGSTER_HOME``, or one in memory."""
    if given is not None:
        yield given
        return
    home = home_of_user()
    if home is not None:
        os.environ[HOME_VARIABLE] = str(prepare_home(home))  # Dagster accepts only an absolute path
    with dg.DagsterInstance.get() if home else without_history() as instance:
        yield instance


def without_history() -> dg.DagsterInstance:
    """An instance in memory: the run is done and forgotten, nothing is written to the home folder of a user."""
    return dg.DagsterInstance.ephemeral(settings={"telemetry": {"enabled": False}})
