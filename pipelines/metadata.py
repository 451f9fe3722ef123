"""Reports of the library as metadata of assets and checks: what an operator reads in Dagster's UI."""

from __future__ import annotations

from collections.abc import Mapping

import dagster as dg

from wms_sync.analytics.checks import CheckOutcome
from wms_sync.analytics.refresh import RefreshReport
from wms_sync.catalogue import Column, Relation
from wms_sync.extract.read import ReadReport

Metadata = Mapping[str, dg.MetadataValue | int | float | str]
SHOWN_WINDOWS = 50


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
        "published_bytes": report.bytes,
        "seconds": round(report.seconds, 2),
    }


def of_outcome(outcome: CheckOutcome) -> Metadata:
    """What a check found."""
    sample = {"sample": dg.MetadataValue.md(outcome.sample)} if outcome.sample else {}
    return {"offending_rows": outcome.offending, **sample}


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
