"""Raw pages that are not on disk as they were received: found before anything is made of them, and asked for again."""

from __future__ import annotations

from wms_sync.extract.raw import damage, is_dropped, open_again, size_differs
from wms_sync.flatten.window import is_flattened
from wms_sync.layout import Layout
from wms_sync.state.store import COMPLETE_STATES, StateStore


def give_up(layout: Layout, store: StateStore, window_id: str) -> None:
    """A window whose pages are damaged is not covered any more; neither here nor on disk."""
    open_again(store.turn, layout.window(window_id))
    store.abandon(window_id)


def damaged_pages(layout: Layout, store: StateStore) -> dict[str, str]:
    """What is wrong with which page, as ``<window>/<file>``: by its hash while it is to be flattened, else by its size.

    Pages that were dropped on purpose are none of these.
    """
    found = {}
    for window in store.windows("reading", *COMPLETE_STATES):
        folder = layout.window(window.id)
        if is_dropped(folder):
            continue
        look = size_differs if is_flattened(layout, window.id) else damage
        for page in store.pages(window.id):
            if (reason := look(folder, page)) is not None:
                found[f"{window.id}/{page.file}"] = reason
    return found
