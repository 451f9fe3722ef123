"""Files by key: the protocol, files in the data folder (a key is a path below it), and the errors of a bucket.

In a bucket, most names carry the first digits of their content's hash: ``page-00005.json.gz`` becomes
``page-00005-1f3a9c04.json.gz``.

FilesError
├── FilesUnavailable    a request to the store failed
│   └── FilesRefused    the store refused, or has no such bucket
├── OddName             an object has a name that is not a valid path
└── NameTaken           the name has other content
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import Literal, Protocol

from msgspec import Struct

from wms_sync.errors import WmsSyncError
from wms_sync.storage.durable import Inaccessible, accessing, make_private

_QUERY = re.compile(r"\?[^\s\"]*")
"""The query of a URL, which may contain a signature."""
_DIGITS = 8
_MARK = re.compile(rf"-[0-9a-f]{{{_DIGITS}}}(?=\.)")


class FilesError(WmsSyncError):
    """An error of files in object storage."""


class FilesUnavailable(FilesError):
    """A request to the store failed, after all its retries."""

    def __init__(self, what: str, where: str, error: Exception) -> None:
        first = _QUERY.sub("?...", str(error).partition("\n")[0])
        super().__init__(
            f"{where} could not be {what} ({type(error).__name__}: {first}). Everything recorded so far stays valid, "
            "and the next run continues from there. Check the network, the bucket and its region, the credentials and "
            "their permissions: `wms-sync doctor` tries each kind of request."
        )


class FilesRefused(FilesUnavailable):
    """The store denies access, or has no such bucket: waiting does not help."""


class OddName(FilesError):
    """An object has a name that is not a valid path, so its folder cannot be listed."""

    def __init__(self, where: str, error: Exception) -> None:
        super().__init__(
            f"{where} could not be listed, because an object there has a name that wms-sync does not use: "
            f"{_QUERY.sub('?...', str(error).partition(chr(10))[0])}. Nothing was changed. Delete that object with the "
            "tools of the store, check who else can write there, and run again."
        )


class NameTaken(FilesError):
    """The file of this name has other content, or keeps changing."""

    def __init__(self, where: str) -> None:
        super().__init__(
            f"{where} exists with other content; nothing was overwritten. Another installation writes to the same "
            "WMS_FILES_URL: give each installation its own prefix."
        )


class Writer(Protocol):
    """The right to write: a ``Lease``. Checks and writes raise ``TakenOver`` once another writer has taken over."""

    folder: Path

    def check(self) -> None:
        """Raise ``TakenOver`` if another writer has taken over."""

    def temporary(self, name: str) -> Path:
        """Return a unique path in the lease's folder."""

    def write_whole(self, path: Path, content: bytes) -> None:
        """Write a file atomically."""

    def put_in_place(self, temporary: Path, path: Path) -> None:
        """Move a synced file from the lease's folder to ``path``."""

    def take_away(self, path: Path) -> None:
        """Delete a file, or a folder with its contents."""


class Files(Protocol):
    """Files by key. A file is durable when the method that puts it returns; it exists completely or not at all.

    The implementation may change the key of a file that it puts, and returns the key that it used: the state store and
    the records of Parquet files have the returned key.
    """

    def held_by(self, writer: Writer) -> AbstractContextManager[None]:
        """Return a block in which this process has the right to write, and no other process changes anything."""

    def named(self, key: str, content: bytes) -> str:
        """Return the key that ``put`` gives this content."""

    def put(self, writer: Writer, key: str, content: bytes) -> str:
        """Put an immutable file. Return its key."""

    def put_file(self, writer: Writer, key: str, made: Path) -> str:
        """Put a synced file of the lease's folder, and remove it from there. Return its key."""

    def workplace(self, writer: Writer) -> Path:
        """Return the folder in which to create durable files under their keys, for ``keep``."""

    def keep(self, writer: Writer, keys: Sequence[str]) -> list[str]:
        """Put files that were created in the workplace. Return their keys."""

    def replace(self, writer: Writer, key: str, content: bytes) -> None:
        """Put a record; it replaces the record that has this key."""

    def delete(self, writer: Writer, key: str) -> None:
        """Delete a file, or a folder with its contents; do nothing if it does not exist."""

    def get(self, key: str) -> bytes:
        """Return the content of a file. Raise ``FileNotFoundError``."""

    def size(self, key: str) -> int | None:
        """Return the size of a file in bytes; None if it does not exist."""

    def names(self, folder: str) -> list[str]:
        """Return the names of the files and folders in a folder, in order; none if it does not exist."""

    def local(self, keys: Sequence[str]) -> list[str]:
        """Return local paths with the content of these files, for DuckDB.

        The path of a missing file may be returned too.
        """

    def release(self, key: str) -> None:
        """Note that the ``local`` paths of a file, or of all files below a folder, are no longer in use."""

    def refuse_versions(self) -> None:
        """Raise ``FilesError`` if the storage keeps deleted files."""

    def examined(self) -> tuple[Literal["note", "warning", "error"], str] | None:
        """Try every operation and return a finding; None if there is nothing to try. Raise ``FilesUnavailable``."""

    def where(self, key: str) -> str:
        """Return the location of a file, for messages."""


