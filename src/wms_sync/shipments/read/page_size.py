"""The page size of a run: the setting, or the size that the service was found to accept, remembered for a day."""

from __future__ import annotations

from datetime import timedelta

from wms_sync.service.page_size import PageSize
from wms_sync.settings import Settings
from wms_sync.shipments.read.lately import was_within
from wms_sync.shipments.read.warnings import Warnings
from wms_sync.state.store import StateStore

LARGEST_PAGE = "largest_page"
ASKED_AGAIN = timedelta(hours=20)
"""After this the setting is tried again: once a night, however often a sync runs."""


def page_size(settings: Settings, store: StateStore, warnings: Warnings) -> PageSize:
    """Return the page size for a run; it warns if the service accepts only smaller pages than the setting."""
    wanted = settings.page_size

    def found(size: int) -> None:
        if size != known:
            store.observe(LARGEST_PAGE, size, str(wanted))
        warnings.warn(
            f"The service refuses pages of {wanted} shipments (WMS_PAGE_SIZE) and accepts {size}, so pages of {size} "
            f"are read. Set WMS_PAGE_SIZE={size}."
        )

    known = _known(store, wanted)
    return PageSize(wanted, known=known, found=found)


def _known(store: StateStore, wanted: int) -> int | None:
    seen = store.observation(LARGEST_PAGE)
    if seen is None or seen.about != str(wanted) or not was_within(ASKED_AGAIN, seen.observed_at):
        return None
    return int(seen.value)
