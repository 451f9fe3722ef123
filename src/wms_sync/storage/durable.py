"""Write files so that each exists either completely or not at all, even if the process is killed."""

from __future__ import annotations

import errno
import grp
import os
import pwd
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

from wms_sync.errors import WmsSyncError

PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700
SMALL = 64 * 1024
"""SQLite's log and its index take at least this many bytes."""
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT)
_READ_ONLY = 0o400
_OTHERS = 0o077
_GROUPS_OWN = stat.S_ISGID | stat.S_IRGRP | stat.S_IXGRP


class Inaccessible(WmsSyncError, OSError):
    """This process cannot use a file or folder. The error is also an ``OSError``."""

    def __init__(self, path: Path, reason: str | None, *, is_full: bool = False) -> None:
        self.path, self.reason = path, reason
        if is_full:
            super().__init__(f"{path} cannot be used ({reason}). Its disk is full: free space on it, then run again.")
            return
        there = _nearest(path)
        owner, me = _user(there.lstat().st_uid), _user(os.geteuid())
        advice = f"belongs to {owner}: run wms-sync as {owner}, or give it to {me}, the current user (chown -R)."
        if owner == me:
            advice = "exists: check its kind (file or folder), its permissions, its file system and free disk space."
        super().__init__(f"{path} cannot be used ({reason}). {there} {advice}")

    @classmethod
    def by(cls, path: Path, error: OSError) -> Self:
        """Return the error with the system's reason."""
        return cls(path, error.strerror, is_full=error.errno in _NO_SPACE)


def is_full(path: Path) -> bool:
    """Return whether the disk of a path has no room for a small file."""
    disk = os.statvfs(_nearest(path))
    return disk.f_bavail * disk.f_frsize < SMALL


def _nearest(path: Path) -> Path:
    """Return the path, or the nearest folder above it that exists."""
    return next(folder for folder in (path, *path.parents) if os.path.lexists(folder))


def _user(number: int) -> str:
    with suppress(KeyError):
        return pwd.getpwuid(number).pw_name
    return f"user {number}"


@contextmanager
def accessing(path: Path) -> Iterator[None]:
    """Turn an ``OSError`` inside the block into ``Inaccessible`` for this path.

    ``FileNotFoundError`` is raised as it is, and so is a lack of memory, which has nothing to do with the file.
    """
    try:
        yield
    except (Inaccessible, FileNotFoundError):
        raise
    except OSError as error:
        if error.errno == errno.ENOMEM:
            raise
        raise Inaccessible.by(path, error) from None


def unusable(error: Exception) -> Inaccessible | None:
    """Return ``Inaccessible`` if the system refused a file or folder; None for any other error."""
    if not isinstance(error, OSError) or not isinstance(error.filename, str):
        return None
    return Inaccessible.by(Path(error.filename), error)


def refuse_unwritable(folder: Path) -> None:
    """Raise ``Inaccessible`` if the folder, or the nearest existing folder above it, is not writable."""
    there = _nearest(folder)
    if not there.is_dir():
        raise Inaccessible(folder, "not a folder")
    if not os.access(there, os.W_OK | os.X_OK):
        raise Inaccessible(folder, "no write permission")


def keep_private() -> None:
    """Set the umask so that all new files of this process are private, even those of DuckDB, SQLite and Dagster."""
    os.umask(_OTHERS)


def make_private(folder: Path) -> Path:
    """Create the folder and its parents if they do not exist, readable by the owner only. Return the folder."""
    with accessing(folder):
        if not folder.is_dir():
            make_private(folder.parent)
            folder.mkdir(exist_ok=True, mode=PRIVATE_FOLDER)
    return folder


def make_private_file(path: Path) -> Path:
    """Create an empty file if it does not exist, readable by the owner only. Return the path.

    An existing file is not opened: closing it would release every lock that this process holds on it, and another
    process would then treat a database that SQLite has open here as unused.
    """
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE))
    return path


def share_with_group(folder: Path, path: Path) -> None:
    """Make the file read-only, and readable by the folder's group if the folder is set up for that (``chmod 2750``).

    Not even its owner may write the file from now on; only root can. If the owner does not belong to the group, the
    file cannot be given to the group and stays private.
    """
    path.chmod(_READ_ONLY)
    opened = folder.stat()
    if opened.st_mode & _GROUPS_OWN == _GROUPS_OWN:
        with suppress(PermissionError):
            os.chown(path, -1, opened.st_gid)
            path.chmod(_READ_ONLY | stat.S_IRGRP)


def kept_from_group(folder: Path, path: Path) -> str | None:
    """Return the group that the folder is set up for if this group cannot read the file; otherwise None."""
    opened, shared = folder.stat(), path.stat()
    if opened.st_mode & _GROUPS_OWN != _GROUPS_OWN:
        return None
    if shared.st_gid == opened.st_gid and shared.st_mode & stat.S_IRGRP:
        return None
    with suppress(KeyError):
        return grp.getgrgid(opened.st_gid).gr_name
    return f"group {opened.st_gid}"


def write_whole(path: Path, content: bytes) -> None:
    """Write a file under a temporary name, sync it, and rename it into place. Raise ``Inaccessible``.

    After an error, the temporary file is deleted.
    """
    temporary = path.with_name(f".{path.name}.tmp")
    with accessing(path):
        try:
            write_synced(temporary, content)
            put_in_place(temporary, path)
        except OSError:
            with suppress(OSError):
                temporary.unlink()
            raise


def write_synced(path: Path, content: bytes) -> None:
    """Write a file and sync it, without renaming it into place."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, PRIVATE_FILE)
    with open(descriptor, "wb") as file:  # noqa: PTH123 - from a descriptor, for the mode
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def put_in_place(temporary: Path, path: Path) -> None:
    """Rename a finished, synced file into place and sync the folder, so that the name survives too."""
    temporary.replace(path)
    sync(path.parent)


def sync_file(path: Path) -> None:
    """Restrict the permissions of a file that other code wrote, and sync it."""
    path.chmod(PRIVATE_FILE)
    sync(path)


def sync(path: Path) -> None:
    """Sync the content of a file, or the names in a folder, to disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
