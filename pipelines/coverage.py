"""Checks of coverage, on shipment_pages: is anything missing, and how far does the sync cursor lag.

They look at what is covered, not at when something last ran: a night that ran and read nothing because the clock of
the service stood still is not fresh. Both warn and never block.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import dagster as dg

from wms_sync.extract.plan import missing, sync_cursor
from wms_sync.settings import Settings
from wms_sync.state.store import StateStore

NO_GAP = "coverage_has_no_gap"
FRESH = "sync_cursor_is_fresh"
FRESH_WITHIN = timedelta(hours=26)
"""A night and two hours: one missed night shows."""


def specs(key: dg.AssetKey) -> Sequence[dg.AssetCheckSpec]:
    """Both checks as Dagster lists them."""
    return (
        dg.AssetCheckSpec(
            NO_GAP,
            asset=key,
            description=(
                "From WMS_START_DATE to the newest moment that was read, nothing is missing. A gap is closed by the "
                "next sync, or by materialising its days."
            ),
        ),
        dg.AssetCheckSpec(
            FRESH,
            asset=key,
            description=f"The sync cursor is at most {FRESH_WITHIN} old, whenever the last run was.",
        ),
    )


def results(
    settings: Settings, store: StateStore, key: dg.AssetKey, now: datetime | None = None
) -> Sequence[dg.AssetCheckResult]:
    """Both checks as coverage stands."""
    now = now or datetime.now(UTC)
    covered = store.covered()
    newest = max((one.end for one in covered), default=settings.start)
    gaps = missing(settings.start, newest, covered)
    cursor = sync_cursor(settings.start, covered)
    return (
        _result(
            NO_GAP,
            key,
            passed=not gaps,
            metadata={
                "covered_to": dg.MetadataValue.timestamp(newest),
                "gaps": dg.MetadataValue.md(
                    "\n".join(f"- {gap.start:%Y-%m-%d %H:%M:%S} to {gap.end:%Y-%m-%d %H:%M:%S} UTC" for gap in gaps)
                    or "none"
                ),
            },
        ),
        _result(
            FRESH,
            key,
            passed=now - cursor <= FRESH_WITHIN,
            metadata={
                "sync_cursor": dg.MetadataValue.timestamp(cursor),
                "hours_behind": round((now - cursor) / timedelta(hours=1), 1),
            },
        ),
    )


def evaluation(result: dg.AssetCheckResult, key: dg.AssetKey) -> dg.AssetCheckEvaluation:
    """A result as an event of its own, for a sensor: there is no run to belong to."""
    return dg.AssetCheckEvaluation(
        asset_key=key,
        check_name=str(result.check_name),
        passed=result.passed,
        severity=result.severity,
        metadata=result.metadata,
    )


def _result(
    name: str, key: dg.AssetKey, *, passed: bool, metadata: dict[str, dg.MetadataValue | float]
) -> dg.AssetCheckResult:
    return dg.AssetCheckResult(
        check_name=name, asset_key=key, passed=passed, severity=dg.AssetCheckSeverity.WARN, metadata=metadata
    )
