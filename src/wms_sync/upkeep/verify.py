"""``wms-sync verify``: check every file of a data folder, or of the backups in a folder, and report damaged files.

Raw pages are compared by hash with the state, Parquet files with the records of their windows, and these with the
receipts in the published file. The user's own data folder is verified under the writer's lock, with the state store. Of
another data folder, such as a backup, the newest snapshot is the state. Nothing but regular files is opened, no link is
followed, and nothing is changed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import msgspec
from msgspec import Struct

from wms_sync import sql_files
from wms_sync.errors import WmsSyncError
from wms_sync.grammar import count_of
from wms_sync.layout import (
    CREATES,
    FORGOTTEN,
    PAGES_DROPPED,
    SNAPSHOTS,
    Layout,
    backups_in,
    flattened_key,
    is_of_window,
    raw_key,
)
from wms_sync.settings import Settings
from wms_sync.shipments.flatten.page import RecordDamagedError
from wms_sync.shipments.flatten.window import flattened_window, is_flattened
from wms_sync.shipments.read.raw import is_dropped, key_of
from wms_sync.state.errors import StateError
from wms_sync.state.leases import refuse_unusable
from wms_sync.state.ledger import entries_in, newest_entries
from wms_sync.state.lock import lock_of
from wms_sync.state.schema import pages, windows
from wms_sync.state.snapshot import Snapshot, decoded
from wms_sync.state.snapshot_files import is_behind
from wms_sync.state.store import COMPLETE_STATES, LandedPage, StateStore, Window
from wms_sync.storage.durable import Inaccessible
from wms_sync.storage.files import StrictFolder, difference
from wms_sync.targets.database import Opened
from wms_sync.targets.errors import DatabaseForbidden, DatabaseOpenError
from wms_sync.targets.opening import open_for_reading
from wms_sync.targets.target import target_of
from wms_sync.upkeep.forgotten_orders import orders_in, refuse_lost

READ_AGAIN = "`wms-sync rebuild` discards its window, then `wms-sync sync` reads its time again"
LOOK_AGAIN = "check its type, its permissions and the disk, then verify again: the rest of its window was not verified"
FLATTENED_AGAIN = "delete the file of its window below parquet/_windows; then `wms-sync rebuild` writes it again"
GONE = (
    "its raw pages were dropped: copy the file back from a backup. Without one, delete the file of its window below "
    "parquet/_windows; then `wms-sync rebuild` discards the window, and `wms-sync sync` reads its time again"
)
WRITTEN_AGAIN = "the next run writes it again"
COMPLETED = "the next push completes it from the state store"
LEFT_OUT = "a restore leaves it out. Delete it: the next backup copies it again if the data folder has it"
Windows = Sequence[tuple[Window, Sequence[LandedPage]]]
"""Windows that are not abandoned, with their landed pages."""


class BackupError(WmsSyncError):
    """A backup cannot be made, read or restored."""


class Damage(Struct, frozen=True):
    """A damaged file, the damage, and how to repair it."""

    place: str
    reason: str
    what_to_do: str

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}. {self.what_to_do[:1].upper()}{self.what_to_do[1:]}."


class Verified(Struct, frozen=True):
    """The number of verified files by kind, and the damage that was found."""

    examined: dict[str, int]
    damaged: tuple[Damage, ...]


class BackupRecord(Struct, frozen=True):
    """``backup.json``: when the backup was made, by which release, and the SHA-256 of the published file.

    ``in_bucket``: raw pages and Parquet files were in object storage, and are not in the backup.
    """

    made_at: datetime
    release: str
    published: str | None
    in_bucket: bool = False


class NamedFile(Struct, frozen=True):
    """A file that the state names; ``size`` in bytes and ``sha256`` are None if nothing records them."""

    kind: str
    key: str
    what_to_do: str
    size: int | None = None
    sha256: str | None = None


def strict(folder: Path) -> Layout:
    """Return the layout of a data folder that others may have changed."""
    return Layout(folder, StrictFolder(folder))


def data_folders(folder: Path) -> list[Path]:
    """Return the folder itself if it is a data folder, else the backups in it, the newest last; as absolute paths.

    Raise ``BackupError`` if there are none.
    """
    folder = folder.expanduser().absolute()
    found = [folder] if os.path.lexists(folder / SNAPSHOTS) else backups_in(folder)
    if not found:
        raise BackupError(f"There is no backup in {folder}. Name the folder that `wms-sync backup` wrote to.")
    return found


def verify(settings: Settings, folder: Path | None = None) -> Verified:
    """Verify the data folder under the writer's lock, another data folder, or every backup in a folder."""
    layout = settings.layout
    if folder is not None and folder.resolve() != layout.root.resolve():
        return _verify_others(folder)
    refuse_unusable(layout)
    with lock_of(settings.database_url, layout).hold("verify"), StateStore.opened(settings.database_url) as store:
        return _verify_own(settings, store)


