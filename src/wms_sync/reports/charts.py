"""Charts of the report, as SVG: Vega-Lite specifications, drawn by vl-convert without a browser.

Needs the extra ``report``. Colour-blind people can tell the colours apart, and the page shows the numbers of each chart
in a table below the chart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Rows = Sequence[Mapping[str, Any]]
COLORS = {"on time": "#3b82b8", "late": "#d9822b", "still open": "#8e4585"}
BLUE = "#3b82b8"
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
AGES = ("up to a day", "1 to 3 days", "3 to 7 days", "1 to 2 weeks", "over 2 weeks")
AGE_COLORS = ("#cfe1f2", "#93c4de", "#4a98c9", "#1c6aae", "#083370")
FONT = "system-ui, sans-serif"
SMALL, WIDE = 330, 560


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
