"""``wms-sync restore``: put a backup into an empty or lost data folder. An error before the renames changes nothing.

First the backup is read, checked and staged in ``work/restored``, a separate data folder with its own state store.
There all orders that were ever forgotten are forgotten again: those listed in the backup, in its folder, in the current
state store and in the current ``forgotten-orders.json``. Then the staged files replace the current files by renames,
the published file last. During the replacement ``restoring.json`` exists, and no other command reads or writes; a
killed restore must be repeated. Finally an ordinary run begins, and repairs the state store from the files on disk.

If raw pages and Parquet files are in object storage and not in the backup, the manifests next to them list the windows.
A backup that has them can be restored into object storage, and into a lake, which the next load builds from them. That
is how an installation moves.

The ledger in a backup may lack creates that were sent later. Creates in the current state store are kept. If creates
may still be missing, ``LEDGER_LACKS`` records the time after which they may be: a push then looks up in the service
each row that the service would create twice.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct
from msgspec.structs import asdict
from sqlalchemy.engine import make_url

from wms_sync.errors import SettingsError, WmsSyncError
from wms_sync.layout import PARQUET, RAW, Layout, flattened_key, name_of
from wms_sync.settings import Settings, is_same_service
from wms_sync.state.errors import StateDamaged, StateError
from wms_sync.state.holder import Held
from wms_sync.state.ledger import LEDGER_LACKS, Entry
from wms_sync.state.lock import lock_of
from wms_sync.state.portable import Row, Snapshot, put_back, read_snapshot
from wms_sync.state.schema import forgotten_orders, observations, pages, push_ledger, windows
from wms_sync.state.store import Run, StateStore
from wms_sync.state.turns import Turn
from wms_sync.storage.durable import accessing, make_private, share_with_group, sync, write_whole
from wms_sync.targets.errors import AnotherServiceError
from wms_sync.upkeep.backup import LOCK, holds_data
from wms_sync.upkeep.backups import (
    Backup,
    BackupError,
    Backups,
    Kept,
    StateCopyDamaged,
    put_copy,
    put_link,
    read_backup,
)
from wms_sync.upkeep.forget import forget
from wms_sync.upkeep.forgotten_orders import orders_listed, orders_remembered
from wms_sync.upkeep.recovery import unrecorded_run

logger = logging.getLogger(__name__)

AT_ONCE = 8
"""The number of objects to upload in parallel."""


class DataFolderInUse(SettingsError):
    """The data folder has data, and ``--over`` does not confirm that it may be replaced."""


class Restored(Struct, frozen=True):
    """The result of a restore. ``left_out`` are the damaged files of the backup, each with the damage.

    ``creates_unknown_since`` is None if the ledger is known to be complete.
    """

    path: Path
    backup: Backup
    left_out: dict[str, str]
    forgotten: int
    creates_unknown_since: datetime | None


def restore(
    settings: Settings,
    source: Path,
    *,
    over: Path | None = None,
    creates_are_known: bool = False,
    locks: tuple[str, ...] = (),
) -> Restored:
    """Restore the newest backup of a folder, or the backup whose record is ``source``.

    ``over`` names the data folder whose data may be replaced. ``creates_are_known`` means that a person has verified
    that no create is missing from the ledger. ``locks`` are the names of the locks on pushes.
    """
    layout = settings.layout
    kept, path, backup = _named(source)
    kept.apart_from(layout)
    if backup.service and settings.base_url and not is_same_service(backup.service, settings.base_url):
        raise AnotherServiceError(backup.service, settings.base_url)
    _refuse_data(settings, backup, over)
    snapshot, left_out = _examined(kept, path, backup)
    make_private(layout.root)
    with ExitStack() as stack:
        held = stack.enter_context(lock_of(settings.database_url, layout).hold("restore"))
        for what in (*locks, LOCK):
            stack.enter_context(lock_of(settings.database_url, layout).hold("restore", what=what))
        _refuse_data(settings, backup, over)
        present = _present(settings)
        forgotten = _forgotten(layout, kept, snapshot, present)
        merged = _merged(backup, snapshot, present, forgotten, creates_are_known=creates_are_known)
        stack.callback(shutil.rmtree, layout.staged.root, ignore_errors=True)
        with _unchanged(layout, path):
            ready = _stage(settings, kept, backup, left_out, merged, held)
        _swap(settings, path, backup, ready, held, is_lost=present is None)
    since = _lacks(merged)
    with unrecorded_run(settings, "restore") as run:
        if since is None:
            run.store.delete_observation(LEDGER_LACKS)
    return Restored(
        path, backup, left_out, len(forgotten), None if since is None else datetime.fromtimestamp(since, UTC)
    )


def trust_ledger(settings: Settings) -> None:
    """Record that a person has verified that no create is missing from the ledger."""
    with unrecorded_run(settings, "restore") as run:
        run.store.delete_observation(LEDGER_LACKS)


def _named(source: Path) -> tuple[Backups, Path, Backup]:
    source = source.expanduser().absolute()
    if source.is_file():
        return Backups.at(source.parent), source, read_backup(source)
    kept = Backups.at(source)
    return (kept, *kept.newest())


def _refuse_data(settings: Settings, backup: Backup, over: Path | None) -> None:
    layout = settings.layout
    if layout.restoring.exists():
        return
    where = layout.files.where("")
    if backup.files_in is not None and (layout.elsewhere is None or not layout.windows()):
        raise BackupError(
            f"This backup has no raw pages or Parquet files: they were in {backup.files_in}, and {where} has none. "
            "Nothing was changed. Set WMS_FILES_URL to their current location."
        )
    if backup.files_in is None and layout.elsewhere is not None and layout.windows():
        raise DataFolderInUse(
            f"{where} has raw pages, and a restore writes a backup's raw pages only to an empty location. Nothing was "
            "changed. Set WMS_FILES_URL to a different prefix."
        )
    is_known = layout.elsewhere is not None and _knows_windows(settings)
    if not (holds_data(layout) or is_known) or (over is not None and over.expanduser().absolute() == layout.root):
        return
    held = f"{layout.root} has data" if holds_data(layout) else "The state store is in use"
    raise DataFolderInUse(
        f"{held}, and a restore replaces it. Nothing was changed. Set WMS_DATA_DIR to an empty folder (and, if you use "
        f"it, WMS_STATE_URL to an empty database), or, if this data may be lost, add --over {layout.root}."
    )


def _knows_windows(settings: Settings) -> bool:
    with suppress(StateError), StateStore.opened(settings.database_url) as store:
        return bool(store.windows())
    return False


def _examined(kept: Backups, path: Path, backup: Backup) -> tuple[Snapshot, dict[str, str]]:
    """Return the state store of the backup, and its damaged files. Raise ``BackupError`` if the former is damaged."""
    try:
        snapshot = kept.state(backup)
    except StateCopyDamaged as error:
        raise BackupError(
            f"{path} cannot be restored, because its state store is damaged: {error}. Nothing was changed. Name an "
            "older backup-*.json of the folder."
        ) from None
    damaged = dict(backup.damaged)
    for place, file in sorted(backup.files.items()):
        if (reason := kept.damage(file)) is not None:
            damaged[place] = f"{reason} ({kept.layout.file(file.sha256)})"
    return snapshot, damaged


def _present(settings: Settings) -> Snapshot | None:
    """Return the current state store; None if it is a damaged SQLite file."""
    try:
        with StateStore.opened(settings.database_url) as store:
            return read_snapshot(store.engine)
    except StateDamaged as error:
        logger.warning("%(error)s Its content is lost", {"error": error})
        return None


@contextmanager
def _unchanged(layout: Layout, path: Path) -> Iterator[None]:
    """Add to the message of an error that nothing was changed."""
    try:
        yield
    except (WmsSyncError, OSError) as error:
        raise BackupError(f"{path} was not restored, and {layout.root} is unchanged: {error}") from None


def _stage(
    settings: Settings, kept: Backups, backup: Backup, left_out: dict[str, str], merged: Snapshot, held: Held
) -> Snapshot:
    """Stage the restored data folder, without the forgotten orders' personal data; return its state store."""
    staged = settings.layout.staged
    shutil.rmtree(staged.root, ignore_errors=True)
    here = settings.model_copy(
        update={"data_dir": staged.root, "state_url": None, "files_url": None, "analytics": "file"}
    )
    make_private(staged.root)
    _put_files(settings, kept, backup, left_out)
    with StateStore.opened(here.database_url) as opened:
        put_back(opened.engine, merged if backup.files_in is None else _without_windows(merged))
        with opened.in_turn(staged, held) as store:
            forget(Run(here, store, "restore"), ())
        ready = read_snapshot(opened.engine)
    if backup.files_in is None:
        return ready
    return ready.with_rows(forgotten_orders, merged.rows(forgotten_orders))  # the objects still have their data


