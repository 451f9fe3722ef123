"""Repair the state store from the files on disk before a run begins.

A state store that was deleted or restored from an old copy is completed without a request to the service: windows
from the manifests next to the raw pages and from the receipts in the published file; creates, audits and missing
shipments from their copies in the published file; products created after the last publishing from ``creates.jsonl``;
forgotten orders from ``forgotten-orders.json``. Alerts that
are due and acknowledgements have no copy. Creates have no copy if the tables were lost too, or are part of the same old
copy; then the run records that creates may be missing. Afterwards an interrupted ``forget`` is finished, before
pages are checked, because it may have left a page that differs from its record. A window with a damaged page loses its
coverage, so that it is read again.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from uuid import uuid4

from wms_sync import sql_files
from wms_sync.errors import SettingsError
from wms_sync.grammar import count_of
from wms_sync.layout import Layout, window_key
from wms_sync.settings import Settings, is_same_service
from wms_sync.shipments.flatten.page import PageDamagedError
from wms_sync.shipments.flatten.window import is_flattened, refuse_damaged
from wms_sync.shipments.load.audits import restore_audits
from wms_sync.shipments.load.damage import DAMAGED, give_up_window
from wms_sync.shipments.load.mirrors import published_push_ledger
from wms_sync.shipments.read.quarantined_windows import quarantine_window, take_back
from wms_sync.shipments.read.raw import Manifest, ManifestDamaged, is_complete, is_dropped, read_manifest
from wms_sync.state.ledger import LEDGER_LACKS, CreatesJournal, Entry
from wms_sync.state.lock import lock_of
from wms_sync.state.store import Observation, Run, StateStore, Window
from wms_sync.targets.database import records
from wms_sync.targets.errors import AnotherServiceError, MaintenanceError, ReadersInTheWay, reported_refusals
from wms_sync.targets.file import FileTarget
from wms_sync.targets.opening import report_foreign_log
from wms_sync.targets.target import Target, target_of
from wms_sync.upkeep.forget import are_older, forget
from wms_sync.upkeep.forgotten_orders import reconcile_lists

logger = logging.getLogger(__name__)
PLACE = "files_in"
"""The observation in the state store: the number of windows when the location was first used, and its name's end."""
IN_DATA_FOLDER = "the data folder"
_END = 64
"""How many characters of the end of a location's name to store; they distinguish it from other locations."""


@contextmanager
def unrecorded_run(settings: Settings, purpose: str, *, from_scratch: bool = False) -> Iterator[Run]:
    """Hold the writer's lock inside the block, and yield a recovered run that has no record in the state store.

    Processes that wait for the lock show ``purpose``.
    """
    url, layout, run_id = settings.database_url, settings.layout, str(uuid4())
    with (
        lock_of(url, layout).hold(purpose, run_id=run_id) as held,
        StateStore.opened(url) as opened,
        opened.in_turn(layout, held) as store,
        recovered(settings, store, run_id, from_scratch=from_scratch) as run,
    ):
        yield run


@contextmanager
def recovered(settings: Settings, store: StateStore, run_id: str, *, from_scratch: bool = False) -> Iterator[Run]:
    """Repair the state store from the files on disk, and yield the run. ``store`` is in a turn of the writer.

    With ``from_scratch`` the run rebuilds the tables, so it may begin even if files of the tables are lost.
    """
    run = Run(settings, store, run_id)
    with settings.layout.files.in_turn(store.turn), reported_refusals():
        recover(run, from_scratch=from_scratch)
        yield run


def recover(run: Run, *, from_scratch: bool = False) -> None:
    """Repair the state store from the files on disk. The caller holds the writer's lock."""
    settings, store, layout = run.settings, run.store, run.layout
    store.turn.take_away(layout.staged.root)  # left by a restore that was killed
    report_foreign_log(layout)
    refuse_another_place(settings, store)
    known = {window.id for window in store.windows()}
    unknown = dict(_unknown_manifests(layout, known))
    refuse_another_service(settings, store)
    for manifest in unknown.values() if known else ():
        _refuse_if_another(settings, manifest.window.service)
    target = target_of(settings)
    if unknown:
        target.refuse_others()  # do not adopt windows of another installation
    outdated = _is_outdated(target, known, unknown)
    copies = _copies(settings, target)
    # windows last: they are the only sign that the state store was lost
    reconcile_lists(layout, store, outdated=outdated)
    if outdated:
        restore_audits(copies, store.audits)
    if outdated or not target.shares_state_database:
        _restore_ledger(layout, store, published_push_ledger(copies))
    if outdated and _outlives_its_copies(settings, target, copies):
        _doubt_ledger(settings, store)
    found = _from_manifests(store, unknown.values()) + take_back(layout, store)
    for window_id in _without_usable_manifest(layout, store):
        if not is_dropped(layout, window_id):  # if it is, the window's receipt is enough
            quarantine_window(run, window_id)
    if not known:
        found += _from_receipts(target, store)
    if found:
        logger.info(
            "restored %(windows)s in the state store from manifests and receipts; none is read again",
            {"windows": count_of(found, "window")},
        )
        refuse_another_service(settings, store)  # before deleting files that may belong to another installation
    for window_id in _without_usable_manifest(layout, store):
        quarantine_window(run, window_id)
    if left := _delete_half_read(layout, store):
        logger.info(
            "deleted the pages of %(windows)s, which had been partly read when the state store was lost",
            {"windows": count_of(left, "window")},
        )
    if store.forgotten(unfinished=True) or (not from_scratch and are_older(target, store.forgotten())):
        _finish_forgetting(run, from_scratch=from_scratch)
    for window in store.windows("reading", "landed"):
        _give_up_if_damaged(layout, store, window)


