"""Files in object storage (S3, Google Cloud Storage, Azure), through obstore.

The name of a file carries the first digits of its content's SHA-256 (``page-00005-1f3a9c04.json.gz``), and an object is
put only if its name is free. So a writer whose lease was taken over neither overwrites nor deletes the other's objects.
A record (a snapshot, the list of a window's Parquet files) keeps its name. A store that supports conditions replaces it
only if it has not changed since the lease was checked: it refuses a writer that was suspended in between.
"""

from __future__ import annotations

import atexit
import secrets
import shutil
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import date
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import obstore
from obstore.exceptions import (
    AlreadyExistsError,
    BaseError,
    InvalidPathError,
    PermissionDeniedError,
    PreconditionError,
    UnauthenticatedError,
)
from obstore.store import ObjectStore

from wms_sync.storage.durable import make_private
from wms_sync.storage.files import FilesError, FilesRefused, FilesUnavailable, NameTaken, OddName, Writer, marked

if TYPE_CHECKING:
    from obstore import ObjectMeta

T = TypeVar("T")
AT_ONCE = 8
"""Concurrent requests: a batch has a file for each table."""
REPLACED_AT_MOST = 5
NO_VERSION = "null"
"""S3's version of an object that was put while versioning was off."""
MOST_BYTES = 1_000_000_000
"""Unused copies stay while all copies together fit, because a step often reads the files of the previous step."""
FRESH_SECONDS = 10.0
"""A process that only reads lists again after this time; the process that may write knows every change."""
_LEVELS = 2
"""Folders of this level are listed with everything below them: ``raw/shipments``, ``parquet/orders``."""
Listed = Iterable[tuple[str, int]]


class Scratch:
    """Copies of objects in a folder, under their keys, for DuckDB, which reads files. Thread-safe.

    Copies in use are deleted only with their objects. Others may be deleted at any time, the first released first.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        self._in_use: dict[str, int] = {}
        self._released: dict[str, int] = {}

    @classmethod
    def of_reader(cls, parent: Path) -> Scratch:
        """Return a scratch folder for a process that only reads; the folder is deleted when the process ends."""
        folder = parent / secrets.token_hex(4)
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        return cls(folder)

    def path(self, key: str) -> Path:
        """Return the path of an object's copy, which may not exist."""
        return self.folder / key

    def holds(self, key: str) -> bool:
        """Return whether a copy exists; mark it as in use."""
        with self._lock:
            if key in self._released:
                self._in_use[key] = self._released.pop(key)
            return key in self._in_use and self.path(key).exists()

    def write(self, key: str, content: bytes) -> None:
        """Write a copy and mark it as in use."""
        path = self.path(key)
        temporary = make_private(path.parent) / f".{secrets.token_hex(4)}"
        temporary.write_bytes(content)
        temporary.replace(path)
        with self._lock:
            self._in_use[key] = len(content)

    def take(self, made: Path, key: str) -> None:
        """Turn a file of this folder into a released copy."""
        made.replace(self.path(key))
        with self._lock:
            self._in_use.pop(key, None)
            self._released[key] = self.path(key).stat().st_size
            self._make_room()

    def release(self, key: str) -> None:
        """Mark an object, or all objects below a folder, as no longer in use."""
        with self._lock:
            for used in [used for used in self._in_use if used == key or used.startswith(f"{key}/")]:
                self._released[used] = self._in_use.pop(used)
            self._make_room()

    def drop(self, key: str) -> None:
        """Delete the copy of an object that was deleted."""
        with self._lock:
            self._in_use.pop(key, None)
            self._released.pop(key, None)
            self.path(key).unlink(missing_ok=True)

    def _make_room(self) -> None:
        while self._released and sum(self._in_use.values()) + sum(self._released.values()) > MOST_BYTES:
            oldest = next(iter(self._released))
            del self._released[oldest]
            self.path(oldest).unlink(missing_ok=True)


