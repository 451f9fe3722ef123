"""The commands that only read what is stored, or what the service shows, and the lines that they print."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import get_args

import click
from msgspec.structs import replace

from wms_sync.cli.commands import (
    AS_JSON,
    FILE,
    FOLDER,
    FORCE,
    INDENT,
    exits_with_code,
    say,
    say_json,
    say_labelled,
    say_lines,
    settings_for_service,
    shown,
)
from wms_sync.errors import SettingsError
from wms_sync.grammar import count_of, moment
from wms_sync.layout import Layout
from wms_sync.reports.dictionary import write_dictionary
from wms_sync.reports.doctor import examine
from wms_sync.reports.explain import SELECTED, explain as explained, explanation_lines
from wms_sync.reports.export import export as export_one, export_all
from wms_sync.reports.finding import WELL, Finding, exit_code, open_findings
from wms_sync.reports.findings import acknowledgeable, findings_in
from wms_sync.reports.inbox import InboxEntry, InboxRow, rows_of_entry
from wms_sync.reports.installation import (
    Installation,
    LastAudit,
    installation_of,
)
from wms_sync.reports.probe import Verdict, probe as habits_of
from wms_sync.reports.reader import reader_lines
from wms_sync.reports.report import make_report
from wms_sync.settings import Settings
from wms_sync.shipments.load.checks import CheckResult, check_tables
from wms_sync.state.run_records import RunRecord
from wms_sync.state.store import StateStore
from wms_sync.targets.errors import AnalyticsError
from wms_sync.targets.target import target_of

OF_STATUS = (
    "sync_cursor",
    "lag_seconds",
    "covered",
    "gaps",
    "windows",
    "last_audit",
    "rows",
    "published_at",
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
OF_DOCTOR = {"note": "ok", "warning": "warn", "error": "fail"}
"""The doctor's word for each severity. Its notes report subjects without a problem."""


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
    yield from (f"covered       {moment(interval.start)} to {moment(interval.end)}" for interval in found.covered)
    yield f"published     {moment(found.published_at) if found.published_at else 'never'}"
    yield from (f"last run      {_run_text(run)}" for run in found.runs[:1])
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
    yield from (f"pushing       {holder}" for holder in found.pushing.values())
    for doubt in found.doubts[:SHOWN_DOUBTS]:
        yield f"in doubt      {doubt.kind} {doubt.key}, sent {moment(doubt.sent_at)}"
    if len(found.doubts) > SHOWN_DOUBTS:
        yield f"in doubt      and {len(found.doubts) - SHOWN_DOUBTS:,} more: see --json"


@click.command(epilog="Example: wms-sync status --check")
@AS_JSON
@click.option("--check", "is_check", is_flag=True, help="Print only one line: the worst finding, or ok.")
@click.option("--rows", "is_each_table", is_flag=True, help="Print the number of rows of each table.")
@exits_with_code
def status(as_json: bool, is_check: bool, is_each_table: bool) -> int:
    """Show the findings, how far the data reaches, the last run and pushes.

    Exit code 1: a finding is an error. 3, only with --check: there are warnings.
    """
    with installation_of(Settings.load()) as found:
        findings = findings_in(found)
        show: Callable[[], None]
        if is_check:
            show = partial(say, check_line(found, findings))
        elif as_json:
            show = partial(
                say_json,
                {
                    **{name: getattr(found, name) for name in OF_STATUS},
                    "findings": [json_of(finding) for finding in findings],
                },
            )
        else:
            show = partial(say_labelled, list(status_lines(found, findings, is_each_table=is_each_table)))
    show()  # afterwards: the errors of printing are not those of the data folder
    return exit_code(findings, is_strict=is_check)


