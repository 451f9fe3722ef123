"""A folder of backups: ``files/`` has each file once, by its SHA-256; a ``backup-*.json`` lists the files of a backup.

The record of a backup is written last, so a backup with a record is complete. A killed backup leaves files that no
record names, and the next backup deletes them. A file that is already in the folder is not copied again.
"""

from __future__ import annotations

import hashlib
import logging
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct, field

from wms_sync.errors import WmsSyncError
from wms_sync.layout import BackupLayout, Layout, flattened_key, is_restorable, raw_key
from wms_sync.settings import is_same_service
from wms_sync.state.portable import Snapshot, decoded
from wms_sync.state.schema import pages, windows
from wms_sync.storage.durable import accessing, make_private, sync, sync_file, write_whole

logger = logging.getLogger(__name__)
FORMAT = 2
"""The format of records. From 2 on a backup may lack raw pages and Parquet files, if they are in object storage."""


class BackupError(WmsSyncError):
    """A backup cannot be made, read or restored."""


class FoldersOverlap(BackupError):
    """The folder of backups and the data folder are the same folder, or one is inside the other."""

    exit_code = 2

    def __init__(self, backups: Path, data: Path) -> None:
        super().__init__(
            f"The folder of backups {backups} and the data folder {data} must be separate: deleting or replacing one "
            "would destroy the other. Nothing was changed. Name a folder outside the data folder, best on another disk."
        )


class Kept(Struct, frozen=True):
    """A file of the data folder in a backup. ``changed`` is its modification time in ns, to detect later changes."""

    sha256: Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
    size: Annotated[int, Meta(ge=0)]
    changed: int


class Backup(Struct, frozen=True):
    """The record of a backup: its ``files`` by their path below the data folder, and ``state``, the state store.

    ``damaged`` has the files that the state store names but that were damaged, each with the reason. ``files_in`` is
    the location of raw pages and Parquet files in object storage; None if they are among ``files``.
    """

    release: str
    service: str | None
    began_at: datetime
    state: Kept
    files: Mapping[str, Kept]
    damaged: Mapping[str, str] = field(default_factory=dict)
    format: int = FORMAT
    files_in: str | None = None

    @property
    def size(self) -> int:
        """Return the size in bytes of all files of the backup."""
        return self.state.size + sum(kept.size for kept in self.files.values())

    def kept(self) -> Iterator[tuple[str, Kept]]:
        """Yield every file with its path, and the state store, which has no path."""
        yield "the state store", self.state
        yield from sorted(self.files.items())


_BACKUP = msgspec.json.Decoder(Backup)


class RecordDamaged(BackupError):
    """The record of a backup cannot be read."""


