"""The report: one HTML page on shipping, for people who do not write SQL.

The page needs no network and no JavaScript, can be mailed, and contains no personal data. 'Now' is the sync cursor.

Its charts are SVG: Vega-Lite specifications, drawn by vl-convert (extra ``report``) without a browser. Colour-blind
people can tell the colours apart, and the page shows the numbers of each chart in a table below it.
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
Rows = Sequence[Mapping[str, Any]]
COLORS = {"on time": "#3b82b8", "late": "#d9822b", "still open": "#8e4585"}
BLUE = "#3b82b8"
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
AGES = ("up to a day", "1 to 3 days", "3 to 7 days", "1 to 2 weeks", "over 2 weeks")
AGE_COLORS = ("#cfe1f2", "#93c4de", "#4a98c9", "#1c6aae", "#083370")
FONT = "system-ui, sans-serif"
SMALL, WIDE = 330, 560


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
    draw = {"due_by_week": due_by_week, "open_age": open_age, "packed_by_hour": packed_by_hour, "bars": bars}
    write_whole(path, rendered("report", report=report, rows=report.rows, charts=draw).encode())
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


def due_by_week(rows: Rows) -> str:
    """Draw the shipments that were due in each week: on time, late, or still open."""
    parts = [
        {"week": f"{row['week']:%m-%d}", "what": what, "at": at, "shipments": row[key]}
        for row in rows
        for at, (what, key) in enumerate((("on time", "on_time"), ("late", "late"), ("still open", "still_open")))
    ]
    return _svg(
        {
            "width": SMALL - 60,
            "height": 150,
            "data": {"values": parts},
            "mark": {"type": "bar"},
            "encoding": {
                "x": {"field": "week", "type": "ordinal", "title": "week from", "axis": {"labelAngle": -45}},
                "y": {"field": "shipments", "type": "quantitative", "stack": "zero", "title": "shipments due"},
                "color": _colors("what", COLORS),
                "order": {"field": "at"},
            },
        }
    )


def open_age(rows: Rows) -> str:
    """Draw the open shipments by status and age."""
    parts = [{**row, "at": AGES.index(row["age"])} for row in rows]
    return _svg(
        {
            "width": WIDE - 150,
            "height": {"step": 28},
            "data": {"values": parts},
            "mark": {"type": "bar"},
            "encoding": {
                "y": {"field": "status", "type": "nominal", "title": None, "sort": {"field": "sort"}},
                "x": {"field": "shipments", "type": "quantitative", "stack": "zero", "title": "open shipments"},
                "color": _colors("age", dict(zip(AGES, AGE_COLORS, strict=True))),
                "order": {"field": "at"},
            },
        }
    )


def packed_by_hour(rows: Rows) -> str:
    """Draw the packed shipments by weekday and hour."""
    parts = [
        {"weekday": WEEKDAYS[row["weekday"] - 1], "hour": row["hour"], "shipments": row["shipments"]} for row in rows
    ]
    return _svg(
        {
            "width": WIDE - 110,
            "height": 170,
            "data": {"values": parts},
            "mark": {"type": "rect"},
            "encoding": {
                "x": {
                    "field": "hour",
                    "type": "ordinal",
                    "title": "local hour",
                    "scale": {"domain": [*range(24)]},
                    "axis": {"labelAngle": 0},
                },
                "y": {"field": "weekday", "type": "ordinal", "title": None, "scale": {"domain": [*WEEKDAYS]}},
                "color": {
                    "field": "shipments",
                    "type": "quantitative",
                    "scale": {"scheme": "blues"},
                    "title": "packed",
                },
            },
        }
    )


def bars(rows: Rows, name: str, value: str, title: str) -> str:
    """Draw one bar for each row, labelled with its value."""
    parts = [{"name": str(row[name]), "value": row[value]} for row in rows]
    shared = {"y": {"field": "name", "type": "nominal", "title": None, "sort": None, "axis": {"labelLimit": 140}}}
    measured = {"x": {"field": "value", "type": "quantitative", "title": title}}
    text = {"text": {"field": "value", "format": ",.2~f"}}
    return _svg(
        {
            "width": SMALL - 120,
            "height": {"step": 24},
            "data": {"values": parts},
            "encoding": {**shared, **measured},
            "layer": [
                {"mark": {"type": "bar", "color": BLUE}},
                {"mark": {"type": "text", "align": "left", "dx": 4}, "encoding": text},
            ],
        }
    )


def _svg(chart: Mapping[str, Any]) -> str:
    import vl_convert  # of the extra ``report``

    whole = {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "background": None,
        "padding": {"left": 5, "right": 25, "top": 5, "bottom": 5},
        "config": {
            "font": FONT,
            "view": {"stroke": None},
            "axis": {"labelFontSize": 11, "titleFontSize": 11, "titleFontWeight": "normal", "gridColor": "#e4e8ee"},
            "legend": {"orient": "top", "title": None, "labelFontSize": 11},
        },
        **chart,
    }
    return str(vl_convert.vegalite_to_svg(whole))


def _colors(field: str, colors: Mapping[str, str]) -> dict[str, Any]:
    scale = {"domain": [*colors], "range": [*colors.values()]}
    return {"field": field, "type": "nominal", "scale": scale, "title": None}