def _verify_own(settings: Settings, store: StateStore) -> Verified:
    examination, creates = Examination(), sum(store.ledger.counts().values())
    layout = Layout(settings.data_dir, settings.layout.elsewhere or StrictFolder(settings.data_dir))
    found = []
    if is_behind(layout, store):
        refuse_lost(settings.layout)
        found = [Damage("the state store", "it was lost or is an old copy", "the next run restores it from a snapshot")]
    landed = [(window, store.pages(window.id)) for window in store.windows("reading", *COMPLETE_STATES)]
    found += [*examination.snapshots(layout)[1], *examination.small_files(settings.data_dir, landed, creates)]
    found += examination.windows(layout, landed)
    target = target_of(settings)
    if target.is_published:
        found += examination.receipts(layout, target.name, target.published(), has_forgotten=bool(store.forgotten()))
    return Verified(examination.examined, tuple(found))


def _verify_others(folder: Path) -> Verified:
    folders, examination, found = data_folders(folder), Examination(), []
    for each in reversed(folders):
        where = f"{each.name}/" if len(folders) > 1 else ""
        found += [Damage(where + damage.place, damage.reason, LEFT_OUT) for damage in examination.data_folder(each)]
    return Verified(({"backup": len(folders)} if len(folders) > 1 else {}) | examination.examined, tuple(found))


class Examination:
    """Verifies the files of data folders, a file with several links only once."""

    def __init__(self) -> None:
        self.examined = {"page": 0, "Parquet file": 0, "receipt": 0}
        self._whole: set[tuple[int, int]] = set()

    def data_folder(self, folder: Path) -> Iterator[Damage]:
        """Yield the damage in a data folder that is not the user's own."""
        layout = strict(folder)
        if os.path.lexists(layout.restoring):
            yield Damage(layout.restoring.name, "a restore into this folder was interrupted", LEFT_OUT)
        snapshot, damaged = self.snapshots(layout)
        yield from damaged
        landed = [] if snapshot is None else windows_of(snapshot)
        if snapshot is None:
            yield Damage(SNAPSHOTS, "it has no readable snapshot of the state, so it cannot be restored", LEFT_OUT)
        yield from self.small_files(folder, landed, 0 if snapshot is None else snapshot.creates)
        record = backup_record(layout)
        if record is None or not record.in_bucket:
            yield from self.windows(layout, landed)
        yield from self.published(layout, record)

    def snapshots(self, layout: Layout) -> tuple[Snapshot | None, list[Damage]]:
        """Return the newest readable snapshot, and the damaged ones."""
        read: list[Snapshot] = []
        found: list[Damage] = []
        try:
            for key in layout.snapshots():
                found += _unread(layout, key, lambda content: read.append(decoded(content)))
        except Inaccessible as error:
            found.append(Damage(SNAPSHOTS, unusable(error), LOOK_AGAIN))
        return (read[-1] if read else None), found

    def small_files(self, folder: Path, landed: Windows, creates: int) -> Iterator[Damage]:
        """Yield the damage of the list of forgotten orders, the journal of creates and the record of a backup.

        The journal should have at least as many rows as ``creates``.
        """
        layout = strict(folder)
        yield from _unread(layout, FORGOTTEN, orders_in, is_needed=bool(landed))
        yield from journal_damage(layout, creates)
        yield from _unread(layout, layout.backup_record.name, _RECORD.decode)

    def windows(self, layout: Layout, landed: Windows) -> Iterator[Damage]:
        """Yield the damage of the files of these windows."""
        for window, its_pages in landed:
            try:
                for file in named_files(layout, window, its_pages):
                    yield from self._file(layout, file)
            except Inaccessible as error:
                yield Damage(error.path.relative_to(layout.root).as_posix(), unusable(error), LOOK_AGAIN)
            except RecordDamagedError:
                yield Damage(flattened_key(window.id), "it is damaged", "`wms-sync rebuild` rewrites it")

    def published(self, layout: Layout, record: BackupRecord | None) -> Iterator[Damage]:
        """Yield the damage of the published file of a data folder that is not the user's own."""
        name, log = layout.published.name, layout.published_log
        sha256 = None if record is None else record.published
        if sha256 is None and not os.path.lexists(layout.published):
            return
        found = [*self._file(layout, NamedFile("published file", name, LEFT_OUT, sha256=sha256))]
        if os.path.lexists(log):  # which DuckDB would read as a part of the file
            found.append(Damage(log.name, "no backup has it", LEFT_OUT))
        yield from found
        if not found:
            with TemporaryDirectory() as work:
                opened = open_for_reading(Layout(Path(work)), layout.published)
                yield from self.receipts(layout, name, opened, has_forgotten=True)

    def receipts(self, layout: Layout, name: str, opened: Opened, *, has_forgotten: bool) -> Iterator[Damage]:
        """Compare row counts with the receipts. Only forgotten orders may have reduced them."""
        try:
            with opened as connection:
                rows = connection.execute(sql_files.read("queries/receipts.sql")).fetchall()
        except DatabaseForbidden as error:
            yield Damage(name, str(error).rstrip("."), "then verify again: the receipts were not verified")
            return
        except (duckdb.Error, DatabaseOpenError) as error:
            yield Damage(name, str(error).splitlines()[0], "move it away; the next load publishes it again")
            return
        for window_id, merged in rows:
            self.examined["receipt"] += 1
            with suppress(RecordDamagedError, Inaccessible, FileNotFoundError):  # already reported, or not flattened
                held = flattened_window(layout, window_id).all_rows
                if held != merged and not (has_forgotten and held < merged):
                    reason = f"{count_of(held, 'row')}, but its receipt has {merged:,}"
                    yield Damage(flattened_key(window_id), reason, "run `wms-sync rebuild`")

    def trust(self, path: str) -> None:
        """Do not verify this file, whatever its name."""
        with suppress(FileNotFoundError):  # in a bucket
            self._whole.add(_inode(path))

    def _file(self, layout: Layout, file: NamedFile) -> Iterator[Damage]:
        path = f"{layout.root}/{file.key}"
        with suppress(OSError):  # in a bucket, or missing
            if _inode(path) in self._whole:
                return
        if file.kind in self.examined:
            self.examined[file.kind] += 1
        try:
            reason = difference(layout.files, file.key, file.size, file.sha256)
            layout.files.release(file.key)
        except Inaccessible as error:
            reason = unusable(error)
        if reason is not None:
            yield Damage(file.key, reason, file.what_to_do)
        else:
            self.trust(path)


