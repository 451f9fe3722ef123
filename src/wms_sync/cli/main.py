"""The commands of ``wms-sync``.

Each command reads the settings, makes one call, and prints the result. Exit 0: done. 1: failed. 2: wrong usage or
settings. 3: done, but something needs a hand. 130: interrupted.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime
from functools import wraps
from pathlib import Path
from typing import Any, NoReturn

import click

from wms_sync.cli.demo import run_demo
from wms_sync.cli.grouped import Grouped
from wms_sync.cli.printing import open_closed_streams, say, say_lines, shown
from wms_sync.cli.record import make_recording
from wms_sync.cli.runs import run_maintain, run_operation, run_push, run_sync
from wms_sync.cli.ui import serve
from wms_sync.cli.upkeep import (
    backup_lines,
    forget_orders,
    list_forgotten,
    put_back,
    take_off_list,
    verified_lines,
)
from wms_sync.cli.views import (
    column_lines,
    export_lines,
    list_entries,
    mark_seen,
    show_checks,
    show_entry,
    show_examined,
    show_explained,
    show_probed,
    show_status,
)
from wms_sync.errors import SettingsError, WmsSyncError
from wms_sync.interrupts import INTERRUPTED, interruptible
from wms_sync.intervals import Interval, midnight
from wms_sync.logs import Lines, handling, json_line, stamped
from wms_sync.master_data.kinds import NAMES, kind_named
from wms_sync.master_data.plan import SHOWN
from wms_sync.reports.alerts import send_alerts
from wms_sync.reports.dictionary import write_dictionary
from wms_sync.reports.export import export as export_one
from wms_sync.reports.export import export_all
from wms_sync.reports.finding import ATTENTION
from wms_sync.reports.reader import reader_lines
from wms_sync.reports.report import make_report
from wms_sync.runs import plan_push
from wms_sync.settings import Settings, logs_json
from wms_sync.state.engine import silent
from wms_sync.storage.durable import keep_private, unusable
from wms_sync.upkeep.backup import backup as make_backup
from wms_sync.upkeep.verify import verify as examined

logger = logging.getLogger(__name__)
ALERT_SECONDS = 5.0
"""The maximum time that a command spends on sending alerts; a later command or run sends the remaining alerts."""
FILE = click.Path(path_type=Path)
DAY = click.DateTime(formats=["%Y-%m-%d"])
PORT, COUNT = click.IntRange(0, 65_535), click.IntRange(0, 99_999_999)
FORCE = click.option("--force", is_flag=True, help="Replace any file, whatever wrote it.")
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON for other programs.")


def exits_with_code(command: Callable[..., int | None]) -> Callable[..., NoReturn]:
    """Report known errors, and files that cannot be used, by a message and an exit code.

    Any other error is a defect and keeps its traceback. Unless interrupted, send the alerts that are due, including
    those of other runs.
    """

    @wraps(command)
    def run(*args: Any, **kwargs: Any) -> NoReturn:  # noqa: ANN401 - whatever click passes
        try:
            with interruptible():
                code = command(*args, **kwargs) or 0
        except WmsSyncError as error:
            logger.log(logging.ERROR, str(error))
            code = error.exit_code
        except KeyboardInterrupt:
            logger.log(logging.ERROR, "interrupted; run the command again to continue.")
            sys.exit(INTERRUPTED)
        except Exception as error:
            failure = unusable(error) or silent(error)
            if failure is None:
                _send_due_alerts()
                raise
            logger.log(logging.ERROR, str(failure))
            code = failure.exit_code
        _send_due_alerts()
        sys.exit(code)

    return run


def _send_due_alerts() -> None:
    """Send the alerts that are due, within ``ALERT_SECONDS``: the result of the command is already printed."""
    try:
        settings = Settings.load()
    except WmsSyncError:  # a command that needs the settings has reported this error
        return
    if not settings.has_alert_channel or (settings.state_url is None and not _is_there(settings.layout.state)):
        return
    sys.stdout.flush()
    send_alerts(settings, seconds=ALERT_SECONDS)


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # the folder belongs to another user; the command has reported that
        return False


@click.group(cls=Grouped, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="wms-sync")
@click.option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning"]),
    default="info",
    show_default=True,
    help="What to log on standard error; debug shows each request to the service.",
)
def main(log_level: str) -> None:
    """Sync shipments of a warehouse fulfillment service into Parquet and DuckDB, and push master data to it.

    Exit codes: 0 done; 1 failed; 2 wrong usage or settings; 3 done, but something needs a hand; 130 interrupted.
    After any failure, run the same command again: it continues where it stopped.
    """
    open_closed_streams()
    keep_private()
    as_line = json_line if logs_json() else _plain_line
    console = Lines(lambda level, text: say(as_line(level, text), err=True))
    click.get_current_context().with_resource(handling(console, log_level.upper()))


def _plain_line(level: int, text: str) -> str:
    if level >= logging.ERROR:
        return f"wms-sync: {text}"
    return text if sys.stderr.isatty() else stamped(text)


@main.command()
@exits_with_code
def sync() -> None:
    """Run the nightly sync now: read everything that has changed since the last sync, and load it."""
    run_sync(_for_service())


@main.command()
@click.option("--from", "start", type=DAY, required=True, help="First day to read again, UTC.")
@click.option("--to", "end", type=DAY, required=True, help="The day after the last one, UTC.")
@exits_with_code
def backfill(start: datetime, end: datetime) -> None:
    """Read whole days again and load them.

    A day has the shipments whose updated_at (UTC) is on that day. The range is [from, to).
    """
    settings = _for_service()
    first, after = start.date(), end.date()
    _refuse_bad_range(settings, first, after)
    run_operation(settings, lambda run: run.backfill(Interval(midnight(first), midnight(after))))


@main.command()
@click.argument("kind", type=click.Choice(NAMES))
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=False)
@click.option("--dry-run", is_flag=True, help="Print the plan and send nothing.")
@click.option("--resend", is_flag=True, help="Send rows in doubt again; the service may then have them twice.")
@click.option(
    "--as-written", is_flag=True, help="Send suspicious cells too, such as dates and errors of a spreadsheet."
)
@click.option("--limit", type=click.IntRange(min=1), help="Send only the first creates, and show each with its answer.")
@click.option("--all", "every", is_flag=True, help="Print every row, even of a long file.")
@click.option("--columns", is_flag=True, help="Print the columns that a file of this kind may have, and exit.")
@exits_with_code
def push(
    kind: str,
    file: Path | None,
    dry_run: bool,
    resend: bool,
    as_written: bool,
    limit: int | None,
    every: bool,
    columns: bool,
) -> int:
    """Create in the service the rows of a CSV file that the service lacks."""
    if columns:
        say_lines(column_lines(kind_named(kind)))
        return 0
    if file is None:
        raise click.UsageError("Name the CSV file, or use --columns to see the columns that it may have.")
    settings = _for_service()
    most = None if every else SHOWN
    if dry_run:
        plan = plan_push(settings, kind_named(kind), file, resend=resend, as_written=as_written, limit=limit)
        say_lines(plan.lines(push_limit=settings.push_limit, most=most))
        return plan.exit_code
    return run_push(settings, kind_named(kind), file, resend=resend, as_written=as_written, limit=limit, most=most)


@main.command()
@exits_with_code
def rebuild() -> None:
    """Rebuild every table without requests, from Parquet files where raw pages were dropped."""
    run_operation(Settings.load(), lambda run: run.rebuild())


@main.command()
@exits_with_code
def maintain() -> None:
    """Merge the small files of a lake, and delete the files that no reader needs.

    With WMS_ANALYTICS=file there is nothing to do.
    """
    run_maintain(Settings.load())


@main.command()
@AS_JSON
@click.option("--check", "is_check", is_flag=True, help="Print only one line: the worst finding, or ok.")
@click.option("--rows", "is_each_table", is_flag=True, help="Print the number of rows of each table.")
@exits_with_code
def status(as_json: bool, is_check: bool, is_each_table: bool) -> int:
    """Show the findings, how far the data reaches, the last run and pushes.

    Exit code 1: a finding is an error. 3, only with --check: there are warnings.
    """
    return show_status(Settings.load(), as_json=as_json, is_check=is_check, is_each_table=is_each_table)


@main.command()
@click.argument("items", metavar="ITEM...", nargs=-1, required=True)
@exits_with_code
def acknowledge(items: tuple[str, ...]) -> None:
    """Hide findings of `status` or entries of `inbox list` until they change or end."""
    mark_seen(Settings.load(), items)


@main.group()
def inbox() -> None:
    """Show values that did not fit their type, and unknown keys."""


@inbox.command("list")
@exits_with_code
def list_inbox() -> None:
    """List the open entries, each with an example."""
    list_entries(Settings.load())


@inbox.command("show")
@click.argument("entry")
@exits_with_code
def show_inbox(entry: str) -> None:
    """Show the newest rows of an entry: object, path, raw page, and the original text."""
    show_entry(Settings.load(), entry)


@main.command()
@click.option("--full", is_flag=True, help="Run every check on the published tables now, and show offending rows.")
@click.option("--strict", "is_strict", is_flag=True, help="Exit with 3 if there are only warnings.")
@exits_with_code
def check(full: bool, is_strict: bool) -> int:
    """Show the results of the checks at the last load, and every other finding.

    Exit code 1: a finding is an error.
    """
    return show_checks(Settings.load(), full=full, is_strict=is_strict)


@main.group()
def explain() -> None:
    """Show where rows came from: versions, windows, pages and runs."""


@explain.command()
@click.argument("name", metavar="ID")
@AS_JSON
@exits_with_code
def shipment(name: str, as_json: bool) -> None:
    """Show each version of the shipment with this id or unique_id, and where its parts came from."""
    show_explained(Settings.load(), "shipment", name, as_json=as_json)


@explain.command()
@click.argument("name", metavar="ID")
@AS_JSON
@exits_with_code
def order(name: str, as_json: bool) -> None:
    """Explain each shipment of the order with this id, unique_id or order_ref."""
    show_explained(Settings.load(), "order", name, as_json=as_json)


@explain.command()
@click.argument("number")
@AS_JSON
@exits_with_code
def tracking(number: str, as_json: bool) -> None:
    """Explain each shipment that has a package with this tracking number."""
    show_explained(Settings.load(), "tracking", number, as_json=as_json)


@main.command()
@exits_with_code
def reader() -> None:
    """Show how an analyst opens the tables in DuckDB's shell, Python and DBeaver."""
    say_lines(reader_lines(Settings.load()))


