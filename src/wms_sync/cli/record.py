"""``wms-sync record``: record what the service answers to a probe, or to a sync that leaves nothing behind.

Beside the exchanges (``service.recorder``), ``recording.json`` has the settings that shape the requests, and how it
ended. A replay with the same settings ends in the same way.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
import httpx

from wms_sync.cli.commands import FILE, command, exits_with_code, say, settings_for_service, shown
from wms_sync.cli.operations import COMMAND_LINE
from wms_sync.errors import WmsSyncError
from wms_sync.grammar import count_of
from wms_sync.reports.probe import probe
from wms_sync.runs import Operation
from wms_sync.service.recorder import Recorder
from wms_sync.settings import PREFIX, Settings

SHAPING = (
    "start_date",
    "page_size",
    "max_parallel_requests",
    "overlap_seconds",
    "clock_tolerance_seconds",
    "include_addresses",
    "api_version",
)
"""The settings that shape the requests."""
OF_STORAGE = frozenset({"bytes", "published_bytes"})
"""Counts that depend on the values that stand-ins replace."""
_FINGERPRINT = re.compile(r"-[0-9a-f]{6}$")


@click.command(epilog="Example: wms-sync record first-day --pages 3")
@click.argument("folder", metavar="DIR", type=FILE)
@click.option("--pages", type=click.IntRange(min=1), help="Record a sync of at most this many pages instead.")
@exits_with_code
def record(folder: Path, pages: int | None) -> None:
    """Record a probe of the service, without its texts, in a new folder, for `wms-sync sandbox --replay`."""
    make_recording(settings_for_service(), folder, pages)


def make_recording(
    settings: Settings, folder: Path, pages: int | None, transport: httpx.BaseTransport | None = None
) -> None:
    """Record a probe, or a sync of at most ``pages`` pages. Raise ``SettingsError`` if the folder has files."""
    recorder = Recorder(folder, settings.require_base_url(), pages, transport)
    outcome = outcome_of(settings, recorder, is_probe=pages is None)
    shaping = {PREFIX + name.upper(): str(value) for name in SHAPING if (value := getattr(settings, name)) is not None}
    recorder.write("recording.json", {"settings": shaping, "outcome": outcome})
    say(f"recorded  {count_of(recorder.exchanges, 'exchange')} in {shown(folder)}")
    say(f"next      {command()} sandbox --replay {shlex.quote(str(shown(folder)))}")


def outcome_of(settings: Settings, transport: httpx.BaseTransport, *, is_probe: bool) -> dict[str, Any]:
    """Probe through a transport, or sync through it into a folder that is deleted afterwards.

    Return the verdicts on habits, the counts, the names of the open findings, and the kind of the error that ended it:
    messages may quote the service.
    """
    base_url, token = settings.require_service()
    habits: dict[str, str] = {}
    error = None
    with TemporaryDirectory(prefix="wms-sync-") as alone:
        own = Settings(
            base_url=base_url,
            api_token=token,
            data_dir=Path(alone),
            **{name: getattr(settings, name) for name in SHAPING},
        )
        run = Operation(own, source=COMMAND_LINE, transport=transport)
        try:
            if is_probe:
                habits.update((habit.name, habit.verdict) for habit in probe(own, transport=transport))
            else:
                run.sync()
        except WmsSyncError as raised:
            say(f"ended     {raised}")
            error = type(raised).__name__
    counts = {**(run.read.counts if run.read else {}), **(run.refreshed.counts if run.refreshed else {})}
    return {
        "habits": habits,
        "counts": {name: count for name, count in counts.items() if name not in OF_STORAGE},
        "findings": sorted(_FINGERPRINT.sub("", finding.name) for finding in run.findings if finding.is_open),
        "error": error,
    }
