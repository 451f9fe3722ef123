"""``wms-sync verify``: check every file of the data folder, or of a folder of backups, and report damaged files.

In the data folder, raw pages are compared by hash with the received pages, manifests with the state store, Parquet
files by hash with the records of their windows, and the row counts of these with the receipts in the published file.
In a folder of backups every file is compared by hash. Nothing is changed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import duckdb
from msgspec import Struct

from wms_sync import sql_files
from wms_sync.grammar import count_of
from wms_sync.layout import MANIFEST, Layout, flattened_key, parquet_key, raw_key
from wms_sync.settings import Settings
from wms_sync.shipments.flatten.page import RecordDamagedError
from wms_sync.shipments.flatten.window import ParquetPart, flattened_window, is_flattened
from wms_sync.shipments.read.quarantined_windows import quarantined_folders
from wms_sync.shipments.read.raw import ManifestDamaged, damage, is_dropped, key_of, read_manifest
from wms_sync.state.errors import StateError
from wms_sync.state.lock import lock_of
from wms_sync.state.store import COMPLETE_STATES, StateStore, Window
from wms_sync.state.turns import refuse_unfinished_restore
from wms_sync.storage.durable import Inaccessible
from wms_sync.targets.errors import DatabaseForbidden, DatabaseOpenError
from wms_sync.targets.target import target_of
from wms_sync.upkeep.backups import Backup, BackupError, Backups, Kept, StateCopyDamaged, read_backup
from wms_sync.upkeep.forgotten_orders import refuse_lost
from wms_sync.upkeep.recovery import is_outdated

WRITTEN_AGAIN = "`wms-sync rebuild` rewrites it from the state store"
READ_AGAIN = "`wms-sync rebuild` discards its window, then `wms-sync sync` reads its time again"
LOOK_AGAIN = "check its type, its permissions and the disk, then verify again: the rest of its window was not verified"
FLATTENED_AGAIN = "delete the file of its window below parquet/_windows; then `wms-sync rebuild` writes it again"


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


def verify(settings: Settings) -> Verified:
    """Verify the data folder under the writer's lock, so that no run changes it meanwhile."""
    refuse_unfinished_restore(settings.layout)
    with (
        lock_of(settings.database_url, settings.layout).hold("verify"),
        StateStore.opened(settings.database_url) as store,
    ):
        return _Examination(settings, store).verified()


def verify_backups(folder: Path, data: Layout) -> Verified:
    """Verify every backup of a folder, which must be outside the data folder. Verify an undamaged file only once.

    Raise ``FoldersOverlap`` or ``BackupError``.
    """
    kept = Backups.at(folder).apart_from(data)
    records = kept.layout.backups()
    if not records:
        kept.newest()
    examined, found, whole = {"backup": len(records), "file": 0}, [], set()
    for record in reversed(records):
        again = f"delete {record.name}, and make a new backup"
        try:
            backup = read_backup(record)
        except BackupError as error:
            found.append(Damage(record.name, str(error).rstrip("."), again))
            continue
        for place, file in backup.kept():
            if file.sha256 in whole:
                continue
            examined["file"] += 1
            path = kept.layout.file(file.sha256)
            if (reason := _damage(kept, backup, file)) is None:
                whole.add(file.sha256)
            else:
                advice = f"delete {path}, if it exists: the next backup copies it again if the data folder has it"
                found.append(Damage(f"{place} of {record.name}", reason, advice))
        found += [
            Damage(
                f"{place} of {record.name}", f"damaged before the backup was made ({reason})", "a restore leaves it out"
            )
            for place, reason in backup.damaged.items()
        ]
    return Verified(examined, tuple(found))


def _damage(kept: Backups, backup: Backup, file: Kept) -> str | None:
    if file is not backup.state:
        return kept.damage(file)
    try:
        kept.state(backup)
    except StateCopyDamaged as error:
        return error.reason
    except StateError as error:  # of a newer release
        return str(error).rstrip(".")
    return None


