"""Remember the place of raw pages and Parquet files, and refuse a new place without them as a mistake.

There a run would find every file missing, discard all windows and read everything again.
"""

from __future__ import annotations

from wms_sync.errors import SettingsError
from wms_sync.grammar import count_of
from wms_sync.settings import Settings
from wms_sync.state.store import StateStore
from wms_sync.targets.target import target_of

PLACE = "files_in"
"""The observation in the state store: the number of windows when the place was first used, and the end of its name."""
IN_DATA_FOLDER = "the data folder"
_END = 64
"""The number of last characters of a place's name to store; they distinguish it from others."""


class FilesElsewhere(SettingsError):
    """``WMS_FILES_URL`` was changed, but the files were not moved."""

    def __init__(self, before: str, now: str, windows: int) -> None:
        shown = f"...{before}" if len(before) == _END else before
        super().__init__(
            f"Raw pages and Parquet files were in {shown} until now, and {now} has none of their files "
            f"({count_of(windows, 'window')}). "
            "Nothing was read, loaded or changed. Restore the old WMS_FILES_URL. To move the files, copy raw/, "
            "parquet/ and forgotten-orders.json unchanged, or use `wms-sync backup` and `wms-sync restore`. If the "
            "files are lost, keep the old WMS_FILES_URL: the next runs read everything again."
        )


def refuse_another_place(settings: Settings, store: StateStore) -> None:
    """Raise ``FilesElsewhere`` if the place has changed and has none of the files. Otherwise remember it."""
    refuse_place_without_files(settings, store)
    now = _named(settings)
    known = store.observation(PLACE)
    if known is None or known.about != now[-_END:]:
        store.observe(PLACE, len(_with_pages(store)), now[-_END:])


def refuse_place_without_files(settings: Settings, store: StateStore) -> None:
    """Raise ``FilesElsewhere`` as ``refuse_another_place`` does, without remembering the place."""
    now = _named(settings)
    known = store.observation(PLACE)
    if known is None or known.about == now[-_END:]:
        return
    with_pages = _with_pages(store)
    if with_pages and not with_pages.intersection(settings.layout.windows()):
        raise FilesElsewhere(known.about, now, len(with_pages))


def refuse_places(settings: Settings, store: StateStore) -> None:
    """Raise the error of a run whose files or tables are elsewhere, or belong to another installation."""
    refuse_place_without_files(settings, store)
    target_of(settings).refuse_others()


def _named(settings: Settings) -> str:
    return settings.files_url or IN_DATA_FOLDER


def _with_pages(store: StateStore) -> set[str]:
    return {window.id for window in store.windows() if window.pages}
