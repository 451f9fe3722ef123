"""Examine pages as they land: what the reader has unpacked need not be read, hashed and unpacked once more.

The objects of a window whose pages all pass the gate lie in files when its last page has landed, and a flattener reads
them. Whatever else comes (a window that was half read before, a page that does not pass, a disk that is full) leaves
the window to the flattener, which reads its pages from their files.
"""

from __future__ import annotations

import shutil
import threading
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import duckdb

from wms_sync.flatten.gate import Examined, Gate
from wms_sync.flatten.objects import Lines
from wms_sync.flatten.shape import Shape, create_types, shape_of
from wms_sync.flatten.split import SHARED, Seen
from wms_sync.state.store import LandedPage
from wms_sync.state.turns import Turn

MOST_BYTES = 600_000_000
"""How much JSON may lie in the files: of four windows that are read, and of those that wait to be flattened."""
MOST_MISFITS = 3
"""After so many windows with a page that did not pass, the service is not as the types say, and no page is examined."""


class ExaminedWindow:
    """The objects of a window's pages so far. Of an object that pages repeat, the newest page counts."""

    def __init__(self, folder: Path, shape: Shape) -> None:
        self.pages: list[tuple[int, str]] = []
        self.bytes = 0
        self.seen: Seen = {kind: {} for kind in SHARED}
        self._newest: dict[str, dict[bytes, int]] = {kind: {} for kind in SHARED}
        self._folder = folder
        self._lines = Lines(folder, shape.kinds)

    def add(self, page: LandedPage, examined: Examined) -> None:
        """Add a page that passed the gate."""
        own = {kind: objects for kind, objects in examined.objects.items() if kind not in SHARED}
        self._lines.add(page.number, own)
        for kind, shared in examined.shared.items():
            self.seen[kind] |= shared
            self._newest[kind] |= dict.fromkeys((*shared, *examined.again[kind]), page.number)
        self.pages.append((page.number, page.sha256))
        self.bytes += page.content_bytes

    def lines(self) -> Lines:
        """Return the files of all objects, once the last page was added."""
        for kind, objects in self._newest.items():
            by_page: dict[int, list[bytes]] = defaultdict(list)
            for one, number in objects.items():
                by_page[number].append(one.replace(b"\n", b" "))
            for number, some in by_page.items():
                self._lines.add(number, {kind: some})
        return self._lines

    def delete(self) -> None:
        """Delete the files that nobody took."""
        shutil.rmtree(self._folder, ignore_errors=True)


class Landing:
    """Examines pages of windows with several pages; thread-safe, one page at a time, since the gate is Python."""

    def __init__(self, turn: Turn, *, batch_bytes: int) -> None:
        self._turn = turn
        self._batch_bytes = batch_bytes
        self._lock = threading.Lock()
        self._shape: Shape | None = None
        self._gate: Gate | None = None
        self._windows: dict[str, ExaminedWindow] = {}
        self._misfits = 0

    def add(self, page: LandedPage, content: bytes) -> None:
        """Examine a page that has just landed, unless an earlier page of its window was left out."""
        with self._lock:
            window = self._window_of(page)
            if window is None:
                return
            try:
                fits = self._examine(window, page, content)
            except OSError:  # the disk is full, or the turn is over: whoever needs the disk will say so
                fits = False
            if not fits:
                self._misfits += 1
                self._drop(page.window_id)

    @contextmanager
    def examined(self, window_id: str, landed: Sequence[LandedPage]) -> Iterator[Lines | None]:
        """Yield the objects of a window if each of these pages, and no other, was examined; delete them afterwards."""
        with self._lock:
            window = self._windows.get(window_id)
        is_whole = window is not None and window.pages == [(page.number, page.sha256) for page in landed]
        lines = None
        try:
            if window is not None and is_whole:
                with suppress(OSError):
                    lines = window.lines()
            yield lines
        finally:
            with self._lock:
                self._drop(window_id)

    def _window_of(self, page: LandedPage) -> ExaminedWindow | None:
        """Return the window that the page continues; None if it is not to be examined."""
        window = self._windows.get(page.window_id)
        if window is None and page.number == 1 and page.next_cursor is not None and self._misfits < MOST_MISFITS:
            folder = self._turn.temporary("landing")
            with suppress(OSError):
                window = self._windows[page.window_id] = ExaminedWindow(folder, self._known_shape())
        if window is None or page.number != len(window.pages) + 1:
            return None
        everything = sum(one.bytes for one in self._windows.values()) + page.content_bytes
        if everything > MOST_BYTES or window.bytes + page.content_bytes > self._batch_bytes:
            self._drop(page.window_id)
            return None
        return window

    def _examine(self, window: ExaminedWindow, page: LandedPage, content: bytes) -> bool:
        if self._gate is None:
            self._gate = Gate(self._known_shape())
        examined = self._gate.examine(content, window.seen)
        if examined.fits:
            window.add(page, examined)
        return examined.fits

    def _known_shape(self) -> Shape:
        if self._shape is None:
            with duckdb.connect(config={"threads": "1"}) as connection:
                create_types(connection)
                self._shape = shape_of(connection)
        return self._shape

    def _drop(self, window_id: str) -> None:
        window = self._windows.pop(window_id, None)
        if window is not None:
            window.delete()
