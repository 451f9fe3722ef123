"""Print reports, the inbox, and the columns of master data on the command line, as lines of text or as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import chain
from typing import Any, Literal, get_args

from msgspec.structs import replace

from wms_sync.cli.printing import INDENT, say, say_json, say_labelled, say_lines
from wms_sync.errors import SettingsError
from wms_sync.grammar import count_of
from wms_sync.layout import Layout
from wms_sync.master_data.kind import Kind, columns_of
from wms_sync.reports.doctor import examine
from wms_sync.reports.explain import explain, explain_orders, explain_tracking, explanation_lines, order_lines
from wms_sync.reports.export import Exported
from wms_sync.reports.finding import WELL, Finding, exit_code, open_findings
from wms_sync.reports.findings import acknowledgeable, findings_in
from wms_sync.reports.inbox import InboxEntry, InboxRow, rows_of_entry
from wms_sync.reports.installation import (
    CheckFound,
    Installation,
    LastAudit,
    check_published,
    installation_of,
)
from wms_sync.reports.probe import Verdict, probe
from wms_sync.settings import Settings
from wms_sync.shipments.load.refresh import RefreshReport
from wms_sync.shipments.read.reader import ReadReport
from wms_sync.state.runs import RunRecord
from wms_sync.state.store import StateStore
from wms_sync.targets.database import Maintained
from wms_sync.targets.errors import AnalyticsError

OF_STATUS = (
    "sync_cursor",
    "lag_seconds",
    "covered",
    "gaps",
    "windows",
    "last_loads",
    "last_audit",
    "rows",
    "published_at",
    "raw_dropped",
    "quarantined",
    "unknown_keys",
    "writer",
    "pushes",
    "doubts",
    "unseen",
    "unfinished",
    "pushing",
    "late_after_seconds",
    "next_tick",
    "runs",
    "inbox",
)
"""The facts of an installation that ``wms-sync status --json`` shows."""
SHOWN_DOUBTS, SHOWN_ROWS = 20, 20
EXPLAINED: Mapping[str, tuple[Callable[..., Any], Callable[[Any], Iterator[str]]]] = {
    "shipment": (explain, explanation_lines),
    "order": (explain_orders, order_lines),
    "tracking": (explain_tracking, explanation_lines),
}
"""What explains a name, and what prints each explanation."""
OF_DOCTOR = {"note": "ok", "warning": "warn", "error": "fail"}
"""The doctor's word for each severity. Its notes report subjects without a problem."""


def read_lines(report: ReadReport) -> Iterator[str]:
    """Yield the result of a read."""
    done = report.progress
    for interval in report.intervals:
        yield f"read      {moment(interval.start)} to {moment(interval.end)} (shipments by updated_at)"
    yield (
        f"landed    {count_of(done.records, 'shipment')} in {count_of(done.pages, 'page')}, "
        f"{done.bytes / 1e6:,.1f} MB compressed, {count_of(report.requests, 'request')}"
    )
    for note in report.notes:
        yield f"note      {note}"


def refresh_lines(report: RefreshReport) -> Iterator[str]:
    """Yield the result of a refresh of the tables, and the checks that prevented publishing."""
    merged = [count for count in report.merged.values() if count]
    windows = count_of(report.counts["merged_windows"], "window into", "windows into")
    yield f"merged    {count_of(sum(merged), 'row')} of {windows} {count_of(len(merged), 'table')}"
    if report.audited is not None:
        yield f"audit     {report.audited}"
    for outcome in report.refused_by:
        yield f"check     REFUSED: {outcome.finding} ({outcome.check.name})"
    passed = sum(outcome.passed for outcome in report.checks)
    yield f"checks    {passed} of {len(report.checks)} passed"
    if report.published:
        yield f"published {report.bytes / 1e6:,.1f} MB"
    else:
        yield "NOT published: analysts still see the previous tables"


def maintained_lines(done: Maintained) -> Iterator[str]:
    """Yield the result of maintenance."""
    yield (
        f"maintained  {count_of(done.tables, 'table')}: {count_of(done.files, 'file')} instead of "
        f"{done.files_before:,}; deleted {done.deleted:,} that no reader needs"
    )


def next_lines(refreshed: RefreshReport | None) -> Iterator[str]:
    """Yield the command that shows the inbox, if a load left entries in it."""
    if refreshed is not None and (refreshed.quarantined or refreshed.drift):
        yield "next      wms-sync inbox list"


