"""The code location: everything of this package put together from settings.

`workspace.yaml` names this module. Without a configured service it loads all the same, and a run that needs the service
fails with the library's message; a wrong setting keeps it from loading, with a message that names the variable.
"""

from __future__ import annotations

import warnings

import dagster as dg

from pipelines import coverage, jobs, schedules, sensors
from pipelines.alerts import failed_run_alerts
from pipelines.operation import Operation
from pipelines.shipment_pages import shipment_pages
from pipelines.tables import analytics_tables
from wms_sync.settings import Settings


def build(settings: Settings, operation: Operation | None = None) -> dg.Definitions:
    """Everything, for these settings. `operation` replaces the resource, so that the command line can watch."""
    with warnings.catch_warnings():
        # backfill policies are used as documented; that they are called beta tells an operator nothing
        warnings.simplefilter("ignore", dg.BetaWarning)
        pages, analytics = shipment_pages(settings), analytics_tables()
    shipments = jobs.shipments(pages)
    tables_only = jobs.tables_only(analytics)
    alerts = [] if settings.alert_webhook_url is None else [failed_run_alerts(settings.alert_webhook_url)]
    return dg.Definitions(
        assets=[pages, analytics],
        asset_checks=[coverage.coverage_checks],
        jobs=[shipments, tables_only, jobs.rebuild],
        schedules=[schedules.nightly(settings, shipments)],
        sensors=[
            sensors.tables_follow_pages(settings, tables_only),
            sensors.coverage_is_watched(settings),
            *alerts,
        ],
        resources={"operation": operation or Operation(settings)},
        executor=dg.in_process_executor,
    )


@dg.definitions
def defs() -> dg.Definitions:
    """What Dagster loads: the environment is read here, once, and not when the module is imported."""
    return build(Settings.load())
