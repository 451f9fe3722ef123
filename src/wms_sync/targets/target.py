"""The protocol of a target, the file or lake that holds the tables: what loads, reports and repairs need.

``target_of`` returns the target that the settings name. All code that reads or writes the tables goes through it, so
nothing else depends on whether they are in a file.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import Protocol

from wms_sync.settings import Settings
from wms_sync.state.leases import Lease
from wms_sync.state.store import StateStore
from wms_sync.targets.database import Maintained, Opened, Session
from wms_sync.targets.errors import AnalyticsError

PUBLISHED = "published"
"""The observation in the state store of the last load that published: the bytes, and the name of the target."""


class Loading(Protocol):
    """One load of the tables. Analysts see only what is published; changes that are not published are discarded.

    ``most`` is the maximum number of shipments in one load; None for no limit.
    """

    most: int | None

    def session(self) -> AbstractContextManager[Session]:
        """Open the tables for writing. May be called several times: ending a session may free its memory.

        Raise ``DatabaseOpenError`` or ``TablesNewer``.
        """

    def publish(self) -> int:
        """Replace the published tables. Return their size in bytes."""


class Target(Protocol):
    """The file or lake that holds the tables."""

    @property
    def name(self) -> str:
        """Return the name of the file or lake that analysts open."""

    @property
    def is_published(self) -> bool:
        """Return whether tables are published."""

    @property
    def published_at(self) -> datetime:
        """Return the time when the tables were published. Something must be published."""

    @property
    def version(self) -> int:
        """Return a number that changes with each publication. Something must be published."""

    @property
    def size(self) -> int:
        """Return the size of the published tables in bytes."""

    def published(self, *, memory_limit: str | None = None) -> Opened:
        """Open the published tables for reading; something must be published. Raise ``DatabaseOpenError``.

        With ``memory_limit``, queries take no more than that and spill into the data folder.
        """

    def refuse_others(self) -> None:
        """Raise the error that a load would raise if the tables are elsewhere or another installation replaced them."""

    def try_files(self) -> str | None:
        """Try a load's file operations where the tables are; return a sentence, None if no trial is needed.

        Raise ``AnalyticsError`` if no load could succeed.
        """

    def readers_in_the_way(self) -> tuple[int, ...]:
        """Return the reader sessions that would block the last step of forgetting now."""

    def load(self, lease: Lease, *, from_scratch: bool = False) -> AbstractContextManager[Loading]:
        """Begin a load for the length of the block. Start empty if ``from_scratch`` or the history is outdated."""

    @property
    def loads_gathered(self) -> int:
        """Return the number of loads whose files maintenance would merge."""

    def maintain(self, lease: Lease, keep: timedelta) -> Maintained | None:
        """Merge the files of loads, and delete files that were replaced longer ago than ``keep``.

        Return None if the target needs no maintenance. Raise ``MaintenanceError``.
        """

    def erase(self, lease: Lease, order_ids: Collection[int], *, anyway: bool) -> int:
        """Remove the personal data of these orders, and record that; return the number of affected rows.

        With ``anyway``, do so even if no row has any, because deleted rows may still be stored.
        """


def former_target(settings: Settings) -> Target | None:
    """Return the target that was in use before ``WMS_ANALYTICS`` was changed; None if nothing is left of it.

    Raise ``AnalyticsError`` if a lake is left: its files may be anywhere.
    """
    if settings.analytics == "ducklake":
        from wms_sync.targets.file import FileTarget

        return FileTarget(settings) if settings.layout.published.exists() else None
    if settings.database_url.startswith("postgresql"):
        from wms_sync.targets.ducklake.catalogue import LakeCatalogue

        with LakeCatalogue.opened(settings.database_url) as catalogue:
            if (place := catalogue.data_path()) is not None:
                raise AnalyticsError(
                    f"The database of WMS_STATE_URL still has a lake, whose files in {place} also hold personal data. "
                    "Nothing was changed. If nobody needs the lake, run `drop schema lake cascade` in PostgreSQL and "
                    "delete these files; then run again. If it is in use, set WMS_ANALYTICS=ducklake."
                )
    if settings.layout.lake.exists():
        raise AnalyticsError(
            f"{settings.layout.lake} has files of a lake, with personal data in them. Nothing was changed. If nobody "
            "needs the lake, delete this folder; then run again. If it is in use, set WMS_ANALYTICS=ducklake and the "
            "WMS_STATE_URL of its database."
        )
    return None


def target_of(settings: Settings) -> Target:
    """Return the target that the settings name."""
    if settings.analytics == "ducklake":
        from wms_sync.targets.ducklake.target import Lake

        return Lake(settings)
    from wms_sync.targets.file import FileTarget

    return FileTarget(settings)


def maintenance_is_due(settings: Settings) -> bool:
    """Return whether ``WMS_MAINTENANCE_NIGHTS`` loads have gathered since the last maintenance."""
    nights = settings.maintenance_nights
    return nights > 0 and target_of(settings).loads_gathered >= nights


def note_published(store: StateStore, target: Target, size: int) -> None:
    """Record that the target has been published."""
    store.observe(PUBLISHED, size, target.name)


def is_gone(store: StateStore, target: Target) -> bool:
    """Return whether the target was published and has been deleted since."""
    noted = store.observation(PUBLISHED)
    return noted is not None and noted.about == target.name and not target.is_published
