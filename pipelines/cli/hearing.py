"""Keep what a command does apart from whether somebody hears of it.

A log on a full disk, a terminal that is gone and a closed descriptor end no run: what cannot be written to standard
error is given up. A descriptor that nobody opened is opened, because the next file would get its number, and whatever
writes to standard error would write into it.
"""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

STANDARD = (0, 1, 2)
STANDARD_ERROR = 2


class _MaybeHeard(io.FileIO):
    """A descriptor that takes everything, and passes on what can be written."""

    def write(self, data: ReadableBuffer, /) -> int:
        """Return how much is done with."""
        try:
            written = super().write(data)
        except OSError:
            written = None
        return memoryview(data).nbytes if written is None else written


def run_unheard() -> None:
    """Let the rest of this process go on whatever becomes of its standard error. Call it before a file is opened."""
    for descriptor in STANDARD:
        _open_if_closed(descriptor)
    if sys.stderr is sys.__stderr__:  # else somebody listens in this process
        raw = io.BufferedWriter(_MaybeHeard(STANDARD_ERROR, "wb", closefd=False))
        sys.stderr = io.TextIOWrapper(raw, sys.getfilesystemencoding(), "backslashreplace", line_buffering=True)


def _open_if_closed(descriptor: int) -> None:
    try:
        os.fstat(descriptor)
    except OSError:
        os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free, which is this one