def took_lines(read: ReadReport | None, refreshed: RefreshReport | None, seconds: float) -> Iterator[str]:
    """Yield the duration of each phase of a run, and of what it did besides, out of ``seconds``."""
    phases = {} if read is None else {"read": read.seconds}
    phases |= {} if refreshed is None else refreshed.phases
    if phases:
        phases["other"] = max(0.0, seconds - sum(phases.values()))
        yield f"took      {_phases_text(phases)}"


def open_lines(findings: Sequence[Finding]) -> Iterator[str]:
    """Yield a line for each open finding."""
    for finding in open_findings(findings):
        since = f"since {moment(finding.since)}: " if finding.since else ""
        yield f"{finding.severity:<9} {since}{finding.sentence} ({finding.name})"


def check_line(found: Installation, findings: Sequence[Finding]) -> str:
    """Return the only line of ``wms-sync status --check``: the worst finding, or how far the data reaches."""
    shown = open_findings(findings)
    if not shown:
        last = next((run for run in found.runs if run.ended_at is not None), None)
        ran = f"; last run {last.purpose}, {moment(last.ended_at)}" if last is not None and last.ended_at else ""
        reaches = f"data as of {moment(found.sync_cursor)}" if found.sync_cursor else "no data yet"
        return f"ok: {reaches}{ran}"
    more = f" (and {len(shown) - 1} more: wms-sync status)" if shown[1:] else ""
    return f"{shown[0].severity}: {' '.join(shown[0].sentence.split())}{more}"


def status_lines(found: Installation, findings: Sequence[Finding], *, is_each_table: bool = False) -> Iterator[str]:
    """Yield the lines of ``wms-sync status``: findings, coverage, runs, counts, pushes."""
    yield from (f"{line[:9]:<{INDENT}}{line[10:]}" for line in open_lines(findings))
    if not open_findings(findings):
        yield "findings      none"
    for finding in findings:
        if finding.acknowledged_at is not None:
            yield f"acknowledged  {finding.sentence} ({finding.name}, {moment(finding.acknowledged_at)})"
        elif finding.severity == "note":
            yield f"note          {finding.sentence}"
    is_lost = any(finding.name == "state-lost" for finding in findings)
    unknown = "unknown: the state store was lost" if is_lost else "nothing synced yet"
    yield f"sync cursor   {moment(found.sync_cursor) if found.sync_cursor else unknown}"
    for interval in found.covered:
        yield f"covered       {moment(interval.start)} to {moment(interval.end)}"
    yield f"published     {moment(found.published_at) if found.published_at else 'never'}"
    for run in found.runs[:1]:
        yield f"last run      {_run_text(run)}"
    yield f"next tick     {moment(found.next_tick)} if the schedule is on"
    yield f"writer        {found.writer or 'nobody'}"
    if found.last_audit is not None:
        yield from _audit_lines(found.last_audit)
    rows = {table: count for table, count in sorted(found.rows.items(), key=lambda item: -item[1]) if count}
    if is_each_table:
        yield from (f"rows          {count:>12,}  {table}" for table, count in rows.items())
    elif rows:
        yield f"rows          {sum(rows.values()):,} in {len(rows)} tables; --rows counts each table"
    for kind, counts in found.pushes.items():
        yield f"pushed        {kind}: {', '.join(f'{count:,} {state}' for state, count in counts.items())}"
    if found.unseen:
        yield f"pushed        {found.unseen:,} created, but not seen in a shipment yet"
    for holder in found.pushing.values():
        yield f"pushing       {holder}"
    for doubt in found.doubts[:SHOWN_DOUBTS]:
        yield f"in doubt      {doubt.kind} {doubt.key}, sent {moment(doubt.sent_at)}"
    if len(found.doubts) > SHOWN_DOUBTS:
        yield f"in doubt      and {len(found.doubts) - SHOWN_DOUBTS:,} more: see --json"


def show_status(settings: Settings, *, as_json: bool, is_check: bool, is_each_table: bool) -> int:
    """Print the status, or with ``is_check`` one line; return the exit code."""
    with installation_of(settings) as found:  # printing comes afterwards: its errors are not those of the data folder
        findings = findings_in(found)
        show: Callable[[], None]
        if is_check:
            show = partial(say, check_line(found, findings))
        elif as_json:
            facts = {name: getattr(found, name) for name in OF_STATUS}
            show = partial(say_json, {**facts, "findings": [json_of(finding) for finding in findings]})
        else:
            show = partial(say_labelled, list(status_lines(found, findings, is_each_table=is_each_table)))
    show()
    return exit_code(findings, is_strict=is_check)


