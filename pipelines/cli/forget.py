"""``wms-sync forget``: remove the personal data of some orders from every file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from uuid import uuid4

import click

from pipelines.recording import SUCCEEDED, Counts, Recording
from pipelines.reporting import remake_report
from pipelines.sources import COMMAND_LINE
from wms_sync.errors import SettingsError
from wms_sync.settings import Settings
from wms_sync.state.store import StateStore
from wms_sync.upkeep.forget import Forgotten, forget, orders_named
from wms_sync.upkeep.recovery import begin

FORGET = "forget"


def forget_orders(settings: Settings, names: Sequence[str]) -> None:
    """Forget the named orders and print what was removed. Without names, finish an interrupted one."""
    if not names and not _unfinished(settings):
        raise SettingsError("Name the orders to forget, by id, unique_id or order_ref.")
    recording = Recording(settings, str(uuid4()), FORGET, COMMAND_LINE)
    done: list[Forgotten] = []
    with (
        recording.phase(FORGET, counts=lambda: _counts(done), end=lambda: SUCCEEDED),
        begin(settings, FORGET, recording.run_id) as run,
    ):
        if names:
            done.append(forget(run, orders_named(settings, names)))
        for line in chain.from_iterable(map(_lines, done)):
            click.echo(line)
        remake_report(run)


def _counts(done: Sequence[Forgotten]) -> Counts:
    return {"orders": sum(len(one.orders) for one in done), "rows": sum(one.rows for one in done)}


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
