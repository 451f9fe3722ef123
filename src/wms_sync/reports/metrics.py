"""Write ``metrics.prom`` in the data folder: metrics in Prometheus' text format, for a textfile collector.

Every run rewrites the file at its end, even a failed run. A value that changes with time is therefore given as a
timestamp: the lag at any time is ``time() - wms_sync_data_as_of_timestamp_seconds``. Names and units follow Prometheus'
conventions.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

from wms_sync.reports.finding import Finding, open_findings
from wms_sync.reports.status import Status
from wms_sync.settings import Settings
from wms_sync.state.runs import RunRecord
from wms_sync.storage.durable import make_private, put_in_place, share_with_group, write_synced
from wms_sync.targets.target import target_of

Labels = tuple[tuple[str, str], ...]
LAST_RUN = (
    ("records", "wms_sync_last_run_shipments", "Shipments that the last run read."),
    ("merged", "wms_sync_last_run_merged_rows", "Rows that the last run merged into the tables."),
    ("requests", "wms_sync_last_run_requests", "Requests that the last run sent to read shipments."),
    ("created", "wms_sync_last_run_created_rows", "Rows that the last push created in the service."),
    ("rejected", "wms_sync_last_run_rejected_rows", "Rows that the last push rejected."),
)
"""The counts of a run's record that become metrics: the name of the count, of the metric, and its help."""


class Metric(Struct, frozen=True):
    """One metric, a gauge, with a value for each set of labels."""

    name: str
    help: str
    values: tuple[tuple[Labels, float], ...]

    def lines(self, common: Labels) -> Iterator[str]:
        """Yield the lines of the text format."""
        if self.values:
            yield f"# HELP {self.name} {self.help}"
            yield f"# TYPE {self.name} gauge"
            for labels, value in self.values:
                shown = ",".join(f'{name}="{_escaped(text)}"' for name, text in (*common, *labels))
                yield f"{self.name}{{{shown}}} {value:.15g}"


def write_metrics(
    settings: Settings, runs: Sequence[RunRecord], found: Status | None, findings: Sequence[Finding]
) -> None:
    """Write the file. ``runs`` are sorted newest first; ``found`` is None if the status cannot be read."""
    metrics = [*_of_runs(runs), *_of_findings(findings), *(() if found is None else _of_status(settings, found))]
    common = (("service", urlsplit(settings.base_url or "").hostname or "none"),)
    text = "\n".join(line for metric in metrics for line in metric.lines(common))
    layout = settings.layout
    temporary = make_private(layout.work) / f"metrics-{os.getpid()}.prom"  # a push may end during a sync
    write_synced(temporary, f"{text}\n".encode())
    share_with_group(layout.root, temporary)
    put_in_place(temporary, layout.metrics)


def _of_runs(runs: Sequence[RunRecord]) -> Iterator[Metric]:
    ended = [run for run in runs if run.ended_at is not None]
    last = {_kind(run): run for run in reversed(ended)}
    good = {_kind(run): run for run in reversed(ended) if run.outcome == "succeeded"}
    yield _gauge(
        "wms_sync_last_run_timestamp_seconds",
        "When the last run of each kind ended, whatever its outcome.",
        {(("run", kind),): _at(run.ended_at) for kind, run in last.items()},
    )
    yield _gauge(
        "wms_sync_last_success_timestamp_seconds",
        "When the last successful run of each kind ended.",
        {(("run", kind),): _at(run.ended_at) for kind, run in good.items()},
    )
    yield _gauge(
        "wms_sync_last_run_success",
        "Whether the last run of each kind succeeded (1) or not (0).",
        {(("run", kind),): run.outcome == "succeeded" for kind, run in last.items()},
    )
    yield _gauge(
        "wms_sync_last_run_duration_seconds",
        "Seconds that each phase of the last run of each kind took.",
        {(("run", kind), ("phase", phase)): took for kind, run in last.items() for phase, took in run.phases.items()},
    )
    for count, name, text in LAST_RUN:
        values = {(("run", kind),): run.counts[count] for kind, run in last.items() if count in run.counts}
        yield _gauge(name, text, values)


