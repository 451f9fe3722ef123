"""Raw pages on disk: ``raw/shipments/<window>/page-00001.json.gz`` and ``manifest.json``.

A page is written once, as received, and recorded in the state store once it is durable. The manifest is written when
the window is complete. It contains all that the state store knows about the window, so that either can be rebuilt from
the other.
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
    """A window that is complete on disk, as recorded in the state store."""

    window: Window
    pages: tuple[LandedPage, ...]


def land(turn: Turn, folder: Path, number: int, page: Page, next_cursor: int | None) -> LandedPage:
    """Write a page into its window's folder durably. Return the record for the state store."""
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
    """Describe how a page on disk differs from what was received; return None if it does not."""
    if (reason := size_differs(folder, page)) is not None:
        return reason
    stored = (folder / page.file).read_bytes()
    if hashlib.sha256(stored).hexdigest() != page.sha256:
        return "its SHA-256 differs from that of the received page"
    return None


def size_differs(folder: Path, page: LandedPage) -> str | None:
    """Do the same by size only, without reading the file; an altered file of the same size is not detected."""
    try:
        size = (folder / page.file).stat().st_size
    except FileNotFoundError:
        return "it is missing"
    return None if size == page.bytes else f"it has {size} bytes and had {page.bytes} when it was received"


def write_manifest(turn: Turn, folder: Path, manifest: Manifest) -> None:
    """Write a window's manifest, which marks it complete on disk."""
    turn.write_whole(folder / MANIFEST, msgspec.json.format(msgspec.json.encode(asdict(manifest)), indent=1))


def read_manifest(path: Path) -> Manifest:
    """Read a manifest that ``write_manifest`` wrote."""
    return msgspec.json.decode(path.read_bytes(), type=Manifest)


def open_again(turn: Turn, folder: Path) -> None:
    """Delete a window's manifest, so that the window no longer counts as complete on disk."""
    turn.take_away(folder / MANIFEST)


def rewrite_manifest(turn: Turn, folder: Path, window: Window, pages: tuple[LandedPage, ...]) -> None:
    """Update the manifest of a window after its pages were rewritten; a window that is not complete has none."""
    path = folder / MANIFEST
    if not path.exists():
        return
    before = read_manifest(path)
    after = Manifest(replace(before.window, bytes=window.bytes), pages)
    if after != before:
        write_manifest(turn, folder, after)


def drop_pages(turn: Turn, folder: Path, when: datetime) -> int:
    """Delete the pages of a window deliberately and permanently. Return their size in bytes. The manifest stays."""
    turn.write_whole(folder / PAGES_DROPPED, msgspec.json.encode({"dropped_at": when}))
    dropped = 0
    for path in folder.glob("page-*"):
        dropped += path.stat().st_size
        turn.take_away(path)
    return dropped


def is_dropped(folder: Path) -> bool:
    """Return whether the pages of a window were deleted deliberately; otherwise an absent page is damage."""
    return (folder / PAGES_DROPPED).exists()
