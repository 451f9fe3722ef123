"""``wms-sync backup``: copy the data folder as of one moment, even while a run writes.

A backup is a data folder, ``DIR/<time>``; its record ``backup.json`` keeps every run from writing there. It is made as
``DIR/.<time>`` and renamed once it is whole; the next backup deletes what a killed one left.

The published file is copied first, then a snapshot of the state, then the files that it names. A file is written before
it is recorded, so every named file exists; a window that was loaded in between is merged again after a restore. Only a
run that rewrites or deletes recorded files (``forget``, retention) can interfere. Then the backup is made once more
under the writer's lock. A file that still differs from its record is damaged: the backup leaves it out and names it.

Raw pages, Parquet files and the published file are never changed in place, so hard links preserve them: to the last
backup if the file there has the same size and time of modification, else to the data folder. Files in object storage
stay there. A lake is not copied, because its next load rebuilds it from the Parquet files.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import msgspec
from msgspec import Struct

from wms_sync.errors import SettingsError
from wms_sync.layout import (
    CREATES,
    FORGOTTEN,
    Layout,
    backups_in,
    flattened_key,
    name_of,
    new_backup_in,
    snapshot_key,
    unfinished_backups_in,
    window_of,
)
from wms_sync.settings import Settings
from wms_sync.shipments.flatten.page import RecordDamagedError
from wms_sync.state.holder import WRITER
from wms_sync.state.leases import refuse_unusable
from wms_sync.state.ledger import lines_of
from wms_sync.state.lock import lock_of
from wms_sync.state.snapshot import encoded
from wms_sync.state.snapshot_files import is_behind, newest_head, write_snapshot
from wms_sync.state.store import StateStore
from wms_sync.storage.durable import (
    PRIVATE_FOLDER,
    Inaccessible,
    accessing,
    make_private,
    sync,
    sync_file,
    write_synced,
)
from wms_sync.storage.files import StrictFolder, sha256_of
from wms_sync.upkeep.forgotten_orders import orders_remembered
from wms_sync.upkeep.recovery import BACKUP
from wms_sync.upkeep.verify import (
    BackupError,
    BackupRecord,
    Examination,
    Windows,
    named_files,
    strict,
    unusable,
    windows_of,
)

KEPT_BACKUPS = 7


class Copied(Struct):
    """The files of a copy by key, with their sizes in bytes; ``new`` are those that the last backup did not have.

    ``left_out`` are the damaged files, each with the damage.
    """

    sizes: dict[str, int] = {}
    new: set[str] = set()
    left_out: dict[str, str] = {}

    def size(self, keys: Iterable[str]) -> int:
        """Return the size of these files in bytes."""
        return sum(self.sizes[key] for key in keys)


class BackupReport(Struct, frozen=True):
    """The result of a backup: its path, its files, and the number of deleted backups."""

    path: Path
    copied: Copied
    deleted: int


def backup(settings: Settings, folder: Path, *, most: int = KEPT_BACKUPS) -> BackupReport:
    """Make a backup in the folder, and delete all but the newest ``most``. Wait for the writer only if files differ."""
    layout, folder = settings.layout, folder.expanduser().absolute()
    refuse_overlap(folder, layout)
    refuse_unusable(layout)
    if not (layout.snapshots() or layout.windows()):
        raise BackupError(f"There is nothing to back up: {layout.files.where('')} has no data. Set WMS_DATA_DIR.")
    report = _attempt(settings, folder, most, (BACKUP,))
    if report.copied.left_out:  # or a run has changed the files meanwhile
        report = _attempt(settings, folder, most, (WRITER, BACKUP))  # in the order in which all wait for them
    return report


def refuse_overlap(folder: Path, data: Layout) -> None:
    """Raise ``SettingsError`` unless the folder is outside the data folder and not around it, links resolved."""
    there, here = folder.resolve(), data.root.resolve()
    if there.is_relative_to(here) or here.is_relative_to(there):
        raise SettingsError(
            f"The folder of backups {folder} and the data folder {data.root} must be separate: deleting or replacing "
            "one would destroy the other. Nothing was changed. Name a folder outside the data folder, best on another "
            "disk."
        )


def _attempt(settings: Settings, folder: Path, most: int, locks: Sequence[str]) -> BackupReport:
    """Make a backup under these locks. Keep it if it is whole, or if the writer cannot have changed the files."""
    layout = settings.layout
    lock = lock_of(settings.database_url, layout)
    with ExitStack() as stack:
        held = [stack.enter_context(lock.hold(f"backup to {folder}", what=what)) for what in locks]
        opened = stack.enter_context(StateStore.opened(settings.database_url))
        store = stack.enter_context(opened.leased(layout, held[-1]))
        stack.enter_context(layout.files.held_by(store.lease))
        stack.enter_context(accessing(folder))
        _refuse_others(folder, layout, store)
        make_private(folder)
        for left in unfinished_backups_in(folder):
            shutil.rmtree(left)
        path = new_backup_in(folder)
        unfinished = _hidden(path)
        stack.callback(shutil.rmtree, unfinished, ignore_errors=True)
        unfinished.mkdir(mode=PRIVATE_FOLDER)
        copied = _filled(settings, store, backups_in(folder), Layout(unfinished))
        if copied.left_out and WRITER not in locks:
            return BackupReport(path, copied, 0)
        unfinished.rename(path)
        sync(folder)
        old = [each for each in backups_in(folder) if Layout(each).backup_record.exists()][:-most]  # not another tool's
        for each in old:
            shutil.rmtree(each.rename(_hidden(each)))  # so that no half of a backup counts as one
        return BackupReport(path, copied, len(old))


def _hidden(backup: Path) -> Path:
    return backup.with_name(f".{backup.name}")


def _refuse_others(folder: Path, layout: Layout, store: StateStore) -> None:
    """Raise ``BackupError`` if the state store lacks something, or the newest backup is of another installation."""
    mine = store.snapshots.installation()
    if is_behind(layout, store) or mine is None:
        raise BackupError(
            "The state store was lost or is an old copy, so a backup would be incomplete. No backup was made. Run "
            "`wms-sync sync`, which restores the state store from the files on disk, then make the backup."
        )
    heads = (newest_head(strict(other)) for other in reversed(backups_in(folder)))
    if (newest := next(filter(None, heads), mine)).id != mine.id:
        raise BackupError(
            f"{folder} has backups of another installation ({newest.id}, and this one is {mine.id}). Give each "
            "installation its own folder for backups."
        )


def _filled(settings: Settings, store: StateStore, backups: Sequence[Path], into: Layout) -> Copied:
    """Copy everything once, in an order that makes the copies consistent. Leave out what differs from its record."""
    layout, made_at = settings.layout, datetime.now(UTC)
    copying = Copying(strict(layout.root), into, backups[-1] if backups else None)
    if settings.analytics == "file":
        copying.take(layout.published.name)
    published = sha256_of(into.published) if into.published.exists() else None
    snapshot = write_snapshot(layout, store)
    copying.write(snapshot_key(snapshot.installation.snapshot), encoded(snapshot))
    if layout.elsewhere is None:
        copying.take_windows(windows_of(snapshot))
    copying.write(CREATES, lines_of(store.ledger.all()))
    copying.write(FORGOTTEN, json.dumps(sorted(orders_remembered(layout) | store.forgotten())).encode())
    copying.take_rejects()
    copying.write(
        into.backup_record.name,
        msgspec.json.encode(BackupRecord(made_at, version("wms-sync"), published, layout.elsewhere is not None)),
    )
    copying.sync()
    return copying.copied


class Copying:
    """Copies files of one data folder into a new one: as links if the file system has them, but rejected rows."""

    def __init__(self, source: Layout, into: Layout, last: Path | None = None) -> None:
        self.copied = Copied()
        self._source, self._into, self._last = source, into, last
        self._examination = Examination()
        self._folders: set[str] = set()

    def take_windows(self, landed: Windows) -> None:
        """Copy the files of these windows. Leave out damaged files, and the records of damaged Parquet files."""
        for window, its_pages in landed:
            with suppress(RecordDamagedError):  # its copy is examined below
                try:
                    for file in named_files(self._source, window, its_pages):
                        self.take(file.key)
                except Inaccessible as error:
                    self.leave_out(error.path.relative_to(self._source.root).as_posix(), unusable(error))
        for damage in [*self._examination.windows(self._into, landed)]:
            self.leave_out(damage.place, damage.reason)
            if damage.place.endswith(".parquet"):
                self._delete(flattened_key(window_of(name_of(damage.place))))

    def take_rejects(self) -> None:
        """Copy the rejected rows; people correct them in place."""
        for name in self._source.files.names(self._into.rejects.name):
            self.take(f"{self._into.rejects.name}/{name}", linked=False)

    def take(self, key: str, *, linked: bool = True) -> None:
        """Copy a file if it exists; leave out anything but a regular file."""
        try:
            now = StrictFolder(self._source.root).examined_file(key)
        except Inaccessible as error:
            self.leave_out(key, unusable(error))
            return
        if now is None:
            return
        self._make_folder(key)
        if linked and self._is_linked_from_last(key, now):
            self._examination.trust(f"{self._into.root}/{key}")  # it was examined then
        else:
            try:
                put_copy(self._source.root / key, self._into.root / key, linked=linked)
            except FileNotFoundError:  # deleted meanwhile
                return
            self.copied.new.add(key)
        self.copied.sizes[key] = now.st_size

    def write(self, key: str, content: bytes) -> None:
        """Write a file."""
        self._make_folder(key)
        write_synced(self._into.root / key, content)
        self.copied.sizes[key] = len(content)
        self.copied.new.add(key)

    def leave_out(self, key: str, reason: str) -> None:
        """Report a file as damaged, and delete its copy."""
        self.copied.left_out.setdefault(key, reason)
        self._delete(key)

    def sync(self) -> None:
        """Sync the names of all files to disk."""
        for folder, _, _ in os.walk(self._into.root):
            sync(Path(folder))

    def _is_linked_from_last(self, key: str, now: os.stat_result) -> bool:
        """Link the file of the last backup, if it has the size and time of modification of the file to copy."""
        if self._last is None:
            return False
        with suppress(OSError):  # the file system has no links, or what is there is no file
            before = StrictFolder(self._last).examined_file(key)
            if before is not None and (before.st_size, before.st_mtime_ns) == (now.st_size, now.st_mtime_ns):
                os.link(f"{self._last}/{key}", f"{self._into.root}/{key}")
                return True
        return False

    def _make_folder(self, key: str) -> None:
        folder = key.rpartition("/")[0]
        if folder not in self._folders:
            make_private(self._into.root / folder)
            self._folders.add(folder)

    def _delete(self, key: str) -> None:
        (self._into.root / key).unlink(missing_ok=True)
        self.copied.sizes.pop(key, None)
        self.copied.new.discard(key)


def put_copy(source: Path, path: Path, *, linked: bool) -> None:
    """Make a hard link, or a private, synced copy with the same time of modification."""
    if linked:
        with suppress(OSError):  # a different file system, or a file system without hard links
            os.link(source, path)
            return
    with accessing(source):
        source.open("rb").close()  # report a file that cannot be read, not the folder of backups
    shutil.copy2(source, path)
    sync_file(path)
