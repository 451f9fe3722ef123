"""Find raw pages that are not on disk as they were received, before they are used, so that they are read again."""

from __future__ import annotations

import logging

from wms_sync.layout import Layout
from wms_sync.shipments.flatten.window import is_flattened
from wms_sync.shipments.read.raw import damage, is_dropped, mend_manifest, open_again, size_differs
from wms_sync.state.store import COMPLETE_STATES, StateStore

logger = logging.getLogger(__name__)
DAMAGED = "%(file)s of window %(window)s is damaged (%(reason)s): the window will be read again"


def give_up_window(layout: Layout, store: StateStore, window_id: str) -> None:
    """Abandon a window with damaged pages, in the state store and on disk: its interval is no longer covered."""
    open_again(store.turn, layout, window_id)
    store.abandon(window_id)


def mend_manifests(layout: Layout, store: StateStore) -> None:
    """Make the manifests of complete windows again that are missing, damaged or of other pages."""
    for window in store.windows(*COMPLETE_STATES):
        landed = store.pages(window.id)
        if landed and mend_manifest(store.turn, layout, window, landed):
            logger.warning("the manifest of window %(window)s was damaged and is made again", {"window": window.id})


def damaged_pages(layout: Layout, store: StateStore) -> dict[str, str]:
    """Return what is wrong with each damaged page, by ``<window>/<file>``.

    Pages that are still to be flattened are checked by hash, others by size. Pages that were dropped on purpose do not
    count as damaged.
    """
    found = {}
    for window in store.windows("reading", *COMPLETE_STATES):
        if is_dropped(layout, window.id):
            continue
        look = size_differs if is_flattened(layout, window.id) else damage
        for page in store.pages(window.id):
            if (reason := look(layout, page)) is not None:
                found[f"{window.id}/{page.file}"] = reason
    return found