@click.command(epilog="Example: wms-sync doctor --alert")
@AS_JSON
@click.option("--alert", is_flag=True, help="Send a test alert to every channel too.")
@exits_with_code
def doctor(as_json: bool, alert: bool) -> int:
    """Check settings, connection, tokens, clock, disk and state store, and show every finding."""
    found = []
    for finding in examine(Settings.load(), alert=alert):
        found.append(finding)
        if not as_json:
            say_lines([f"{OF_DOCTOR[finding.severity]:<4}  {finding.name:<11}  {finding.sentence}"])
    if as_json:
        say_json([json_of(finding) for finding in found])
    elif exit_code(found) == WELL:
        say_lines(["next  wms-sync sync"])
    return exit_code(found)


@click.command(epilog="Example: wms-sync probe")
@AS_JSON
@exits_with_code
def probe(as_json: bool) -> int:
    """Observe the habits of the service, worst first. It only reads.

    Exit code 1: a sync would fail.
    """
    habits = sorted(habits_of(settings_for_service()), key=lambda habit: get_args(Verdict).index(habit.verdict))
    if as_json:
        say_json(habits)
    for habit in habits if not as_json else ():
        say_lines([f"{habit.verdict:<{INDENT}}{habit.name}: {habit.observed}"])
        if habit.verdict != "as specified":
            setting = f"; setting: {habit.setting}" if habit.setting else ""
            say_lines([f"{'':<{INDENT}}specified ({habit.specified}); wms-sync {habit.handled}{setting}"])
    return int(habits[0].verdict == "stops")


@click.command(epilog="Example: wms-sync check --full")
@click.option("--full", is_flag=True, help="Run every check on the published tables now, and show offending rows.")
@click.option("--strict", "is_strict", is_flag=True, help="Exit with 3 if there are only warnings.")
@exits_with_code
def check(full: bool, is_strict: bool) -> int:
    """Show the results of the checks at the last load, and every other finding.

    Exit code 1: a finding is an error.
    """
    settings = Settings.load()
    with installation_of(settings) as installation:
        _refuse_unpublished(installation)
        published = partial(target_of(settings).published, memory_limit=settings.memory_limit)
        found = check_tables(published) if full else installation.checks
        findings = findings_in(replace(installation, checks=found))
    say_lines(_check_lines(found, "now" if full else "at the last load"))
    say_lines(open_lines(findings))
    return exit_code(findings, is_strict=is_strict)


@click.command(epilog="Example: wms-sync explain order SO-2026-0815")
@click.argument("what", type=click.Choice(["shipment", *SELECTED]))
@click.argument("name")
@AS_JSON
@exits_with_code
def explain(what: str, name: str, as_json: bool) -> None:
    """Show every version of shipments, and the windows, pages and runs that their rows came from.

    NAME is an id or unique_id; of an order also its order_ref; or a tracking number.
    """
    settings = Settings.load()
    with StateStore.opened(settings.database_url) as store:
        found = explained(settings, store, name, what)
    if as_json:
        say_json(found)
    else:
        say_lines(chain.from_iterable(map(explanation_lines, found)))


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


@click.command(epilog="Example: wms-sync reader")
@exits_with_code
def reader() -> None:
    """Show how an analyst opens the tables in DuckDB's shell, Python and DBeaver."""
    say_lines(reader_lines(Settings.load()))


@click.command(epilog="Example: wms-sync report --to /tmp/report.html")
@click.option("--to", type=FILE, help="The file to write; default: report.html in the data folder.")
@FORCE
@exits_with_code
def report(to: Path | None, force: bool) -> None:
    """Write the report: one HTML page for people who do not write SQL.

    If WMS_REPORT is on, each load writes the report.
    """
    path, _ = make_report(Settings.load(), to, force=force)
    say(f"wrote {shown(path)}")


