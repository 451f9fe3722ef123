"""Write ``metrics.prom`` in the data folder: metrics in Prometheus' text format, for a textfile collector.

Every run rewrites the file at its end, even a failed run. A pod's file vanishes with it, so a run also pushes to a
Pushgateway if one is set. A value that changes with time is therefore given as a timestamp: the lag at any time is
``time() - wms_sync_data_as_of_timestamp_seconds``. Names and units follow Prometheus' conventions.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from urllib.parse import urlsplit

from wms_sync.errors import WmsSyncError
from wms_sync.reports.finding import Finding, open_findings
from wms_sync.reports.installation import Installation, LastAudit
from wms_sync.state.run_records import SYNC, RunRecord
from wms_sync.storage.durable import make_private, put_in_place, share_with_group, write_synced
from wms_sync.targets.target import target_of

SECONDS = 10
"""The time limit for the Pushgateway."""
Metric = tuple[str, str, tuple[str, ...], Mapping[tuple[str, ...], float]]
"""A gauge: its name, help and labels but ``service``, and the number for each combination of the labels' values."""
LAST_RUN = (
    (("records",), "wms_sync_last_run_shipments", "Shipments that the last run read."),
    (("merged",), "wms_sync_last_run_merged_rows", "Rows that the last run merged into the tables."),
    (("requests",), "wms_sync_last_run_requests", "Requests that the last run sent to read shipments."),
    (("created", "stored_otherwise"), "wms_sync_last_run_created_rows", "Rows that the last push created."),
    (("rejected",), "wms_sync_last_run_rejected_rows", "Rows that the last push rejected."),
)
"""The counts of a run's record that become a metric as their sum: their names, that of the metric, and its help."""
GOOD = frozenset({"read", "succeeded"})


def write_metrics(installation: Installation, findings: Sequence[Finding]) -> None:
    """Write the file, without the facts that cannot be read, and push the same.

    Raise ``OSError`` or ``HTTPException`` if the Pushgateway does not take it.
    """
    from prometheus_client import CollectorRegistry, Gauge, generate_latest, push_to_gateway  # slow to import

    registry = CollectorRegistry()
    settings = installation.settings
    service = urlsplit(settings.base_url or "").hostname or "none"
    metrics = [*_of_runs(installation.runs), *_of_findings(findings)]
    with suppress(WmsSyncError):
        metrics.extend(_of_status(installation))
    for name, text, labels, values in metrics:
        gauge = Gauge(name, text, ("service", *labels), registry=registry)
        for named, value in values.items():
            gauge.labels(service, *named).set(value)
    layout = settings.layout
    temporary = make_private(layout.work) / f"metrics-{os.getpid()}.prom"  # a push may end during a sync
    write_synced(temporary, generate_latest(registry))
    share_with_group(layout.root, temporary)
    put_in_place(temporary, layout.metrics)
    if settings.metrics_url is not None:
        push_to_gateway(settings.metrics_url, "wms-sync", registry, {"service": service}, timeout=SECONDS)


def _of_runs(runs: Sequence[RunRecord]) -> Sequence[Metric]:
    ended = [
        (run, run.ended_at.timestamp())
        for run in reversed(runs)
        # a sync that has only read has not ended; what a backfill read, another run loads
        if run.ended_at is not None and (run.outcome != "read" or run.purpose != SYNC)
    ]
    last = {run.group: run for run, _ in ended}
    counted: list[Metric] = [
        (
            name,
            text,
            ("run",),
            {
                (kind,): sum(run.counts.get(count, 0) for count in counts)
                for kind, run in last.items()
                if not run.counts.keys().isdisjoint(counts)
            },
        )
        for counts, name, text in LAST_RUN
    ]
    return (
        (
            "wms_sync_last_run_timestamp_seconds",
            "When the last run of each kind ended, whatever its outcome.",
            ("run",),
            {(run.group,): at for run, at in ended},
        ),
        (
            "wms_sync_last_success_timestamp_seconds",
            "When the last successful run of each kind ended.",
            ("run",),
            {(run.group,): at for run, at in ended if run.outcome in GOOD},
        ),
        (
            "wms_sync_last_run_success",
            "Whether the last run of each kind succeeded (1) or not (0).",
            ("run",),
            {(kind,): run.outcome in GOOD for kind, run in last.items()},
        ),
        (
            "wms_sync_last_run_duration_seconds",
            "Seconds that each phase of the last run of each kind took.",
            ("run", "phase"),
            {(kind, phase): took for kind, run in last.items() for phase, took in run.phases.items()},
        ),
        *counted,
    )


