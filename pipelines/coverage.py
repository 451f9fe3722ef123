"""Checks on changed_shipments that show the findings: gaps, age of the data, clocks, the last sync, and all others.

They examine coverage, not the time of the last run: if the service's clock stood still and a night read no changes, the
sync cursor is stale. No check blocks a load. The severity of a check is that of its worst finding.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta

import dagster as dg

from wms_sync.reports.finding import Finding, name_of, open_findings
from wms_sync.reports.findings import findings_of
from wms_sync.settings import Settings
from wms_sync.shipments.read.plan import data_as_of, gaps_so_far, late_after
from wms_sync.state.run_records import SYNC
from wms_sync.state.store import StateStore

from . import asset_keys
from .metadata import Metadata, listed, markdown
from .operation import RunResource

NO_GAP, FRESH, LAST_SYNC = "coverage_has_no_gap", "sync_cursor_is_fresh", "last_sync_succeeded"
HOUR = timedelta(hours=1)
SHOWN_FINDINGS = 3
CHECKS: Mapping[str, tuple[Callable[[str], bool], str]] = {
    NO_GAP: (
        lambda finding: finding.startswith("gap-"),
        "Coverage has no gap between WMS_START_DATE and the newest moment read. The next sync closes a gap.",
    ),
    FRESH: (
        lambda finding: finding in {"stale", "nothing-synced"},
        "The sync cursor is not older than the time between two scheduled runs (WMS_SCHEDULE_CRON) plus the time for a "
        "run, no matter when the last run was.",
    ),
    "clocks_agree": (
        lambda finding: finding == "clocks",
        "At the last sync the clocks of the service and of this machine differed by no more than "
        "WMS_CLOCK_TOLERANCE_SECONDS. A sync reads only up to a moment that has passed on both.",
    ),
    LAST_SYNC: (
        lambda finding: finding == name_of(SYNC),
        "The last sync did not fail, whoever started it. The next sync continues where it stopped.",
    ),
    "runs_tables_and_pushes_are_in_order": (
        lambda _: True,
        "`wms-sync status` has no other open finding: on runs, tables, pushes, files or upkeep. Fix the problem, or "
        "acknowledge it.",
    ),
}
"""For each check, whether it shows a finding of this name, and its description. The first that shows it has it."""


def coverage_checks(settings: Settings) -> dg.AssetChecksDefinition:
    """Return the checks of coverage. Every load evaluates them, too."""
    read = asset_keys.changes(settings)

    @dg.multi_asset_check(
        name="coverage",
        can_subset=True,
        specs=[dg.AssetCheckSpec(name, asset=read, description=text) for name, (_, text) in CHECKS.items()],
    )
    def coverage_checks(
        context: dg.AssetCheckExecutionContext, operation: dg.ResourceParam[RunResource]
    ) -> Iterator[dg.AssetCheckEvaluation]:
        """Yield the results of the checks, whichever of them were selected."""
        yield from evaluations(operation.settings)

    return coverage_checks


def evaluations(settings: Settings) -> Sequence[dg.AssetCheckEvaluation]:
    """Return the results of the checks, as events. A check fails if a finding that it shows is open."""
    now = datetime.now(UTC)
    shown: dict[str, list[Finding]] = {name: [] for name in CHECKS}
    for finding in open_findings(findings_of(settings, now)):
        shown[next(name for name, (shows, _) in CHECKS.items() if shows(finding.name))].append(finding)
    reach = _reach(settings, now)
    return [_evaluation(settings, name, findings, reach.get(name, {})) for name, findings in shown.items()]


def _reach(settings: Settings, now: datetime) -> Mapping[str, Metadata]:
    """Return the metadata on coverage, by the name of the check that shows it; empty before the first sync."""
    with StateStore.opened(settings.database_url) as store:
        cursor, covered = data_as_of(settings, store), store.covered(("loaded",))
    if cursor is None:
        return {}
    newest, gaps = gaps_so_far(settings.start, covered)
    return {
        NO_GAP: {"covered_to": dg.MetadataValue.timestamp(newest), "gaps": listed(gaps, "none")},
        FRESH: {
            "sync_cursor": dg.MetadataValue.timestamp(cursor),
            "hours_behind": round((now - cursor) / HOUR, 1),
            "hours_allowed": round(late_after(settings, now) / HOUR, 1),
        },
    }


def _evaluation(settings: Settings, name: str, findings: Sequence[Finding], facts: Metadata) -> dg.AssetCheckEvaluation:
    severe = any(finding.severity == "error" for finding in findings)
    return dg.AssetCheckEvaluation(
        check_name=name,
        asset_key=asset_keys.changes(settings),
        passed=not findings,
        severity=dg.AssetCheckSeverity.ERROR if severe else dg.AssetCheckSeverity.WARN,
        description=markdown(_listed(findings)) if findings else None,
        metadata={"findings": ", ".join(finding.name for finding in findings) or "none", **facts},
    )


def _listed(findings: Sequence[Finding]) -> str:
    more = f" … and {len(findings) - SHOWN_FINDINGS:,} more" if findings[SHOWN_FINDINGS:] else ""
    return " ".join(finding.sentence for finding in findings[:SHOWN_FINDINGS]) + more
