"""What Dagster shows of handled files of master data: of plans and of pushes.

It stands apart from `metadata`, because a night handles no such file, and what it needs takes long to import.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import dagster as dg

from pipelines.metadata import Metadata, bulleted, cut
from wms_sync.analytics.finding import sentence
from wms_sync.grammar import count_of
from wms_sync.master_data.plan.steps import Plan
from wms_sync.master_data.push.file import PushReport

Row = Mapping[str, Any]
SHOWN_ROWS = 100
QUIET = frozenset({"create", "created", "already there"})
"""Actions and outcomes that need no attention; their rows come last, because only the first rows are shown."""


def of_handled(
    handled: Sequence[Plan | PushReport], job: str, approval: Mapping[str, object] | None = None
) -> Metadata:
    """Return the metadata of handled files of master data; counts include all rows, tables show the first ones.

    `approval` is the configuration with which the job sends what is only planned.
    """
    reports = [done for done in handled if isinstance(done, PushReport)]
    plans = [done.plan if isinstance(done, PushReport) else done for done in handled]
    facts: dict[str, dg.MetadataValue | int | float | str] = {
        "pushed": dg.MetadataValue.bool(bool(reports)),
        "files": bulleted((done.summary for done in handled), "no file"),
        **_approval(job, approval),
        "notes": bulleted(note for plan in plans for note in plan.notes),
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
            "rejects": bulleted(str(report.rejects) for report in reports if report.rejects),
        }
    return facts


def _approval(job: str, approval: Mapping[str, object] | None) -> Metadata:
    if approval is None:
        return {}
    told = f"To send exactly this plan and nothing else, launch the job `{job}` with this configuration:"
    return {"approve": dg.MetadataValue.md(f"{told}\n\n```json\n{json.dumps(approval, indent=2)}\n```")}


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


def unasked(handled: Sequence[Plan | PushReport]) -> Sequence[str]:
    """Return why the Merchant API could not be called; nothing if it could, or was not needed."""
    plans = [done.plan if isinstance(done, PushReport) else done for done in handled]
    return list(dict.fromkeys(reason for plan in plans for reason in plan.unasked))


def finding(wrong: str, rows: Sequence[Row], reasons: Sequence[str] = ()) -> str | None:
    """Return what a check of master data found, as the checks of tables do; None if nothing is wrong."""
    texts = [{name: str(value) for name, value in row.items()} for row in rows]
    found = [sentence(wrong, "{file} line {line}", len(rows), texts)] if rows else []
    return " ".join([*found, *reasons]) or None


def of_rows(rows: Sequence[Row], reasons: Sequence[str] = ()) -> Metadata:
    """Return the metadata of a check of master data; `reasons` are why the Merchant API could not be called."""
    sample = {"sample": _table(rows)} if rows else {}
    return {"rows": len(rows), **sample, **({"merchant_api": bulleted(reasons)} if reasons else {})}


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
        dg.TableRecord({name: cut(value) if isinstance(value, str) else value for name, value in row.items()})
        for row in rows[:SHOWN_ROWS]
    ]
    if len(rows) > SHOWN_ROWS:
        more = f"and {count_of(len(rows) - SHOWN_ROWS, 'row')} more"
        records.append(dg.TableRecord({"file": "", "line": 0, "key": "", "what": more, "why": ""}))
    types = {"file": "string", "line": "int", "key": "string", "what": "string", "why": "string"}
    schema = dg.TableSchema(columns=[dg.TableColumn(name, held) for name, held in types.items()])
    return dg.MetadataValue.table(records, schema)
