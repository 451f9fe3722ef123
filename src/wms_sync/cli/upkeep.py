"""``wms-sync backup``, ``restore``, ``verify`` and ``forget``, and what they print.

``forget`` shows the personal data of some orders, and removes it from every file after confirmation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import chain
from pathlib import Path

import click

from wms_sync.cli.commands import FILE, exits_with_code, say, say_lines
from wms_sync.cli.operations import COMMAND_LINE
from wms_sync.errors import SettingsError
from wms_sync.grammar import count_of, moment
from wms_sync.reports.finding import ATTENTION
from wms_sync.runs import Operation
from wms_sync.settings import Settings
from wms_sync.state.ledger import creates_since
from wms_sync.state.store import StateStore
from wms_sync.upkeep.backup import Copied, backup as make_backup
from wms_sync.upkeep.forget import Forgotten
from wms_sync.upkeep.forgotten_orders import NamedOrder, orders_named, refuse_unseen, rows_to_forget
from wms_sync.upkeep.recovery import recover_state
from wms_sync.upkeep.restore import Restored, restore as restore_backup, trust_ledger
from wms_sync.upkeep.verify import verify as examined


@click.command(epilog="Example: wms-sync backup /mnt/backups/wms-sync --keep 14")
@click.argument("folder", metavar="DIR", type=FILE)
@click.option("--keep", type=click.IntRange(min=1), default=7, show_default=True, help="Backups to keep in DIR.")
@exits_with_code
def backup(folder: Path, keep: int) -> int:
    """Back up the data folder and the state store to DIR/<time>, even while a run writes."""
    made = make_backup(Settings.load(), folder, most=keep)
    copied = made.copied
    say_lines([f"kept      {_files(copied, copied.sizes)}, as {made.path}", f"new       {_files(copied, copied.new)}"])
    if made.deleted:
        say(f"deleted   {count_of(made.deleted, 'older backup')}")
    say_lines(f"damaged   {place}: {reason}; it is not in the backup" for place, reason in copied.left_out.items())
    return ATTENTION if copied.left_out else 0


@click.command(epilog="Example: wms-sync restore /mnt/backups/wms-sync")
@click.argument("source", metavar="[DIR]", type=FILE, required=False)
@click.option("--over", type=FILE, help="The data folder, to confirm that the data in it may be replaced.")
@click.option("--creates-are-known", is_flag=True, help="Confirm that the ledger lacks no create.")
@exits_with_code
def restore(source: Path | None, over: Path | None, creates_are_known: bool) -> int:
    """Restore the newest backup in DIR into an empty data folder.

    DIR may also be one backup, or any copy of a data folder.
    """
    settings = Settings.load()
    if source is None:
        if not creates_are_known:
            raise SettingsError("Name the folder that `wms-sync backup` wrote to, or one backup in it.")
        trust_ledger(settings)
        say("ledger    is treated as complete from now on")
        return 0
    restored = restore_backup(settings, source, over=over, creates_are_known=creates_are_known)
    say_lines(_restored_lines(restored))
    return ATTENTION if restored.copied.left_out or restored.creates_unknown_since is not None else 0


def _files(copied: Copied, keys: Collection[str]) -> str:
    return f"{count_of(len(keys), 'file')}, {copied.size(keys) / 1e6:,.1f} MB"


def _restored_lines(restored: Restored) -> Iterator[str]:
    copied = restored.copied
    yield f"restored  {_files(copied, copied.sizes)}, of {restored.path}"
    yield f"forgot    {count_of(restored.forgotten, 'order')} again, before publishing"
    yield from (f"left out  {place}: {reason}" for place, reason in copied.left_out.items())
    if restored.creates_unknown_since is not None:
        yield (
            f"ledger    may lack {creates_since(restored.creates_unknown_since)}: a push of products first looks up in "
            "the service each product that is not in the ledger. If you know that no create is missing: `wms-sync "
            "restore --creates-are-known`"
        )
    yield "next      `wms-sync sync` reads what changed since the backup"


@click.command(epilog="Example: wms-sync verify /mnt/backups/wms-sync")
@click.argument("folder", metavar="[DIR]", type=FILE, required=False)
@exits_with_code
def verify(folder: Path | None) -> int:
    """Check every file of the data folder, of the backups in DIR, or of another data folder, for damage.

    Exit code 1: something is damaged.
    """
    found = examined(Settings.load(), folder)
    say_lines(["verified  " + ", ".join(count_of(count, what) for what, count in found.examined.items())])
    say_lines(f"damaged   {damage}" for damage in found.damaged or ("nothing",))
    return 1 if found.damaged else 0


@click.command(epilog="Example: wms-sync forget SO-2026-0815 --dry-run")
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
    recover_state(settings)  # a state store that was lost does not know the list
    if is_list:
        _list_forgotten(settings)
    elif take_off:
        _take_off_list(settings, orders, yes=yes)
    else:
        forget_orders(settings, orders, yes=yes, dry_run=dry_run, unseen=unseen)


def forget_orders(settings: Settings, names: Sequence[str], *, yes: bool, dry_run: bool, unseen: bool) -> None:
    """Forget the named orders and print what was removed. Without names, finish a forget that was interrupted.

    Unless ``yes``, show the data to be removed and ask for confirmation. With ``dry_run`` only show it.
    """
    if not names:
        with StateStore.opened(settings.database_url) as store:
            if not store.forgotten(unfinished=True):
                raise SettingsError("Name the orders to forget, by id, unique_id or order_ref.")
    orders = _named(settings, names)
    if not unseen:
        refuse_unseen(orders)
    if orders and (dry_run or not yes):
        say_lines(chain.from_iterable(map(_order_lines, orders)))
        held = rows_to_forget(settings, [order.id for order in orders])
        rows = ", ".join(f"{count:,} of {table}" for table, count in held.items()) or "none"
        say(f"personal  rows: {rows}; and what Parquet files and raw pages have of these orders")
    if dry_run:
        say("nothing was changed")
        return
    if orders and not yes:
        _ask(f"Remove the personal data of {count_of(len(orders), 'order')} for good?")
    operation = Operation(settings, source=COMMAND_LINE)
    operation.forget([order.id for order in orders])
    if operation.forgotten is not None:
        say_lines(_lines(operation.forgotten))


def _list_forgotten(settings: Settings) -> None:
    """Print the list of forgotten orders."""
    with StateStore.opened(settings.database_url) as store:
        listed = store.forgotten_list()
    for entry in listed:
        done = f"done {moment(entry.done_at)}" if entry.done_at else "not done yet: run wms-sync forget"
        say(f"{entry.order_id}  requested {moment(entry.asked_at)}, {done}")
    if not listed:
        say("no order is forgotten")


def _take_off_list(settings: Settings, names: Sequence[str], *, yes: bool) -> None:
    """Take orders off the list, so that later reads store their personal data."""
    if not names:
        raise SettingsError("Name the orders to take off the list; `wms-sync forget --list` shows it.")
    orders = _named(settings, names)
    say_lines(chain.from_iterable(map(_order_lines, orders)))
    say(
        "An order off the list is treated like any other: later reads store its destination and, with "
        "WMS_INCLUDE_ADDRESSES, its persons. The removed data comes back only when a backfill rereads the days on "
        "which its shipments changed."
    )
    if not yes:
        _ask(f"Take {count_of(len(orders), 'order')} off the list?")
    Operation(settings, source=COMMAND_LINE).take_off([order.id for order in orders])
    say(f"off the list  {', '.join(str(order.id) for order in orders)}")


def _named(settings: Settings, names: Sequence[str]) -> tuple[NamedOrder, ...]:
    with StateStore.opened(settings.database_url) as store:
        return orders_named(settings, store, names)


def _ask(question: str) -> None:
    try:
        agreed = click.confirm(question, err=True)
    except click.Abort:
        raise SettingsError("There was no answer, so nothing was changed. In a script, add --yes.") from None
    if not agreed:
        raise SettingsError("Nothing was changed.")


def _order_lines(order: NamedOrder) -> Iterator[str]:
    where = f"unique_id {order.unique_id}, order_ref {order.order_ref}" if order.is_in_tables else "in no table"
    yield f"order     {order.id} ({where}{', on the list already' if order.is_forgotten else ''})"


def _lines(done: Forgotten) -> Iterator[str]:
    yield f"forgot    {count_of(len(done.orders), 'order')}: {', '.join(map(str, done.orders))}"
    yield (
        f"cleaned   {count_of(done.rows, 'row')} in {count_of(done.databases, 'database')}; rewrote "
        f"{count_of(done.pages, 'raw page')} and {count_of(done.parquet_files, 'Parquet file')}"
    )
    yield "          later reads and rebuilds leave this data out; copies elsewhere and open connections still have it"
