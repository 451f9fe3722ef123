"""The code location: build the Definitions from settings.

`workspace.yaml` names this module. It loads even if no service is configured; a run that needs the service then fails
with the library's message. With a wrong setting it does not load, and the message names the variable.
"""

from __future__ import annotations

import warnings

import dagster as dg

from pipelines import alerts, coverage, history, jobs, master_data_files, nights, schedules, sensors
from pipelines.asset_keys import name_instance
from pipelines.master_data import master_data
from pipelines.operation import NO_VALUES, Operation
from pipelines.shipment_pages import shipment_pages
from pipelines.tables import analytics_tables
from wms_sync.durable import keep_private
from wms_sync.master_data.kinds.table import KINDS
from wms_sync.settings import Settings


def build(settings: Settings, operation: Operation | None = None) -> dg.Definitions:
    """Build the Definitions for these settings. With `operation`, the command line passes in its own resource."""
    keep_private()
    name_instance(settings.instance)
    with warnings.catch_warnings():
        # backfill policies are used as documented; a warning that they are beta is of no use to an operator
        warnings.simplefilter("ignore", dg.BetaWarning)
        pages, analytics = shipment_pages(settings), analytics_tables(settings)
        pushed = {kind: master_data(settings, kind) for kind in KINDS}
    backfill = jobs.backfill(pages)
    tables_only = jobs.tables_only(analytics)
    pushes = {kind: jobs.push(kind, asset) for kind, asset in pushed.items()}
    all_assets = [pages, analytics, *pushed.values()]
    all_jobs = [jobs.sync_now, backfill, tables_only, jobs.rebuild, jobs.maintain, *pushes.values()]
    keys = {key for asset in all_assets for key in asset.keys}
    return dg.Definitions(
        assets=all_assets,
        asset_checks=[coverage.coverage_checks()],
        jobs=all_jobs,
        schedules=schedules.all_schedules(settings, jobs.sync_now, jobs.maintain),
        sensors=[
            sensors.tables_follow_pages(settings, tables_only),
            sensors.coverage_is_watched(settings),
            sensors.dead_runs_are_marked(settings),
            master_data_files.master_data_files(settings, pushes),
            history.history_is_pruned(settings),
            nights.nights_are_retried(settings, jobs.SYNC_NOW),
            alerts.alerts_are_sent(settings),
            alerts.failed_run_alerts(settings, names={job.name for job in all_jobs}, assets=keys),
        ],
        resources={"operation": operation or Operation(settings), **NO_VALUES},
        executor=dg.in_process_executor,
    )


@dg.definitions
def defs() -> dg.Definitions:
    """Return the Definitions that Dagster loads. Only here is the environment read, not when the module is imported.

    Each run loads them in a process of its own, so it has the `.env` of now; sensors and the schedule have the settings
    of when the location was loaded.
    """
    Settings.leave_to_env_file()
    return build(Settings.load())
