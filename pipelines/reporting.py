"""Report the results of a command to Dagster: runless events for the catalogue of `DAGSTER_HOME`.

The command line calls the library and not Dagster, so its runs have no log in the UI. `wms-sync status`, alerts and the
catalogue show them. The command line imports this module only if `DAGSTER_HOME` is set.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import dagster as dg

from wms_sync.master_data.kind import Kind
from wms_sync.runs import Handled
from wms_sync.settings import Settings
from wms_sync.shipments.load.refresh import RefreshReport
from wms_sync.shipments.read.reader import ReadReport
from wms_sync.state.store import StateStore

from . import asset_keys, coverage, home, master_data, metadata, shipments, tables


def report_shipments(
    settings: Settings, read: ReadReport | None, refreshed: RefreshReport | None, page: Path | None
) -> None:
    """Report a run: the days read, the checks of coverage and, if it published tables, the tables and its read."""
    events: list[tables.Event] = []
    if read is not None:
        with StateStore.opened(settings.database_url) as store:
            events += shipments.days_shown(settings, store, shipments.days_of(read.intervals))
    if refreshed is not None and refreshed.published:
        if read is not None:
            events.append(dg.AssetMaterialization(asset_keys.changes(settings), metadata=metadata.of_read(read)))
        events += tables.events(settings, refreshed, page)
    _report([*events, *coverage.evaluations(settings)])


def report_push(settings: Settings, kind: Kind, handled: Sequence[Handled]) -> None:
    """Report the result of a push, with the checks of its rows."""
    _report(master_data.events(settings, kind, handled))


def _report(events: Iterable[tables.Event]) -> None:
    os.environ[home.HOME_VARIABLE] = str(home.prepare_home(Path(os.environ[home.HOME_VARIABLE])))
    with dg.DagsterInstance.get() as instance:
        for event in events:
            instance.report_runless_asset_event(event)
