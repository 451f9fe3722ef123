"""``wms-sync``: all its commands by group, and the options of the program itself.

Each command reads the settings, makes one call, and prints the result. Exit 0: done. 1: failed. 2: wrong usage or
settings. 3: done, but something needs a hand. 130: interrupted.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping
from itertools import chain

import click

from wms_sync.cli.commands import open_closed_streams, say
from wms_sync.cli.demo import demo
from wms_sync.cli.operations import backfill, maintain, push, rebuild, sync
from wms_sync.cli.record import record
from wms_sync.cli.ui import sandbox, ui
from wms_sync.cli.upkeep import backup, forget, restore, verify
from wms_sync.cli.views import (
    acknowledge,
    check,
    dictionary,
    doctor,
    explain,
    export,
    inbox,
    probe,
    reader,
    report,
    status,
)
from wms_sync.logs import Lines, handling, json_line, stamped
from wms_sync.settings import logs_json
from wms_sync.storage.durable import keep_private

GROUPS: Mapping[str, tuple[click.Command, ...]] = {
    "Sync": (sync, backfill, rebuild, status, doctor, probe, inbox, acknowledge),
    "Master data": (push,),
    "Analysts": (report, export, dictionary, reader, explain, check),
    "Upkeep": (backup, restore, verify, forget, maintain, ui),
    "Development": (demo, sandbox, record),
}
"""The commands in the order of ``--help``; ``docs/reference/commands.md`` is generated from them."""


class Grouped(click.Group):
    """The program: its help lists the commands by group."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands in the order of the groups."""
        return [*self.commands]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a section for each group, with the whole first paragraph of each command's help."""
        for group, commands in GROUPS.items():
            with formatter.section(group):
                texts = [(command.help or "").partition("\n\n")[0] for command in commands]
                names = [str(command.name) for command in commands]
                formatter.write_dl([(name, " ".join(text.split())) for name, text in zip(names, texts, strict=True)])


@click.group(
    cls=Grouped,
    commands=[*chain.from_iterable(GROUPS.values())],
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
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
