"""Reports of the library as metadata of assets and checks: what an operator reads in Dagster's UI."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import dagster as dg

from wms_sync.analytics.checks import CheckResult
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
"""Of a text in a row: Dagster's history is no place for whole records."""
QUIET = frozenset({"create", "created", "already there"})
"""What needs no look, and comes last where not everything is shown."""


def of_read(report: ReadReport) -> Metadata:
    """What a read brought."""
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
            or "nothing was missing"
        ),
        "notes": dg.MetadataValue.md("\n".join(f"- {note}" for note in report.notes) or "none"),
        "warnings": dg.MetadataValue.md("\n".join(f"- {warning}" for warning in report.warnings) or "none"),
    }


def of_table(slug: str, report: RefreshReport) -> Metadata:
    """How a table stands, and what this run put in."""
    counts = {"dagster/row_count": report.rows[slug]} if slug in report.rows else {}
    return {**counts, "rows_merged": report.merged.get(slug, 0), **of_refresh(report)}


def of_refresh(report: RefreshReport) -> Metadata:
    """What a refresh did, whichever table one looks at."""
    return {
        "windows": _windows(report.windows),
        "quarantined": report.quarantined,
        "unknown_keys": report.drift,
        "warnings": dg.MetadataValue.md("\n".join(f"- {warning}" for warning in report.warnings) or "none"),
        "published_bytes": report.bytes,
        "seconds": round(report.seconds, 2),
    }


def of_outcome(outcome: CheckResult) -> Metadata:
    """What a check found."""
    sample = {"sample": dg.MetadataValue.md(outcome.sample)} if outcome.sample else {}
    return {"offending_rows": outcome.offending, **sample}


def of_handled(handled: Sequence[Plan | PushReport]) -> Metadata:
    """What became of files of master data; counts are of all rows, tables are bounded."""
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
    """Their rows (those with one of these words for what becomes of them) with the file, what needs a look first."""
    rows = [
        {"file": _file(done), "line": row["line"], "key": row["key"], "what": what, "why": row["why"]}
        for done in handled
        for row in done.rows()
        if (what := row["action" if isinstance(done, Plan) else "outcome"]) in words or not words
    ]
    return sorted(rows, key=lambda row: row["what"] in QUIET)


def unasked(handled: Sequence[Plan | PushReport]) -> Metadata:
    """Why the Merchant API could not be asked, where that is so."""
    plans = [done.plan if isinstance(done, PushReport) else done for done in handled]
    reasons = dict.fromkeys(reason for plan in plans for reason in plan.unasked)
    return {"merchant_api": dg.MetadataValue.md("\n".join(f"- {reason}" for reason in reasons))} if reasons else {}


def of_rows(rows: Sequence[Row]) -> Metadata:
    """What a check of master data found."""
    return {"rows": len(rows), **({"sample": _table(rows)} if rows else {})}


def of_relation(relation: Relation) -> Metadata:
    """The columns with their descriptions: the catalogue is the data dictionary."""
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
    """`planned_create: 4`, `rows_already_there: 1`."""
    counts: dict[str, int] = {}
    for done in handled:
        for what, count in done.counts.items():
            counted = f"{name}_{what.replace(' ', '_')}"
            counts[counted] = counts.get(counted, 0) + count
    return counts


def _table(rows: Sequence[Row]) -> dg.MetadataValue:
    """The first rows; a last one says how many more there are."""
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
