"""Format reports as lines of text for the command line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from wms_sync.grammar import DID_NOT_FIT, UNKNOWN, count_of

if TYPE_CHECKING:
    from wms_sync.reports.export import Exported
    from wms_sync.reports.status import LastAudit, Status
    from wms_sync.shipments.load.refresh import RefreshReport
    from wms_sync.shipments.read.reader import ReadReport
    from wms_sync.state.runs import RunRecord
    from wms_sync.targets.target import Maintained

SHOWN_DOUBTS = 20
SHOWN_RUNS = 3
CUT = ("text was longer than a cell can hold and is cut", "texts were longer than a cell can hold and are cut")
WELL, FAILED, LOOK = 0, 1, 3
"""Exit codes of ``wms-sync status --check``."""


def read_lines(report: ReadReport) -> Iterator[str]:
    """Yield what a read did."""
    done = report.progress
    for one in report.intervals:
        yield f"read      {moment(one.start)} to {moment(one.end)} (shipments by updated_at)"
    yield (
        f"landed    {count_of(done.records, 'shipment')} in {count_of(done.pages, 'page')}, "
        f"{done.bytes / 1e6:,.1f} MB compressed, {count_of(report.requests, 'request')}"
    )
    for note in report.notes:
        yield f"note      {note}"
    for warning in report.warnings:
        yield f"warning   {warning}"


def refresh_lines(report: RefreshReport) -> Iterator[str]:
    """Yield what a refresh of the tables did, including its checks."""
    merged = [count for count in report.merged.values() if count]
    windows = count_of(report.counts["merged_windows"], "window into", "windows into")
    yield f"merged    {count_of(sum(merged), 'row')} of {windows} {count_of(len(merged), 'table')}"
    if report.audited is not None:
        yield f"audit     {report.audited}"
    for outcome in report.checks:
        if not outcome.passed:
            label = "REFUSED" if outcome.blocks_publishing else outcome.check.severity
            yield f"check     {label}: {outcome.finding} ({outcome.check.name})"
    passed = sum(outcome.passed for outcome in report.checks)
    yield f"checks    {passed} of {len(report.checks)} passed"
    for warning in report.warnings:
        yield f"warning   {warning}"
    if report.quarantined:
        yield f"doubts    {count_of(report.quarantined, *DID_NOT_FIT)}: see ops.quarantine"
    if report.drift:
        yield f"doubts    {count_of(report.drift, *UNKNOWN)}: see ops.schema_drift"
    if report.published:
        yield f"published {report.bytes / 1e6:,.1f} MB"
    else:
        yield "NOT published: analysts still see the previous tables"


def maintained_lines(done: Maintained) -> Iterator[str]:
    """Yield what maintenance did."""
    yield (
        f"maintained  {count_of(done.tables, 'table')}: {count_of(done.files, 'file')} instead of "
        f"{done.files_before:,}; deleted {done.deleted:,} that no reader needs"
    )


def took_lines(read: ReadReport | None, refreshed: RefreshReport | None) -> Iterator[str]:
    """Yield how long each phase of a run took."""
    phases = {} if read is None else {"read": read.seconds}
    phases |= {} if refreshed is None else refreshed.phases
    if phases:
        yield f"took      {_phases_text(phases)}"


def check_line(found: Status) -> tuple[str, int]:
    """Return the one line of ``wms-sync status --check`` and its exit code."""
    items = sorted(found.open_items, key=lambda one: one.severity != "failed")
    if not items:
        last = next((one for one in found.last_runs if one.ended_at is not None), None)
        ran = f"; last run {last.purpose}, {moment(last.ended_at)}" if last is not None and last.ended_at else ""
        return f"well: data as of {moment(found.sync_cursor) if found.sync_cursor else 'never'}{ran}", WELL
    first = items[0]
    more = f" (and {len(items) - 1} more: wms-sync status)" if items[1:] else ""
    word, code = ("failed", FAILED) if first.severity == "failed" else ("look", LOOK)
    return f"{word}: {' '.join(first.text.split())}{more}", code


def status_lines(found: Status) -> Iterator[str]:
    """Yield the lines of ``wms-sync status``."""
    unknown = "not known: the state store was lost" if found.state_is_behind else "nothing synced yet"
    yield f"sync cursor   {moment(found.sync_cursor) if found.sync_cursor else unknown}"
    if found.lag_seconds is not None:
        yield f"lag           {_duration(found.lag_seconds)}"
    yield f"published     {moment(found.published_at) if found.published_at else 'never'}"
    for one in found.covered:
        yield f"covered       {moment(one.start)} to {moment(one.end)}"
    for run in found.last_runs[:SHOWN_RUNS]:
        yield f"last run      {_run_text(run)}"
    yield f"next tick     {moment(found.next_tick)} where the schedule is on"
    states = ", ".join(f"{count:,} {state}" for state, count in sorted(found.windows.items()))
    yield f"windows       {states or 'none'}"
    if "://" in found.files_in:
        yield f"files         raw pages and Parquet in {found.files_in}"
    if found.raw_dropped:
        yield f"raw pages     of {count_of(found.raw_dropped, 'window')} were dropped; a rebuild uses the Parquet files"
    yield f"writer        {found.writer or 'nobody'}"
    for load in found.last_loads:
        yield (
            f"load          {load['loaded_at']:%Y-%m-%d %H:%M:%S}  {load['reason']}, "
            f"{count_of(int(str(load['records'])), 'shipment')} as "
            f"{count_of(int(str(load['rows_flattened'])), 'row')}, "
            f"window {load['window_id']}"
        )
    if found.last_audit is not None:
        yield from _audit_lines(found.last_audit)
    for table, count in sorted(found.rows.items(), key=lambda item: -item[1]):
        if count:
            yield f"rows          {count:>12,}  {table}"
    for kind, counts in found.pushes.items():
        yield f"pushed        {kind}: {', '.join(f'{count:,} {state}' for state, count in counts.items())}"
    if found.unseen:
        yield f"pushed        {found.unseen:,} created, but not seen in a shipment yet"
    for holder in found.pushing:
        yield f"pushing       {holder}"
    for doubt in found.doubts[:SHOWN_DOUBTS]:
        yield f"in doubt      {doubt.kind} {doubt.key}, sent {moment(doubt.sent_at)}"
    if len(found.doubts) > SHOWN_DOUBTS:
        yield f"in doubt      and {len(found.doubts) - SHOWN_DOUBTS:,} more: see --json"
    for seen in found.items:
        if seen.acknowledged_at is not None:
            yield f"acknowledged  {seen.text} ({seen.name}, {moment(seen.acknowledged_at)})"
    for still in found.open_items:
        yield f"needs a hand  {still.text} ({still.name})"
    if not found.open_items:
        yield "needs a hand  nothing"


def export_lines(done: Exported) -> Iterator[str]:
    """Yield what was exported."""
    times = f"; times are local times of {done.timezone}" if done.timezone else ""
    yield f"exported  {count_of(done.rows, 'row')} of {done.relation} to {done.path}{times}"
    if done.cut:
        yield f"          {count_of(done.cut, *CUT)}"
    if done.is_personal:
        yield "          the file holds personal data: `wms-sync forget` does not reach it"


def _audit_lines(audit: LastAudit) -> Iterator[str]:
    ids = f"ids above {audit.after_id} " + (f"up to {audit.to_id}" if audit.to_id else "to the end")
    yield (
        f"audit         {audit.read_at:%Y-%m-%d %H:%M:%S}  {ids}: {count_of(audit.compared, 'shipment')} compared, "
        f"{audit.changed:,} changed without notice, {audit.missed:,} missed, {audit.absent:,} absent, "
        f"{audit.missing:,} missing from the service"
        + (f"; the updated_at of {count_of(audit.voided, 'object')} had moved back" if audit.voided else "")
    )
    yield (
        f"audit         this round has gone over {audit.round_shipments:,} of {count_of(audit.shipments, 'shipment')}; "
        f"{audit.missing_in_all:,} marked missing in all"
    )


def _run_text(run: RunRecord) -> str:
    """Return a run on one line: when, what for, who started it, what came of it, seconds a phase, why it failed."""
    parts = [moment(run.started_at), run.purpose, run.source, run.outcome, _phases_text(run.phases), run.error or ""]
    return "  ".join(part for part in parts if part)


def _phases_text(phases: Mapping[str, float]) -> str:
    return "  ".join(f"{name} {seconds:.1f} s" for name, seconds in phases.items())


def moment(at: datetime) -> str:
    """Return a moment as people read it."""
    return f"{at:%Y-%m-%d %H:%M:%S} UTC"


def _duration(seconds: float) -> str:
    minutes = int(seconds // 60)
    return f"{minutes // 1440} d {minutes // 60 % 24} h {minutes % 60} min"
