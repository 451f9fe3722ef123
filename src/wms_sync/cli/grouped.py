"""Format ``wms-sync --help``: the commands by group, and an example of each.

Belongs here: the order of the commands, their groups and examples; ``docs/reference/commands.md`` is generated from
them. The commands themselves, with their help, are in ``main``.
"""

from __future__ import annotations

import click

GROUPS = {
    "Sync": ("sync", "backfill", "rebuild", "status", "doctor", "probe", "inbox", "acknowledge"),
    "Master data": ("push",),
    "Analysts": ("report", "export", "dictionary", "reader", "explain", "check"),
    "Upkeep": ("backup", "restore", "verify", "forget", "maintain", "ui"),
    "Development": ("demo", "sandbox", "record"),
}
"""Each command in its group, in the order of ``--help``."""

EXAMPLES = {
    "sync": "wms-sync sync",
    "backfill": "wms-sync backfill --from 2026-03-01 --to 2026-03-08",
    "rebuild": "wms-sync rebuild",
    "status": "wms-sync status --check",
    "doctor": "wms-sync doctor --alert",
    "probe": "wms-sync probe",
    "inbox list": "wms-sync inbox list",
    "inbox show": "wms-sync inbox show value-3f2a1c",
    "acknowledge": "wms-sync acknowledge run-sync",
    "push": "wms-sync push retailers retailers.csv --dry-run",
    "report": "wms-sync report --to /tmp/report.html",
    "export": "wms-sync export days --to days.csv",
    "dictionary": "wms-sync dictionary --to models",
    "reader": "wms-sync reader",
    "explain shipment": "wms-sync explain shipment 100017",
    "explain order": "wms-sync explain order SO-2026-0815",
    "explain tracking": "wms-sync explain tracking 1Z999AA10123456784",
    "check": "wms-sync check --full",
    "backup": "wms-sync backup /mnt/backups/wms-sync --keep 14",
    "restore": "wms-sync restore /mnt/backups/wms-sync",
    "verify": "wms-sync verify /mnt/backups/wms-sync",
    "forget": "wms-sync forget SO-2026-0815 --dry-run",
    "maintain": "wms-sync maintain",
    "ui": "wms-sync ui --port 3001",
    "demo": "wms-sync demo",
    "sandbox": "wms-sync sandbox --shipments 10000",
    "record": "wms-sync record first-day --pages 3",
}
"""An example of each command."""


class Example(click.Command):
    """A command whose help ends with its example."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the example of the command."""
        with formatter.section("Example"):
            formatter.write_text(EXAMPLES[" ".join(ctx.command_path.split()[1:])])


class Subcommands(click.Group):
    """A group of subcommands, such as those of ``wms-sync inbox``."""

    command_class = Example


class Grouped(click.Group):
    """The program: its help lists the commands by group."""

    command_class = Example
    group_class = Subcommands

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands in the order of the groups."""
        return [name for names in GROUPS.values() for name in names]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a section for each group, with the whole first paragraph of each command's help."""
        for group, names in GROUPS.items():
            with formatter.section(group):
                texts = [(self.commands[name].help or "").partition("\n\n")[0] for name in names]
                formatter.write_dl([(name, " ".join(text.split())) for name, text in zip(names, texts, strict=True)])
