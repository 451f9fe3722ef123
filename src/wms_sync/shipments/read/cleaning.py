"""The removal of personal data from the pages of a read, before they are written."""

from __future__ import annotations

from collections.abc import Collection

from msgspec.structs import replace

from wms_sync.privacy.scrub import without_orders, without_persons
from wms_sync.service.body import packed
from wms_sync.service.query import Page


class Cleaner:
    """Removes from the pages of one read the personal data that must not be stored; thread-safe."""

    def __init__(self, forgotten: Collection[int], *, include_addresses: bool) -> None:
        self._forgotten = forgotten
        self._include_addresses = include_addresses

    def __call__(self, page: Page) -> Page:
        """Return the page without personal data that must not be stored."""
        clean = self._clean(page)
        return page if clean is None else replace(page, body=packed(clean))

    def _clean(self, page: Page) -> bytes | None:
        content = page.body.content
        impersonal = None
        if page.envelope.suspect and not self._include_addresses:
            impersonal = without_persons(content)
        forgotten = without_orders(impersonal or content, self._forgotten)
        return impersonal if forgotten is None else forgotten