class StateCopyDamaged(BackupError):
    """The copy of the state store in a backup is damaged, or is not a state store."""

    def __init__(self, path: Path, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{reason} ({path})")


class Backups(Struct, frozen=True):
    """A folder of backups."""

    layout: BackupLayout

    @classmethod
    def at(cls, folder: Path) -> Backups:
        """Return the folder of backups at this path."""
        return cls(BackupLayout(folder.expanduser().absolute()))

    def apart_from(self, data: Layout) -> Backups:
        """Return these backups. Raise ``FoldersOverlap`` unless they are outside the data folder, links resolved."""
        backups, here = self.layout.root.resolve(), data.root.resolve()
        if backups.is_relative_to(here) or here.is_relative_to(backups):
            raise FoldersOverlap(self.layout.root, data.root)
        return self

    def newest(self) -> tuple[Path, Backup]:
        """Return the newest backup and the path of its record. Raise ``BackupError`` if there is none."""
        records = self.layout.backups()
        if not records:
            raise BackupError(
                f"There is no backup in {self.layout.root}: it has no file backup-*.json. Name the folder that "
                "`wms-sync backup` wrote to."
            )
        return records[-1], read_backup(records[-1])

    def readable(self) -> Iterator[tuple[Path, Backup]]:
        """Yield the backups with undamaged records, newest first."""
        for path in reversed(self.layout.backups()):
            with suppress(RecordDamaged):
                yield path, read_backup(path)

    def refuse_another_service(self, service: str | None) -> None:
        """Raise ``BackupError`` if the newest backup is of a different service: each instance needs its own folder."""
        path, backup = next(self.readable(), (None, None))
        if backup is None:
            return
        if service and backup.service and not is_same_service(service, backup.service):
            raise BackupError(
                f"{path} is a backup of {backup.service}, not of {service}. Give each instance its own folder for "
                "backups."
            )

    def keep(self, path: Path, *, linked: bool) -> Kept:
        """Keep a file; with ``linked`` as a hard link, if the file system supports it.

        Raise ``FileNotFoundError`` for a missing file. Raise ``Inaccessible`` if the file cannot be read, or if this
        folder cannot be written, as on a full disk.
        """
        with accessing(path):
            path.open("rb").close()  # report a file that cannot be read, not the folder of backups
        changed = path.stat().st_mtime_ns  # read first: the next backup copies a file that is replaced meanwhile
        with accessing(self.layout.root):
            temporary = make_private(self.layout.files) / f".{secrets.token_hex(8)}"
            try:
                if linked:
                    put_link(path, temporary)
                else:
                    put_copy(path, temporary)
                kept = Kept(sha256_of(temporary), temporary.stat().st_size, changed)
                self._put(temporary, kept.sha256)
            finally:
                temporary.unlink(missing_ok=True)
        return kept

    def keep_content(self, content: bytes) -> Kept:
        """Keep content that is not in a file."""
        kept = Kept(hashlib.sha256(content).hexdigest(), len(content), 0)
        path = self.layout.file(kept.sha256)
        if not path.exists():
            with accessing(self.layout.root):
                make_private(path.parent)
                write_whole(path, content)
        return kept

    def damage(self, kept: Kept) -> str | None:
        """Describe how a kept file differs from its record; return None if it does not."""
        path = self.layout.file(kept.sha256)
        try:
            if path.is_symlink() or not path.is_file():
                return "its copy is not a file" if os.path.lexists(path) else "its copy is missing"
            if path.stat().st_size != kept.size:
                return f"its copy has {path.stat().st_size} bytes instead of {kept.size}"
            return None if sha256_of(path) == kept.sha256 else "its copy is altered: its SHA-256 differs"
        except OSError as error:
            return f"its copy cannot be read ({error.strerror})"

    def state(self, backup: Backup) -> Snapshot:
        """Return the state store of a backup. Raise ``StateCopyDamaged``, or ``MigrationsUnknown``."""
        path = self.layout.file(backup.state.sha256)
        if (reason := self.damage(backup.state)) is not None:
            raise StateCopyDamaged(path, reason)
        try:
            snapshot = decoded(path.read_bytes())
        except ValueError as error:
            raise StateCopyDamaged(path, f"it is not a copy of a state store: {error}") from None
        keys = [flattened_key(row["id"]) for row in snapshot.rows(windows)]
        keys += [raw_key(row["window_id"], row["file"]) for row in snapshot.rows(pages)]
        if wrong := [key for key in keys if not is_restorable(key)]:
            raise StateCopyDamaged(path, f"it names {wrong[0]!r}, which cannot be in a data folder")
        return snapshot

    def prune(self, most: int) -> tuple[int, int]:
        """Delete all backups but the newest ``most``, then files that no backup names. Return both numbers.

        Files that a killed backup did not finish are deleted too, and not counted.
        """
        records = self.layout.backups()
        old = records[:-most]
        for path in old:
            path.unlink()
        if old:
            sync(self.layout.root)
        left = [backup for _, backup in self.readable()]
        used = {kept.sha256 for backup in left for _, kept in backup.kept()}
        unused = [path for path in self.layout.kept() if path.name not in used]
        if len(left) < len(records[-most:]):  # the files of a damaged record are unknown
            logger.warning(
                "a backup in %(folder)s is damaged, so no file is deleted; `wms-sync verify` on that folder names it",
                {"folder": self.layout.root},
            )
            unused = []
        for path in (*unused, *self.layout.unfinished()):
            path.unlink(missing_ok=True)
        return len(old), len(unused)

    def _put(self, temporary: Path, sha256: str) -> None:
        path = self.layout.file(sha256)
        if path.exists() and path.stat().st_size == temporary.stat().st_size:
            return
        make_private(path.parent)
        temporary.rename(path)
        sync(path.parent)


def read_backup(path: Path) -> Backup:
    """Read the record of a backup. Raise ``RecordDamaged``, or ``BackupError`` if it is of a newer release.

    Accept only paths that a data folder may have.
    """
    try:
        backup = _BACKUP.decode(path.read_bytes())
        if wrong := [name for name in (*backup.files, *backup.damaged) if not is_restorable(name)]:
            raise ValueError(f"it names {wrong[0]!r}, which cannot be in a data folder")
    except (ValueError, OSError) as error:
        raise RecordDamaged(
            f"{path} is not the record of a backup ({error}). Name an older backup-*.json of the folder, and delete "
            "this one."
        ) from None
    if backup.format > FORMAT:
        raise BackupError(f"{path} was written by a newer release of wms-sync ({backup.release}): use that release.")
    return backup


def put_link(source: Path, path: Path) -> None:
    """Make a hard link, or a synced copy if the file system supports none. Raise ``FileNotFoundError``."""
    try:
        os.link(source, path)
    except FileNotFoundError:
        raise
    except OSError:  # a different file system, or a file system without hard links
        put_copy(source, path)


def put_copy(source: Path, path: Path) -> None:
    """Make a private, synced copy."""
    shutil.copyfile(source, path)
    sync_file(path)


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
