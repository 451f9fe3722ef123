"""List the findings of an installation from its stored data: state store, published tables, records of runs, files.

This module sends no requests to the service. Each source yields the findings on one subject. A source that cannot be
read is itself a finding, so one problem does not hide the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import groupby

import duckdb
from msgspec.structs import replace

from wms_sync.cron import longest_pause
from wms_sync.errors import WmsSyncError
from wms_sync.grammar import LEFT_OUT, UNKNOWN, agreed, count_of
from wms_sync.reports.finding import Finding, lasting_error, warning
from wms_sync.reports.inbox import InboxEntry
from wms_sync.reports.installation import Installation, installation_of
from wms_sync.reports.outcomes import of_runs, pushes, unclaimed
from wms_sync.settings import Settings
from wms_sync.shipments.load.checks import CheckResult, sentence
from wms_sync.shipments.load.omitted import CHECK as WHAT_WAS_ASKED_CAME
from wms_sync.shipments.load.refresh import UNKNOWN_KEYS
from wms_sync.shipments.read.clocks import CLOCKS, clock_warning
from wms_sync.shipments.read.plan import data_as_of, late_after
from wms_sync.shipments.read.shortfall import BEFORE_START
from wms_sync.state.errors import RestoreUnfinished, StateOlder
from wms_sync.state.reported import fingerprint
from wms_sync.state.run_records import SYNC
from wms_sync.targets.errors import AnotherServiceError, ReadersInTheWay
from wms_sync.targets.opening import log_notice
from wms_sync.targets.target import is_gone, target_of
from wms_sync.upkeep.recovery import refuse_another_service, refuse_link

SHOWN_ABOVE = {
    "nothing_was_quarantined_in_the_latest_load",
    UNKNOWN_KEYS,
    WHAT_WAS_ASKED_CAME,
    "no_create_is_in_doubt",
    "audits_find_no_change_that_the_sync_missed",
}
"""Checks whose subject has findings of its own, which also take into account what has been loaded or settled since."""
OF_VALUES = "statuses_are_known"
"""The check whose rows are values: an acknowledgement is of these values, not of later ones."""
DIFFERENCES = {
    "changed": "changed",
    "missed": "missed",
    "absent": "absent",
    "orders_changed": "orders changed",
    "voided": "whose updated_at moved back",
}
"""What an audit counts as differences, with the words for it."""
SHOWN = 5
USUAL_NIGHTS, LATE = 7, 3
"""The usual number of loads between two maintenance runs; a finding appears after ``LATE`` times the set number."""
Findings = Iterator[Finding]


def findings_of(settings: Settings, moment: datetime | None = None) -> tuple[Finding, ...]:
    """Return every finding at this moment, now by default, with the time of its acknowledgement."""
    with installation_of(settings, moment) as installation:
        return findings_in(installation)


def findings_in(installation: Installation) -> tuple[Finding, ...]:
    """Return every finding on an installation, with the time of its acknowledgement."""
    seen = installation.acknowledged
    return tuple(
        replace(finding, acknowledged_at=seen[finding.name, finding.facts])
        if finding.can_be_acknowledged and (finding.name, finding.facts) in seen
        else finding
        for finding in _all(installation)
    )


def acknowledgeable(findings: Iterable[Finding], entries: Iterable[InboxEntry]) -> Mapping[str, str]:
    """Return the fingerprint of everything that can be acknowledged, by name: findings and entries of the inbox."""
    facts = {finding.name: finding.facts for finding in findings if finding.can_be_acknowledged}
    return facts | {entry.name: entry.facts for entry in entries}


def _all(installation: Installation) -> Findings:
    for source in SOURCES:
        try:
            yield from source(installation)
        except StateOlder:
            raise  # data that an older release wrote is not shown
        except (WmsSyncError, duckdb.Error, OSError) as error:
            yield lasting_error(
                f"unknown-{source.__name__.lstrip('_')}", str(error), hides_others=True, is_settled=False
            )


def _runs(installation: Installation) -> Findings:
    return of_runs(installation.runs, installation.moment)


def _places(installation: Installation) -> Findings:
    """Yield a finding if the settings name other files, other tables or a different service than at the last run."""
    settings, store = installation.settings, installation.store
    try:
        refuse_link(settings)
        target_of(settings).refuse_others()
    except WmsSyncError as error:
        yield lasting_error("elsewhere", str(error), hides_others=True)
    try:
        refuse_another_service(settings, store)
    except AnotherServiceError as error:
        yield lasting_error("another-service", str(error), hides_others=True)


def _coverage(installation: Installation) -> Findings:
    """Yield the findings on gaps in the tables and on their age."""
    store = installation.store
    if installation.is_behind:
        text = "The state store was lost or is an old copy, so some windows and pushes are not shown here."
        what_to_do = "Run `wms-sync sync`: it restores them from the newest snapshot, and reads only what is missing."
        yield lasting_error(
            "state-lost",
            text,
            what_to_do=what_to_do,
            hides_others=True,
            # a sync that comes in time restores it
            is_settled=installation.published_at is None
            or (installation.moment - installation.published_at).total_seconds() > installation.late_after_seconds,
        )
        return
    installed = store.snapshots.installation()
    if installed is not None and installed.trouble is not None:
        text = f"The last run could not write its snapshot of the state store: {installed.trouble}"
        what_to_do = "If the state store is lost before a run writes one, what was read since is read again."
        yield lasting_error("no-snapshot", text, what_to_do=what_to_do, is_settled=False)
    if not installation.covered:
        text = "Nothing has been synced yet: run `wms-sync sync`."
        yield warning("nothing-synced", text, can_be_acknowledged=False, is_settled=False)
    for gap in installation.gaps:
        text = f"Not covered: {gap.start:%Y-%m-%d %H:%M:%S} to {gap.end:%Y-%m-%d %H:%M:%S}; the next sync reads it."
        yield warning("gap", text, about=gap, is_settled=False)
    yield from _freshness(installation)
    if landed := installation.windows.get("landed", 0):
        text = f"{count_of(landed, 'window is', 'windows are')} on disk but not in the tables: run `wms-sync sync`."
        yield warning("landed", text, is_settled=False)


def _freshness(installation: Installation) -> Findings:
    """Yield a finding if the data is older than the schedule allows.

    After a sync that failed or waits for its next attempt, the alert waits until the next tick has had its chance.
    """
    settings, moment = installation.settings, installation.moment
    reaches, limit = data_as_of(settings, installation.store), late_after(settings, moment)
    if reaches is None or moment - reaches <= limit:
        return
    hours = round((moment - reaches) / timedelta(hours=1))
    undecided = {"running", "interrupted", "read"}
    syncs = (run.outcome for run in installation.runs if run.group == SYNC and run.outcome not in undecided)
    is_failing = next(syncs, "succeeded") != "succeeded"
    pause = longest_pause(settings.schedule_cron, settings.schedule_timezone, moment) if is_failing else timedelta()
    yield lasting_error(
        "stale",
        f"The data is {count_of(hours, 'hour')} old.",
        what_to_do="Check that the schedule and its daemon run, and look at the last runs: `wms-sync status`.",
        since=reaches + limit,
        is_settled=moment - reaches > limit + pause,
        counts={"hours": hours},
    )


def _reads(installation: Installation) -> Findings:
    """Yield the warnings of the last reads, and the difference between the clocks."""
    settings, store = installation.settings, installation.store
    warned = store.warnings()
    yield from (warning(name, text, since=since) for name, (text, since) in warned.items())
    if CLOCKS not in warned and (off := clock_warning(store, settings.clock_tolerance)) is not None:
        yield warning(CLOCKS, off)
    before = store.observation(BEFORE_START)
    if before is not None and (records := int(before.value)):
        text = (
            f"The service has {count_of(records, 'shipment')} last changed before {settings.start_date}, which "
            "WMS_START_DATE leaves out."
        )
        yield replace(warning("before-start", text), severity="note")


def _tables(installation: Installation) -> Findings:
    """Yield the findings on the published tables: gone, failed checks, values that did not fit, unknown keys."""
    target = target_of(installation.settings)
    if is_gone(installation.store, target) and not installation.is_behind:
        yield lasting_error(
            "tables-gone",
            f"{target.name} was published and is gone: analysts cannot open any tables.",
            what_to_do=(
                "Run `wms-sync sync`, which loads the tables from the Parquet files and raw pages on disk, and "
                "publishes them again."
            ),
            hides_others=True,
        )
    if installation.unreadable is not None:
        yield lasting_error("tables-unreadable", installation.unreadable, hides_others=True)
    layout = installation.settings.layout
    yield from (warning("log", log_notice(kept, layout.published), about=kept.name) for kept in layout.foreign_logs())
    yield from (warning("omitted", text, about=name) for name, text in installation.not_sent.items())
    failed = (found for found in installation.checks if not found.passed and found.check.name not in SHOWN_ABOVE)
    yield from map(_of_check, failed)
    yield from _inbox(installation.inbox)


def _of_check(found: CheckResult) -> Finding:
    """Return the finding on a failed check; only its detail names rows."""
    check, text, detail = found.check, found.finding or "", ""
    if check.named:
        text = sentence(check.wrong, "", found.offending, ())
        detail = f"Among them{(found.finding or '').removeprefix(text.rstrip('.'))}"
    facts = fingerprint(found.finding) if check.name == OF_VALUES else ""
    finding = warning(f"check-{check.name}", text, detail=detail, facts=facts)
    return replace(finding, severity="error") if check.severity == "error" else finding


def _inbox(entries: Sequence[InboxEntry]) -> Findings:
    """Yield the findings on open entries of the inbox. A finding is acknowledged when all its entries are."""
    for is_value, of_kind in groupby(entries, lambda entry: entry.is_value):
        kind = list(of_kind)
        unseen = [entry for entry in kind if entry.acknowledged_at is None]
        shown = unseen or kind
        table = "quarantine" if is_value else "schema_drift"
        places = _listed([f"{entry.what} ({entry.why})" if is_value else entry.what for entry in shown])
        values = sum(entry.rows for entry in shown)
        yield warning(
            "quarantine" if is_value else "drift",
            f"{count_of(values, *LEFT_OUT) if is_value else count_of(len(shown), *UNKNOWN)}: {places}.",
            what_to_do=f"`wms-sync inbox` shows them by kind; see ops.{table}. The raw pages keep the values.",
            since=min(entry.first_at for entry in shown),
            facts=fingerprint(sorted(entry.name for entry in kind)),
            acknowledged_at=None if unseen else max(entry.acknowledged_at for entry in kind if entry.acknowledged_at),
            counts={"values": values, "kinds": len(shown)} if is_value else {"keys": len(shown)},
        )


def _audits(installation: Installation) -> Findings:
    """Yield the findings of the newest audit: how old shipments differ from the tables."""
    last = installation.last_audit
    if last is not None and (unproven := last.absent - last.missing):
        not_marked = agreed(unproven, "It is not marked", "They are not marked")
        them = agreed(unproven, "it", "them")
        text = (
            f"The last audit did not find {count_of(unproven, 'shipment')} that the tables have. {not_marked} as "
            f"missing: the service still returns {them} by id, or the requests by id proved nothing, or too many "
            "were absent to trust the result. The log of that run lists them."
        )
        what_to_do = "Check that the token may see all shipments."
        yield warning("audit", text, what_to_do=what_to_do, since=last.read_at)
    done = [audit for audit in installation.store.audits.all() if audit.compared is not None]
    found = {name: count for name in DIFFERENCES if done and (count := getattr(done[-1], name))}
    if found:
        counted = ", ".join(f"{count:,} {DIFFERENCES[name]}" for name, count in found.items())
        compared = done[-1].compared or 0
        yield warning(
            "audit-differences",
            f"The audit compared {count_of(compared, 'old shipment')}, and the tables differed: {counted}.",
            what_to_do=(
                "New versions replace old ones; absent shipments stay. `wms-sync status` and ops.audits have details."
            ),
            since=done[-1].read_at,
            counts={"compared": compared, **found},
        )


def _upkeep(installation: Installation) -> Findings:
    """Yield findings on an unfinished restore or forget, and on overdue maintenance."""
    settings, layout = installation.settings, installation.settings.layout
    if layout.restoring.exists():
        yield lasting_error("restore", str(RestoreUnfinished(layout.restoring.read_text(encoding="utf-8"))))
    if orders := len(installation.store.forgotten(unfinished=True)):
        readers = target_of(settings).readers_in_the_way()
        what_to_do = "Run `wms-sync forget` to finish it." + (f" {ReadersInTheWay(readers)}" if readers else "")
        text = f"Forgetting {count_of(orders, 'order')} was interrupted."
        yield warning("forget", text, what_to_do=what_to_do)
    gathered = target_of(settings).loads_gathered
    if gathered > LATE * (settings.maintenance_nights or USUAL_NIGHTS):
        text = f"{count_of(gathered, 'load has', 'loads have')} left files in the lake since its last maintenance, and "
        yield warning("maintenance", f"{text}each load takes longer: run `wms-sync maintain`.")


SOURCES: tuple[Callable[[Installation], Findings], ...] = (
    _runs,
    _places,
    _coverage,
    _tables,
    _reads,
    _audits,
    pushes,
    unclaimed,
    _upkeep,
)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else "")