_RECORD = msgspec.json.Decoder(BackupRecord)


def backup_record(layout: Layout) -> BackupRecord | None:
    """Return the record of a backup; None if it is no backup, or its record is damaged."""
    with suppress(FileNotFoundError, ValueError, Inaccessible):
        return _RECORD.decode(layout.files.get(layout.backup_record.name))
    return None


def windows_of(snapshot: Snapshot) -> Windows:
    """Return the windows of a snapshot that are not abandoned, with their pages."""
    landed: dict[str, list[LandedPage]] = {}
    for row in snapshot.rows(pages):
        landed.setdefault(row["window_id"], []).append(LandedPage(**row))
    named = [Window(**row) for row in snapshot.rows(windows) if row["state"] in ("reading", *COMPLETE_STATES)]
    return [(window, landed.get(window.id, [])) for window in named]


def named_files(layout: Layout, window: Window, landed: Iterable[LandedPage]) -> Iterator[NamedFile]:
    """Yield the files of a window, the record of its Parquet files before these.

    Raise ``Inaccessible`` or ``RecordDamagedError``.
    """
    has_no_pages = is_dropped(layout, window.id)
    if has_no_pages:
        yield NamedFile("record", raw_key(window.id, PAGES_DROPPED), LOOK_AGAIN)
    else:
        yield from (NamedFile("page", key_of(page), READ_AGAIN, page.bytes, page.sha256) for page in landed)
    if window.state in COMPLETE_STATES and is_flattened(layout, window.id):
        yield NamedFile("record", flattened_key(window.id), LOOK_AGAIN)
        for key, part in flattened_window(layout, window.id).by_key.items():
            if not is_of_window(key):
                raise RecordDamagedError(flattened_key(window.id))
            what_to_do = GONE if has_no_pages else FLATTENED_AGAIN
            yield NamedFile("Parquet file", key, what_to_do, part.size, part.sha256)


def journal_damage(layout: Layout, creates: int) -> Iterator[Damage]:
    """Yield the damage of the journal of creates, which should have at least ``creates`` rows."""

    def decode(content: bytes) -> None:
        entries, damaged = entries_in(content, CREATES)
        if damaged or len(newest_entries(entries)) < creates:
            rows = f"{len(newest_entries(entries)):,} of {count_of(creates, 'create')}"
            raise ValueError(f"{count_of(damaged, 'line is', 'lines are')} damaged, and it has {rows}")

    yield from _unread(layout, CREATES, decode, is_needed=creates > 0, what_to_do=COMPLETED)


def _unread(
    layout: Layout,
    key: str,
    decode: Callable[[bytes], object],
    *,
    is_needed: bool = False,
    what_to_do: str = WRITTEN_AGAIN,
) -> Iterator[Damage]:
    """Yield the damage of a file that cannot be read, or is missing although it is needed."""
    try:
        decode(layout.files.get(key))
    except FileNotFoundError:
        if is_needed:
            yield Damage(key, "it is missing", what_to_do)
    except Inaccessible as error:
        yield Damage(key, unusable(error), LOOK_AGAIN)
    except (ValueError, StateError) as error:
        yield Damage(key, f"it cannot be read ({error})", what_to_do)


def _inode(path: str) -> tuple[int, int]:
    found = os.lstat(path)
    return found.st_dev, found.st_ino


def unusable(error: Inaccessible) -> str:
    """Return the damage of a file that cannot be used."""
    return f"it cannot be used ({error.reason})"
