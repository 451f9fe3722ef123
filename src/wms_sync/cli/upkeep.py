"""Run ``wms-sync backup``, ``restore``, ``verify`` and ``forget``, and print their results.

``forget`` shows the personal data of some orders, and removes it from every file after confirmation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import chain
from pathlib import Path

import click

from wms_sync.cli.printing import say, say_lines
from wms_sync.cli.runs import COMMAND_LINE
from wms_sync.cli.views import moment
from wms_sync.errors import SettingsError
from wms_sync.grammar import count_of
from wms_sync.reports.finding import ATTENTION
from wms_sync.runs import Operation
from wms_sync.settings import Settings
from wms_sync.state.store import StateStore
from wms_sync.upkeep.backup import BackupReport, Copied
from wms_sync.upkeep.forget import Forgotten
from wms_sync.upkeep.forgotten_orders import NamedOrder, orders_named, refuse_unseen, rows_to_forget
from wms_sync.upkeep.restore import Restored, restore, trust_ledger
from wms_sync.upkeep.verify import Verified

FORGET = "forget"


def put_back(settings: Settings, source: Path | None, *, over: Path | None, creates_are_known: bool) -> int:
    """Restore a backup and print what was restored. Without a backup, record that the ledger is complete."""
    if source is None:
        if not creates_are_known:
            raise SettingsError("Name the folder that `wms-sync backup` wrote to, or one backup in it.")
        trust_ledger(settings)
        say("ledger    is treated as complete from now on")
        return 0
    restored = restore(settings, source, over=over, creates_are_known=creates_are_known)
    say_lines(_restored_lines(restored))
    return ATTENTION if restored.copied.left_out or restored.creates_unknown_since else 0


def backup_lines(made: BackupReport) -> Iterator[str]:
    """Yield the result of a backup."""
    copied = made.copied
    yield f"kept      {_files(copied, copied.sizes)}, as {made.path}"
    yield f"new       {_files(copied, copied.new)}"
    if made.deleted:
        yield f"deleted   {count_of(made.deleted, 'older backup')}"
    for place, reason in copied.left_out.items():
        yield f"damaged   {place}: {reason}; it is not in the backup"


def _files(copied: Copied, keys: Collection[str]) -> str:
    return f"{count_of(len(keys), 'file')}, {copied.size(keys) / 1e6:,.1f} MB"


def _restored_lines(restored: Restored) -> Iterator[str]:
    copied = restored.copied
    yield f"restored  {_files(copied, copied.sizes)}, of {restored.path}"
    yield f"forgot    {count_of(restored.forgotten, 'order')} again, before publishing"
    for place, reason in copied.left_out.items():
        yield f"left out  {place}: {reason}"
    if restored.creates_unknown_since is not None:
        since = f"{restored.creates_unknown_since:%Y-%m-%d %H:%M} UTC"
        yield (
            f"ledger    may lack creates after {since}: a push of products first looks up in the service each product "
            "that is not in the ledger. If you know that no create is missing: `wms-sync restore --creates-are-known`"
        )
    yield "next      `wms-sync sync` reads what changed since the backup"


def verified_lines(found: Verified) -> Iterator[str]:
    """Yield what was examined, and every damage."""
    yield "verified  " + ", ".join(count_of(count, what) for what, count in found.examined.items())
    for damage in found.damaged:
        yield f"damaged   {damage}"
    if not found.damaged:
        yield "damaged   nothing"


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


def list_forgotten(settings: Settings) -> None:
    """Print the list of forgotten orders."""
    with StateStore.opened(settings.database_url) as store:
        listed = store.forgotten_list()
    for entry in listed:
        done = f"done {moment(entry.done_at)}" if entry.done_at else "not done yet: run wms-sync forget"
        say(f"{entry.order_id}  requested {moment(entry.asked_at)}, {done}")
    if not listed:
        say("no order is forgotten")


def take_off_list(settings: Settings, names: Sequence[str], *, yes: bool) -> None:
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
