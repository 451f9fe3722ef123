"""The place of raw pages and Parquet files, as the last run knew it: another one without them is a mistake.

A run would find every file missing there, give all windows up and read everything again.
"""

from __future__ import annotations

from wms_sync.errors import SettingsError
from wms_sync.grammar import count_of
from wms_sync.settings import Settings
from wms_sync.state.store import StateStore
from wms_sync.targets.target import target_of

PLACE = "files_in"
"""The name of what the state store keeps: how many windows there were when the place was first used, and its end."""
IN_DATA_FOLDER = "the data folder"
_END = 64
"""The last characters of a place, which tell it from others."""


class FilesElsewhere(SettingsError):
    """``WMS_FILES_URL`` was changed, and the files are where they were."""

    def __init__(self, before: str, now: str, windows: int) -> None:
        shown = f"...{before}" if len(before) == _END else before
        super().__init__(
            f"Raw pages and Parquet files were in {shown} until now, and {now} has none of their files "
            f"({count_of(windows, 'window')}). "
            "Nothing was read, loaded or changed. Set WMS_FILES_URL as it was. To move them, copy raw/, parquet/ and "
            "forgotten-orders.json as they are, or use `wms-sync backup` and `wms-sync restore`. If they are lost, "
            "leave WMS_FILES_URL as it was: the next runs read everything again."
        )


def refuse_another_place(settings: Settings, store: StateStore) -> None:
    """Raise ``FilesElsewhere`` if the place is another one than before and has nothing of what was there.

    Otherwise remember it.
    """
    refuse_place_without_files(settings, store)
    now = _named(settings)
    known = store.observation(PLACE)
    if known is None or known.about != now[-_END:]:
        store.observe(PLACE, len(_with_pages(store)), now[-_END:])


def refuse_place_without_files(settings: Settings, store: StateStore) -> None:
    """Do the same for those who only look."""
    now = _named(settings)
    known = store.observation(PLACE)
    if known is None or known.about == now[-_END:]:
        return
    with_pages = _with_pages(store)
    if with_pages and not with_pages.intersection(settings.layout.windows()):
        raise FilesElsewhere(known.about, now, len(with_pages))


def refuse_places(settings: Settings, store: StateStore) -> None:
    """Raise what a run would raise because files or tables lie elsewhere, or are another installation's."""
    refuse_place_without_files(settings, store)
    target_of(settings).refuse_others()


def _named(settings: Settings) -> str:
    return settings.files_url or IN_DATA_FOLDER


def _with_pages(store: StateStore) -> set[str]:
    return {window.id for window in store.windows() if window.pages}