def show_examined(settings: Settings, *, as_json: bool, alert: bool) -> int:
    """Print each finding of the doctor as soon as it is known; return the exit code."""
    found = []
    for finding in examine(settings, alert=alert):
        found.append(finding)
        if not as_json:
            say_lines([f"{OF_DOCTOR[finding.severity]:<4}  {finding.name:<11}  {finding.sentence}"])
    if as_json:
        say_json([json_of(finding) for finding in found])
    elif exit_code(found) == WELL:
        say_lines(["next  wms-sync sync"])
    return exit_code(found)


def show_probed(settings: Settings, *, as_json: bool) -> int:
    """Print the habits of the service, worst first; return the exit code: 1 if a sync would fail."""
    habits = sorted(probe(settings), key=lambda habit: get_args(Verdict).index(habit.verdict))
    if as_json:
        say_json(habits)
    for habit in habits if not as_json else ():
        say_lines([f"{habit.verdict:<{INDENT}}{habit.name}: {habit.observed}"])
        if habit.verdict != "as specified":
            setting = f"; setting: {habit.setting}" if habit.setting else ""
            say_lines([f"{'':<{INDENT}}specified ({habit.specified}); wms-sync {habit.handled}{setting}"])
    return int(habits[0].verdict == "stops")


def show_checks(settings: Settings, *, full: bool, is_strict: bool) -> int:
    """Print the results of the checks and every open finding; return the exit code."""
    with installation_of(settings) as installation:
        if installation.published_at is None:
            why = installation.unreadable or "nothing is published yet. Run `wms-sync sync` first."
            raise AnalyticsError(f"Nothing can be checked: {why}")
        found = check_published(settings) if full else installation.checks
        findings = findings_in(replace(installation, checks=found))
    say_lines(_check_lines(found, "now" if full else "at the last load"))
    say_lines(open_lines(findings))
    return exit_code(findings, is_strict=is_strict)


def show_explained(
    settings: Settings, what: Literal["shipment", "order", "tracking"], name: str, *, as_json: bool
) -> None:
    """Print where the rows of a shipment, of an order, or of the shipments with a tracking number came from.

    The JSON is one object for a shipment, a list of orders for an order, and a list of shipments for a tracking number.
    """
    ask, lines = EXPLAINED[what]
    with StateStore.opened(settings.database_url) as store:
        found = ask(settings, store, name)
    if as_json:
        say_json(found)
    else:
        say_lines(chain.from_iterable(map(lines, [found] if what == "shipment" else found)))


def json_of(finding: Finding) -> dict[str, object]:
    """Return the JSON object of a finding, for other programs."""
    return {
        "name": finding.name,
        "severity": finding.severity,
        "text": " ".join(part for part in (finding.text, finding.detail) if part),
        "what_to_do": finding.what_to_do,
        "since": finding.since,
        "acknowledged_at": finding.acknowledged_at,
    }


def export_lines(done: Exported) -> Iterator[str]:
    """Yield the result of an export."""
    times = f"; times are local times of {done.timezone}" if done.timezone else ""
    yield f"exported  {count_of(done.rows, 'row')} of {done.what} to {done.path}{times}"
    if done.is_personal:
        yield "          the file contains personal data: `wms-sync forget` does not clean it"


def _check_lines(found: Sequence[CheckFound], scope: str) -> Iterator[str]:
    for check in found:
        if check.offending:
            yield f"check     {check.severity}: {check.finding} ({check.name})"
            yield from (f"          {line}" for line in check.sample.lines)
    yield f"checks    {sum(not check.offending for check in found)} of {len(found)} passed ({scope})"


def _audit_lines(audit: LastAudit) -> Iterator[str]:
    ids = f"ids above {audit.after_id} " + (f"up to {audit.to_id}" if audit.to_id else "to the end")
    yield (
        f"audit         {audit.read_at:%Y-%m-%d %H:%M:%S}  {ids}: {count_of(audit.compared, 'shipment')} compared, "
        f"{audit.changed:,} changed without notice, {audit.missed:,} missed, {audit.absent:,} absent, "
        f"{audit.missing:,} missing from the service"
        + (f"; the updated_at of {count_of(audit.voided, 'object')} had moved back" if audit.voided else "")
    )
    yield (
        f"audit         this round has covered {audit.round_shipments:,} of {count_of(audit.shipments, 'shipment')}; "
        f"{audit.missing_in_all:,} marked missing in total"
    )


