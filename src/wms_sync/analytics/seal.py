"""Tell whether the tables are as the last load left them, or gone, without reading them.

DuckDB writes a new header with each checkpoint: its number, and where the metadata is. So the header of a file that was
written to differs, and a copy of a file has the same. The state store keeps the one that the last load left, so a
restored state store knows another. To count the rows of fifty million takes a third of a second, and the memory to know
which of them are deleted.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from wms_sync.analytics.target import Target
from wms_sync.layout import log_of
from wms_sync.state.store import StateStore

HEADERS = 3 * 4096
"""Bytes of DuckDB's headers: of the file, and of its two latest checkpoints."""
TABLES = "tables"
"""The name of what the state store keeps: the bytes that were published, and the seal."""
PUBLISHED = "published"
"""The name of what the state store keeps of the last load that published: the bytes, and the name of the target."""


def seal_of(path: Path) -> str | None:
    """Return what tells a closed file from all others, and not from its copies; None if it is not whole."""
    if not path.exists() or log_of(path).exists():
        return None
    with path.open("rb") as file:
        return hashlib.sha256(file.read(HEADERS)).hexdigest()


def keep_seal(store: StateStore, seal: str | None, size: int) -> None:
    """Note what the last load left."""
    if seal is not None:
        store.observe(TABLES, size, seal)


def is_sealed(store: StateStore, seal: str | None) -> bool:
    """Return whether nobody has written to the tables with this seal since the last load."""
    kept = store.observation(TABLES)
    return kept is not None and kept.about == seal


def note_published(store: StateStore, target: Target, size: int) -> None:
    """Record that the target has been published."""
    store.observe(PUBLISHED, size, target.name)


def is_gone(store: StateStore, target: Target) -> bool:
    """Return whether the target was published and was deleted since."""
    noted = store.observation(PUBLISHED)
    return noted is not None and noted.about == target.name and not target.is_published
