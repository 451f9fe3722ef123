"""Format reports as lines of text for the command line."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wms_sync.extract.read import ReadReport
    from wms_sync.load.refresh import RefreshReport
    from wms_sync.reports.export import Exported
    from wms_sync.reports.status import LastAudit, Status

SHOWN_DOUBTS = 20


def read_lines(report: ReadReport) -> Iterator[str]:
    """Yield what a read did."""
    done = report.progress
    for one in report.intervals:
        yield f"read      {_moment(one.start)} to {_moment(one.end)} (shipments by updated_at)"
    yield (
        f"landed    {done.records:,} shipments in {done.pages:,} pages, {done.bytes / 1e6:,.1f} MB compressed, "
        f"{report.requests:,} requests, {report.seconds:.1f} s"
    )
    for note in report.notes:
        yield f"note      {note}"
    for warning in report.warnings:
        yield f"warning   {warning}"


def refresh_lines(report: RefreshReport) -> Iterator[str]:
    """Yield what a refresh of the tables did, including its checks."""
    merged = sum(report.merged.values())
    yield (
        f"merged    {merged:,} rows of {len(report.windows)} windows into {len(report.rows)} tables, "
        f"{report.seconds:.1f} s"
    )
    for outcome in report.checks:
        if not outcome.passed:
            label = "REFUSED" if outcome.blocks_publishing else outcome.check.severity
            yield f"check     {label}: {outcome.check.description} ({outcome.offending:,} rows: {outcome.check.name})"
    passed = sum(outcome.passed for outcome in report.checks)
    yield f"checks    {passed} of {len(report.checks)} passed"
    for warning in report.warnings:
        yield f"warning   {warning}"
    if report.quarantined:
        yield f"doubts    {report.quarantined:,} values did not fit their type and are null: see ops.quarantine"
    if report.drift:
        yield f"doubts    {report.drift:,} unknown keys, or keys whose values were cast: see ops.schema_drift"
    if report.published:
        yield f"published {report.bytes / 1e6:,.1f} MB"
    else:
        yield "NOT published: analysts still see the previous tables"


def status_lines(found: Status) -> Iterator[str]:
    """Yield the lines of ``wms-sync status``."""
    unknown = "not known: the state store was lost" if found.state_is_behind else "nothing synced yet"
    yield f"sync cursor   {_moment(found.sync_cursor) if found.sync_cursor else unknown}"
    if found.lag_seconds is not None:
        yield f"lag           {_duration(found.lag_seconds)}"
    yield f"published     {_moment(found.published_at) if found.published_at else 'never'}"
    for one in found.covered:
        yield f"covered       {_moment(one.start)} to {_moment(one.end)}"
    states = ", ".join(f"{count} {state}" for state, count in sorted(found.windows.items()))
    yield f"windows       {states or 'none'}"
    if found.raw_dropped:
        yield f"raw pages     of {found.raw_dropped:,} windows were dropped; a rebuild uses their Parquet files"
    yield f"writer        {found.writer or 'nobody'}"
    for load in found.last_loads:
        yield (
            f"load          {load['loaded_at']:%Y-%m-%d %H:%M:%S}  {load['reason']}, {load['records']:,} shipments, "
            f"{load['rows_flattened']:,} rows, window {load['window_id']}"
        )
    if found.last_audit is not None:
        yield from _audit_lines(found.last_audit)
    for table, count in sorted(found.rows.items(), key=lambda item: -item[1]):
        yield f"rows          {count:>12,}  {table}"
    for kind, counts in found.pushes.items():
        yield f"pushed        {kind}: {', '.join(f'{count:,} {state}' for state, count in counts.items())}"
    if found.unseen:
        yield f"pushed        {found.unseen:,} created, but not seen in a shipment yet"
    for holder in found.pushing:
        yield f"pushing       {holder}"
    for doubt in found.doubts[:SHOWN_DOUBTS]:
        yield f"in doubt      {doubt.kind} {doubt.key}, sent {_moment(doubt.sent_at)}"
    if len(found.doubts) > SHOWN_DOUBTS:
        yield f"in doubt      and {len(found.doubts) - SHOWN_DOUBTS:,} more: see --json"
    for line in found.needs_a_hand or ("nothing",):
        yield f"needs a hand  {line}"


def export_lines(done: Exported) -> Iterator[str]:
    """Yield what was exported."""
    times = f"; times are local times of {done.timezone}" if done.timezone else ""
    yield f"exported  {done.rows:,} rows of {done.relation} to {done.path}{times}"
    if done.cut:
        yield f"          {done.cut:,} texts were longer than a cell can hold and are cut"
    if done.is_personal:
        yield "          the file holds personal data: `wms-sync forget` does not reach it"


def _audit_lines(audit: LastAudit) -> Iterator[str]:
    ids = f"ids above {audit.after_id} " + (f"up to {audit.to_id}" if audit.to_id else "to the end")
    yield (
        f"audit         {audit.read_at:%Y-%m-%d %H:%M:%S}  {ids}: {audit.compared:,} shipments compared, "
        f"{audit.changed:,} changed without notice, {audit.missed:,} missed, {audit.absent:,} absent, of which "
        f"{audit.missing:,} are missing from the service"
        + (f"; the updated_at of {audit.voided:,} objects had moved back" if audit.voided else "")
    )
    yield (
        f"audit         this round has gone over {audit.round_shipments:,} of {audit.shipments:,} shipments; "
        f"{audit.missing_in_all:,} are marked missing in all"
    )


def _moment(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"


def _duration(seconds: float) -> str:
    minutes = int(seconds // 60)
    return f"{minutes // 1440} d {minutes // 60 % 24} h {minutes % 60} min"
