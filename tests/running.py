"""Runs as the commands run them, with their reports."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import httpx

from wms_sync.cli.operations import COMMAND_LINE
from wms_sync.master_data.kind import Kind
from wms_sync.master_data.push import PushReport
from wms_sync.runs import Operation, push
from wms_sync.settings import Settings
from wms_sync.state.lock import lock_of
from wms_sync.state.store import Run, StateStore
from wms_sync.storage.durable import keep_private
from wms_sync.upkeep.recovery import recover_state, recovered


def run_sync(settings: Settings, transport: httpx.BaseTransport | None = None) -> Operation:
    return _run(Operation(settings, source=COMMAND_LINE, transport=transport), Operation.sync)


def run_load(settings: Settings) -> Operation:
    return _run(Operation(settings, source=COMMAND_LINE), Operation.load)


def run_push(settings: Settings, kind: Kind, path: Path, *, resend: bool = False) -> PushReport:
    return push(settings, kind, path, source=COMMAND_LINE, resend=resend, planned=lambda _: None, stop=Event())


@contextmanager
def unrecorded_run(settings: Settings, purpose: str, *, from_scratch: bool = False) -> Iterator[Run]:
    """What a run holds between its steps, without a record."""
    recover_state(settings)
    url, layout = settings.database_url, settings.layout
    with (
        lock_of(url, layout).hold(purpose, run_id=purpose) as held,
        StateStore.opened(url) as opened,
        opened.leased(layout, held) as store,
        recovered(settings, store, purpose, from_scratch=from_scratch) as run,
    ):
        yield run


def _run(run: Operation, does: Callable[[Operation], object]) -> Operation:
    keep_private()
    does(run)
    run.refuse_unpublished()
    return run