def _run_text(run: RunRecord) -> str:
    """Return a run on one line: start, purpose, source, outcome, seconds per phase, error."""
    parts = [moment(run.started_at), run.purpose, run.source, run.outcome, _phases_text(run.phases), run.error or ""]
    return "  ".join(part for part in parts if part)


def _phases_text(phases: Mapping[str, float]) -> str:
    return "  ".join(f"{name} {seconds:.1f} s" for name, seconds in phases.items())


def moment(at: datetime) -> str:
    """Return a moment as text: ``2026-03-01 02:00:03 UTC``."""
    return f"{at:%Y-%m-%d %H:%M:%S} UTC"


def column_lines(kind: Kind) -> Iterator[str]:
    """Yield a line for each column of a kind: name, type, rule, whether it is required, and for which item types."""
    columns = columns_of(kind)
    width = max(len(column.name) for column in columns)
    every = max((column.types for column in columns), key=len)
    for column in columns:
        needed = "required" if column.required else "required with its group" if column.with_group else ""
        types = "" if column.types == every else f"only {', '.join(column.types)}"
        facts = "; ".join(fact for fact in (f"{column.cell.type}: {column.cell.rule}", needed, types) if fact)
        yield f"{column.name:<{width}}  {facts}"


def mark_seen(settings: Settings, names: Sequence[str]) -> None:
    """Acknowledge these findings or entries.

    Raise ``SettingsError``, and acknowledge none, if one of them cannot be acknowledged.
    """
    with installation_of(settings) as installation:
        findings = findings_in(installation)
        facts = acknowledgeable(findings, installation.inbox)
        for name in names:
            if name in facts:
                continue
            if any(finding.name == name for finding in findings):
                raise SettingsError(f"{name} cannot be acknowledged: it stays until the problem is fixed.")
            known = ", ".join(sorted(facts)) or "none"
            raise SettingsError(f"No finding or entry is called {name}. Names that can be acknowledged: {known}.")
        installation.store.acknowledgements.add({name: facts[name] for name in names})
    for name in names:
        say(f"acknowledged  {name}: hidden until its facts change")


def list_entries(settings: Settings) -> None:
    """Print the open entries."""
    entries = _entries(settings)
    for entry in entries:
        say_lines(_entry_lines(entry))
    if entries:
        say(f"next  wms-sync inbox show {entries[0].name}")
    else:
        say("no entry is open: any values that are left in ops.quarantine have since been loaded")


def show_entry(settings: Settings, name: str) -> None:
    """Print an entry with its newest rows and the text of each row. Raise ``SettingsError`` for other names."""
    entry = next((entry for entry in _entries(settings) if entry.name == name), None)
    if entry is None:
        raise SettingsError(
            f"No open entry is called {name}. `wms-sync inbox list` shows the open entries; an entry closes by itself "
            "once its values are loaded."
        )
    say_lines(_entry_lines(entry))
    for row in rows_of_entry(settings, entry, SHOWN_ROWS):
        say_lines(_row_lines(settings.layout, row))


def _entries(settings: Settings) -> Sequence[InboxEntry]:
    with installation_of(settings) as installation:
        return installation.inbox


def _entry_lines(entry: InboxEntry) -> Iterator[str]:
    times = count_of(entry.rows, "value" if entry.is_value else "time")
    seen = f", acknowledged {moment(entry.acknowledged_at)}" if entry.acknowledged_at else ""
    yield f"{entry.name}  {entry.what}: {entry.why} ({times}, last {moment(entry.last_at)}{seen})"
    yield f"    for example {entry.example}"


def _row_lines(layout: Layout, row: InboxRow) -> Iterator[str]:
    page = layout.page(row.window_id, row.page)
    gone = f"page {row.page} of {row.window_id}, which was deleted"
    where = gone if page is None else layout.files.where(page)
    of = f"{row.object} {row.object_id if row.object_id is not None else '(no id)'}, " if row.object else ""
    times = f", {count_of(row.rows, 'time')}" if row.rows > 1 else ""
    yield f"  {of}{row.path} in {where}{times}"
    yield f"    {row.text}"
