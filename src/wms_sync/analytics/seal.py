"""Tell whether a file is as the last load left it, without reading its tables.

DuckDB writes a new header with each checkpoint: its number, and where the metadata is. So the header of a file that was
written to differs, and a copy of a file has the same. Counting the rows of fifty million takes a third of a second, and
the memory to know which of them are deleted.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from wms_sync.layout import Layout, log_of
from wms_sync.state.turns import Turn

HEADERS = 3 * 4096
"""Bytes of DuckDB's headers: of the file, and of its two latest checkpoints."""


def seal(turn: Turn, layout: Layout, path: Path) -> None:
    """Note what the closed file ``path`` begins with."""
    turn.write_whole(layout.seal, _digest(path).encode())


def is_sealed(layout: Layout, path: Path) -> bool:
    """Return whether the closed file ``path``, or the one it is a copy of, is the one that was sealed last."""
    if not layout.seal.exists() or not path.exists() or log_of(path).exists():
        return False
    return layout.seal.read_text(encoding="utf-8") == _digest(path)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.sha256(file.read(HEADERS)).hexdigest()
