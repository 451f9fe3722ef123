"""``wms-sync forget``: remove the personal data of some orders from every file."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence

import click

from pipelines.operation import Operation
from wms_sync.errors import SettingsError
from wms_sync.settings import Settings
from wms_sync.state.store import StateStore
from wms_sync.upkeep.forget import Forgotten, forget, orders_named


def forget_orders(settings: Settings, names: Sequence[str]) -> None:
    """Forget the named orders and print what was removed. Without names, finish an interrupted one."""
    if not names and not _unfinished(settings):
        raise SettingsError("Name the orders to forget, by id, unique_id or order_ref.")
    operation = Operation(settings, say=lambda line: click.echo(line, err=True))
    with operation.locked_store("forget", logging.getLogger(__name__)) as store:
        if names:
            done = forget(settings, store, orders_named(settings, names, click.echo), click.echo)
            for line in _lines(done):
                click.echo(line)


def _unfinished(settings: Settings) -> bool:
    with StateStore(settings.database_url) as store:
        return bool(store.forgotten(unfinished=True))


def _lines(done: Forgotten) -> Iterator[str]:
    yield f"forgot    {len(done.orders)} orders: {', '.join(map(str, done.orders))}"
    yield (
        f"cleaned   {done.rows} rows in {done.databases} databases; rewrote {done.pages} raw pages and "
        f"{done.parquet_files} Parquet files"
    )
    yield "          later reads and rebuilds do not bring it back; copies elsewhere and open connections still have it"
