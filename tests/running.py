"""Runs as the commands run them, with their reports."""

from collections.abc import Callable
from pathlib import Path
from threading import Event

import httpx

from wms_sync.cli.runs import COMMAND_LINE
from wms_sync.master_data.kind import Kind
from wms_sync.master_data.push import PushReport
from wms_sync.runs import Operation, RunReport, push
from wms_sync.settings import Settings
from wms_sync.storage.durable import keep_private


def run_sync(settings: Settings, transport: httpx.BaseTransport | None = None) -> RunReport:
    return _run(settings, lambda run: run.sync(), transport)


def run_load(settings: Settings) -> RunReport:
    return _run(settings, lambda run: run.load())


def run_push(settings: Settings, kind: Kind, path: Path, *, resend: bool = False) -> PushReport:
    return push(settings, kind, path, source=COMMAND_LINE, resend=resend, planned=lambda _: None, stop=Event())


def _run(
    settings: Settings, does: Callable[[Operation], object], transport: httpx.BaseTransport | None = None
) -> RunReport:
    keep_private()
    run = Operation(settings, source=COMMAND_LINE, transport=transport)
    does(run)
    return run.report