def _forgotten(layout: Layout, kept: Backups, snapshot: Snapshot, present: Snapshot | None) -> frozenset[int]:
    """Return every order that is forgotten in the backup, its folder, the state store or the data folder."""
    known: set[int] = set()
    known |= orders_remembered(layout)
    with suppress(ValueError):
        known |= orders_listed(kept.layout.forgotten_orders)
    for state in (snapshot, present):
        if state is not None:
            known.update(row[forgotten_orders.c.order_id.name] for row in state.rows(forgotten_orders))
    return frozenset(known)


def _merged(
    backup: Backup, snapshot: Snapshot, present: Snapshot | None, forgotten: frozenset[int], *, creates_are_known: bool
) -> Snapshot:
    """Return the backup's state store, with the creates of the ``present`` state store and all forgotten orders."""
    now = datetime.now(UTC)
    asked = {row["order_id"]: row["asked_at"] for row in snapshot.rows(forgotten_orders)}
    again = [
        {"order_id": order_id, "asked_at": asked.get(order_id, now), "done_at": None} for order_id in sorted(forgotten)
    ]
    ledger = _newest_entries((*snapshot.rows(push_ledger), *(present.rows(push_ledger) if present else ())))
    seen = [row for row in snapshot.rows(observations) if row["name"] != LEDGER_LACKS]
    known_to_lack = [
        since for state in (snapshot, present) if state is not None and (since := _lacks(state)) is not None
    ]
    if not _continues_from(present, snapshot):
        known_to_lack.append(int(backup.began_at.timestamp()))
    if known_to_lack and not creates_are_known:
        seen.append({"name": LEDGER_LACKS, "value": min(known_to_lack), "about": "restored", "observed_at": now})
    merged = snapshot.with_rows(forgotten_orders, again).with_rows(push_ledger, ledger)
    return merged.with_rows(observations, seen)


