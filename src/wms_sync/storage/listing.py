"""A cached listing of a store: one request for each thousand objects, instead of one for each lookup."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from time import monotonic

FRESH_SECONDS = 10.0
"""A process that only reads lists again after this time; the process that may write knows every change."""
_LEVELS = 2
"""Folders of this level are listed with everything below them: ``raw/shipments``, ``parquet/orders``."""

Listed = Iterable[tuple[str, int]]


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
        """Return the key itself if it is an object, and the keys of all objects below it."""
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