def _of_status(settings: Settings, found: Status) -> Iterator[Metric]:
    yield _gauge(
        "wms_sync_data_as_of_timestamp_seconds",
        "The sync cursor: everything that changed before it is in the tables.",
        {(): _at(found.sync_cursor)} if found.sync_cursor else {},
    )
    yield _gauge(
        "wms_sync_lag_at_run_end_seconds",
        "Age of the sync cursor at the end of the last run.",
        {(): found.lag_seconds} if found.lag_seconds is not None else {},
    )
    yield _gauge(
        "wms_sync_late_after_seconds",
        "The age at which the sync cursor counts as stale, given the schedule.",
        {(): found.late_after_seconds},
    )
    yield _gauge("wms_sync_coverage_gaps", "Gaps in coverage.", {(): len(found.gaps)})
    yield _gauge(
        "wms_sync_windows", "Windows by state.", {(("state", name),): count for name, count in found.windows.items()}
    )
    yield _gauge(
        "wms_sync_table_rows", "Rows of each table.", {(("table", name),): n for name, n in found.rows.items()}
    )
    yield _gauge(
        "wms_sync_quarantined_values",
        "Values and records that did not fit their type and are still open.",
        {(): found.quarantined},
    )
    yield _gauge(
        "wms_sync_unknown_keys",
        "Keys that are in no type, or whose values were cast.",
        {(): found.unknown_keys},
    )
    doubts = Counter(doubt.kind for doubt in found.doubts)
    yield _gauge(
        "wms_sync_doubtful_creates",
        "Creates that may or may not be in the service.",
        {(("kind", kind),): doubts[kind] for kind in {*found.pushes, *doubts}},
    )
    yield _gauge("wms_sync_unfinished_files", "Files with unsent or waiting rows.", {(): len(found.unfinished)})
    yield from _of_audit(found)
    yield from _of_disk(settings, found)


def _of_findings(findings: Sequence[Finding]) -> Iterator[Metric]:
    shown = open_findings(findings)
    severities = Counter(finding.severity for finding in shown)
    yield _gauge(
        "wms_sync_open_findings",
        "Findings that are not acknowledged, by severity.",
        {(("severity", severity),): severities[severity] for severity in ("error", "warning")},
    )
    yield _gauge(
        "wms_sync_finding",
        "1 for each unacknowledged finding.",
        {(("finding", finding.name), ("severity", finding.severity)): 1 for finding in shown},
    )


def _of_audit(found: Status) -> Iterator[Metric]:
    audit = found.last_audit
    if audit is None:
        return
    yield _gauge(
        "wms_sync_audit_timestamp_seconds", "When the last audit read old shipments again.", {(): _at(audit.read_at)}
    )
    kinds = ("compared", "changed", "missed", "absent", "missing")
    yield _gauge(
        "wms_sync_audit_shipments",
        "Shipments of the last audit, by result.",
        {(("found", kind),): getattr(audit, kind) for kind in kinds},
    )
    yield _gauge(
        "wms_sync_audit_round_ratio",
        "Share of all shipments that the audit round has covered.",
        {(): audit.round_shipments / audit.shipments if audit.shipments else 1},
    )
    yield _gauge("wms_sync_missing_shipments", "Shipments that the service no longer has.", {(): audit.missing_in_all})


def _of_disk(settings: Settings, found: Status) -> Iterator[Metric]:
    layout = settings.layout
    yield _gauge(
        "wms_sync_disk_free_bytes",
        "Free space on the disk of the data folder.",
        {(): shutil.disk_usage(layout.root).free},
    )
    if found.published_at is not None:
        yield _gauge("wms_sync_published_bytes", "Size of the published tables.", {(): target_of(settings).size})
        yield _gauge(
            "wms_sync_published_timestamp_seconds", "When the tables were published.", {(): _at(found.published_at)}
        )


def _kind(run: RunRecord) -> str:
    """Return the purpose of a run without the days of a backfill: ``backfill``, ``push retailers``."""
    return "backfill" if run.purpose.startswith("backfill") else run.purpose


def _gauge(name: str, text: str, values: Mapping[Any, float]) -> Metric:
    return Metric(name, text, tuple(sorted(values.items())))


def _at(moment: datetime | None) -> float:
    assert moment is not None  # noqa: S101 - callers leave out what has not happened yet
    return moment.timestamp()


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