def marked(key: str, content: bytes) -> str:
    """Return the key with the first digits of the content's SHA-256, in place of any such digits that it has."""
    folder, _, name = key.rpartition("/")
    stem, _, suffix = unmarked(name).partition(".")
    return f"{folder}/{stem}-{hashlib.sha256(content).hexdigest()[:_DIGITS]}.{suffix}"


def unmarked(name: str) -> str:
    """Return the name without the digits of a hash."""
    return _MARK.sub("", name)


def difference(files: Files, key: str, size: int | None, sha256: str | None) -> str | None:
    """Describe how a file differs from its record; return None if it does not. None in the record is not compared.

    The ``local`` path of the file is in use afterwards.
    """
    found = files.size(key)
    if found is None:
        return "it is missing"
    if size not in {None, found}:
        return f"it has {found} bytes instead of {size}"
    if sha256 is None:
        return None
    [path] = files.local([key])
    try:
        return None if sha256_of(Path(path)) == sha256 else "it is altered: its SHA-256 differs"
    except FileNotFoundError:  # deleted since the bucket was listed
        return "it is missing"


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with accessing(path), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class FolderFiles(Struct, frozen=True):
    """``Files`` below a folder, each under the key that was given. The lease's own folder fences off late writers."""

    root: Path

    def held_by(self, writer: Writer) -> AbstractContextManager[None]:
        """Return a block that changes nothing: folders are read each time."""
        return nullcontext()

    def named(self, key: str, content: bytes) -> str:
        """Return the key unchanged."""
        return key

    def put(self, writer: Writer, key: str, content: bytes) -> str:
        """Write a file."""
        path = self.root / key
        make_private(path.parent)
        writer.write_whole(path, content)
        return key

    def put_file(self, writer: Writer, key: str, made: Path) -> str:
        """Move a file from the lease's folder to its key."""
        writer.put_in_place(made, self.root / key)
        return key

    def workplace(self, writer: Writer) -> Path:
        """Return the folder itself: a file created there is already in place."""
        return self.root

    def keep(self, writer: Writer, keys: Sequence[str]) -> list[str]:
        """Return the keys unchanged: the files are already in place."""
        return list(keys)

    def replace(self, writer: Writer, key: str, content: bytes) -> None:
        """Overwrite a file."""
        path = self.root / key
        make_private(path.parent)
        writer.write_whole(path, content)

    def delete(self, writer: Writer, key: str) -> None:
        """Delete a file or folder."""
        writer.take_away(self.root / key)

    def get(self, key: str) -> bytes:
        """Read a file. Raise ``Inaccessible`` if it exists but cannot be read."""
        path = self.root / key
        with accessing(path):
            return path.read_bytes()

    def size(self, key: str) -> int | None:
        """Return the size of a file. Raise ``Inaccessible`` if it exists but cannot be examined."""
        path = self.root / key
        with accessing(path), suppress(FileNotFoundError, NotADirectoryError):
            return path.stat().st_size
        return None

    def names(self, folder: str) -> list[str]:
        """Return the names in a folder, in order."""
        with suppress(FileNotFoundError, NotADirectoryError):
            return sorted(path.name for path in (self.root / folder).iterdir())
        return []

    def local(self, keys: Sequence[str]) -> list[str]:
        """Return the paths of the files themselves."""
        return [f"{self.root}/{key}" for key in keys]

    def release(self, key: str) -> None:
        """Do nothing: there are no copies."""

    def refuse_versions(self) -> None:
        """Do nothing: deleted files are gone."""

    def examined(self) -> None:
        """Do nothing: the check of the disk covers folders."""

    def where(self, key: str) -> str:
        """Return the path of a file."""
        return f"{self.root}/{key}".rstrip("/")


class StrictFolder(FolderFiles, frozen=True):
    """Files below a folder that others may have changed: opens nothing but regular files, and follows no link.

    The methods raise ``Inaccessible`` for anything else.
    """

    def get(self, key: str) -> bytes:
        """Read a file."""
        self.examined_file(key)
        return FolderFiles.get(self, key)

    def size(self, key: str) -> int | None:
        """Return the size of a file."""
        found = self.examined_file(key)
        return None if found is None else found.st_size

    def names(self, folder: str) -> list[str]:
        """Return the names in a folder, in order."""
        self.examined_file(f"{folder}/")
        return FolderFiles.names(self, folder)

    def examined_file(self, key: str) -> os.stat_result | None:
        """Return the size, times and inode of a file; None if it does not exist."""
        path, found = str(self.root), None
        try:
            for name in filter(None, key.split("/")):
                path = f"{path}/{name}"
                found = os.lstat(path)
                if stat.S_ISLNK(found.st_mode):
                    raise Inaccessible(Path(path), "a link")
        except (FileNotFoundError, NotADirectoryError):
            return None
        except PermissionError as error:
            raise Inaccessible.by(Path(path), error) from None
        if found is not None and not key.endswith("/") and not stat.S_ISREG(found.st_mode):
            raise Inaccessible(Path(path), "not a regular file")
        return found
