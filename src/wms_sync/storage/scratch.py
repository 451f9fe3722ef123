"""Copies of objects on the local disk, under their keys, for DuckDB, which reads files. They may vanish at any time."""

from __future__ import annotations

import atexit
import secrets
import shutil
import threading
from pathlib import Path

from wms_sync.storage.durable import make_private

MOST_BYTES = 1_000_000_000
"""Unused copies are kept up to this size, because the next step often reads the files of the last one."""


class Scratch:
    """A folder of copies. Thread-safe. Copies in use are never deleted; released copies are, the oldest first."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        self._in_use: dict[str, int] = {}
        self._released: dict[str, int] = {}

    @classmethod
    def of_reader(cls, parent: Path) -> Scratch:
        """Return a scratch folder for a process that has no turn; it is deleted when the process ends."""
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
