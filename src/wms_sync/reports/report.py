"""The report: one HTML page on shipping, for people who do not write SQL.

The page needs no network and no JavaScript, can be mailed, and contains no personal data. 'Now' is the sync cursor.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import duckdb
from msgspec import Struct

from wms_sync import sql_files
from wms_sync.errors import SettingsError, WmsSyncError, lacks
from wms_sync.reports.finding import Finding, open_findings
from wms_sync.reports.findings import findings_of
from wms_sync.reports.output import is_marked, refuse_output, rendered
from wms_sync.settings import Settings
from wms_sync.shipments.load.refresh import RefreshReport
from wms_sync.state.store import Run
from wms_sync.storage.durable import share_with_group, write_whole
from wms_sync.targets.database import records
from wms_sync.targets.target import target_of

logger = logging.getLogger("wms_sync.reports")
Light = Literal["well", "look", "act"]
QUERIES = ("due_by_week", "open_age", "packed_by_hour", "cost_per_kg", "retailers", "void_by_box", "most_overdue")
NEXT_STEPS = {
    "backordered": "waits for stock: order it, or inform the buyer",
    "partial_backorder": "waits for part of the stock: ship what is in stock, or inform the buyer",
    "delayed_shipment": "was postponed: ask the warehouse for the new date",
    "invalid_address": "correct the address",
    "unresolved": "the warehouse waits for a decision: look at the order",
    "unable_to_process": "the warehouse cannot process it: look at the order",
    "holded": "is on hold: release it or cancel it",
}
"""What to do about an overdue shipment, by the status of its order."""
STEPS_OF_SHIPMENT = {
    "packed": "is packed: ask the warehouse when the carrier comes",
    "packing": "is being packed: ask the warehouse",
    "picked": "is picked but not packed: ask the warehouse",
}
MARK = '<meta name="generator" content="wms-sync report">'
ASK = "ask the warehouse for the reason"


class ReportError(WmsSyncError):
    """The report cannot be written."""


class Report(Struct, frozen=True):
    """The content of the page: the open findings, errors first, and the rows of each query by its name."""

    made_at: datetime
    freshness: Mapping[str, Any]
    findings: tuple[Finding, ...]
    rows: Mapping[str, Sequence[Mapping[str, Any]]]

    @property
    def light(self) -> Light:
        """Return the light for the worst open finding: ``act`` for an error, ``look`` for a warning."""
        severities = {finding.severity for finding in self.findings}
        return "act" if "error" in severities else "look" if severities else "well"

    def next_step(self, shipment: Mapping[str, Any]) -> str:
        """Return what to do about an overdue shipment, by the status of its order or else of the shipment."""
        order, own = (str(shipment[key]).lower() for key in ("order_status", "status"))
        return NEXT_STEPS.get(order) or STEPS_OF_SHIPMENT.get(own, ASK)


def make_report(
    settings: Settings, to: Path | None = None, *, force: bool = False, findings: Sequence[Finding] | None = None
) -> tuple[Path, Report]:
    """Write the report to ``report.html`` in the data folder, or to ``to``; return its path and its content.

    ``findings`` default to the current findings. With ``force``, replace any file at ``to``. Raise ``ReportError``,
    ``OutputRefused``, or ``SettingsError`` for a missing extra.
    """
    if said := lacks("report"):
        raise SettingsError(f"The report {said}.")
    path = settings.layout.report
    is_default = to is None or to.resolve() == path.resolve()
    if to is not None and not is_default:
        path = to
        refuse_output(settings, path, lambda there: is_marked(there, MARK), force=force)
    report = _collected(settings, findings_of(settings) if findings is None else findings)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, _html(report).encode())
    if is_default:
        share_with_group(settings.layout.root, path)
    return path, report


def _collected(settings: Settings, findings: Sequence[Finding]) -> Report:
    target = target_of(settings)
    if not target.is_published:
        raise ReportError("There is nothing to report: nothing is published yet. Run `wms-sync sync` first.")
    try:
        with target.published() as connection:
            freshness = records(connection.execute("from marts.freshness"))
            rows = {name: records(connection.execute(sql_files.read(f"report/{name}.sql"))) for name in QUERIES}
    except duckdb.CatalogException as error:
        raise ReportError(
            f"The published file lacks a relation that the report needs ({error}). Run `wms-sync sync`, which adds it."
        ) from None
    if not freshness:
        raise ReportError("There is nothing to report: nothing has been loaded yet. Run `wms-sync sync` first.")
    return Report(datetime.now(UTC), freshness[0], open_findings(findings), rows)


def _html(report: Report) -> str:
    from wms_sync.reports import charts  # needs the extra

    return rendered("report", report=report, rows=report.rows, charts=charts)


def report_load(settings: Settings, refreshed: RefreshReport, findings: Sequence[Finding]) -> Path | None:
    """Write the report if ``WMS_REPORT`` is on and the load published tables. Return its path; None if not written."""
    if not (settings.report and refreshed.published):
        return None
    try:
        path, _ = make_report(settings, findings=findings)
    except Exception as error:  # noqa: BLE001 - a defect of the report must not fail a load
        logger.warning("The tables are loaded, but the report could not be written: %(error)s", {"error": error})
        return None
    logger.info("wrote %(file)s", {"file": path})
    return path


def remake_report(run: Run) -> None:
    """Rewrite the report, if it exists, after an order was forgotten."""
    if run.layout.report.exists():
        make_report(run.settings)
