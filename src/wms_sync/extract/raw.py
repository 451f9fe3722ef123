"""Raw pages on disk: ``raw/shipments/<window>/page-00001.json.gz`` and ``manifest.json``.

A page is written once, as received, and recorded in the state store after it is durable. The manifest is written when
the window is complete; it says all that the state store knows of the window, so that one can be made from the other.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from pathlib import Path

import msgspec

from wms_sync.api.shipments import Page
from wms_sync.durable import make_private, write_whole
from wms_sync.state.store import LandedPage, Window

MANIFEST = "manifest.json"


def land(folder: Path, window_id: str, number: int, page: Page, next_cursor: str | None) -> LandedPage:
    """Write a page durably; returns what is to be recorded of it."""
    name = f"page-{number:05d}.{page.body.suffix}"
    write_whole(make_private(folder) / name, page.body.landed)
    return LandedPage(
        window_id=window_id,
        number=number,
        file=name,
        next_cursor=next_cursor,
        records=page.envelope.records,
        last_id=page.envelope.ids[-1] if page.envelope.ids else None,
        bytes=len(page.body.landed),
        content_bytes=len(page.body.content),
        sha256=hashlib.sha256(page.body.landed).hexdigest(),
        served_at=page.served_at,
    )


def write_manifest(folder: Path, window: Window, pages: tuple[LandedPage, ...]) -> None:
    """Close a window on disk."""
    content = {"window": asdict(window), "pages": [asdict(page) for page in pages]}
    write_whole(folder / MANIFEST, msgspec.json.format(msgspec.json.encode(content), indent=1))
