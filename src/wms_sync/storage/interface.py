"""The protocol of files: keys, what can be done with a file, and who may change it.

A name carries the first digits of its content's hash: ``page-00005.json.gz`` becomes ``page-00005-1f3a9c04.json.gz``.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Literal, Protocol


class Writer(Protocol):
    """The right to write: a turn. Its methods raise ``TakenOver`` once another writer has it."""

    folder: Path

    def check(self) -> None:
        """Look whether the turn is still ours."""

    def temporary(self, name: str) -> Path:
        """Return a unique path in the turn's folder."""

    def write_whole(self, path: Path, content: bytes) -> None:
        """Write a file atomically."""

    def put_in_place(self, temporary: Path, path: Path) -> None:
        """Rename a synced file of the turn's folder."""

    def take_away(self, path: Path) -> None:
        """Delete a file, or a folder with its content."""


class Files(Protocol):
    """Files by key. A file that is put is durable when the method returns, and exists either whole or not at all.

    Where a file is put again, the place may give it another key, which is returned: whoever names files, as the state
    store and the manifests do, names the key that was returned.
    """

    def in_turn(self, writer: Writer) -> AbstractContextManager[None]:
        """Return a block in which this process has the turn, and nobody else changes anything."""

    def named(self, key: str, content: bytes) -> str:
        """Return the key that ``put`` gives this content."""

    def put(self, writer: Writer, key: str, content: bytes) -> str:
        """Put a file that is never changed. Return its key."""

    def put_file(self, writer: Writer, key: str, made: Path) -> str:
        """Do the same with a synced file of the turn's folder, which is gone then."""

    def workplace(self, writer: Writer) -> Path:
        """Return the folder below which files may be made durably under their keys, for ``keep``."""

    def keep(self, writer: Writer, keys: Sequence[str]) -> list[str]:
        """Put files that were made in the workplace. Return their keys."""

    def replace(self, writer: Writer, key: str, content: bytes) -> None:
        """Put a record, in place of the one that the key has."""

    def delete(self, writer: Writer, key: str) -> None:
        """Delete a file, or a folder with its content; do nothing if it does not exist."""

    def get(self, key: str) -> bytes:
        """Return the content of a file. Raise ``FileNotFoundError``."""

    def size(self, key: str) -> int | None:
        """Return the size of a file in bytes; None if it does not exist."""

    def names(self, folder: str) -> list[str]:
        """Return the names of the files and folders in a folder, in order; none if it does not exist."""

    def local(self, keys: Sequence[str]) -> list[str]:
        """Return paths on this machine with the content of these files, for DuckDB.

        A file that does not exist may have a path all the same.
        """

    def release(self, key: str) -> None:
        """Note that nobody reads the paths any more that ``local`` gave for a file, or for all below a folder."""

    def refuse_versions(self) -> None:
        """Raise ``VersionsKept`` if what is deleted stays somewhere."""

    def examined(self) -> tuple[Literal["note", "warning", "error"], str] | None:
        """Try the place out, and say how it is; None if there is nothing to try. Raise ``FilesUnavailable``."""

    def where(self, key: str) -> str:
        """Return where a file lies, for a person who looks for it."""


_DIGITS = 8
_MARK = re.compile(rf"-[0-9a-f]{{{_DIGITS}}}(?=\.)")


def marked(key: str, content: bytes) -> str:
    """Return the key with the first digits of the content's SHA-256, in place of those that it may have."""
    folder, _, name = key.rpartition("/")
    stem, _, suffix = unmarked(name).partition(".")
    return f"{folder}/{stem}-{hashlib.sha256(content).hexdigest()[:_DIGITS]}.{suffix}"


def unmarked(name: str) -> str:
    """Return the name without such digits."""
    return _MARK.sub("", name)