@click.command(epilog="Example: wms-sync export days --to days.csv")
@click.argument("relation", metavar="[MART]", required=False)
@click.option("--to", type=FILE, help="The file to write: .csv or .parquet.")
@click.option("--timezone", help="Time zone of times in .csv; default: the * zone of WMS_WAREHOUSE_TIMEZONES.")
@click.option(
    "--all",
    "folder",
    metavar="DIR",
    type=FOLDER,
    help="Instead of MART: the folder to write all tables and marts to, as .parquet; without schema pii.",
)
@FORCE
@exits_with_code
def export(relation: str | None, to: Path | None, timezone: str | None, folder: Path | None, force: bool) -> None:
    """Write a mart or table to a .csv or .parquet file, or all of them to a folder."""
    if relation and to and not folder:
        done = export_one(Settings.load(), relation, to, timezone=timezone, force=force)
    elif folder and not (relation or to or timezone or force):
        done = export_all(Settings.load(), folder)
    else:
        raise click.UsageError("Name a mart or table and the file for it with --to, or give --all DIR alone.")
    times = f"; times are local times of {done.timezone}" if done.timezone else ""
    say_lines([f"exported  {count_of(done.rows, 'row')} of {done.what} to {done.path}{times}"])
    if done.is_personal:
        say("          the file contains personal data: `wms-sync forget` does not clean it")


@click.command(epilog="Example: wms-sync dictionary --to models")
@click.option("--to", type=FOLDER, required=True, help="The folder to write to.")
@FORCE
@exits_with_code
def dictionary(to: Path, force: bool) -> None:
    """Write the data dictionary: dictionary.html, and sources.yml for a dbt project."""
    say_lines(f"wrote {path}" for path in write_dictionary(Settings.load(), to, force=force))


def _check_lines(found: Sequence[CheckResult], scope: str) -> Iterator[str]:
    for result in found:
        if not result.passed:
            yield f"check     {result.check.severity}: {result.finding} ({result.check.name})"
            yield from (f"          {line}" for line in result.sample.lines)
    yield f"checks    {sum(result.passed for result in found)} of {len(found)} passed ({scope})"


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
    parts = [moment(run.started_at), run.purpose, run.source, run.outcome, phases_text(run.phases), run.error or ""]
    return "  ".join(part for part in parts if part)


def phases_text(phases: Mapping[str, float]) -> str:
    """Return the seconds of each phase on one line."""
    return "  ".join(f"{name} {seconds:.1f} s" for name, seconds in phases.items())


@click.command(epilog="Example: wms-sync acknowledge run-sync")
@click.argument("names", metavar="ITEM...", nargs=-1, required=True)
@exits_with_code
def acknowledge(names: tuple[str, ...]) -> None:
    """Hide findings of `status` or entries of `inbox` until they change or end."""
    with installation_of(Settings.load()) as installation:
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


@click.command(epilog="Example: wms-sync inbox value-3f2a1c")
@click.argument("name", metavar="[ENTRY]", required=False)
@exits_with_code
def inbox(name: str | None) -> None:
    """List the values that did not fit their type, and unknown keys, each kind with an example.

    With ENTRY, show its newest rows: object, path, raw page, and the original text.
    """
    settings = Settings.load()
    with installation_of(settings) as installation:
        _refuse_unpublished(installation)
        entries = installation.inbox
    shown = [entry for entry in entries if name in {None, entry.name}]
    if name is not None and not shown:
        raise SettingsError(
            f"No open entry is called {name}. `wms-sync inbox` lists the open entries; an entry closes by itself once "
            "its values are loaded."
        )
    for entry in shown:
        say_lines(_entry_lines(entry))
        for row in rows_of_entry(settings, entry, SHOWN_ROWS) if name else ():
            say_lines(_row_lines(settings.layout, row))
    if not shown:
        say("no entry is open: any values that are left in ops.quarantine have since been loaded")
    elif name is None:
        say(f"next  wms-sync inbox {shown[0].name}")


def _refuse_unpublished(installation: Installation) -> None:
    if installation.published_at is None or installation.unreadable is not None:
        why = installation.unreadable or "nothing is published yet. Run `wms-sync sync` first."
        raise AnalyticsError(f"There are no tables to look at: {why}")


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
