"""Repair the state store from what is on disk, before a run begins.

A state store that was deleted or restored from an old copy is completed without any request to the service: windows
come from the manifests beside the raw pages and from the receipts in the published file; creates, audits and missing
shipments from their copies in the published file; forgotten orders from ``forgotten-orders.json``; what was seen of the
service's clock from ``clocks.json``. Then an interrupted ``forget`` is finished, before pages are checked, because it
may have left a page that differs from its record. A window with a damaged page loses its coverage, so that it is read
again. So does a window of which an earlier release lost records, unless the raw pages still have them.
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
from wms_sync.extract import clocks
from wms_sync.extract.raw import read_manifest
from wms_sync.flatten.errors import PageDamagedError
from wms_sync.flatten.window import is_flattened, refuse_damaged
from wms_sync.layout import Layout
from wms_sync.settings import Settings, is_same_service
from wms_sync.state.audits import Audits
from wms_sync.state.ledger import PushLedger
from wms_sync.state.store import StateStore, Window
from wms_sync.upkeep.damaged_pages import give_up_window
from wms_sync.upkeep.forget import forget
from wms_sync.upkeep.forgotten_orders import reconcile_lists
from wms_sync.upkeep.lost_records import lossy_windows

Say = Callable[[str], None]


def recover(settings: Settings, store: StateStore, say: Say) -> None:
    """Repair the state store from what is on disk. The caller holds the writer's lock."""
    layout = settings.layout
    report_foreign_log(layout, say)
    known = {window.id for window in store.windows()}
    unknown = _unknown_manifests(layout, known)
    behind = _is_behind(layout, known, unknown)
    # windows last: once they are restored, nothing shows any more that the state store was lost
    reconcile_lists(layout, store, say, behind=behind)
    clocks.reconcile(layout, store, say)
    if behind:
        with Audits(settings.database_url, store.turn) as audits:
            restore_audits(layout, audits)
    database = layout.working_database if layout.working_database.exists() else layout.published
    with PushLedger(settings.database_url, store.turn) as ledger:
        restored = restore_push_ledger(layout, database, ledger)
    if restored:
        say(f"restored {restored} creates in the ledger from the tables")
    found = _from_manifests(store, unknown)
    if not known:
        found += _from_receipts(layout, store)
    if found:
        say(f"restored {found} windows in the state store from their manifests and receipts; none is read again")
    if left := _delete_half_read(layout, store):
        say(f"deleted the pages of {left} windows that were only partly read when the state store was lost")
    if store.forgotten(unfinished=True):
        forget(settings, store, (), say)
        say("finished an interrupted `wms-sync forget`")
    for window in store.windows("reading", "landed"):
        _give_up_if_damaged(layout, store, window, say)
    _find_lost_records(layout, store, say)
    refuse_another_service(settings, store)


def refuse_another_service(settings: Settings, store: StateStore) -> None:
    """Raise ``AnotherServiceError`` if the windows were read from another service than ``WMS_BASE_URL``."""
    held = store.service()
    if held and settings.base_url and not is_same_service(held, settings.base_url):
        raise AnotherServiceError(held, settings.base_url)


def is_behind(layout: Layout, store: StateStore) -> bool:
    """Return whether the state store lacks windows that are on disk: it was deleted, or restored from an old copy."""
    known = {window.id for window in store.windows()}
    return _is_behind(layout, known, _unknown_manifests(layout, known))


def _is_behind(layout: Layout, known: set[str], unknown: Sequence[Path]) -> bool:
    return bool(unknown) or (not known and layout.published.exists())


def _unknown_manifests(layout: Layout, known: set[str]) -> list[Path]:
    return sorted(path for path in layout.manifests() if path.parent.name not in known)


def _from_manifests(store: StateStore, unknown: Sequence[Path]) -> int:
    for path in unknown:
        manifest = read_manifest(path)
        store.adopt(manifest.window, manifest.pages)
    return len(unknown)


def _from_receipts(layout: Layout, store: StateStore) -> int:
    """Restore windows that are in the tables without raw pages; return how many.

    They count as covered, but a rebuild cannot include them.
    """
    if not layout.published.exists():
        return 0
    known = {window.id for window in store.windows()}
    with published(layout) as connection:
        rows = records(connection.execute(sql_files.read("queries/windows_with_receipts.sql")))
    lost = [Window(**row) for row in rows if row["id"] not in known]
    for window in lost:
        store.adopt(window)
    return len(lost)


def _delete_half_read(layout: Layout, store: StateStore) -> int:
    """Delete pages of windows that neither the state store nor a manifest knows; return how many windows.

    No run could continue such a window.
    """
    known = {window.id for window in store.windows()}
    left = [folder for folder in layout.windows() if folder.name not in known and layout.pages(folder.name)]
    for folder in left:
        store.turn.take_away(folder)
    return len(left)


def _find_lost_records(layout: Layout, store: StateStore, say: Say) -> None:
    """Have windows of which an earlier release lost records flattened and merged again, or else read again."""
    for window, lost in tuple(lossy_windows(layout, store)):
        problem = f"window {window.id} was merged by an earlier release without {lost} of its shipments"
        if layout.pages(window.id):
            store.turn.take_away(layout.flattened_manifest(window.id))
            say(f"{problem}: it is merged again from its raw pages")
        elif window.reason != "audit":  # an audit covers no time: the sync has read what it found
            give_up_window(layout, store, window.id)
            say(f"{problem}, and its raw pages are not kept any more: its time will be read again")


def _give_up_if_damaged(layout: Layout, store: StateStore, window: Window, say: Say) -> None:
    """Give the window up if a page that is still needed is not as it was received."""
    if is_flattened(layout, window.id):
        return
    try:
        refuse_damaged(layout, store.pages(window.id))
    except PageDamagedError as error:
        give_up_window(layout, store, window.id)
        say(f"{error.path.name} of window {window.id} is damaged ({error.reason}): the window will be read again")
