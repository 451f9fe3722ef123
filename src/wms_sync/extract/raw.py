"""Raw pages on disk: ``raw/shipments/<window>/page-00001.json.gz`` and ``manifest.json``.

A page is written once, as received, and recorded in the state store after it is durable. The manifest is written when
the window is complete; it says all that the state store knows of the window, so that one can be made from the other.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path

import msgspec

from wms_sync.api.shipments import Page
from wms_sync.durable import make_private
from wms_sync.layout import MANIFEST, PAGES_DROPPED, page_name
from wms_sync.state.store import LandedPage, Window
from wms_sync.state.turns import Turn


@dataclass(frozen=True)
class Manifest:
    """A window that is complete on disk, as the state store knows it."""

    window: Window
    pages: tuple[LandedPage, ...]


def land(turn: Turn, folder: Path, number: int, page: Page, next_cursor: int | None) -> LandedPage:
    """Write a page of the folder's window durably; returns what is to be recorded of it."""
    name = page_name(number, page.body.suffix)
    turn.write_whole(make_private(folder) / name, page.body.landed)
    return LandedPage(
        window_id=folder.name,
        number=number,
        file=name,
        next_cursor=None if next_cursor is None else str(next_cursor),
        records=page.envelope.records,
        last_id=page.envelope.ids[-1] if page.envelope.ids else None,
        bytes=len(page.body.landed),
        content_bytes=len(page.body.content),
        sha256=hashlib.sha256(page.body.landed).hexdigest(),
        served_at=page.served_at,
    )


def damage(folder: Path, page: LandedPage) -> str | None:
    """What is wrong with a page on disk; None when it is as it was received."""
    if (reason := size_differs(folder, page)) is not None:
        return reason
    stored = (folder / page.file).read_bytes()
    if hashlib.sha256(stored).hexdigest() != page.sha256:
        return "its SHA-256 is not the one of what was received"
    return None


def size_differs(folder: Path, page: LandedPage) -> str | None:
    """The same without a look into the file: what is altered and as long as it was is not found."""
    try:
        size = (folder / page.file).stat().st_size
    except FileNotFoundError:
        return "it is missing"
    return None if size == page.bytes else f"it has {size} bytes and had {page.bytes} when it was received"


def write_manifest(turn: Turn, folder: Path, manifest: Manifest) -> None:
    """Close a window on disk."""
    turn.write_whole(folder / MANIFEST, msgspec.json.format(msgspec.json.encode(asdict(manifest)), indent=1))


def read_manifest(path: Path) -> Manifest:
    """What ``write_manifest`` wrote."""
    return msgspec.json.decode(path.read_bytes(), type=Manifest)


def open_again(turn: Turn, folder: Path) -> None:
    """Take back that a window is complete on disk."""
    turn.take_away(folder / MANIFEST)


def rewrite_manifest(turn: Turn, folder: Path, window: Window, pages: tuple[LandedPage, ...]) -> None:
    """Bring the manifest of a window to what its pages are now; one that is not complete on disk has none."""
    path = folder / MANIFEST
    if not path.exists():
        return
    before = read_manifest(path)
    after = Manifest(replace(before.window, bytes=window.bytes), pages)
    if after != before:
        write_manifest(turn, folder, after)


def drop_pages(turn: Turn, folder: Path, when: datetime) -> int:
    """Delete the pages of a window, on purpose and for good; returns their bytes. Its manifest stays."""
    turn.write_whole(folder / PAGES_DROPPED, msgspec.json.encode({"dropped_at": when}))
    dropped = 0
    for path in folder.glob("page-*"):
        dropped += path.stat().st_size
        turn.take_away(path)
    return dropped


def is_dropped(folder: Path) -> bool:
    """Whether the pages of a window were deleted on purpose; what is missing otherwise is damage."""
    return (folder / PAGES_DROPPED).exists()
