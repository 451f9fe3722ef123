"""Files that are either there whole or not at all, whatever is killed when."""

from __future__ import annotations

import os
import pwd
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from wms_sync.errors import WmsSyncError

PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700
_READ_ONLY = 0o400
_OTHERS = 0o077
_GROUPS_OWN = stat.S_ISGID | stat.S_IRGRP | stat.S_IXGRP


class Inaccessible(WmsSyncError, OSError):
    """A file or folder of the data folder that this process may not use. Whoever expects an ``OSError`` gets one."""

    def __init__(self, path: Path, reason: str | None) -> None:
        there = next(one for one in (path, *path.parents) if os.path.lexists(one))
        owner, me = _user(there.lstat().st_uid), _user(os.geteuid())
        advice = f"belongs to {owner}: run as {owner}, or give it to {me}, as whom this runs (chown -R)."
        if owner == me:
            advice = "is what is there: look at its kind, its rights, its file system and the room on that."
        super().__init__(f"{path} cannot be used ({reason}). {there} {advice}")


def _user(number: int) -> str:
    with suppress(KeyError):
        return pwd.getpwuid(number).pw_name
    return f"user {number}"


@contextmanager
def accessing(path: Path) -> Iterator[None]:
    """What the system refuses inside the block is said as a matter of this path; that it is not there is not."""
    try:
        yield
    except (Inaccessible, FileNotFoundError):
        raise
    except OSError as error:
        raise Inaccessible(path, error.strerror) from None


def refuse_unwritable(folder: Path) -> None:
    """Raises ``Inaccessible`` for a folder that nothing could be made in, or that could not be made."""
    there = next(one for one in (folder, *folder.parents) if os.path.lexists(one))
    if not there.is_dir():
        raise Inaccessible(folder, "not a folder")
    if not os.access(there, os.W_OK | os.X_OK):
        raise Inaccessible(folder, "no right to write")


def keep_private() -> None:
    """What this process makes from now on is its owner's alone, also what DuckDB, SQLite and Dagster make."""
    os.umask(_OTHERS)


def make_private(folder: Path) -> Path:
    """The folder, made if missing together with those above it, readable by its owner only."""
    with accessing(folder):
        if not folder.is_dir():
            make_private(folder.parent)
            folder.mkdir(exist_ok=True, mode=PRIVATE_FOLDER)
    return folder


def make_private_file(path: Path) -> Path:
    """The file, made empty if missing, readable by its owner only.

    One that is there is not opened: to close it again would drop every lock that this process has on it, and another
    would take a database that SQLite has open here for one that nobody uses.
    """
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE))
    return path


def share_with_group(folder: Path, path: Path) -> None:
    """Let the folder's group read the file, if the folder was set up for it: ``chmod 2750``, the group's own. Nobody
    may write it from now on, its owner neither.

    A group that the owner does not belong to cannot be given anything: the file stays private.
    """
    path.chmod(_READ_ONLY)
    opened = folder.stat()
    if opened.st_mode & _GROUPS_OWN == _GROUPS_OWN:
        with suppress(PermissionError):
            os.chown(path, -1, opened.st_gid)
            path.chmod(_READ_ONLY | stat.S_IRGRP)


def write_whole(path: Path, content: bytes) -> None:
    """Write to a temporary name, sync, rename into place."""
    temporary = path.with_name(f".{path.name}.tmp")
    write_synced(temporary, content)
    put_in_place(temporary, path)


def write_synced(path: Path, content: bytes) -> None:
    """Write a file that is not in its place yet; it is durable behind this."""
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
    """Make a file that something else wrote durable, and its owner's alone."""
    path.chmod(PRIVATE_FILE)
    sync(path)


def sync(path: Path) -> None:
    """Make the content of a file, or the names in a folder, durable."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
