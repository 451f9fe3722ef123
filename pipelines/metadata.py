"""Convert reports of the library to metadata of assets and checks, which operators read in Dagster's UI."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import dagster as dg

from wms_sync.analytics.asking import CheckResult
from wms_sync.catalogue import Column, Relation
from wms_sync.extract.read import ReadReport
from wms_sync.load.refresh import RefreshReport
from wms_sync.master_data.plan.steps import Plan
from wms_sync.master_data.push.file import PushReport

Metadata = Mapping[str, dg.MetadataValue | int | float | str]
Row = Mapping[str, Any]
SHOWN_WINDOWS = 50
SHOWN_ROWS = 100
SHOWN_FAULTS = 10
SHOWN_CHARACTERS = 300
"""The longest text in a row: Dagster's history should not hold whole records."""
QUIET = frozenset({"create", "created", "already there"})
"""Actions and outcomes that need no attention; their rows come last, because only the first rows are shown."""


def of_read(report: ReadReport) -> Metadata:
    """Return the metadata of a read."""
    progress = report.progress
    return {
        "windows": _windows(report.window_ids),
        "pages": progress.pages,
        "records": progress.records,
        "bytes": progress.bytes,
        "requests": report.requests,
        "seconds": round(report.seconds, 2),
        "horizon": dg.MetadataValue.timestamp(report.horizon),
        "intervals": dg.MetadataValue.md(
            "\n".join(f"- {one.start:%Y-%m-%d %H:%M:%S} to {one.end:%Y-%m-%d %H:%M:%S} UTC" for one in report.intervals)
            or "nothing to read"
        ),
        "notes": dg.MetadataValue.md("\n".join(f"- {note}" for note in report.notes) or "none"),
        "warnings": dg.MetadataValue.md("\n".join(f"- {warning}" for warning in report.warnings) or "none"),
    }


def of_table(slug: str, report: RefreshReport, page: Path | None) -> Metadata:
    """Return the metadata of a table: its rows, what this run merged into it, and the report of the load."""
    counts = {"dagster/row_count": report.rows[slug]} if slug in report.rows else {}
    shown = {"report": dg.MetadataValue.path(page.absolute())} if page is not None else {}
    return {**counts, "rows_merged": report.merged.get(slug, 0), **shown, **of_refresh(report)}


def of_refresh(report: RefreshReport) -> Metadata:
    """Return the metadata of a refresh, which is the same for every table."""
    return {
        "windows": _windows(report.windows),
        "quarantined": report.quarantined,
        "unknown_keys": report.drift,
        "warnings": dg.MetadataValue.md("\n".join(f"- {warning}" for warning in report.warnings) or "none"),
        "published_bytes": report.bytes,
        "seconds": round(report.seconds, 2),
    }


def of_check(result: CheckResult) -> Metadata:
    """Return the metadata of a check's result."""
    sample = {"sample": dg.MetadataValue.md(result.sample)} if result.sample else {}
    return {"offending_rows": result.offending, "rows_looked_at": result.rows, "asked_of": result.asked, **sample}


def of_handled(handled: Sequence[Plan | PushReport]) -> Metadata:
    """Return the metadata of handled files of master data; counts include all rows, tables show the first ones."""
    reports = [done for done in handled if isinstance(done, PushReport)]
    plans = [done.plan if isinstance(done, PushReport) else done for done in handled]
    facts: dict[str, dg.MetadataValue | int | float | str] = {
        "pushed": dg.MetadataValue.bool(bool(reports)),
        "files": dg.MetadataValue.md("\n".join(f"- {done.summary}" for done in handled) or "no file"),
        "notes": dg.MetadataValue.md("\n".join(f"- {note}" for plan in plans for note in plan.notes) or "none"),
        "rows": sum(len(plan.steps) for plan in plans),
        "plan": _table(rows_of(plans)),
        **_counted("planned", plans),
    }
    if reports:
        facts |= {
            "outcome": _table(rows_of(reports)),
            **_counted("rows", reports),
            "requests": sum(report.applied.requests for report in reports),
            "seconds": round(sum(report.applied.seconds for report in reports), 2),
            "rejects": dg.MetadataValue.md(
                "\n".join(f"- `{report.rejects}`" for report in reports if report.rejects) or "none"
            ),
        }
    return facts


def rows_of(handled: Sequence[Plan | PushReport], words: Collection[str] = ()) -> list[Row]:
    """Return the rows of handled files, those that need attention first.

    With `words`, only rows whose action (of a plan) or outcome (of a push) is one of them.
    """
    rows = [
        {"file": _file(done), "line": row["line"], "key": row["key"], "what": what, "why": row["why"]}
        for done in handled
        for row in done.rows()
        if (what := row["action" if isinstance(done, Plan) else "outcome"]) in words or not words
    ]
    return sorted(rows, key=lambda row: row["what"] in QUIET)


def unasked(handled: Sequence[Plan | PushReport]) -> Metadata:
    """Return why the Merchant API could not be called; empty if it could, or was not needed."""
    plans = [done.plan if isinstance(done, PushReport) else done for done in handled]
    reasons = dict.fromkeys(reason for plan in plans for reason in plan.unasked)
    return {"merchant_api": dg.MetadataValue.md("\n".join(f"- {reason}" for reason in reasons))} if reasons else {}


def of_rows(rows: Sequence[Row]) -> Metadata:
    """Return the metadata of a check of master data."""
    return {"rows": len(rows), **({"sample": _table(rows)} if rows else {})}


def of_relation(relation: Relation) -> Metadata:
    """Return the columns of a table or mart with their descriptions, from the catalogue."""
    schema = dg.TableSchema(columns=[_column(column) for column in relation.columns])
    return {
        "dagster/column_schema": dg.MetadataValue.table_schema(schema),
        "dagster/table_name": relation.name if relation.schema == "main" else f"{relation.schema}.{relation.name}",
    }


def _column(column: Column) -> dg.TableColumn:
    return dg.TableColumn(name=column.name, type=column.type or "any", description=column.comment)


def _windows(ids: tuple[str, ...]) -> dg.MetadataValue:
    shown = list(ids[:SHOWN_WINDOWS])
    if len(ids) > SHOWN_WINDOWS:
        shown.append(f"and {len(ids) - SHOWN_WINDOWS} more")
    return dg.MetadataValue.json(shown)


def _file(done: Plan | PushReport) -> str:
    plan = done.plan if isinstance(done, PushReport) else done
    return plan.checked.file.path.name


def _counted(name: str, handled: Sequence[Plan | PushReport]) -> Mapping[str, int]:
    """Return counts such as `planned_create: 4` and `rows_already_there: 1`."""
    counts: dict[str, int] = {}
    for done in handled:
        for what, count in done.counts.items():
            counted = f"{name}_{what.replace(' ', '_')}"
            counts[counted] = counts.get(counted, 0) + count
    return counts


def _table(rows: Sequence[Row]) -> dg.MetadataValue:
    """Return a table of the first rows; its last row says how many more there are."""
    records = [
        dg.TableRecord({name: _cut(value) if isinstance(value, str) else value for name, value in row.items()})
        for row in rows[:SHOWN_ROWS]
    ]
    if len(rows) > SHOWN_ROWS:
        more = f"and {len(rows) - SHOWN_ROWS:,} rows more"
        records.append(dg.TableRecord({"file": "", "line": 0, "key": "", "what": more, "why": ""}))
    types = {"file": "string", "line": "int", "key": "string", "what": "string", "why": "string"}
    schema = dg.TableSchema(columns=[dg.TableColumn(name, held) for name, held in types.items()])
    return dg.MetadataValue.table(records, schema)


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}..."