def _of_status(found: Installation) -> Sequence[Metric]:
    doubts = Counter(doubt.kind for doubt in found.doubts)
    published = found.published_at
    return (
        (
            "wms_sync_data_as_of_timestamp_seconds",
            "The sync cursor: everything that changed before it is in the tables.",
            (),
            {(): found.sync_cursor.timestamp()} if found.sync_cursor else {},
        ),
        (
            "wms_sync_lag_at_run_end_seconds",
            "Age of the sync cursor at the end of the last run.",
            (),
            {(): found.lag_seconds} if found.lag_seconds is not None else {},
        ),
        (
            "wms_sync_late_after_seconds",
            "The age at which the sync cursor counts as stale, given the schedule.",
            (),
            {(): found.late_after_seconds},
        ),
        ("wms_sync_coverage_gaps", "Gaps in coverage.", (), {(): len(found.gaps)}),
        ("wms_sync_windows", "Windows by state.", ("state",), {(name,): n for name, n in found.windows.items()}),
        ("wms_sync_table_rows", "Rows of each table.", ("table",), {(name,): n for name, n in found.rows.items()}),
        (
            "wms_sync_quarantined_values",
            "Values and records that did not fit their type and are still open.",
            (),
            {(): found.quarantined},
        ),
        ("wms_sync_unknown_keys", "Keys that are in no type, or whose values were cast.", (), {(): found.unknown_keys}),
        (
            "wms_sync_doubtful_creates",
            "Creates that may or may not be in the service.",
            ("kind",),
            {(kind,): doubts[kind] for kind in sorted({*found.pushes, *doubts})},
        ),
        ("wms_sync_unfinished_files", "Files with unsent, waiting or rejected rows.", (), {(): len(found.unfinished)}),
        *(() if found.last_audit is None else _of_audit(found.last_audit)),
        (
            "wms_sync_disk_free_bytes",
            "Free space on the disk of the data folder.",
            (),
            {(): shutil.disk_usage(found.settings.data_dir).free},
        ),
        (
            "wms_sync_published_bytes",
            "Size of the published tables.",
            (),
            {} if published is None else {(): target_of(found.settings).size},
        ),
        (
            "wms_sync_published_timestamp_seconds",
            "When the tables were published.",
            (),
            {} if published is None else {(): published.timestamp()},
        ),
    )


def _of_findings(findings: Sequence[Finding]) -> Sequence[Metric]:
    shown = open_findings(findings)
    severities = Counter(finding.severity for finding in shown)
    return (
        (
            "wms_sync_open_findings",
            "Findings that are not acknowledged, by severity.",
            ("severity",),
            {(severity,): severities[severity] for severity in ("error", "warning")},
        ),
        (
            "wms_sync_finding",
            "1 for each unacknowledged finding.",
            ("finding", "severity"),
            {(finding.name, finding.severity): 1 for finding in shown},
        ),
    )


def _of_audit(audit: LastAudit) -> Sequence[Metric]:
    return (
        (
            "wms_sync_audit_timestamp_seconds",
            "When the last audit read old shipments again.",
            (),
            {(): audit.read_at.timestamp()},
        ),
        (
            "wms_sync_audit_shipments",
            "Shipments of the last audit, by result.",
            ("found",),
            {(kind,): getattr(audit, kind) for kind in ("compared", "changed", "missed", "absent", "missing")},
        ),
        (
            "wms_sync_audit_round_ratio",
            "Share of all shipments that the audit round has covered.",
            (),
            {(): audit.round_shipments / audit.shipments if audit.shipments else 1},
        ),
        (
            "wms_sync_missing_shipments",
            "Shipments that the service no longer has.",
            (),
            {(): audit.missing_in_all},
        ),
    )
