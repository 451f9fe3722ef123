"""Files in object storage (S3, Google Cloud Storage, Azure), through obstore.

The name of a file carries the first digits of its content's SHA-256 (``page-00005-1f3a9c04.json.gz``) and is put only
if nobody has it, so a writer that was taken over overwrites nothing, and what it deletes is not what was put since. A
record (a manifest) keeps its name. It is replaced only as it was seen before the turn was checked: a writer that slept
meanwhile is refused by the store.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import obstore
from msgspec import Struct
from obstore.exceptions import (
    AlreadyExistsError,
    BaseError,
    InvalidPathError,
    PermissionDeniedError,
    PreconditionError,
    UnauthenticatedError,
)
from obstore.store import ObjectStore

from wms_sync.storage.errors import FilesRefused, FilesUnavailable, NameTaken, OddName, VersionsKept
from wms_sync.storage.interface import Writer, marked
from wms_sync.storage.listing import Listing
from wms_sync.storage.scratch import Scratch

if TYPE_CHECKING:
    from obstore import ObjectMeta

T = TypeVar("T")
AT_ONCE = 8
"""Requests side by side: a batch has a file for each table."""
REPLACED_AT_MOST = 5
NO_VERSION = "null"
"""What S3 calls the version of an object that was put while the bucket kept none."""


class Probe(Struct, frozen=True):
    """What a store was found to do: refuse a second object of one name, and keep versions of what is deleted."""

    refuses_a_second: bool
    keeps_versions: bool


class BucketFiles:
    """``Files`` below a prefix of a bucket; one for each process and place.

    ``url`` names the place for people, ``parent`` is the folder for copies while the process has no turn.
    ``is_conditional``: the store can replace an object as it was seen; ``numbers_versions``: it gives each object a
    version, whether it keeps earlier ones or not.
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
    def in_turn(self, writer: Writer) -> Iterator[None]:
        """Look at the store anew, and use the turn's own folder; nobody else changes anything inside the block."""
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
        """Put an object, unless it is there. Raise ``NameTaken`` if other content has its name."""
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
        """Put the content of a file."""
        put = self.put(writer, key, made.read_bytes())
        made.unlink()
        return put

    def workplace(self, writer: Writer) -> Path:  # the turn's folder, by in_turn
        """Return the folder of copies."""
        return self._scratch.folder

    def keep(self, writer: Writer, keys: Sequence[str]) -> list[str]:
        """Put files of the folder of copies, several at once; they are copies then."""
        return _at_once(lambda key: self._keep(writer, key), keys)

    def replace(self, writer: Writer, key: str, content: bytes) -> None:
        """Put a record if it is still as it was before the turn was checked."""
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
        """Delete an object, or all below a folder."""
        there = self._listing.keys(key)
        if not there:
            return
        writer.check()
        self._asked("deleted", key, lambda: obstore.delete(self._store, there))
        for name in there:
            self._listing.remove(name)
            self._scratch.drop(name)

    def get(self, key: str) -> bytes:
        """Read an object."""
        return bytes(self._asked("read", key, lambda: obstore.get(self._store, key).bytes()))

    def size(self, key: str) -> int | None:
        """Return the size as it was listed."""
        return self._listing.size(key)

    def names(self, folder: str) -> list[str]:
        """Return the names as they were listed."""
        return self._listing.names(folder)

    def local(self, keys: Sequence[str]) -> list[str]:
        """Fetch what is not there yet, several objects at once."""
        missing = [key for key in dict.fromkeys(keys) if not self._scratch.holds(key)]
        _at_once(self._fetch, missing)
        return [str(self._scratch.path(key)) for key in keys]

    def release(self, key: str) -> None:
        """Let the copies go when there are too many."""
        self._scratch.release(key)

    def where(self, key: str) -> str:
        """Return the URL."""
        return f"{self.url}/{key}".rstrip("/")

    def refuse_versions(self) -> None:
        """Raise ``VersionsKept`` if the bucket is seen to keep what is deleted, or did when something was put."""
        if self.probe(f"probe-{secrets.token_hex(8)}").keeps_versions or self._has_versions():
            raise VersionsKept(self.url)

    def examined(self) -> tuple[Literal["note", "warning", "error"], str]:
        """Write, read, list and delete an object."""
        found = self.probe(f"probe-{secrets.token_hex(8)}")
        if not found.refuses_a_second:
            return (
                "error",
                f"{self.url} puts a second object over the first of the same name: it has no conditional put",
            )
        if found.keeps_versions:
            return "warning", f"{self.url} keeps old versions: what is dropped stays, and `wms-sync forget` is refused"
        return "note", f"{self.url} can be written, read, listed and deleted in, and puts nothing over what is there"

    def probe(self, key: str) -> Probe:
        """Try every kind of request on an object of this name, which is deleted then. Raise ``FilesUnavailable``."""
        put = self._asked("written", key, lambda: obstore.put(self._store, key, b"1", mode="create"))
        try:
            self._asked("read", key, lambda: obstore.get(self._store, key).bytes())
            list(self._look(key.rpartition("/")[0]))
            refuses = True
            try:
                self._asked("written", key, lambda: obstore.put(self._store, key, b"2", mode="create"))
                refuses = False
            except AlreadyExistsError:
                pass
        finally:
            self._asked("deleted", key, lambda: obstore.delete(self._store, key))
        return Probe(refuses, not self._numbers_versions and put["version"] not in (None, NO_VERSION))

    def _has_versions(self) -> bool:
        """Return whether an object has a version, which outlives it. The first one of each day is asked for."""
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
        """Return how to put an object only if it is as it is now."""
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
            for found in page:
                yield found["path"], found["size"]

    def _asked(self, what: str, key: str, request: Callable[[], T]) -> T:
        """Return what the store answers. An absent object and an unmet condition are answers of their own."""
        try:
            return request()
        except (AlreadyExistsError, PreconditionError):
            raise
        except FileNotFoundError as error:
            if what == "read":
                raise
            raise FilesRefused(what, self.where(key), error) from None
        except InvalidPathError as error:
            raise OddName(self.where(key), error) from None
        except (PermissionDeniedError, UnauthenticatedError) as error:
            raise FilesRefused(what, self.where(key), error) from None
        except (BaseError, OSError) as error:
            raise FilesUnavailable(what, self.where(key), error) from None


def _at_once(do: Callable[[str], T], keys: Sequence[str]) -> list[T]:
    """Do something for each key, several at a time; return the results in order."""
    if len(keys) < 2:
        return [do(key) for key in keys]
    with ThreadPoolExecutor(min(AT_ONCE, len(keys)), "files") as pool:
        return list(pool.map(do, keys))
