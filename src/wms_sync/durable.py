"""Files that are either there whole or not at all, whatever is killed when."""

from __future__ import annotations

import os
from pathlib import Path

PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700


def make_private(folder: Path) -> Path:
    """The folder, made if missing, readable by its owner only."""
    folder.mkdir(parents=True, exist_ok=True, mode=PRIVATE_FOLDER)
    return folder


def write_whole(path: Path, content: bytes) -> None:
    """Write to a temporary name, sync, rename into place."""
    temporary = path.with_name(f".{path.name}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, PRIVATE_FILE)
    with open(descriptor, "wb") as file:  # noqa: PTH123 - from a descriptor, for the mode
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    put_in_place(temporary, path)


def put_in_place(temporary: Path, path: Path) -> None:
    """Rename a finished, synced file into place and sync the folder, so that the name survives too."""
    temporary.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make renames in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
