"""Convert reports of the library to metadata of assets and checks, which operators read in Dagster's UI.

Dagster renders metadata of type Markdown. Text from the service or a file enters it only through `markdown`, or in a
table, whose cells are plain text.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import dagster as dg

from wms_sync import sql_files
from wms_sync.catalogue import Mart, Relation
from wms_sync.grammar import count_of
from wms_sync.intervals import Interval
from wms_sync.layout import LAKE
from wms_sync.master_data.plan import Plan
from wms_sync.master_data.push import PushReport
from wms_sync.reports.dictionary import column_types
from wms_sync.settings import Settings
from wms_sync.shipments.load.checks import Sample, sentence
from wms_sync.shipments.load.refresh import RefreshReport
from wms_sync.shipments.read.reader import ReadReport
from wms_sync.targets.database import defined

Metadata = Mapping[str, dg.MetadataValue | int | float | str]
Row = Mapping[str, Any]
SHOWN_WINDOWS = 50
SHOWN_ROWS = 100
QUIET = frozenset({"create", "created", "already there"})
"""Actions and outcomes that need no attention; their rows come last, because only the first rows are shown."""
ROWS = dg.TableSchema(
    [dg.TableColumn(name, "int" if name == "line" else "string") for name in ("file", "line", "key", "what", "why")]
)
SHOWN_CHARACTERS = 300
"""The maximum length of a cell, because Dagster's history should not contain whole records."""

_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Control characters, and characters that change the direction of text."""
_ACTIVE = re.compile(r"[\\`*\[\]<>#|~!&]|(?<![^\W_])_|_(?![^\W_])")
"""Characters that have a meaning anywhere in Markdown. An underscore inside a word has no meaning."""
_BEGINS = re.compile(r"^(?:(?=[-+=])|\d{1,9}(?=[.)]))")
"""Characters that have a meaning in Markdown only at the beginning of a line."""


def markdown(text: str) -> str:
    """Return one line of Markdown that shows this text literally: no link, picture, HTML, list, table or code.

    Each run of whitespace becomes one space. A URL may still be shown as a link to itself.
    """
    plain = _UNSEEN.sub("\N{REPLACEMENT CHARACTER}", " ".join(text.split()))
    return _BEGINS.sub(r"\g<0>\\", _ACTIVE.sub(r"\\\g<0>", plain))


def bulleted(texts: Iterable[str], otherwise: str = "none") -> dg.MetadataValue:
    """Return a Markdown list with a line for each of these texts, or `otherwise` if there are no texts."""
    return dg.MetadataValue.md("\n".join(f"- {markdown(text)}" for text in texts) or otherwise)


def of_day(windows: Sequence[str], records: int | None) -> Metadata:
    """Return the metadata of a day: the number of its shipments, if it is known, and its windows."""
    known = {} if records is None else {"dagster/partition_row_count": records}
    return {**known, "windows": _windows(windows)}


def of_read(report: ReadReport) -> Metadata:
    """Return the metadata of a read."""
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
    """Return the metadata of a table: its row count, the rows that this run merged into it, and the load's report."""
    counts = {"dagster/row_count": report.rows[slug]} if slug in report.rows else {}
    shown = {"report": dg.MetadataValue.path(page.absolute())} if page is not None else {}
    merged = {"rows_merged": report.merged.get(slug, 0), **(report.merging(slug) if slug in report.verdicts else {})}
    reaches = report.data_as_of
    return {
        **counts,
        **merged,
        **shown,
        **({"data_as_of": dg.MetadataValue.timestamp(reaches)} if reaches is not None else {}),
        "windows": _windows(report.windows),
        **({"audit": report.audited} if report.audited is not None else {}),
        "quarantined": report.quarantined,
        "unknown_keys": report.drift,
        "published_bytes": report.bytes,
        "seconds": round(sum(report.phases.values()), 2),
    }


def of_relation(settings: Settings, relation: Relation) -> Metadata:
    """Return the columns of a table or mart with DuckDB's types and their descriptions, and where it is.

    A mart has its SQL file as code reference.
    """
    types = column_types(defined()[relation.place])
    schema = dg.TableSchema(
        columns=[
            dg.TableColumn(column.name, types[column.name], description=column.comment) for column in relation.columns
        ]
    )
    in_lake, published = settings.analytics == "ducklake", settings.layout.published.absolute()
    place = settings.files_url or settings.data_dir.absolute().as_uri()
    code: Metadata = {}
    if isinstance(relation, Mart):
        path = f"marts/{relation.name}.sql"
        file = dg.LocalFileCodeReference(file_path=str(sql_files.folder() / path), label=f"sql/{path}")
        code = {"dagster/code_references": dg.CodeReferencesMetadataValue(code_references=[file])}
    return {
        "dagster/column_schema": dg.MetadataValue.table_schema(schema),
        "dagster/table_name": f"{LAKE if in_lake else published.stem}.{relation.schema}.{relation.name}",
        "dagster/uri": f"{place}/{LAKE}" if in_lake else published.as_uri(),
        **code,
    }