def _without_windows(snapshot: Snapshot) -> Snapshot:
    """Return the snapshot without the windows that have pages: the manifests next to the pages are newer."""
    paged = {row["window_id"] for row in snapshot.rows(pages)}
    left = [row for row in snapshot.rows(windows) if row["id"] not in paged]
    return snapshot.with_rows(windows, left).with_rows(pages, ())


def _newest_entries(rows: tuple[Row, ...]) -> list[Row]:
    newest: dict[tuple[str, str, str], Entry] = {}
    for row in rows:
        entry = Entry(**row)
        if entry.name not in newest or entry.version > newest[entry.name].version:
            newest[entry.name] = entry
    return [asdict(entry) for entry in newest.values()]


def _continues_from(present: Snapshot | None, snapshot: Snapshot) -> bool:
    """Return whether the current state store has all windows of the backup's; then the current ledger is complete."""
    if present is None:
        return False
    before, now = ({row["id"] for row in state.rows(windows)} for state in (snapshot, present))
    return bool(before) and before <= now


def _lacks(snapshot: Snapshot) -> int | None:
    return next((row["value"] for row in snapshot.rows(observations) if row["name"] == LEDGER_LACKS), None)


def _swap(settings: Settings, path: Path, backup: Backup, ready: Snapshot, held: Held, *, is_lost: bool) -> None:
    """Replace the current files with the staged files. While this runs, ``restoring.json`` blocks every command."""
    layout, staged = settings.layout, settings.layout.staged
    was_interrupted = layout.restoring.exists()
    with _unchanged(layout, path):
        write_whole(layout.restoring, str(path).encode())
        try:
            with (
                _in_place_of(_state_files(settings) if is_lost else []),
                StateStore.opened(settings.database_url) as store,
            ):
                put_back(store.engine, ready)
        except (WmsSyncError, OSError):
            if not was_interrupted:
                layout.restoring.unlink()
            raise
    if layout.elsewhere is not None:
        _put_objects(settings, held)
    _replace_files(layout, staged)
    if settings.analytics == "ducklake" and backup.files_in is None:
        _drop_lake(settings)
    layout.restoring.unlink()
    sync(layout.root)


