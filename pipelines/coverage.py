"""Checks of coverage, on changed_shipments: is anything missing, how far does the sync cursor lag, are clocks right,
did the last sync fail.

They examine coverage, not the time of the last run: if the service's clock stood still and a night read nothing, the
sync cursor is not fresh. None of them blocks; all but the last warn.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

import dagster as dg

from pipelines import asset_keys, metadata
from pipelines.metadata import markdown, spelled
from pipelines.operation import Operation
from wms_sync.grammar import count_of
from wms_sync.intervals import Interval
from wms_sync.settings import Settings
from wms_sync.shipments.read.clocks import what_is_off
from wms_sync.shipments.read.plan import gaps_so_far, late_after, sync_cursor
from wms_sync.state.runs import SYNC, RunRecords
from wms_sync.state.store import StateStore

NO_GAP = "coverage_has_no_gap"
FRESH = "sync_cursor_is_fresh"
CLOCKS = "clocks_agree"
LAST_SYNC = "last_sync_succeeded"
HOUR = timedelta(hours=1)
SHOWN_GAPS = 3


def coverage_checks(settings: Settings, after: dg.AssetKey) -> dg.AssetChecksDefinition:
    """Return the checks, which come last in a run that also makes the asset `after`."""
    read = asset_keys.changes(settings)

    @dg.multi_asset_check(
        name="coverage",
        specs=[
            dg.AssetCheckSpec(
                NO_GAP,
                asset=read,
                additional_deps=[after],
                description=(
                    "Coverage has no gap between WMS_START_DATE and the newest moment that was read. The next sync "
                    "closes a gap."
                ),
            ),
            dg.AssetCheckSpec(
                FRESH,
                asset=read,
                additional_deps=[after],
                description=(
                    "The sync cursor is not older than the schedule (WMS_SCHEDULE_CRON) lets it be, with the time that "
                    "a run may take, whenever the last run was."
                ),
            ),
            dg.AssetCheckSpec(
                CLOCKS,
                asset=read,
                additional_deps=[after],
                description=(
                    "At the last sync the clocks of the service and of this machine differed by no more than "
                    "WMS_CLOCK_TOLERANCE_SECONDS. A sync reads only up to a moment that has passed on both."
                ),
            ),
            dg.AssetCheckSpec(
                LAST_SYNC,
                asset=read,
                additional_deps=[after],
                description="The last sync did not fail, whoever started it. The next one continues where it stopped.",
            ),
        ],
    )
    def coverage_checks(
        context: dg.AssetCheckExecutionContext, operation: dg.ResourceParam[Operation]
    ) -> Iterator[dg.AssetCheckResult]:
        """Yield the checks' results, after a read or when the checks run alone."""
        yield from results(operation.settings)

    return coverage_checks


def evaluations(settings: Settings) -> Iterator[dg.AssetCheckEvaluation]:
    """Yield the checks' results as events, for a sensor and for a command."""
    for result in results(settings):
        yield dg.AssetCheckEvaluation(
            asset_key=asset_keys.changes(settings),
            check_name=str(result.check_name),
            passed=result.passed,
            severity=result.severity,
            description=result.description,
            metadata=result.metadata,
        )


def results(settings: Settings, now: datetime | None = None) -> Sequence[dg.AssetCheckResult]:
    """Return the checks' results for the present coverage."""
    with StateStore(settings.database_url) as store:
        return _results(settings, store, now or datetime.now(UTC))


def _results(settings: Settings, store: StateStore, now: datetime) -> Sequence[dg.AssetCheckResult]:
    covered = store.covered()
    newest, gaps = gaps_so_far(settings.start, covered)
    cursor = sync_cursor(settings.start, covered)
    late = late_after(settings, now)
    off = what_is_off(store, settings.clock_tolerance)
    return (
        _result(
            settings,
            NO_GAP,
            wrong=_gaps(gaps),
            metadata={"covered_to": _moment(newest), "gaps": metadata.listed(gaps, "none")},
        ),
        _result(
            settings,
            FRESH,
            wrong=(
                f"The sync cursor is {(now - cursor) / HOUR:.1f} hours old, and {late / HOUR:.1f} are allowed."
                if now - cursor > late
                else None
            ),
            metadata={
                "sync_cursor": _moment(cursor),
                "hours_behind": round((now - cursor) / HOUR, 1),
                "hours_allowed": round(late / HOUR, 1),
            },
        ),
        _result(settings, CLOCKS, wrong=off, metadata={"clocks": off or "they agree"}),
        _last_sync(settings),
    )


def _gaps(gaps: Sequence[Interval]) -> str | None:
    if not gaps:
        return None
    more = ", …" if gaps[SHOWN_GAPS:] else "."
    return f"Coverage has {count_of(len(gaps), 'gap')}: {', '.join(map(spelled, gaps[:SHOWN_GAPS]))}{more}"


def _last_sync(settings: Settings) -> dg.AssetCheckResult:
    with RunRecords(settings.database_url) as runs:
        ended = (run for run in runs.as_they_are(settings.layout) if run.outcome in {"succeeded", "failed"})
        last = next((run for run in ended if run.purpose == SYNC), None)
    failed = (last.error or "it failed") if last is not None and last.outcome == "failed" else None
    told = "it succeeded" if last is not None else "there was none"
    return _result(
        settings,
        LAST_SYNC,
        wrong=None if failed is None else f"The last sync failed: {failed}",
        metadata={"last_sync": failed or told},
        severity=dg.AssetCheckSeverity.ERROR,
    )


def _result(
    settings: Settings,
    name: str,
    *,
    wrong: str | None,
    metadata: dict[str, dg.MetadataValue | float | str],
    severity: dg.AssetCheckSeverity = dg.AssetCheckSeverity.WARN,
) -> dg.AssetCheckResult:
    return dg.AssetCheckResult(
        check_name=name,
        asset_key=asset_keys.changes(settings),
        passed=wrong is None,
        severity=severity,
        description=None if wrong is None else markdown(wrong),
        metadata=metadata,
    )


def _moment(moment: datetime) -> dg.MetadataValue:
    return dg.MetadataValue.timestamp(moment)