@main.command()
@click.option("--to", type=FILE, help="The file to write; default: report.html in the data folder.")
@FORCE
@exits_with_code
def report(to: Path | None, force: bool) -> None:
    """Write the report: one HTML page for people who do not write SQL.

    If WMS_REPORT is on, each load writes the report.
    """
    path, _ = make_report(Settings.load(), to, force=force)
    say(f"wrote {shown(path)}")


@main.command()
@click.argument("relation", metavar="[MART]", required=False)
@click.option("--to", type=FILE, help="The file to write: .csv or .parquet.")
@click.option("--timezone", help="Time zone of times in .csv; default: the * zone of WMS_WAREHOUSE_TIMEZONES.")
@click.option(
    "--all",
    "folder",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
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
    say_lines(export_lines(done))


@main.command()
@click.option("--to", type=click.Path(file_okay=False, path_type=Path), required=True, help="The folder to write to.")
@FORCE
@exits_with_code
def dictionary(to: Path, force: bool) -> None:
    """Write the data dictionary: dictionary.html, and sources.yml for a dbt project."""
    say_lines(f"wrote {path}" for path in write_dictionary(Settings.load(), to, force=force))


@main.command()
@click.argument("orders", metavar="ORDER...", nargs=-1)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation: for scripts.")
@click.option("--dry-run", is_flag=True, help="Show what would be removed, and change nothing.")
@click.option("--unseen", is_flag=True, help="Accept ids of orders not seen yet; they are forgotten when they arrive.")
@click.option("--list", "is_list", is_flag=True, help="Print the forgotten orders, and exit.")
@click.option("--take-off", is_flag=True, help="Take the orders off the list, so that later reads keep their data.")
@exits_with_code
def forget(orders: tuple[str, ...], yes: bool, dry_run: bool, unseen: bool, is_list: bool, take_off: bool) -> None:
    """Remove the personal data of these orders from every file, for good.

    ORDER is an id, unique_id or order_ref.
    """
    settings = Settings.load()
    if is_list:
        list_forgotten(settings)
    elif take_off:
        take_off_list(settings, orders, yes=yes)
    else:
        forget_orders(settings, orders, yes=yes, dry_run=dry_run, unseen=unseen)


@main.command()
@click.argument("folder", metavar="DIR", type=FILE)
@click.option("--keep", type=click.IntRange(min=1), default=7, show_default=True, help="Backups to keep in DIR.")
@exits_with_code
def backup(folder: Path, keep: int) -> int:
    """Back up the data folder and the state store to DIR/<time>, even while a run writes."""
    made = make_backup(Settings.load(), folder, most=keep)
    say_lines(backup_lines(made))
    return ATTENTION if made.copied.left_out else 0


@main.command()
@click.argument("source", metavar="[DIR]", type=FILE, required=False)
@click.option("--over", type=FILE, help="The data folder, to confirm that the data in it may be replaced.")
@click.option("--creates-are-known", is_flag=True, help="Confirm that the ledger lacks no create.")
@exits_with_code
def restore(source: Path | None, over: Path | None, creates_are_known: bool) -> int:
    """Restore the newest backup in DIR into an empty data folder.

    DIR may also be one backup, or any copy of a data folder.
    """
    return put_back(Settings.load(), source, over=over, creates_are_known=creates_are_known)


@main.command()
@click.argument("folder", metavar="[DIR]", type=FILE, required=False)
@exits_with_code
def verify(folder: Path | None) -> int:
    """Check every file of the data folder, of the backups in DIR, or of another data folder, for damage.

    Exit code 1: something is damaged.
    """
    found = examined(Settings.load(), folder)
    say_lines(verified_lines(found))
    return 1 if found.damaged else 0


@main.command()
@AS_JSON
@click.option("--alert", is_flag=True, help="Send a test alert to every channel too.")
@exits_with_code
def doctor(as_json: bool, alert: bool) -> int:
    """Check settings, connection, tokens, clock, disk and state store, and show every finding."""
    return show_examined(Settings.load(), as_json=as_json, alert=alert)


@main.command("probe")
@AS_JSON
@exits_with_code
def show_habits(as_json: bool) -> int:
    """Observe the habits of the service, worst first. It only reads.

    Exit code 1: a sync would fail.
    """
    return show_probed(_for_service(), as_json=as_json)


@main.command()
@click.option("--port", type=PORT, default=3000, show_default=True, help="Port of the UI on 127.0.0.1.")
@exits_with_code
def ui(port: int) -> int:
    """Serve Dagster's UI until you press Ctrl-C.

    If WMS_BASE_URL is not set, the UI runs on a sandbox.
    """
    return serve(Settings.load(), port)


@main.command()
@click.argument("folder", metavar="DIR", type=FILE)
@click.option("--pages", type=click.IntRange(min=1), help="Record a sync of at most this many pages instead.")
@exits_with_code
def record(folder: Path, pages: int | None) -> None:
    """Record a probe of the service, without its texts, in a new folder, for `wms-sync sandbox --replay`."""
    make_recording(_for_service(), folder, pages)


@main.command()
@click.option("--port", type=PORT, default=8808, show_default=True, help="Port on 127.0.0.1; 0 picks a free one.")
@click.option("--shipments", type=COUNT, default=2000, show_default=True, help="Number of shipments, up to millions.")
@click.option("--seed", type=COUNT, default=1, show_default=True, help="The same seed gives the same data.")
@click.option("--replay", metavar="DIR", type=FILE, help="Serve this recording instead.")
def sandbox(port: int, shipments: int, seed: int, replay: Path | None) -> NoReturn:
    """Serve a stand-in for the service with made-up shipments, until you press Ctrl-C."""
    arguments = ["--port", str(port), "--shipments", str(shipments), "--seed", str(seed)]
    arguments += [] if replay is None else ["--replay", str(replay)]
    arguments += ["--called", "wms-sync sandbox"]
    os.execv(sys.executable, [sys.executable, "-m", "wms_sandbox", *arguments])  # noqa: S606 - our own module


@main.command()
@click.option(
    "--data-dir",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("data/demo"),
    show_default=True,
    help="Folder for the demo's files; replaces an earlier demo there.",
)
@exits_with_code
def demo(data_dir: Path) -> int:
    """Run the whole pipeline against a sandbox and show the result."""
    return run_demo(data_dir)


def _for_service() -> Settings:
    """Return settings that name a service."""
    settings = Settings.load()
    settings.require_service()
    return settings


def _refuse_bad_range(settings: Settings, first: date, after: date) -> None:
    if after <= first:
        raise SettingsError(f"--to must be after --from: the range is [from, to), got {first} to {after}.")
    if first > (today := datetime.now(UTC).date()):
        raise SettingsError(f"--from {first} is in the future (today is {today} UTC): there is nothing to read again.")
    if first < settings.start_date:
        raise SettingsError(
            f"--from {first} is before WMS_START_DATE ({settings.start_date}): set WMS_START_DATE to an earlier day."
        )
