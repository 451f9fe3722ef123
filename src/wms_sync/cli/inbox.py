"""``wms-sync inbox`` and ``wms-sync acknowledge``: show values that did not fit, and acknowledge findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wms_sync.cli.printing import say, say_lines
from wms_sync.cli.views import moment
from wms_sync.errors import SettingsError
from wms_sync.grammar import count_of
from wms_sync.layout import Layout
from wms_sync.reports.findings import acknowledgeable, findings_in
from wms_sync.reports.inbox import InboxEntry, InboxRow, rows_of_entry
from wms_sync.reports.installation import installation_of
from wms_sync.settings import Settings

SHOWN = 20


def acknowledge(settings: Settings, names: Sequence[str]) -> None:
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
    for row in rows_of_entry(settings, entry, SHOWN):
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
