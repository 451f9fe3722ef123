"""Files in the data folder: a key is a path below it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path

from msgspec import Struct

from wms_sync.storage.durable import accessing, make_private
from wms_sync.storage.interface import Writer


class FolderFiles(Struct, frozen=True):
    """``Files`` below a folder, each under the key that was given. The turn's own folder fences off late writers."""

    root: Path

    def in_turn(self, writer: Writer) -> AbstractContextManager[None]:
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
        """Move a file from the turn's folder to its key."""
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
