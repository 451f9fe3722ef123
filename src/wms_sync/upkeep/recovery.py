"""What the state store does not know but the disk proves: taken in before a run begins.

A state store that was deleted, or put back from an old copy, is made whole from the manifests beside the raw pages, the
receipts in the published file and the copies there of the ledger, the audits and what they proved missing, so that
coverage comes back without one request; which orders were forgotten comes from the list beside it. A ``forget`` that
was interrupted is finished first: it may have left a page that is not yet what is recorded of it. A page on disk that
is not what was received takes its window's coverage away, so that it is asked for again. So do records that an earlier
release lost, unless the raw pages still have them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from wms_sync import sql_files
from wms_sync.analytics.database import published, records
from wms_sync.analytics.errors import AnotherServiceError
from wms_sync.analytics.foreign_log import report_foreign_log
from wms_sync.analytics.push_ledger import restore_push_ledger
from wms_sync.audit.compare import restore_audits
from wms_sync.extract.raw import read_manifest
from wms_sync.flatten.errors import PageDamagedError
from wms_sync.flatten.window import is_flattened, refuse_damaged
from wms_sync.layout import Layout
from wms_sync.settings import Settings, is_same_service
from wms_sync.state.audits import Audits
from wms_sync.state.ledger import PushLedger
from wms_sync.state.store import StateStore, Window
from wms_sync.upkeep.damaged import give_up
from wms_sync.upkeep.forget import forget
from wms_sync.upkeep.forgotten import bring_together
from wms_sync.upkeep.lost_records import lossy_windows

Say = Callable[[str], None]


def recover(settings: Settings, store: StateStore, say: Say) -> None:
    """Bring the state store to what is on disk. The caller holds the writer's lock."""
    layout = settings.layout
    report_foreign_log(layout, say)
    known = {window.id for window in store.windows()}
    unknown = _unknown(layout, known)
    behind = _is_behind(layout, known, unknown)
    # windows last: once they are taken in, nothing shows any more that the state store was lost
    bring_together(layout, store, say, behind=behind)
    if behind:
        with Audits(settings.database_url, store.turn) as audits:
            restore_audits(layout, audits)
    database = layout.working_database if layout.working_database.exists() else layout.published
    with PushLedger(settings.database_url, store.turn) as ledger:
        restored = restore_push_ledger(layout, database, ledger)
    if restored:
        say(f"took {restored} creates into the ledger again, as the tables show them")
    found = _from_manifests(store, unknown)
    if not known:
        found += _from_receipts(layout, store)
    if found:
        say(f"took {found} windows into the state store again, from their manifests and receipts; nothing is re-read")
    if left := _take_half_read_away(layout, store):
        say(f"took the pages of {left} windows away that were half read when the state store was lost")
    if store.forgotten(unfinished=True):
        forget(settings, store, (), say)
        say("finished what `wms-sync forget` began")
    for window in store.windows("reading", "landed"):
        _look_at_pages(layout, store, window, say)
    _find_lost_records(layout, store, say)
    refuse_another_service(settings, store)


def refuse_another_service(settings: Settings, store: StateStore) -> None:
    """Raises ``AnotherServiceError`` where windows were read from another service than the one that is set."""
    held = store.service()
    if held and settings.base_url and not is_same_service(held, settings.base_url):
        raise AnotherServiceError(held, settings.base_url)


def is_behind(layout: Layout, store: StateStore) -> bool:
    """Whether the disk has windows that the state store lacks: it was deleted, or put back from an old copy."""
    known = {window.id for window in store.windows()}
    return _is_behind(layout, known, _unknown(layout, known))


def _is_behind(layout: Layout, known: set[str], unknown: Sequence[Path]) -> bool:
    return bool(unknown) or (not known and layout.published.exists())


def _unknown(layout: Layout, known: set[str]) -> list[Path]:
    return sorted(path for path in layout.manifests() if path.parent.name not in known)


def _from_manifests(store: StateStore, unknown: Sequence[Path]) -> int:
    for path in unknown:
        manifest = read_manifest(path)
        store.adopt(manifest.window, manifest.pages)
    return len(unknown)


def _from_receipts(layout: Layout, store: StateStore) -> int:
    """Windows that are in the tables and whose raw pages are gone: they stay covered, and are in no rebuild."""
    if not layout.published.exists():
        return 0
    known = {window.id for window in store.windows()}
    with published(layout) as connection:
        rows = records(connection.execute(sql_files.read("queries/windows_with_receipts.sql")))
    lost = [Window(**row) for row in rows if row["id"] not in known]
    for window in lost:
        store.adopt(window)
    return len(lost)


def _take_half_read_away(layout: Layout, store: StateStore) -> int:
    """Pages of windows that neither the state store nor a manifest knows: nobody goes on with them."""
    known = {window.id for window in store.windows()}
    left = [folder for folder in layout.windows() if folder.name not in known and layout.pages(folder.name)]
    for folder in left:
        store.turn.take_away(folder)
    return len(left)


def _find_lost_records(layout: Layout, store: StateStore, say: Say) -> None:
    """Windows that an earlier release flattened with a loss are flattened and merged again, or asked for again."""
    for window, lost in tuple(lossy_windows(layout, store)):
        told = f"window {window.id} was brought into the tables by an earlier release without {lost} of its shipments"
        if layout.pages(window.id):
            store.turn.take_away(layout.flattened_manifest(window.id))
            say(f"{told}: it is brought in again from its raw pages")
        elif window.reason != "audit":  # which covers no time: the sync reads what it found
            give_up(layout, store, window.id)
            say(f"{told}, and its raw pages are not kept any more: its time is asked for again")


def _look_at_pages(layout: Layout, store: StateStore, window: Window, say: Say) -> None:
    """Pages that are still to be read from or gone on with must be what was received."""
    if is_flattened(layout, window.id):
        return
    try:
        refuse_damaged(layout, store.pages(window.id))
    except PageDamagedError as error:
        give_up(layout, store, window.id)
        say(f"{error.path.name} of window {window.id} is damaged ({error.reason}): the window is asked for again")
