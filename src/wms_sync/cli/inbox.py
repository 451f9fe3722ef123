"""``wms-sync inbox`` and ``wms-sync acknowledge``: show values that did not fit, and acknowledge findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from wms_sync.cli.printing import say, say_lines
from wms_sync.cli.runs import run_replay
from wms_sync.cli.views import moment, refresh_lines
from wms_sync.errors import SettingsError
from wms_sync.grammar import count_of
from wms_sync.layout import Layout
from wms_sync.reports.findings import acknowledgeable, findings_of
from wms_sync.reports.inbox import InboxEntry, InboxRow, chosen, known_keys, rows_of_entry
from wms_sync.reports.status import Status, status
from wms_sync.settings import Settings
from wms_sync.state.acknowledgements import Acknowledgements
from wms_sync.state.store import StateStore

if TYPE_CHECKING:
    from wms_sync.shipments.load.refresh import Replayed

SHOWN = 20


class NothingToAcknowledge(SettingsError):
    """No finding has this name, or the finding cannot be acknowledged."""


def acknowledge(settings: Settings, names: Sequence[str]) -> None:
    """Acknowledge these findings or entries.

    Raise ``NothingToAcknowledge``, and acknowledge none, if one of them cannot be acknowledged.
    """
    findings = findings_of(settings)
    facts = acknowledgeable(findings, _status(settings).inbox)
    for name in names:
        if name in facts:
            continue
        if any(finding.name == name for finding in findings):
            raise NothingToAcknowledge(f"{name} cannot be acknowledged: it stays until the problem is fixed.")
        known = ", ".join(sorted(facts)) or "none"
        raise NothingToAcknowledge(f"No finding or entry is called {name}. Names that can be acknowledged: {known}.")
    with Acknowledgements(settings.database_url) as acknowledgements:
        acknowledgements.add({name: facts[name] for name in names})
    for name in names:
        say(f"acknowledged  {name}: hidden until its facts change")


def list_entries(settings: Settings) -> None:
    """Print the open entries."""
    entries = _status(settings).inbox
    known = known_keys(entries) if any(not entry.is_value for entry in entries) else frozenset()
    for entry in entries:
        say_lines(_entry_lines(entry, is_known=entry.name in known))
    if entries:
        say(f"next  wms-sync inbox show {entries[0].name}")
    else:
        say("no entry is open: any values that are left in ops.quarantine have since been loaded")


def show_entry(settings: Settings, name: str) -> None:
    """Print an entry with its newest rows and the original text of each row."""
    [entry] = chosen(_status(settings).inbox, [name])
    say_lines(_entry_lines(entry, is_known=False))
    for row in rows_of_entry(settings, entry, SHOWN):
        say_lines(_row_lines(settings.layout, row))


def replay_entries(settings: Settings, names: Sequence[str]) -> None:
    """Reload the windows of these entries, or of all entries, from raw pages; print which entries are still open.

    Raise ``NotPublished`` if nothing was published.
    """
    entries = chosen(_status(settings).inbox, names)
    windows = {window for entry in entries for window in entry.windows}
    if not windows:
        say("no entry is open: there is nothing to replay")
        return
    say_lines(_replay_lines(run_replay(settings, windows)))
    left = {entry.name for entry in _status(settings).inbox}
    say_lines(f"{entry.name}  {'still open' if entry.name in left else 'resolved'}: {entry.what}" for entry in entries)


def _replay_lines(done: Replayed) -> Iterator[str]:
    yield f"replayed  {count_of(len(done.windows), 'window')} from raw pages"
    if done.dropped:
        yield (
            f"kept      {count_of(len(done.dropped), 'window')} unchanged, because their raw pages were deleted "
            "(WMS_RAW_RETENTION_DAYS). To read them again, backfill their days"
        )
    yield from refresh_lines(done.refreshed)


def _status(settings: Settings) -> Status:
    with StateStore(settings.database_url) as store:
        return status(settings, store)


def _entry_lines(entry: InboxEntry, *, is_known: bool) -> Iterator[str]:
    times = count_of(entry.rows, "value" if entry.is_value else "time")
    seen = f", acknowledged {moment(entry.acknowledged_at)}" if entry.acknowledged_at else ""
    yield f"{entry.name}  {entry.what}: {entry.why} ({times}, last {moment(entry.last_at)}{seen})"
    yield f"    for example {entry.example}"
    if is_known:
        yield f"    sql/types has this key now: `wms-sync inbox replay {entry.name}` loads its values"


def _row_lines(layout: Layout, row: InboxRow) -> Iterator[str]:
    page = layout.page(row.window_id, row.page)
    gone = f"page {row.page} of {row.window_id}, which was deleted"
    where = gone if page is None else layout.files.where(page)
    of = f"{row.object} {row.object_id if row.object_id is not None else '(no id)'}, " if row.object else ""
    times = f", {count_of(row.rows, 'time')}" if row.rows > 1 else ""
    yield f"  {of}{row.path} in {where}{times}"
    yield f"    {row.text}"
