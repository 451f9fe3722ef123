"""The report: one HTML page on shipping, for people who do not write SQL.

The page needs no network and no JavaScript, can be mailed, and contains no personal data. 'Now' is the sync cursor.

Its charts are SVG: Vega-Lite specifications, drawn by vl-convert (extra ``report``) without a browser. Colour-blind
people can tell the colours apart, and the page shows the numbers of each chart in a table below it.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

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
MARK = '<meta name="generator" content="wms-sync report">'
QUERIES = ("on_time", "shipped", "clients", "backlog", "backlog_shipments", "carriers", "retailers", "packing")
WEEKS = 8
MOST_WAREHOUSES = 6
Rows = Sequence[Mapping[str, Any]]
Measure = Sequence[float | None]
"""One number for each whole week, the oldest first; None for a week without it."""
BLUE, ORANGE = "#3b82b8", "#b3561e"
FONT = "system-ui, sans-serif"


class ReportError(WmsSyncError):
    """The report cannot be written."""


class Report(Struct, frozen=True):
    """The content of the page: the open findings, errors first, and the rows of each query by its name.

    ``weeks`` are the Mondays of the eight whole weeks and of the week after them, which is this week unless that is the
    first one.
    """

    made_at: datetime
    freshness: Mapping[str, Any]
    findings: tuple[Finding, ...]
    weeks: tuple[date, ...]
    zones: Mapping[str, Any]
    target: float | None
    rows: Mapping[str, Rows]

    def on_time(self) -> Measure:
        """Return the share of due shipments that were shipped on time, over all warehouses."""
        due, on_time = Counter[date](), Counter[date]()
        for row in self.rows["on_time"]:
            due[row["week"]] += row["due"]
            on_time[row["week"]] += row["on_time"]
        return [on_time[week] / due[week] if due[week] else None for week in self.weeks[:-1]]

    def shipped(self, name: str) -> Measure:
        """Return a column of the query ``shipped``."""
        by_week = {row["week"]: row[name] for row in self.rows["shipped"]}
        return [by_week.get(week) for week in self.weeks[:-1]]

    def warehouses(self) -> dict[str, Rows]:
        """Return the weeks of the warehouses with the most due shipments, by name."""
        due, rows = Counter[str](), told_apart(self.rows["on_time"], "warehouse")
        for row in rows:
            due[row["name"]] += row["due"]
        largest = sorted(name for name, _ in due.most_common(MOST_WAREHOUSES))
        return {name: [row for row in rows if row["name"] == name] for name in largest}


def told_apart(rows: Rows, kind: str) -> Rows:
    """Return rows in which a name that several ids have is followed by the id. ``kind`` names what has no name."""
    ids = Counter(name for name, _ in {(row["name"], row["id"]) for row in rows})

    def named(name: str | None, key: int | None) -> str:
        if key is None:
            return f"no {kind}"
        return name if name and ids[name] == 1 else f"{name or kind} ({key})"

    return [{**row, "name": named(row["name"], row["id"])} for row in rows]


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
    draw = {"line": line, "shares": shares, "hours": hours, "told_apart": told_apart}
    write_whole(path, rendered("report", report=report, rows=report.rows, **draw).encode())
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
            [zones] = records(connection.execute(sql_files.read("report/weeks.sql")))
            weeks = _weeks(zones["this_week"] or datetime.now(UTC).date(), is_any_earlier=zones["is_any_earlier"])
            rows = {name: _asked(connection, name, weeks) for name in QUERIES}
    except duckdb.CatalogException as error:
        raise ReportError(
            f"The published file lacks a relation that the report needs ({error}). Run `wms-sync sync`, which adds it."
        ) from None
    if not freshness:
        raise ReportError("There is nothing to report: nothing has been loaded yet. Run `wms-sync sync` first.")
    target_share = None if settings.on_time_target is None else settings.on_time_target / 100
    return Report(datetime.now(UTC), freshness[0], open_findings(findings), weeks, zones, target_share, rows)


def _weeks(this_week: date, *, is_any_earlier: bool | None) -> tuple[date, ...]:
    """Return the Mondays; this week counts as a whole one if nothing was shipped or due before."""
    last = this_week if is_any_earlier else this_week + timedelta(weeks=1)
    return tuple(last - timedelta(weeks=number) for number in range(WEEKS, -1, -1))


def _asked(connection: duckdb.DuckDBPyConnection, name: str, weeks: Sequence[date]) -> Rows:
    """Return the rows of a query, which names the Mondays that it needs."""
    query = sql_files.read(f"report/{name}.sql")
    days = {"since": weeks[0], "month": weeks[-5], "before": weeks[-3], "last": weeks[-2], "this_week": weeks[-1]}
    return records(connection.execute(query, {day: at for day, at in days.items() if f"${day}" in query}))


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


def line(measure: Measure) -> str:
    """Draw the weeks of a number as a line."""
    parts = [{"week": at, "value": value} for at, value in enumerate(measure)]
    return _svg(
        {
            "width": 150,
            "height": 36,
            "data": {"values": parts},
            "mark": {"type": "line", "color": BLUE, "point": {"color": BLUE, "size": 12}},
            "encoding": {
                "x": {"field": "week", "type": "ordinal", "axis": None},
                "y": {"field": "value", "type": "quantitative", "axis": None, "scale": {"zero": False}},
            },
        }
    )


def shares(rows: Rows, weeks: Sequence[date], target: float | None) -> str:
    """Draw a share by week from 0 to 100 %, with the number of shipments below; this week is hatched."""
    due = {row["week"]: row for row in rows}
    parts = [
        {
            "week": f"{week:%m-%d}|{due[week]['due'] if week in due else 0}",
            "share": due[week]["on_time"] / due[week]["due"] if week in due else None,
            "fill": "url(#hatch)" if week == weeks[-1] else BLUE,
        }
        for week in weeks
    ]
    axis = {"labelAngle": 0, "labelExpr": "split(datum.label, '|')", "title": None, "labelFontSize": 10}
    bar = {
        "mark": {"type": "bar", "stroke": BLUE, "strokeWidth": 0.5},
        "encoding": {
            "x": {
                "field": "week",
                "type": "ordinal",
                "scale": {"domain": [part["week"] for part in parts]},
                "axis": axis,
            },
            "y": {
                "field": "share",
                "type": "quantitative",
                "scale": {"domain": [0, 1]},
                "axis": {"format": ".0%", "values": [0, 0.25, 0.5, 0.75, 1], "title": None},
            },
            "color": {"field": "fill", "type": "nominal", "scale": None},
        },
    }
    wanted = {"mark": {"type": "rule", "color": ORANGE, "strokeDash": [4, 3]}, "encoding": {"y": {"datum": target}}}
    return _svg(
        {"width": 330, "height": 130, "data": {"values": parts}, "layer": [bar] if target is None else [bar, wanted]}
    )


def hours(rows: Rows) -> str:
    """Draw the shipments that are packed in each local hour of a working day."""
    return _svg(
        {
            "width": 640,
            "height": 130,
            "data": {"values": [*rows]},
            "mark": {"type": "bar", "color": BLUE},
            "encoding": {
                "x": {
                    "field": "hour",
                    "type": "ordinal",
                    "title": "local hour",
                    "scale": {"domain": [*range(24)]},
                    "axis": {"labelAngle": 0},
                },
                "y": {"field": "shipments", "type": "quantitative", "title": "shipments"},
            },
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