def listed(intervals: Iterable[Interval], otherwise: str) -> dg.MetadataValue:
    """Return a list of intervals, or `otherwise` if there are no intervals."""
    spelled = (f"{part.start:%Y-%m-%d %H:%M:%S} to {part.end:%Y-%m-%d %H:%M:%S} UTC" for part in intervals)
    return bulleted(spelled, otherwise)


def _windows(ids: Sequence[str]) -> dg.MetadataValue:
    more = [f"and {len(ids) - SHOWN_WINDOWS} more"] if len(ids) > SHOWN_WINDOWS else []
    return dg.MetadataValue.json([*ids[:SHOWN_WINDOWS], *more])


def sample_table(sample: Sample) -> dg.MetadataValue:
    """Return the offending rows of a check as a table."""
    schema = dg.TableSchema(columns=[dg.TableColumn(name, "string") for name in sample.columns])
    rows = [dict(zip(sample.columns, map(cut, row), strict=True)) for row in sample.rows]
    return dg.MetadataValue.table([dg.TableRecord(row) for row in rows], schema)


def cut(text: str) -> str:
    """Return a text, cut to ``SHOWN_CHARACTERS``, for Dagster's history."""
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}..."


def of_handled(
    handled: Sequence[Plan | PushReport], job: str, approval: Mapping[str, object] | None = None
) -> Metadata:
    """Return the metadata of handled files of master data. Counts include all rows; tables show only the first rows.

    `approval` is the run configuration with which `job` sends exactly these plans.
    """
    reports = [done for done in handled if isinstance(done, PushReport)]
    plans = [done.plan if isinstance(done, PushReport) else done for done in handled]
    facts: dict[str, dg.MetadataValue | int | float | str] = {
        "pushed": dg.MetadataValue.bool(bool(reports)),
        "files": bulleted((done.summary for done in handled), "no file"),
        **({} if approval is None else {"approve": _approval(job, approval)}),
        "notes": bulleted(note for plan in plans for note in plan.notes),
        "rows": sum(len(plan.steps) for plan in plans),
        "plan": rows_table(rows_of(plans)),
        **_counted("planned", plans),
    }
    if reports:
        facts |= {
            "outcome": rows_table(rows_of(reports)),
            **_counted("rows", reports),
            "requests": sum(report.requests for report in reports),
            "seconds": round(sum(report.seconds for report in reports), 2),
            "rejects": bulleted(str(report.rejects) for report in reports if report.rejects),
        }
    return facts


def _approval(job: str, approval: Mapping[str, object]) -> dg.MetadataValue:
    text = f"To send exactly this plan, launch the job `{job}` with this configuration:"
    return dg.MetadataValue.md(f"{text}\n\n```json\n{json.dumps(approval, indent=2)}\n```")


def rows_of(handled: Sequence[Plan | PushReport], words: Collection[str] = ()) -> list[Row]:
    """Return the rows of handled files, with the rows that need attention first.

    With `words`, return only rows whose action (of a plan) or outcome (of a push) is one of these words.
    """
    rows = [
        {"file": done.checked.file.path.name, **row}
        for done in handled
        for row in done.rows()
        if row["what"] in words or not words
    ]
    return sorted(rows, key=lambda row: row["what"] in QUIET)


def finding(wrong: str, rows: Sequence[Row]) -> str | None:
    """Return the finding of a check of master data, phrased like those of table checks; None if the check passes."""
    texts = [{name: str(value) for name, value in row.items()} for row in rows]
    return sentence(wrong, "{file} line {line}", len(rows), texts) if rows else None


def _counted(name: str, handled: Sequence[Plan | PushReport]) -> Mapping[str, int]:
    """Return counts such as `planned_create: 4` and `rows_already_there: 1`."""
    counts: Counter[str] = Counter()
    for done in handled:
        counts.update({f"{name}_{what.name.lower()}": count for what, count in done.counts.items()})
    return counts


def rows_table(rows: Sequence[Row]) -> dg.MetadataValue:
    """Return a table of the first rows. If there are more rows, the last row of the table has their number."""
    records = [
        dg.TableRecord({name: cut(value) if isinstance(value, str) else value for name, value in row.items()})
        for row in rows[:SHOWN_ROWS]
    ]
    if len(rows) > SHOWN_ROWS:
        more = f"and {count_of(len(rows) - SHOWN_ROWS, 'row')} more"
        records.append(dg.TableRecord({"file": "", "line": 0, "key": "", "what": more, "why": ""}))
    return dg.MetadataValue.table(records, ROWS)
