"""The code location: build the Definitions from settings.

`workspace.yaml` names this module. The location loads even if no service is configured; a run that needs the service
then fails with the library's message. With a wrong setting the location fails to load, with a message that names the
variable.
"""

from __future__ import annotations

import warnings

import dagster as dg

from wms_sync.master_data.kinds import KINDS
from wms_sync.settings import Settings
from wms_sync.storage.durable import keep_private

from . import coverage, jobs, sensors, shipments, tables
from .master_data import master_data
from .master_data_files import master_data_files
from .operation import RunResource


def build(settings: Settings, operation: RunResource | None = None) -> dg.Definitions:
    """Build the Definitions for these settings. A test passes its own `operation`, with a transport."""
    keep_private()
    with warnings.catch_warnings():
        # backfill policies are used as documented, so the warning that they are beta does not help an operator
        warnings.simplefilter("ignore", dg.BetaWarning)
        changes, days = shipments.changed_shipments(settings), shipments.shipment_days(settings)
        analytics = tables.analytics_tables(settings)
        pushed = {kind: master_data(settings, kind) for kind in KINDS}
    of_shipments = jobs.shipment_jobs(changes, days, analytics)
    of_master_data = jobs.master_data_jobs(pushed)
    nightly_sync, load_tables, *_ = of_shipments
    return dg.Definitions(
        assets=[changes, days, analytics, *pushed.values()],
        asset_checks=[coverage.coverage_checks(settings)],
        jobs=[*of_shipments, *([jobs.maintain] if settings.analytics == "ducklake" else []), *of_master_data],
        schedules=jobs.schedules(settings, nightly_sync),
        sensors=[
            sensors.tables_follow(settings, load_tables),
            sensors.alerts(settings),
            sensors.upkeep(settings),
            master_data_files(settings, of_master_data),
        ],
        resources={"operation": operation or RunResource(settings)},
        executor=dg.in_process_executor,
    )


@dg.definitions
def defs() -> dg.Definitions:
    """Return the Definitions that Dagster loads. Read the environment here, not when the module is imported.

    Each run loads the Definitions in its own process, so it uses the current `.env`. Sensors and schedules use the
    settings from the time when the location was loaded.
    """
    Settings.leave_to_env_file()
    return build(Settings.load())