def _state_files(settings: Settings) -> list[Path]:
    """Return the files of a state store in SQLite."""
    path = Path(str(make_url(settings.database_url).database))
    files = (path.with_name(f"{path.name}{end}") for end in ("", "-wal", "-shm"))
    return [file for file in files if file.exists()]


@contextmanager
def _in_place_of(damaged: list[Path]) -> Iterator[None]:
    """Move these files away before the block. Delete them after the block, or put them back if it fails."""
    moved = [(path, path.rename(path.with_name(f"{path.name}.damaged"))) for path in damaged]
    try:
        yield
    except BaseException:
        for path, aside in moved:
            aside.replace(path)
        raise
    for _, aside in moved:
        aside.unlink()


def _replace_files(layout: Layout, staged: Layout) -> None:
    """Move the current files away, and put the staged files in their place. The published file is replaced last."""
    away = make_private(staged.root / "away")
    staged.forgotten_orders.replace(layout.forgotten_orders)
    layout.published_log.unlink(missing_ok=True)
    for old, new in ((layout.raw, staged.raw), (layout.parquet, staged.parquet)):
        with suppress(FileNotFoundError):
            old.rename(away / old.name)
        if layout.elsewhere is None and new.exists():
            make_private(old.parent)
            new.rename(old)
            sync(old.parent)
    for new in staged.kept_as_they_are:
        if new.exists():
            old = layout.root / new.relative_to(staged.root)
            make_private(old.parent)
            new.replace(old)
    if staged.published.exists():
        share_with_group(layout.root, staged.published)
        staged.published.replace(layout.published)
    else:
        layout.published.unlink(missing_ok=True)
    for folder in (layout.rejects, layout.root):
        if folder.exists():
            sync(folder)


def _drop_lake(settings: Settings) -> None:
    from wms_sync.targets.ducklake.catalogue import LakeCatalogue

    with LakeCatalogue.opened(settings.database_url) as catalogue:
        catalogue.drop()
    shutil.rmtree(settings.layout.lake, ignore_errors=True)


def _put_files(settings: Settings, kept: Backups, backup: Backup, left_out: dict[str, str]) -> None:
    """Link or copy the files of the backup into the staged folder."""
    staged = settings.layout.staged
    folders: set[Path] = set()
    with accessing(staged.root):
        for place, file in _to_put(staged, backup, left_out):
            source, path = kept.layout.file(file.sha256), staged.root / place
            if path == staged.published and settings.analytics == "ducklake":
                continue
            folders.add(make_private(path.parent))
            is_written_once = place.startswith((f"{RAW}/", f"{PARQUET}/"))
            (put_link if is_written_once else put_copy)(source, path)
        for folder in folders:
            sync(folder)


def _put_objects(settings: Settings, held: Held) -> None:
    """Upload the staged raw pages and Parquet files to object storage, under their own names."""
    layout, staged = settings.layout, settings.layout.staged
    files = [path for folder in (staged.raw, staged.parquet) for path in folder.rglob("*") if path.is_file()]
    with (
        StateStore.opened(settings.database_url) as store,
        closing(Turn.taken(store.engine, layout, held)) as turn,
        layout.files.in_turn(turn),
        ThreadPoolExecutor(AT_ONCE) as pool,
    ):

        def put(path: Path) -> None:
            layout.files.replace(turn, path.relative_to(staged.root).as_posix(), path.read_bytes())

        list(pool.map(put, files))


def _to_put(layout: Layout, backup: Backup, left_out: dict[str, str]) -> Iterator[tuple[str, Kept]]:
    """Yield the files to restore, except damaged files and the list of forgotten orders, which is written anyway.

    Also leave out a window's list of Parquet files if one of them is damaged: a load then flattens the window again
    from its raw pages.
    """
    of_list = layout.forgotten_orders.relative_to(layout.root).as_posix()
    parts = [name_of(place) for place in left_out if place.startswith(f"{PARQUET}/")]
    broken = {flattened_key(part.rsplit("-", 1)[0]) for part in parts}
    for place, file in sorted(backup.files.items()):
        if place not in left_out and place != of_list and place not in broken:
            yield place, file
