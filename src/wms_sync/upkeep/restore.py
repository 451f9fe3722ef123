"""``wms-sync restore``: put a backup into an empty or lost data folder. An error before the renames changes nothing.

Any copy of a data folder can be restored: a backup, or what another program has copied. Its newest readable snapshot is
the state; only the files that it names and a few others are taken. They are staged in ``work/restored``, a separate
data folder with its own state store, and examined there as ``verify`` does. There all orders that were ever forgotten
are forgotten again: those listed in the copy, in the backups next to it, in the current state store and in the current
``forgotten-orders.json``. Then the staged files replace the current files by renames, the published file last. During
the replacement ``restoring.json`` exists, and no other command reads or writes; a killed restore must be repeated.

If raw pages and Parquet files are in object storage, a backup has none of them, and the newest snapshot there may be
newer than that of the backup. A copy that has them can be restored into object storage, and into a lake, which the next
load builds from them. That is how an installation moves.

The ledger in a copy may lack creates that were sent later. Creates in the current state store and journal are kept. If
creates may still be missing, ``LEDGER_LACKS`` records the time after which they may be, or 0 if the copy lacks a whole
``creates.jsonl``: a push then looks up in the service each row that the service would create twice.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from wms_sync.errors import SettingsError, WmsSyncError
from wms_sync.layout import CREATES, FORGOTTEN, LAKE, PARQUET, SNAPSHOTS, Layout, backups_in
from wms_sync.settings import Settings
from wms_sync.state.holder import Held
from wms_sync.state.leases import Lease, refuse_backup
from wms_sync.state.ledger import LEDGER_LACKS, Entry, lines_of, newest_entries
from wms_sync.state.lock import lock_of
from wms_sync.state.schema import forgotten_orders, pages, windows
from wms_sync.state.snapshot import Identity, Snapshot
from wms_sync.state.snapshot_files import AnotherInstallation, newest_head, newest_snapshot, write_snapshot
from wms_sync.state.store import Run, StateStore
from wms_sync.storage.durable import Inaccessible, make_private, share_with_group, sync, write_whole
from wms_sync.targets.errors import ForgottenOrdersLostError
from wms_sync.upkeep.backup import Copied, Copying, refuse_overlap
from wms_sync.upkeep.forget import forget
from wms_sync.upkeep.forgotten_orders import orders_in, orders_remembered, places_of
from wms_sync.upkeep.recovery import (
    ALL_LOCKS,
    creates_kept,
    keep_creates_elsewhere,
    recover_state,
    refuse_another_service,
)
from wms_sync.upkeep.verify import (
    BackupError,
    BackupRecord,
    Examination,
    backup_record,
    data_folders,
    journal_damage,
    strict,
    windows_of,
)

AT_ONCE = 8
"""The number of objects to upload in parallel."""


class DataFolderInUse(SettingsError):
    """The data folder has data, and ``--over`` does not confirm that it may be replaced."""


class Restored(Struct, frozen=True):
    """The result of a restore.

    ``creates_unknown_since`` is the value of ``LEDGER_LACKS``; None if the ledger is known to be complete.
    """

    path: Path
    copied: Copied
    forgotten: int
    creates_unknown_since: int | None


class Restorable(Struct, frozen=True):
    """The data folder to restore, its newest readable snapshot, and damaged snapshots with their damage.

    Its raw pages and Parquet files may be ``in_bucket``. ``record`` is None unless it is a backup.
    """

    layout: Layout
    snapshot: Snapshot
    damaged: dict[str, str]
    in_bucket: bool
    record: BackupRecord | None


def restore(
    settings: Settings,
    folder: Path,
    *,
    over: Path | None = None,
    creates_are_known: bool = False,
) -> Restored:
    """Restore a data folder, or the newest backup of a folder of backups.

    ``over`` names the data folder whose data may be replaced. ``creates_are_known`` means that a person has verified
    that no create is missing from the ledger.
    """
    layout, folder = settings.layout, data_folders(folder)[-1]
    refuse_overlap(folder, layout)
    refuse_backup(layout)
    lock = lock_of(settings.database_url, layout)
    with ExitStack() as stack:
        held = [stack.enter_context(lock.hold("restore", what=what)) for what in ALL_LOCKS]
        stack.callback(shutil.rmtree, layout.staged.root, ignore_errors=True)
        with _unchanged(folder, layout):
            opened = stack.enter_context(StateStore.opened(settings.database_url))
            lease = stack.enter_context(closing(Lease.taken(opened.engine, layout, held[0])))
            stack.enter_context(layout.files.held_by(lease))
            present = StateStore(opened.engine, lease)
            source = _source(folder, layout)
            _refuse_data(layout, source, present, over)
            creates = _creates(source, present, layout)
            number, lacks = _continued(settings, source, present, creates)
            lacks = None if creates_are_known and CREATES not in source.damaged else lacks
            forgotten = _forgotten(source, present, layout)
            ready, copied = _stage(settings, source, number, forgotten, creates, lacks, held[0])
        _swap(settings, source, present, ready, creates)
    return Restored(folder, copied, len(forgotten), lacks)


def trust_ledger(settings: Settings) -> None:
    """Record that a person has verified that no create is missing from the ledger."""
    recover_state(settings)
    with (
        lock_of(settings.database_url, settings.layout).hold("restore") as held,
        StateStore.opened(settings.database_url) as opened,
        opened.leased(settings.layout, held) as store,
        settings.layout.files.held_by(store.lease),
    ):
        store.delete_observation(LEDGER_LACKS)
        write_snapshot(settings.layout, store)  # else a loss of the state store would bring the doubt back


@contextmanager
def _unchanged(folder: Path, layout: Layout) -> Iterator[None]:
    """Add to the message of an error that nothing was changed."""
    try:
        yield
    except SettingsError:
        raise
    except (WmsSyncError, OSError) as error:
        raise BackupError(f"{folder} was not restored, and {layout.root} is unchanged: {error}") from None


def _source(folder: Path, data: Layout) -> Restorable:
    layout = strict(folder)
    snapshot, damaged = Examination().snapshots(layout)
    if snapshot is None or os.path.lexists(layout.restoring):
        reasons = [f"{damage.place}: {damage.reason}" for damage in damaged] or ["it is not a whole data folder"]
        raise BackupError(f"it cannot be restored ({'; '.join(reasons)}). Name an older backup")
    damaged += journal_damage(layout, snapshot.creates)
    in_bucket = data.elsewhere is not None and not layout.windows()
    if in_bucket and (there := newest_snapshot(data)) is not None:
        if there.installation.id != snapshot.installation.id:
            raise AnotherInstallation(data, f"the backup is of installation {snapshot.installation.id}")
        snapshot = max(there, snapshot, key=lambda each: each.installation.snapshot)
    return Restorable(
        layout, snapshot, {damage.place: damage.reason for damage in damaged}, in_bucket, backup_record(layout)
    )


def _refuse_data(layout: Layout, source: Restorable, present: StateStore, over: Path | None) -> None:
    there, where = layout.windows(), layout.files.where("")
    if source.snapshot.rows(pages) and not (source.layout.windows() or (source.in_bucket and there)):
        raise BackupError(
            f"it has no raw pages or Parquet files, because they were in object storage, and {where} has none. Set "
            "WMS_FILES_URL to their current location"
        )
    if layout.restoring.exists():  # this repeats a restore
        return
    if layout.elsewhere is not None and not source.in_bucket and (there or layout.snapshots()):
        raise DataFolderInUse(
            f"{where} has raw pages, and a restore writes a backup's raw pages only to an empty location. Nothing was "
            "changed. Set WMS_FILES_URL to a different prefix."
        )
    held = None
    known = present.snapshots.installation()
    if layout.published.exists() or any(any(layout.root.glob(f"{name}/*")) for name in (SNAPSHOTS, PARQUET)):
        held = f"{layout.root} has data"
    elif (known is not None and known.id != source.snapshot.installation.id) or (
        present.windows() and (layout.elsewhere or known is None)
    ):
        held = "The state store is in use"
    if held is not None and (over is None or over.resolve() != layout.root.resolve()):
        raise DataFolderInUse(
            f"{held}, and a restore replaces it. Nothing was changed. Set WMS_DATA_DIR to an empty folder (and, if you "
            f"use it, WMS_STATE_URL to an empty database), or, if this data may be lost, add --over {layout.root}."
        )


def _creates(source: Restorable, present: StateStore, layout: Layout) -> list[Entry]:
    """Return the newest version of each row of the ledger, of all copies."""
    copied: list[Entry] = []
    with suppress(Inaccessible):
        copied, _ = creates_kept([source.layout.files])
    return newest_entries((*present.ledger.all(), *creates_kept(places_of(layout))[0], *copied))


def _continued(
    settings: Settings, source: Restorable, present: StateStore, creates: Sequence[Entry]
) -> tuple[int, int | None]:
    """Return the highest number of a snapshot of the installation, and the value of ``LEDGER_LACKS``.

    It is None if the state store has the highest number, so that its ledger is complete.
    """
    mine, of_source = present.snapshots.installation(), source.snapshot.installation
    heads = [
        head for head in (mine, of_source, newest_head(settings.layout)) if head is not None and head.id == of_source.id
    ]
    number = max(head.snapshot for head in heads)
    observed = present.observation(LEDGER_LACKS)
    lacks = source.snapshot.observed(LEDGER_LACKS) + ([] if observed is None else [observed.value])
    if mine is None or mine.id != of_source.id or mine.snapshot < number:
        reaches = source.record.made_at if source.record else source.snapshot.landed_until() or settings.start
        is_whole = CREATES not in source.damaged and len(creates) >= source.snapshot.creates
        lacks.append(int(reaches.timestamp()) if is_whole else 0)
    return number, min(lacks, default=None)


def _forgotten(source: Restorable, present: StateStore, layout: Layout) -> set[int]:
    """Return the orders that are forgotten by the source, the backups next to it, the data folder and the state store.

    Raise ``ForgottenOrdersLostError`` if the list of a copy is lost: unlike a backup's, it may be newer than its state.
    """
    known = set(orders_remembered(layout) | present.forgotten())
    for folder in (source.layout.root, *backups_in(source.layout.root.parent)):
        try:
            snapshot, _ = Examination().snapshots(strict(folder))
            known |= {row["order_id"] for row in (snapshot.rows(forgotten_orders) if snapshot else ())}
            known |= orders_in(strict(folder).files.get(FORGOTTEN))
        except (FileNotFoundError, Inaccessible, ValueError) as error:
            if folder == source.layout.root and source.record is None and source.snapshot.rows(windows):
                raise ForgottenOrdersLostError(folder / FORGOTTEN, f"cannot be read ({error})") from None
    return known


def _stage(
    settings: Settings,
    source: Restorable,
    number: int,
    forgotten: Collection[int],
    creates: Sequence[Entry],
    lacks: int | None,
    held: Held,
) -> tuple[Snapshot, Copied]:
    """Stage the restored data folder, without the forgotten orders' personal data; return its state and files.

    ``number`` is that of the state, the highest one, so that no older state counts as newer.
    """
    staged = settings.layout.staged
    shutil.rmtree(staged.root, ignore_errors=True)
    here = settings.model_copy(
        update={"data_dir": make_private(staged.root), "state_url": None, "files_url": None, "analytics": "file"}
    )
    copying = Copying(source.layout, staged)
    for place, reason in source.damaged.items():
        copying.leave_out(place, reason)
    with StateStore.opened(here.database_url) as opened, opened.leased(staged, held) as store:
        store.snapshots.put_back(
            replace(source.snapshot, installation=Identity(source.snapshot.installation.id, number))
        )
        store.ledger.take_in(creates)
        refuse_another_service(settings, store)
        store.remember_forgotten(forgotten)
        store.delete_observation(LEDGER_LACKS)
        if lacks is not None:
            store.observe(LEDGER_LACKS, lacks, "restored")
        if settings.analytics == "file":
            copying.take(staged.published.name, linked=False)
            for damage in [*Examination().published(staged, source.record)]:
                copying.leave_out(damage.place, damage.reason)
        if not source.in_bucket:
            copying.take_windows(windows_of(source.snapshot))
        copying.take_rejects()
        copying.write(CREATES, lines_of(creates))
        before = store.snapshots.take()
        forget(Run(here, store, "restore"), ())
        if source.in_bucket:  # the objects still have the personal data
            store.snapshots.put_back(before)
        ready = write_snapshot(staged, store)
    copying.sync()
    return ready, copying.copied


def _swap(
    settings: Settings, source: Restorable, present: StateStore, ready: Snapshot, creates: Sequence[Entry]
) -> None:
    """Replace the current files with the staged files. While this runs, ``restoring.json`` blocks every command."""
    layout, staged = settings.layout, settings.layout.staged
    was_interrupted = layout.restoring.exists()
    with _unchanged(source.layout.root, layout):
        write_whole(layout.restoring, str(source.layout.root).encode())
        try:
            present.ledger.take_in(creates)
            present.snapshots.put_back(ready)
        except (WmsSyncError, OSError):
            if not was_interrupted:
                layout.restoring.unlink()
            raise
    if layout.elsewhere is not None:
        _put_objects(layout, present.lease)
        keep_creates_elsewhere(layout, present)
        layout.files.replace(present.lease, FORGOTTEN, staged.files.get(FORGOTTEN))
    _replace_files(layout, staged)
    if settings.analytics == "ducklake" and not source.in_bucket:
        _drop_lake(settings)
    layout.restoring.unlink()
    sync(layout.root)


def _put_objects(layout: Layout, lease: Lease) -> None:
    """Upload the staged raw pages, snapshot and Parquet files to object storage, under their own names."""
    staged = layout.staged
    folders = (staged.root / SNAPSHOTS, staged.parquet)
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]

    def put(path: Path) -> None:
        layout.files.replace(lease, path.relative_to(staged.root).as_posix(), path.read_bytes())

    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(put, files))


def _replace_files(layout: Layout, staged: Layout) -> None:
    """Move the current files away, and put the staged files in their place. The published file is replaced last."""
    away = make_private(staged.root / "away")
    layout.published_log.unlink(missing_ok=True)
    for name in (SNAPSHOTS, PARQUET, LAKE):
        with suppress(FileNotFoundError):
            (layout.root / name).rename(away / name)
    names = [FORGOTTEN, CREATES, *([SNAPSHOTS, PARQUET] if layout.elsewhere is None else [])]
    for name in [*names, *(f"{staged.rejects.name}/{path.name}" for path in staged.rejects.glob("*"))]:
        with suppress(FileNotFoundError):
            make_private((layout.root / name).parent)
            (staged.root / name).replace(layout.root / name)
    if staged.published.exists():
        share_with_group(layout.root, staged.published)
        staged.published.replace(layout.published)
    else:
        layout.published.unlink(missing_ok=True)
    for folder in filter(Path.exists, (layout.rejects, layout.root)):
        sync(folder)


def _drop_lake(settings: Settings) -> None:
    from wms_sync.targets.ducklake.catalogue import LakeCatalogue

    with LakeCatalogue.opened(settings.database_url) as catalogue:
        catalogue.drop()