def recover_ledger(settings: Settings, store: StateStore) -> tuple[Sequence[Entry], Observation | None]:
    """Restore lost creates in the ledger, for a plan or push. The caller needs no lock.

    Return the copy of the ledger in the tables, and the observation of the time after which the ledger may lack
    creates; None if it is complete. Raise ``AnotherServiceError``.
    """
    refuse_another_service(settings, store)  # tables of a different service have other objects and ids
    lacking = _ledger_lacks(settings, store)
    published = published_push_ledger(target_of(settings))
    _restore_ledger(settings.layout, store, published)
    return published, lacking


def _restore_ledger(layout: Layout, store: StateStore, published: Iterable[Entry]) -> None:
    """Insert creates that are only in the published tables or the journal.

    The journal has the products that were sent after the tables were written. Only products need it: the service
    refuses a second retailer or location tag.
    """
    restored = store.ledger.take_in(published) + store.ledger.take_in(CreatesJournal(layout.creates).entries())
    if restored:
        logger.info("restored %(creates)s in the ledger from the copies", {"creates": count_of(restored, "create")})


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


def _copies(settings: Settings, target: Target) -> Target:
    """Return the tables with copies of the ledger and of audits: before a lake's first load, the earlier file."""
    return FileTarget(settings) if settings.analytics == "ducklake" and not target.is_published else target


def _outlives_its_copies(settings: Settings, target: Target, copies: Target) -> bool:
    """Return whether every copy of the ledger was lost together with the state store."""
    may_outlive_copies = settings.layout.elsewhere is not None or target.shares_state_database
    return may_outlive_copies and (copies.shares_state_database or not copies.is_published)


def _ledger_lacks(settings: Settings, store: StateStore) -> Observation | None:
    """Return the observation of the time after which the ledger may lack creates; None if the ledger is complete.

    If none is recorded, return what the next writing run will record.
    """
    recorded = store.observation(LEDGER_LACKS)
    target = target_of(settings)
    if recorded is not None or not _outlives_its_copies(settings, target, _copies(settings, target)):
        return recorded
    return _doubt(settings, store) if is_outdated(settings, store) else None


def _doubt(settings: Settings, store: StateStore) -> Observation:
    """Return the observation that the ledger may lack creates, after the loss of a disk or of a shared database.

    The ledger has the creates up to the newest window of the state store, which may be an old copy.
    """
    since = max(
        (window.landed_at for window in store.windows() if window.landed_at is not None), default=settings.start
    )
    return Observation.of_now(LEDGER_LACKS, int(since.timestamp()), "the state store was lost with every copy of it")


def _doubt_ledger(settings: Settings, store: StateStore) -> None:
    if store.observation(LEDGER_LACKS) is None:
        store.record([_doubt(settings, store)])
        logger.warning(
            "the state store was lost with every copy of its ledger, or both are old copies: a push of products first "
            "looks up in the service each product that is not in the ledger. If you know that no create is missing: "
            "`wms-sync restore --creates-are-known`"
        )


def refuse_another_service(settings: Settings, store: StateStore) -> None:
    """Raise ``AnotherServiceError`` if the windows were read from a service other than that of ``WMS_BASE_URL``."""
    _refuse_if_another(settings, store.service())


def _refuse_if_another(settings: Settings, held: str | None) -> None:
    if held and settings.base_url and not is_same_service(held, settings.base_url):
        raise AnotherServiceError(held, settings.base_url)


def is_outdated(settings: Settings, store: StateStore) -> bool:
    """Return whether the state store lacks windows that are on disk, because it was deleted or is an old copy."""
    known = {window.id for window in store.windows()}
    return _is_outdated(target_of(settings), known, _unknown_manifests(settings.layout, known))


