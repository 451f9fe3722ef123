"""Make the report after a load. It is beside the load: whatever goes wrong with it is logged, and the load stands."""

from __future__ import annotations

import logging
from pathlib import Path

from wms_sync.load.refresh import RefreshReport
from wms_sync.reports.report import make_report
from wms_sync.state.run import Run

logger = logging.getLogger("wms_sync.reports")


def report_load(run: Run, refreshed: RefreshReport) -> Path | None:
    """Make the report if `WMS_REPORT` is on and something was published; return its path."""
    if not (run.settings.report and refreshed.published):
        return None
    try:
        path, _ = make_report(run.settings, checks=refreshed.checks)
    except Exception as error:  # noqa: BLE001 - no defect of the report may fail a load
        logger.warning("The tables are loaded, but the report could not be made: %(error)s", {"error": error})
        return None
    logger.info("wrote %(file)s", {"file": path})
    return path


def remake_report(run: Run) -> None:
    """Make the report again, if there is one, after an order was forgotten."""
    if run.layout.report.exists():
        make_report(run.settings)