class BucketFiles:
    """``Files`` below a prefix of a bucket; one instance for each process and location.

    ``url`` names the location in messages; ``parent`` is the folder for copies while the process holds no ``Lease``.
    ``is_conditional`` means that the store can replace an object on the condition that it is unchanged.
    ``numbers_versions`` means that the store gives each object a version, even if it keeps no earlier versions.
    """

    def __init__(
        self, store: ObjectStore, url: str, parent: Path, *, is_conditional: bool, numbers_versions: bool
    ) -> None:
        self.url = url
        self._store = store
        self._parent = parent
        self._is_conditional = is_conditional
        self._numbers_versions = numbers_versions
        self._listing = Listing(self._look)
        self._scratch = Scratch.of_reader(parent)

    @contextmanager
    def held_by(self, writer: Writer) -> Iterator[None]:
        """Drop the cached listing and use the lease's folder; no other process changes anything inside the block."""
        before, self._scratch = self._scratch, Scratch(writer.folder / "files")
        self._listing.forget(is_ours=True)
        try:
            yield
        finally:
            self._scratch = before
            self._listing.forget(is_ours=False)

    def named(self, key: str, content: bytes) -> str:
        """Return the key with the first digits of the content's SHA-256."""
        return marked(key, content)

    def put(self, writer: Writer, key: str, content: bytes) -> str:
        """Put an object unless it exists. Raise ``NameTaken`` if its name has other content."""
        key = self.named(key, content)
        writer.check()
        try:
            self._asked("written", key, lambda: obstore.put(self._store, key, content, mode="create"))
        except AlreadyExistsError:
            if self.get(key) != content:
                raise NameTaken(self.where(key)) from None
        self._listing.add(key, len(content))
        return key

    def put_file(self, writer: Writer, key: str, made: Path) -> str:
        """Put the content of the file ``made``, and delete that file."""
        put = self.put(writer, key, made.read_bytes())
        made.unlink()
        return put

    def workplace(self, writer: Writer) -> Path:  # held_by makes it the lease's folder
        """Return the folder of copies."""
        return self._scratch.folder

    def keep(self, writer: Writer, keys: Sequence[str]) -> list[str]:
        """Put files of the folder of copies, several at once; they stay there as copies."""
        return _at_once(lambda key: self._keep(writer, key), keys)

    def replace(self, writer: Writer, key: str, content: bytes) -> None:
        """Put a record if it has not changed since the lease was checked."""
        for _ in range(REPLACED_AT_MOST):
            seen = self._version(key)
            writer.check()
            try:
                self._asked("written", key, partial(obstore.put, self._store, key, content, mode=seen))
            except (AlreadyExistsError, PreconditionError):
                continue
            self._listing.add(key, len(content))
            return
        raise NameTaken(self.where(key))

    def delete(self, writer: Writer, key: str) -> None:
        """Delete an object, or all objects below a folder."""
        there = self._listing.keys(key)
        if not there:
            return
        writer.check()
        with suppress(FileNotFoundError):  # another run has deleted one since
            self._asked("deleted", key, lambda: obstore.delete(self._store, there))
        for name in there:
            self._listing.remove(name)
            self._scratch.drop(name)

    def get(self, key: str) -> bytes:
        """Return the content of an object. Raise ``FileNotFoundError``."""
        return bytes(self._asked("read", key, lambda: obstore.get(self._store, key).bytes()))

    def size(self, key: str) -> int | None:
        """Return the size of an object from the listing; None if it does not exist."""
        return self._listing.size(key)

    def names(self, folder: str) -> list[str]:
        """Return the names in a folder, from the listing."""
        return self._listing.names(folder)

    def local(self, keys: Sequence[str]) -> list[str]:
        """Return the paths of copies of these objects; fetch missing copies, several at once."""
        missing = [key for key in dict.fromkeys(keys) if not self._scratch.holds(key)]
        _at_once(self._fetch, missing)
        return [str(self._scratch.path(key)) for key in keys]

    def release(self, key: str) -> None:
        """Allow copies of an object, or of all objects below a folder, to be deleted when space is needed."""
        self._scratch.release(key)

    def where(self, key: str) -> str:
        """Return the URL of an object."""
        return f"{self.url}/{key}".rstrip("/")

    def refuse_versions(self) -> None:
        """Raise ``FilesError`` if the bucket keeps deleted objects, or kept them when one of its objects was put."""
        _, keeps_versions = self._tried()
        if keeps_versions or self._has_versions():
            raise FilesError(
                f"{self.url} keeps old versions of its objects, or has objects from when it did, so deleted personal "
                "data would stay there. Nothing was changed. Turn versioning off for the bucket, copy every object "
                "onto itself, which removes its version, and delete all old versions; then run again."
            )

    def examined(self) -> tuple[Literal["note", "warning", "error"], str]:
        """Write, read, list and delete an object. Return a finding."""
        refuses_a_second, keeps_versions = self._tried()
        if not refuses_a_second:
            return "error", f"{self.url} overwrites an object of the same name: it does not support conditional put"
        if keeps_versions:
            return "warning", f"{self.url} keeps old versions: deleted data stays, and `wms-sync forget` is refused"
        return "note", f"{self.url} supports write, read, list and delete, and does not overwrite objects"

    def _tried(self) -> tuple[bool, bool]:
        """Try every kind of request on a new object, then delete it. Raise ``FilesUnavailable``.

        Return whether the store refuses a second object of the same name, and whether it keeps deleted objects.
        """
        key = f"probe-{secrets.token_hex(8)}"
        put = self._asked("written", key, lambda: obstore.put(self._store, key, b"1", mode="create"))
        try:
            self._asked("read", key, lambda: obstore.get(self._store, key).bytes())
            list(self._look(""))
            refuses = False
            try:
                self._asked("written", key, lambda: obstore.put(self._store, key, b"2", mode="create"))
            except AlreadyExistsError:
                refuses = True
        finally:
            self._asked("deleted", key, lambda: obstore.delete(self._store, key))
        return refuses, not self._numbers_versions and put["version"] not in (None, NO_VERSION)

    def _has_versions(self) -> bool:
        """Return whether any object has a version, which stays when the object is deleted.

        Check only the first object of each day.
        """
        if self._numbers_versions:
            return False
        first: dict[date, ObjectMeta] = {}
        for page in self._asked("listed", "", lambda: list(obstore.list(self._store))):
            for found in page:
                known = first.setdefault(found["last_modified"].date(), found)
                if found["last_modified"] < known["last_modified"]:
                    first[found["last_modified"].date()] = found
        return any(_at_once(self._is_version, [found["path"] for found in first.values()]))

    def _is_version(self, key: str) -> bool:
        try:
            found = self._asked("read", key, lambda: obstore.head(self._store, key))
        except FileNotFoundError:
            return False
        return found["version"] not in (None, NO_VERSION)

    def _keep(self, writer: Writer, key: str) -> str:
        made = self._scratch.path(key)
        put = self.put(writer, key, made.read_bytes())
        self._scratch.take(made, put)
        return put

    def _fetch(self, key: str) -> None:
        try:
            self._scratch.write(key, self.get(key))
        except FileNotFoundError:
            return

    def _version(self, key: str) -> Any:  # noqa: ANN401 - obstore's mode
        """Return the mode that puts an object only if it stays unchanged, if the store supports that."""
        try:
            found = self._asked("read", key, lambda: obstore.head(self._store, key))
        except FileNotFoundError:
            return "create"
        if not self._is_conditional:
            return "overwrite"
        return {name: value for name in ("e_tag", "version") if (value := found[name]) is not None}

    def _look(self, folder: str) -> Iterator[tuple[str, int]]:
        pages = self._asked("listed", folder, lambda: list(obstore.list(self._store, prefix=folder)))
        for page in pages:
            yield from ((found["path"], found["size"]) for found in page)

    def _asked(self, what: str, key: str, request: Callable[[], T]) -> T:
        """Return the store's answer. Raise as they are an unmet condition, and a missing object to read or delete."""
        try:
            return request()
        except (AlreadyExistsError, PreconditionError):
            raise
        except FileNotFoundError as error:
            if what in {"read", "deleted"}:
                raise
            raise FilesRefused(what, self.where(key), error) from None
        except InvalidPathError as error:
            raise OddName(self.where(key), error) from None
        except (PermissionDeniedError, UnauthenticatedError) as error:
            raise FilesRefused(what, self.where(key), error) from None
        except (BaseError, OSError) as error:
            raise FilesUnavailable(what, self.where(key), error) from None