def _is_outdated(target: Target, known: Collection[str], unknown: Iterable[object]) -> bool:
    return any(True for _ in unknown) or (not known and target.is_published)


def _unknown_manifests(layout: Layout, known: Collection[str]) -> Iterator[tuple[str, Manifest]]:
    """Yield the windows that the state store lacks, with their manifests. Skip damaged manifests."""
    for window_id in layout.windows():
        if window_id not in known and is_complete(layout, window_id):
            with suppress(ManifestDamaged):
                yield window_id, read_manifest(layout, window_id)


def _without_usable_manifest(layout: Layout, store: StateStore) -> list[str]:
    """Return the complete windows that the state store lacks after every readable manifest was restored."""
    known = {window.id for window in store.windows()}
    return [window_id for window_id in layout.windows() if window_id not in known and is_complete(layout, window_id)]


def _from_manifests(store: StateStore, unknown: Collection[Manifest]) -> int:
    for manifest in unknown:
        store.adopt(manifest.window, manifest.pages)
    return len(unknown)


def _from_receipts(target: Target, store: StateStore) -> int:
    """Restore windows that are in the tables but have no raw pages; return their number.

    These windows count as covered, but a rebuild cannot include them.
    """
    if not target.is_published:
        return 0
    known = {window.id for window in store.windows()}
    with target.published() as connection:
        rows = records(connection.execute(sql_files.read("queries/windows_with_receipts.sql")))
    lost = [Window(**row) for row in rows if row["id"] not in known]
    for window in lost:
        store.adopt(window)
    return len(lost)


def _delete_half_read(layout: Layout, store: StateStore) -> int:
    """Delete windows that are neither in the state store nor in a manifest; return their number.

    No run could continue such a window.
    """
    known = {window.id for window in store.windows()}
    unknown = (window for window in layout.windows() if window not in known)
    left = [window for window in unknown if layout.pages(window) and not is_complete(layout, window)]
    for window in left:
        layout.files.delete(store.turn, window_key(window))
    return len(left)


def _give_up_if_damaged(layout: Layout, store: StateStore, window: Window) -> None:
    """Discard the window if a page that is still needed differs from the received page."""
    if is_flattened(layout, window.id):
        return
    try:
        refuse_damaged(layout, store.pages(window.id))
    except PageDamagedError as error:
        give_up_window(layout, store, window.id)
        logger.warning(DAMAGED, {"file": error.path.name, "window": window.id, "reason": error.reason})


class FilesElsewhere(SettingsError):
    """``WMS_FILES_URL`` was changed, but the files were not moved."""

    def __init__(self, before: str, now: str, windows: int) -> None:
        shown = f"...{before}" if len(before) == _END else before
        super().__init__(
            f"Raw pages and Parquet files were in {shown} until now, and {now} has none of them "
            f"({count_of(windows, 'window')}). "
            "Nothing was read, loaded or changed. Restore the old WMS_FILES_URL. To move the files, copy raw/, "
            "parquet/ and forgotten-orders.json unchanged, or use `wms-sync backup` and `wms-sync restore`. If the "
            "files are lost, keep the old WMS_FILES_URL: the next runs read everything again."
        )


def refuse_another_place(settings: Settings, store: StateStore) -> None:
    """Raise ``FilesElsewhere`` if the location has changed and has none of the files. Otherwise remember it.

    In an empty location a run would find every file missing, discard all windows and read everything again.
    """
    refuse_place_without_files(settings, store)
    now = _place(settings)
    known = store.observation(PLACE)
    if known is None or known.about != now[-_END:]:
        store.observe(PLACE, len(_with_pages(store)), now[-_END:])


def refuse_place_without_files(settings: Settings, store: StateStore) -> None:
    """Raise ``FilesElsewhere`` if the location has changed and has none of the files, without remembering it."""
    now = _place(settings)
    known = store.observation(PLACE)
    if known is None or known.about == now[-_END:]:
        return
    with_pages = _with_pages(store)
    if with_pages and not with_pages.intersection(settings.layout.windows()):
        raise FilesElsewhere(known.about, now, len(with_pages))


def refuse_places(settings: Settings, store: StateStore) -> None:
    """Raise the error that a run would raise if files or tables are elsewhere, or belong to another installation."""
    refuse_place_without_files(settings, store)
    target_of(settings).refuse_others()


def _place(settings: Settings) -> str:
    return settings.files_url or IN_DATA_FOLDER


def _with_pages(store: StateStore) -> set[str]:
    return {window.id for window in store.windows() if window.pages}
