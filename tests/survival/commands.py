"""The commands of the library without Dagster, each as a run does it: in its turn, with what is on disk taken in first.

They run here, or in a process that is killed at its n-th durable moment. Dagster and the command line are what starts
them; the tests of kills by name have these too.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from typing import Any

from tests.conftest import IMPATIENT
from tests.processes import PROCESSES
from tests.survival.moments import Moments
from wms_sync.service.client import GlobalApi
from wms_sync.settings import Settings
from wms_sync.shipments.audit import SliceReader
from wms_sync.shipments.load.audits import stored_shipments
from wms_sync.shipments.load.refresh import rebuild as rebuild_tables
from wms_sync.shipments.load.refresh import refresh
from wms_sync.shipments.read.reader import Reading
from wms_sync.state.run import Run
from wms_sync.upkeep.forget import forget as forget_orders
from wms_sync.upkeep.recovery import begin

RUN = "model"
Values = Mapping[str, Any]
"""Settings by their field names; they reach another process as they are."""
Command = Callable[[Run], object]


def sync(run: Run) -> None:
    """A night: what is not covered, a slice of the audit where one is due, and the tables."""
    with GlobalApi.from_settings(run.settings, policy=IMPATIENT) as api:
        report = Reading(run, api).sync()
        stored = partial(stored_shipments, run.settings)
        SliceReader(run, api, stored=stored).read(report.horizon)
    assert refresh(run).published


def backfill(run: Run, *, start: datetime, end: datetime) -> None:
    """Read a range again, and the tables."""
    with GlobalApi.from_settings(run.settings, policy=IMPATIENT) as api:
        Reading(run, api).backfill(start, end)
    assert refresh(run).published


def rebuild(run: Run) -> None:
    """Every table again from raw pages."""
    assert rebuild_tables(run).published


def forget(run: Run, *, order: int) -> None:
    """Take what is personal of an order out of everything."""
    forget_orders(run, [order])


def run(values: Values, command: Command) -> None:
    """Do it here. Raises what a run raises."""
    settings = Settings.load(_env_file=None, **values)
    with begin(settings, RUN, RUN, from_scratch=command is rebuild) as begun:
        command(begun)


def run_and_kill(values: Values, command: Command, moment: int) -> bool:
    """Do it in a process that is killed at a moment; whether it was, and had not ended before."""
    process = PROCESSES.Process(target=_doomed, args=(values, command, moment), daemon=True)
    process.start()
    process.join()
    return process.exitcode == -signal.SIGKILL


def _doomed(values: Values, command: Command, moment: int) -> None:
    def die() -> None:
        signal.pthread_kill(threading.get_ident(), signal.SIGKILL)

    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    Moments(moment, die).watch()
    run(values, command)
