"""Prepare the state store before a run.

``recover_state`` puts the newest snapshot in place of a state store that is lost or an old copy, before the run takes
its lock. ``recovered`` then brings files and state store together: the list of forgotten orders, windows that the state
store does not know, an interrupted ``forget``. A window with a damaged page loses its coverage and is read again.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress

from msgspec.structs import asdict, replace

from wms_sync.grammar import count_of
from wms_sync.layout import CREATES, Layout, window_key
from wms_sync.master_data.push import PUSH_LOCKS
from wms_sync.settings import Settings, is_same_service
from wms_sync.shipments.flatten.page import PageDamagedError
from wms_sync.shipments.flatten.window import give_up, is_flattened, refuse_damaged
from wms_sync.state.holder import WRITER
from wms_sync.state.leases import refuse_unusable
from wms_sync.state.ledger import LEDGER_LACKS, CreatesJournal, Entry, entries_in, lines_of
from wms_sync.state.lock import lock_of
from wms_sync.state.schema import observations, windows
from wms_sync.state.snapshot import Snapshot
from wms_sync.state.snapshot_files import is_behind, newest_snapshot, refuse_unknown, write_snapshot
from wms_sync.state.store import Observation, Run, StateStore, Window
from wms_sync.storage.files import Files
from wms_sync.targets.errors import (
    AnotherServiceError,
    MaintenanceError,
    PublishedElsewhere,
    ReadersInTheWay,
    reported_refusals,
)
from wms_sync.targets.opening import report_foreign_log
from wms_sync.targets.target import target_of
from wms_sync.upkeep.forget import are_older, forget
from wms_sync.upkeep.forgotten_orders import places_of, reconcile_lists, refuse_lost
from wms_sync.upkeep.retention import set_aside_unknown

logger = logging.getLogger(__name__)
LOST = "the state store was lost, and creates.jsonl too or in part"
BACKUP = "backup"
"""The lock on making a backup."""
ALL_LOCKS = (WRITER, *PUSH_LOCKS, BACKUP)
"""The locks on everything that writes, in the order in which they are taken together."""


def recover_state(settings: Settings) -> None:
    """Put the newest snapshot in place of a state store that is lost or an old copy; else write the first snapshot.

    Only then are locks needed: all of them. Raise ``AnotherInstallation``, and change nothing, if store and files do
    not belong together.
    """
    url, layout = settings.database_url, settings.layout
    refuse_unusable(layout)  # before a state store is created in a backup
    with StateStore.opened(url) as opened:
        if _is_ready(layout, opened):
            return
    with ExitStack() as stack:
        lock = lock_of(url, layout)
        held = [stack.enter_context(lock.hold("recovery", what=what)) for what in ALL_LOCKS]
        opened = stack.enter_context(StateStore.opened(url))
        store = stack.enter_context(opened.leased(layout, held[0]))
        stack.enter_context(layout.files.held_by(store.lease))
        if not _is_ready(layout, store):  # another process may have done it meanwhile
            _recover_state(settings, store)


def _is_ready(layout: Layout, store: StateStore) -> bool:
    return not is_behind(layout, store) and store.snapshots.installation() is not None and bool(layout.snapshots())


def _recover_state(settings: Settings, store: StateStore) -> None:
    layout, snapshot = settings.layout, newest_snapshot(settings.layout)
    if snapshot is None:
        refuse_unknown(layout, store)
    elif snapshot.rows(windows):
        refuse_lost(layout)
    entries, damaged = creates_kept(places_of(layout))
    restored = store.ledger.take_in(entries)
    # the rows last: their number says that the state store is no longer behind
    if snapshot is not None:
        # a push may have added rows since the snapshot
        is_whole = not damaged and sum(store.ledger.counts().values()) >= snapshot.creates
        if not is_whole or not layout.creates.exists():
            snapshot = _doubting(settings, snapshot, is_whole=is_whole)
        store.snapshots.put_back(snapshot)
    elif store.snapshots.installation() is None:
        if damaged:
            store.observe(LEDGER_LACKS, 0, LOST)
        store.snapshots.begin()
    CreatesJournal(layout.creates).complete(store.ledger.all())
    reconcile_lists(layout, store)
    write_snapshot(layout, store)
    if snapshot is not None:
        logger.warning(
            "the state store was lost or is an old copy: restored from snapshot %(number)d, with %(windows)s, and "
            "%(creates)s from the journal. What was read after that snapshot is read again",
            {
                "number": snapshot.installation.snapshot,
                "windows": count_of(len(snapshot.rows(windows)), "window"),
                "creates": count_of(restored, "create"),
            },
        )


def keep_creates_elsewhere(layout: Layout, store: StateStore) -> None:
    """Put the journal of creates beside raw pages in object storage, because the data folder may be lost."""
    if layout.elsewhere is not None:
        layout.files.replace(store.lease, CREATES, lines_of(store.ledger.all()))


def creates_kept(places: Iterable[Files]) -> tuple[list[Entry], int]:
    """Return the rows of the journals in these places, and the number of their damaged lines."""
    copies = []
    for files in places:
        with suppress(FileNotFoundError):
            copies.append(entries_in(files.get(CREATES), files.where(CREATES)))
    return [entry for entries, _ in copies for entry in entries], sum(damaged for _, damaged in copies)


def _doubting(settings: Settings, snapshot: Snapshot, *, is_whole: bool) -> Snapshot:
    """Return the snapshot with the observation that the ledger may lack creates, because its journal was lost too.

    If as many came back as the snapshot counts (``is_whole``), only later ones may be missing, else any.
    """
    others = [row for row in snapshot.rows(observations) if row["name"] != LEDGER_LACKS]
    reaches = int((snapshot.landed_until() or settings.start).timestamp()) if is_whole else 0
    lacks = Observation(LEDGER_LACKS, min([reaches, *snapshot.observed(LEDGER_LACKS)]), LOST)
    logger.warning(
        "the state store was lost, and creates.jsonl is missing or damaged: a push of products first looks up in the "
        "service each product that is not in the ledger. If you know that no create is missing: `wms-sync restore "
        "--creates-are-known`"
    )
    return replace(snapshot, tables={**snapshot.tables, observations.name: (*others, asdict(lacks))})


@contextmanager
def recovered(settings: Settings, store: StateStore, run_id: str, *, from_scratch: bool = False) -> Iterator[Run]:
    """Bring files and state store together, and yield the run. ``store`` holds the lease of the writer.

    With ``from_scratch`` the run rebuilds the tables, so it may begin even if files of the tables are lost.
    """
    run = Run(settings, store, run_id)
    with settings.layout.files.held_by(store.lease), reported_refusals():
        store.lease.take_away(run.layout.staged.root)  # left by a restore that was killed
        report_foreign_log(run.layout)
        refuse_link(settings)
        refuse_another_service(settings, store)
        reconcile_lists(run.layout, store)
        set_aside_unknown(run)
        if store.forgotten(unfinished=True) or (not from_scratch and are_older(target_of(settings), store.forgotten())):
            _finish_forgetting(run, from_scratch=from_scratch)
        for window in store.windows("reading", "landed"):
            _give_up_if_damaged(run.layout, store, window)
        yield run


def _finish_forgetting(run: Run, *, from_scratch: bool) -> None:
    """Finish an interrupted ``forget``. If readers block its last step, warn and continue.

    A rebuild also continues if a file of a lake is lost, because the rebuild repairs it; then the next run finishes.
    """
    try:
        forget(run, ())
    except ReadersInTheWay as error:
        logger.warning("%(error)s", {"error": error})
        return
    except MaintenanceError as error:
        if not (from_scratch and error.may_lack_files):
            raise
        logger.warning("%(error)s The run after this rebuild finishes `wms-sync forget`.", {"error": error})
        return
    logger.info("finished an interrupted `wms-sync forget`, or repeated it in older tables")


def refuse_another_service(settings: Settings, store: StateStore) -> None:
    """Raise ``AnotherServiceError`` if windows or creates are of a service other than that of ``WMS_BASE_URL``."""
    base_url = settings.base_url
    for held in sorted(filter(None, {store.service(), *store.ledger.services()})):
        if base_url and not is_same_service(held, base_url):
            raise AnotherServiceError(held, base_url)


def _give_up_if_damaged(layout: Layout, store: StateStore, window: Window) -> None:
    """Discard the window if a page that is still needed differs from the received page."""
    if is_flattened(layout, window.id):
        return
    try:
        refuse_damaged(layout, store.pages(window.id))
    except PageDamagedError as error:
        give_up(store, window.id, error)
    finally:
        layout.files.release(window_key(window.id))


def refuse_link(settings: Settings) -> None:
    """Raise ``PublishedElsewhere`` if the published file is a link: a load would replace the link, not its file."""
    if settings.analytics == "file" and settings.layout.published.is_symlink():
        raise PublishedElsewhere(settings.layout.published)