def _at_once(do: Callable[[str], T], keys: Sequence[str]) -> list[T]:
    """Call ``do`` for each key, several at a time; return the results in order."""
    if len(keys) < 2:
        return [do(key) for key in keys]
    with ThreadPoolExecutor(min(AT_ONCE, len(keys)), "files") as pool:
        return list(pool.map(do, keys))


class Listing:
    """The keys and sizes of a store, by folder. Thread-safe.

    ``look`` lists the objects below a folder, at any depth.
    """

    def __init__(self, look: Callable[[str], Listed]) -> None:
        self._look = look
        self._lock = threading.RLock()
        self._seen: dict[str, float] = {}
        self._folders: dict[str, dict[str, int | None]] = {}
        self.is_ours = False

    def forget(self, *, is_ours: bool) -> None:
        """Drop every listing. ``is_ours`` means that no other process changes anything from now on."""
        with self._lock:
            self.is_ours = is_ours
            self._seen.clear()
            self._folders.clear()

    def size(self, key: str) -> int | None:
        """Return the size of an object; None if there is none."""
        folder, _, name = key.rpartition("/")
        return self._in(folder).get(name)

    def names(self, folder: str) -> list[str]:
        """Return the names in a folder, in order."""
        return sorted(self._in(folder))

    def keys(self, key: str) -> list[str]:
        """Return the key itself if it is an object, else the keys of all objects below it."""
        with self._lock:
            if self.size(key) is not None:
                return [key]
            return [key_ for name in self.names(key) for key_ in self.keys(f"{key}/{name}")]

    def add(self, key: str, size: int) -> None:
        """Note an object that was put."""
        with self._lock:
            if _root(key.rpartition("/")[0]) in self._seen:
                self._add(key, size)

    def remove(self, key: str) -> None:
        """Note an object that was deleted, and drop folders that are now empty."""
        with self._lock:
            while key:
                folder, _, name = key.rpartition("/")
                there = self._folders.get(folder, {})
                there.pop(name, None)
                if there:
                    break
                self._folders.pop(folder, None)
                key = folder

    def _in(self, folder: str) -> dict[str, int | None]:
        with self._lock:
            root = _root(folder)
            seen = self._seen.get(root)
            if seen is None or not (self.is_ours or monotonic() - seen < FRESH_SECONDS):
                self._list(root)
            return self._folders.get(folder, {})

    def _list(self, root: str) -> None:
        for folder in [folder for folder in self._folders if folder == root or folder.startswith(f"{root}/")]:
            del self._folders[folder]
        for key, size in self._look(root):
            self._add(key, size)
        self._seen[root] = monotonic()

    def _add(self, key: str, size: int | None) -> None:
        while key:
            folder, _, name = key.rpartition("/")
            there = self._folders.setdefault(folder, {})
            if name in there and there[name] is None:
                break  # a folder, known with its parents; some tools put an empty object under its name
            there[name] = size
            key, size = folder, None


def _root(folder: str) -> str:
    return "/".join(folder.split("/")[:_LEVELS])
