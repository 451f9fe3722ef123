"""``wms-sync backup``: copy the data folder and the state store as of one moment, even while a run writes.

The published file is copied first, then the state store in one transaction, then the files that the state store names.
A file is written before it is recorded, so every named file exists; a window that was loaded in between is merged again
after a restore. Only a run that rewrites or deletes recorded files (``forget``, retention, a discarded window) can
interfere. Then the backup is repeated under the writer's lock. A file that still differs from its record is damaged:
the backup leaves it out and names it.

Raw pages, Parquet files and the published file are never changed in place, so hard links preserve them. Files in object
storage stay there, and the backup records the location. A lake is not copied, because its next load rebuilds it from
the Parquet files.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import msgspec
from msgspec import Struct

from wms_sync.layout import MANIFEST, PAGES_DROPPED, Layout
from wms_sync.settings import Settings
from wms_sync.shipments.flatten.page import RecordDamagedError
from wms_sync.shipments.flatten.window import flattened_window, is_flattened
from wms_sync.state.lock import lock_of
from wms_sync.state.portable import Snapshot, encoded, read_snapshot
from wms_sync.state.schema import forgotten_orders, pages, windows
from wms_sync.state.store import COMPLETE_STATES, StateStore
from wms_sync.state.turns import refuse_unfinished_restore
from wms_sync.storage.durable import make_private, write_whole
from wms_sync.upkeep.backups import Backup, BackupError, Backups, Kept
from wms_sync.upkeep.forgotten_orders import orders_listed
from wms_sync.upkeep.recovery import is_outdated

KEPT_BACKUPS = 7
LOCK = "backup"


class BackupReport(Struct, frozen=True):
    """The result of a backup: its record, the number and size of its new files, and the number of deleted backups."""

    path: Path
    backup: Backup
    new_files: int
    new_bytes: int
    deleted: int


def backup(settings: Settings, folder: Path, *, most: int = KEPT_BACKUPS) -> BackupReport:
    """Make a backup in the folder, and delete all but the newest ``most``. Wait for the writer only if files differ."""
    layout = settings.layout
    kept = Backups.at(folder).apart_from(layout)
    refuse_unfinished_restore(layout)
    if not (holds_data(layout) or layout.windows()):
        where = layout.root if layout.elsewhere is None else layout.files.where("")
        raise BackupError(f"There is nothing to back up: {where} has no data. Set WMS_DATA_DIR.")
    lock = lock_of(settings.database_url, layout)
    with (
        lock.hold(f"backup to {kept.layout.root}", what=LOCK),
        StateStore.opened(settings.database_url) as store,
    ):
        _refuse_lost_state(settings, store)
        make_private(kept.layout.files)
        took = _Taking(settings, store, kept)
        made = took.whole()
        if made.damaged:  # or a run has changed the files meanwhile
            with lock.hold(f"backup to {kept.layout.root}"):
                made = took.whole()
        path = kept.layout.backup(_name(kept, made))
        everyone = sorted(took.forgotten | _known(kept))
        write_whole(kept.layout.forgotten_orders, json.dumps(everyone).encode())
        write_whole(path, msgspec.json.encode(made))
        deleted, _ = kept.prune(most)
    return BackupReport(path, made, len(took.new), sum(took.new.values()), deleted)


def _refuse_lost_state(settings: Settings, store: StateStore) -> None:
    """Raise ``BackupError`` if the state store lacks windows that are on disk: the backup would lack them too."""
    if is_outdated(settings, store):
        raise BackupError(
            "The state store was lost or is an old copy, so a backup would be incomplete. No backup was made. Run "
            "`wms-sync sync`, which restores the state store from the files on disk, then make the backup."
        )


def holds_data(layout: Layout) -> bool:
    """Return whether the data folder has any data that was read from the service."""
    found: Iterator[Path] = layout.raw.glob("*")
    return any(found) or layout.published.exists() or any(layout.parquet.glob("*"))


def _name(kept: Backups, made: Backup) -> str:
    """Return a name that sorts after the names of all earlier backups, even if a clock went back."""
    records = kept.layout.backups()
    number = int(records[-1].name.split("-")[1]) + 1 if records else 1
    return f"backup-{number:06d}-{made.began_at:%Y%m%dT%H%M%SZ}"


def _known(kept: Backups) -> frozenset[int]:
    try:
        return orders_listed(kept.layout.forgotten_orders)
    except ValueError:  # no list yet, or a damaged one: each backup also has its own list
        return frozenset()


class _Taking:
    """Copies the files and the state store into the folder of backups."""

    def __init__(self, settings: Settings, store: StateStore, kept: Backups) -> None:
        self._settings = settings
        self._store = store
        self._layout = settings.layout
        self._kept = kept
        self._before = next((dict(before.files) for _, before in kept.readable()), {})
        self._known = {file.sha256 for file in self._before.values()}
        self.new: dict[str, int] = {}
        self.forgotten: frozenset[int] = frozenset()

    def whole(self) -> Backup:
        """Copy everything once, in an order that makes the copies consistent. Return the record of the backup."""
        began = datetime.now(UTC)
        files: dict[str, Kept] = {}
        damaged: dict[str, str] = {}
        if self._settings.analytics == "file" and self._layout.published.exists():
            self._take(self._layout.published, files, linked=True)
        snapshot = read_snapshot(self._store.engine)
        self.forgotten = frozenset(row["order_id"] for row in snapshot.rows(forgotten_orders))
        read = [row["service"] for row in snapshot.rows(windows) if row["service"]]
        service = read[-1] if read else self._settings.base_url
        self._kept.refuse_another_service(service)
        if self._layout.elsewhere is None:
            self._take_windows(snapshot, files, damaged)
        for path in self._layout.kept_as_they_are:
            if path.is_file():
                self._take(path, files, linked=False)  # people correct the rejected rows in place
        return Backup(
            release=version("wms-sync"),
            service=service,
            began_at=began,
            state=self._kept.keep_content(encoded(snapshot)),
            files=files,
            damaged=damaged,
            files_in=self._settings.files_url,
        )

    def _take_windows(self, snapshot: Snapshot, files: dict[str, Kept], damaged: dict[str, str]) -> None:
        landed: dict[str, list[dict[str, object]]] = {}
        for page in snapshot.rows(pages):
            landed.setdefault(page["window_id"], []).append(page)
        for window in snapshot.rows(windows):
            if window["state"] in ("reading", *COMPLETE_STATES):
                self._take_pages(window["id"], landed.get(window["id"], ()), files, damaged)
            if window["state"] in COMPLETE_STATES and is_flattened(self._layout, window["id"]):
                self._take_parquet(window["id"], files, damaged)

    def _take_pages(
        self, window_id: str, landed: Iterable[dict[str, object]], files: dict[str, Kept], damaged: dict[str, str]
    ) -> None:
        folder = self._layout.window(window_id)
        for name in (MANIFEST, PAGES_DROPPED):
            self._try(folder / name, files)
        if self._place(folder / PAGES_DROPPED) in files:
            return
        for page in landed:
            path = folder / str(page["file"])
            reason = self._try(path, files)
            if reason is None and files[self._place(path)].sha256 != page["sha256"]:
                reason = "its SHA-256 differs from that of the received page"
            if reason is not None:
                damaged[self._place(path)] = reason
                files.pop(self._place(path), None)

    def _take_parquet(self, window_id: str, files: dict[str, Kept], damaged: dict[str, str]) -> None:
        """Copy a window's Parquet files. If one is missing, leave out their manifest: a load then rewrites all."""
        manifest = self._layout.flattened_manifest(window_id)
        try:
            flattened = flattened_window(self._layout, window_id)
        except (OSError, RecordDamagedError) as error:
            damaged[self._place(manifest)] = str(error)
            return
        parts = [self._layout.root / key for slug in flattened.parts for key in flattened.keys(slug)]
        missing = {self._place(path): reason for path in parts if (reason := self._try(path, files)) is not None}
        damaged |= missing
        if not missing:
            self._take(manifest, files, linked=True)

    def _try(self, path: Path, files: dict[str, Kept]) -> str | None:
        try:
            self._take(path, files, linked=True)
        except FileNotFoundError:
            return "it is missing"
        return None

    def _take(self, path: Path, files: dict[str, Kept], *, linked: bool) -> None:
        place = self._place(path)
        before, now = self._before.get(place), path.stat()
        same = before is not None and (before.size, before.changed) == (now.st_size, now.st_mtime_ns)
        if before is not None and same and self._kept.layout.file(before.sha256).exists():
            files[place] = before
            return
        kept = files[place] = self._before[place] = self._kept.keep(path, linked=linked)
        if kept.sha256 not in self._known:
            self.new[kept.sha256] = kept.size

    def _place(self, path: Path) -> str:
        return path.relative_to(self._layout.root).as_posix()
