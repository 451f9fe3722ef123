"""Copies of objects on this machine's disk, under their keys: DuckDB reads files. They may vanish at any time."""

from __future__ import annotations

import atexit
import secrets
import shutil
import threading
from pathlib import Path

from wms_sync.storage.durable import make_private

MOST_BYTES = 1_000_000_000
"""Copies that nobody reads are kept up to this size: what was flattened is merged, and what was merged is checked."""


class Scratch:
    """A folder of copies. Thread-safe. What is in use is never deleted; of what is released, the oldest goes first."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        self._in_use: dict[str, int] = {}
        self._released: dict[str, int] = {}

    @classmethod
    def of_reader(cls, parent: Path) -> Scratch:
        """Return a scratch of a process that has no turn; it is deleted when the process ends."""
        folder = parent / secrets.token_hex(4)
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        return cls(folder)

    def path(self, key: str) -> Path:
        """Return where the copy of an object is, or would be."""
        return self.folder / key

    def holds(self, key: str) -> bool:
        """Return whether there is a copy; it is in use then."""
        with self._lock:
            if key in self._released:
                self._in_use[key] = self._released.pop(key)
            return key in self._in_use and self.path(key).exists()

    def write(self, key: str, content: bytes) -> None:
        """Make a copy, which is in use."""
        path = self.path(key)
        temporary = make_private(path.parent) / f".{secrets.token_hex(4)}"
        temporary.write_bytes(content)
        temporary.replace(path)
        with self._lock:
            self._in_use[key] = len(content)

    def take(self, made: Path, key: str) -> None:
        """Take a file of this folder as a copy, which nobody uses yet."""
        made.replace(self.path(key))
        with self._lock:
            self._in_use.pop(key, None)
            self._released[key] = self.path(key).stat().st_size
            self._make_room()

    def release(self, key: str) -> None:
        """Note that an object, or all below a folder, is not used any more."""
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