class _Examination:
    """Verifies the data folder once."""

    def __init__(self, settings: Settings, store: StateStore) -> None:
        self._settings = settings
        self._layout = settings.layout
        self._target = target_of(settings)
        self._store = store
        self._looked_at = {"page": 0, "Parquet file": 0, "receipt": 0}

    def verified(self) -> Verified:
        found = (*self._lists(), *self._windows(), *self._receipts())
        return Verified(self._looked_at, found)

    def _lists(self) -> Iterator[Damage]:
        if outdated := is_outdated(self._settings, self._store):
            yield Damage("the state store", "it was lost or is an old copy", "the next run restores it from the disk")
        refuse_lost(self._layout, outdated=outdated)
        for folder in () if outdated else quarantined_folders(self._layout, self._store):
            yield Damage(raw_key(folder.window_id, MANIFEST), folder.reason, folder.what_to_do)

    def _windows(self) -> Iterator[Damage]:
        for window in self._store.windows("reading", *COMPLETE_STATES):
            try:
                yield from self._window(window)
            except Inaccessible as error:
                place = error.path.relative_to(self._layout.root).as_posix()
                yield Damage(place, f"it cannot be used ({error.reason})", LOOK_AGAIN)

    def _window(self, window: Window) -> Iterator[Damage]:
        yield from self._pages(window)
        if window.state in COMPLETE_STATES and is_flattened(self._layout, window.id):
            yield from self._parquet(window)

    def _pages(self, window: Window) -> Iterator[Damage]:
        landed = self._store.pages(window.id)
        if not landed:
            return  # the window is known only from its receipt
        if window.state in COMPLETE_STATES and (reason := self._manifest(window)) is not None:
            yield Damage(raw_key(window.id, MANIFEST), reason, WRITTEN_AGAIN)
        for page in () if is_dropped(self._layout, window.id) else landed:
            self._looked_at["page"] += 1
            if (reason := damage(self._layout, page)) is not None:
                yield Damage(key_of(page), reason, READ_AGAIN)

    def _manifest(self, window: Window) -> str | None:
        try:
            listed = read_manifest(self._layout, window.id).pages
        except FileNotFoundError:
            return "it is missing"
        except ManifestDamaged as error:
            return error.reason
        return None if listed == self._store.pages(window.id) else "its list of pages differs from the state store"

    def _parquet(self, window: Window) -> Iterator[Damage]:
        try:
            flattened = flattened_window(self._layout, window.id)
        except RecordDamagedError:
            yield Damage(flattened_key(window.id), "it is damaged", "`wms-sync rebuild` rewrites it")
            return
        for slug, parts in flattened.parts.items():
            for part in parts:
                self._looked_at["Parquet file"] += 1
                key = parquet_key(slug, part.name)
                if (reason := self._differs(key, part)) is not None:
                    yield Damage(key, reason, FLATTENED_AGAIN)

    def _differs(self, key: str, part: ParquetPart) -> str | None:
        files = self._layout.files
        size = files.size(key)
        if size is None:
            return "it is missing"
        if size != part.size:
            return f"it has {size} bytes instead of the {part.size} written"
        if hashlib.sha256(files.get(key)).hexdigest() != part.sha256:
            return "its SHA-256 differs from that of the file written"
        return None

    def _receipts(self) -> Iterator[Damage]:
        """Compare row counts with the receipts. Only forgotten orders may have reduced them."""
        if not self._target.is_published:
            return
        name = self._target.name
        try:
            with self._target.published() as connection:
                rows = connection.execute(sql_files.read("queries/receipts.sql")).fetchall()
        except DatabaseForbidden as error:
            yield Damage(name, str(error).rstrip("."), "then verify again: the receipts were not verified")
            return
        except (duckdb.Error, DatabaseOpenError) as error:
            yield Damage(name, str(error).splitlines()[0], "move it away; the next load publishes it again")
            return
        has_forgotten = bool(self._store.forgotten())
        for window_id, merged in rows:
            self._looked_at["receipt"] += 1
            if not is_flattened(self._layout, window_id):
                continue
            with suppress(RecordDamagedError, Inaccessible):  # already reported
                yield from self._receipt(window_id, merged, has_forgotten=has_forgotten)

    def _receipt(self, window_id: str, merged: int, *, has_forgotten: bool) -> Iterator[Damage]:
        held = flattened_window(self._layout, window_id).all_rows
        if held != merged and not (has_forgotten and held < merged):
            reason = f"{count_of(held, 'row')}, but its receipt has {merged:,}"
            yield Damage(flattened_key(window_id), reason, "run `wms-sync rebuild`")
