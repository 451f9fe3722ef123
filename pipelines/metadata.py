"""Convert reports of the library to metadata of assets and checks, which operators read in Dagster's UI.

Dagster shows metadata of type Markdown as such. What the service or a file says enters it only through `markdown`, or
as a table, whose cells are plain text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import dagster as dg

from wms_sync.analytics.asking import CheckResult, Sample
from wms_sync.analytics.database import defined
from wms_sync.catalogue import Relation
from wms_sync.extract.read import ReadReport
from wms_sync.intervals import Interval
from wms_sync.load.refresh import RefreshReport
from wms_sync.reports.days import DayRead
from wms_sync.reports.dictionary import column_types

Metadata = Mapping[str, dg.MetadataValue | int | float | str]
SHOWN_WINDOWS = 50
SHOWN_CHARACTERS = 300
"""The longest text in a row: Dagster's history should not hold whole records."""

_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Control characters, and those that change the direction of what follows."""
_ACTIVE = re.compile(r"[\\`*\[\]<>#|~!&]|(?<![^\W_])_|_(?![^\W_])")
"""What begins or ends something in Markdown anywhere; an underscore inside a word does not."""
_BEGINS = re.compile(r"^(?:(?=[-+=])|\d{1,9}(?=[.)]))")
"""What does so only at the beginning of a line."""


def markdown(text: str) -> str:
    """Return Markdown for one line that shows this text as it is: no link, picture, HTML, list, table or code.

    Runs of white space become a space. An address remains one, and may be shown as a link to what it says.
    """
    plain = _UNSEEN.sub("\N{REPLACEMENT CHARACTER}", " ".join(text.split()))
    return _BEGINS.sub(r"\g<0>\\", _ACTIVE.sub(r"\\\g<0>", plain))


def bulleted(texts: Iterable[str], otherwise: str = "none") -> dg.MetadataValue:
    """Return a list with a line for each of these texts, or `otherwise` if there is none."""
    return dg.MetadataValue.md("\n".join(f"- {markdown(text)}" for text in texts) or otherwise)


def of_day(read: DayRead) -> Metadata:
    """Return the metadata of a day that was read: its own numbers, where they are known."""
    counts = {"records": read.records, "pages": read.pages, "bytes": read.bytes}
    known = {name: count for name, count in counts.items() if count is not None}
    return {**known, "windows": _windows(read.windows)}


def of_read(report: ReadReport) -> Metadata:
    """Return the metadata of a read, whichever days it read."""
    return {
        "records_of_run": report.progress.records,
        "requests": report.requests,
        "seconds": round(report.seconds, 2),
        "horizon": dg.MetadataValue.timestamp(report.horizon),
        "intervals": listed(report.intervals, "nothing to read"),
        "notes": bulleted(report.notes),
        "warnings": bulleted(report.warnings),
    }


def of_table(slug: str, report: RefreshReport, page: Path | None) -> Metadata:
    """Return the metadata of a table: its rows, what this run merged into it, and the report of the load."""
    rows = {**report.rows, **report.ops_rows}
    counts = {"dagster/row_count": rows[slug]} if slug in rows else {}
    shown = {"report": dg.MetadataValue.path(page.absolute())} if page is not None else {}
    return {**counts, "rows_merged": report.merged.get(slug, 0), **shown, **of_refresh(report)}


def of_refresh(report: RefreshReport) -> Metadata:
    """Return the metadata of a refresh, which is the same for every table."""
    reaches = report.data_as_of
    return {
        **({"data_as_of": dg.MetadataValue.timestamp(reaches)} if reaches is not None else {}),
        "windows": _windows(report.windows),
        **({"audit": report.audited} if report.audited is not None else {}),
        "quarantined": report.quarantined,
        "unknown_keys": report.drift,
        "warnings": bulleted(report.warnings),
        "published_bytes": report.bytes,
        "seconds": round(report.seconds, 2),
    }


def of_check(result: CheckResult) -> Metadata:
    """Return the metadata of a check's result."""
    sample = {"sample": _sample(result.sample)} if result.sample else {}
    return {"offending_rows": result.offending, "rows_looked_at": result.rows, "asked_of": result.asked, **sample}


def of_relation(relation: Relation) -> Metadata:
    """Return the columns of a table or mart with DuckDB's types and their descriptions, from the catalogue."""
    types = column_types(defined()[relation.place])
    schema = dg.TableSchema(
        columns=[dg.TableColumn(one.name, types[one.name], description=one.comment) for one in relation.columns]
    )
    return {
        "dagster/column_schema": dg.MetadataValue.table_schema(schema),
        "dagster/table_name": relation.title,
    }


def listed(intervals: Iterable[Interval], otherwise: str) -> dg.MetadataValue:
    """Return a list of intervals, or `otherwise` if there is none."""
    return bulleted(map(spelled, intervals), otherwise)


def spelled(interval: Interval) -> str:
    """Return an interval as people read it."""
    return f"{interval.start:%Y-%m-%d %H:%M:%S} to {interval.end:%Y-%m-%d %H:%M:%S} UTC"


def _windows(ids: tuple[str, ...]) -> dg.MetadataValue:
    shown = list(ids[:SHOWN_WINDOWS])
    if len(ids) > SHOWN_WINDOWS:
        shown.append(f"and {len(ids) - SHOWN_WINDOWS} more")
    return dg.MetadataValue.json(shown)


def _sample(sample: Sample) -> dg.MetadataValue:
    """Return the offending rows of a check as a table."""
    schema = dg.TableSchema(columns=[dg.TableColumn(name, "string") for name in sample.columns])
    rows = [dict(zip(sample.columns, map(cut, row), strict=True)) for row in sample.rows]
    return dg.MetadataValue.table([dg.TableRecord(row) for row in rows], schema)


def cut(text: str) -> str:
    """Return a text for Dagster's history, which should not hold whole records."""
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}..."
