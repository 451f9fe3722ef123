"""What a window is read from: the pages, the ids that must have been landed, and single records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from wms_sync.service.query import Page


class Source(Protocol):
    """A ``Query`` of list shipments, or a part of one."""

    @property
    def per_request(self) -> int:
        """Return the most records that ``these`` may be asked for."""

    def first(self) -> Page:
        """Return the first page."""

    def at(self, page_cursor: int, *, counted: bool) -> Page:
        """Return a later page, with the service's count of the whole window if ``counted``."""

    def rest(self, last_id: int) -> Page | None:
        """Return the first page of what the service has above the last id that landed; None if there is nothing."""

    def listed(self) -> Iterator[Page]:
        """Yield pages with the ids that must have been landed."""

    def these(self, ids: Sequence[int]) -> Page:
        """Return a page with those of these records that the service has."""

    def which(self, ids: Sequence[int]) -> frozenset[int]:
        """Return the ids of those of these records that the service has."""
