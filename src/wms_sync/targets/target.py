"""Where the tables are kept: what a load, a report or a repair needs to know of it, and no more.

``target_of`` returns the target that the settings name. Everybody who reads or writes the tables goes through it, so
that nothing else depends on whether they are in a file.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import Protocol

import duckdb
from msgspec import Struct

from wms_sync.settings import Settings
from wms_sync.state.store import StateStore
from wms_sync.state.turns import Turn
from wms_sync.targets.database import Session
from wms_sync.targets.errors import FormerLake

PUBLISHED = "published"
"""The name of what the state store keeps of the last load that published: the bytes, and the name of the target."""
Opened = AbstractContextManager[duckdb.DuckDBPyConnection]
"""An open connection for the length of a block; times are UTC."""


class Maintained(Struct, frozen=True):
    """What maintenance did: the tables that it wrote anew, the files of all tables, and how many it deleted."""

    tables: int
    files_before: int
    files: int
    deleted: int

    @property
    def counts(self) -> dict[str, int]:
        """Return the counts of the run's record."""
        return {"tables_put_together": self.tables, "files_left": self.files, "files_deleted": self.deleted}


class Loading(Protocol):
    """One load of the tables, which analysts see only once it is published. The end of the block discards the rest.

    ``most`` is how many shipments a load takes at once, None if there is no limit.
    """

    most: int | None

    def session(self) -> AbstractContextManager[Session]:
        """Open the tables for writing, as often as needed: that frees the memory of what was done before.

        Raise ``DatabaseOpenError`` or ``TablesNewer``.
        """

    def publish(self) -> int:
        """Replace what analysts read. Return its size in bytes."""


class Target(Protocol):
    """Where the tables are kept."""

    @property
    def name(self) -> str:
        """Return the name of what analysts open."""

    @property
    def title(self) -> str:
        """Return what messages call it."""

    shares_state_database: bool
    """Whether the tables are in the database of the state, so that an old copy of it is one of both."""

    @property
    def is_published(self) -> bool:
        """Return whether there is anything to read."""

    @property
    def published_at(self) -> datetime:
        """Return when the tables that are published were. There must be some."""

    @property
    def version(self) -> int:
        """Return a number that each publishing changes. Something must be published."""

    @property
    def size(self) -> int:
        """Return the bytes of what is published."""

    def published(self, *, memory_limit: str | None = None) -> Opened:
        """Open the published tables for reading; something must be published. Raise ``DatabaseOpenError``.

        With ``memory_limit``, queries take no more than that and spill into the data folder.
        """

    def examined(self) -> str:
        """Compare the definitions of the tables with those of this release, and return a sentence on them."""

    def refuse_others(self) -> None:
        """Raise what a load would raise because the tables lie elsewhere, or another installation has their place."""

    def try_files(self) -> str | None:
        """Do with a file what a load does where the tables lie, and return a sentence; None if nothing needs a trial.

        Raise what a load would raise at its end.
        """

    def readers_in_the_way(self) -> tuple[int, ...]:
        """Return the sessions of readers for which the last step of forgetting would wait now."""

    def load(self, turn: Turn, *, from_scratch: bool = False) -> AbstractContextManager[Loading]:
        """Begin a load for the length of the block: from the published tables, or ``anew`` from empty ones."""

    @property
    def loads_gathered(self) -> int:
        """Return how many loads have left files that maintenance would put together."""

    def maintain(self, turn: Turn, keep: timedelta) -> Maintained | None:
        """Put together what loads have left, and delete what was replaced longer ago than ``keep``.

        Return None where loads leave nothing. Raise ``MaintenanceError``.
        """

    def erase(self, turn: Turn, order_ids: Collection[int], *, anyway: bool) -> int:
        """Remove the personal data of these orders, and record that; return how many rows were or held some.

        ``anyway``: do so even if no row has any, because what is no row any more may still be there.
        """


def former_target(settings: Settings) -> Target | None:
    """Return where the tables were before ``WMS_ANALYTICS`` named another place; None if nothing is left there.

    Raise ``FormerLake`` if a lake is left: its files may be anywhere.
    """
    if settings.analytics == "ducklake":
        from wms_sync.targets.file import FileTarget

        return FileTarget(settings) if settings.layout.published.exists() else None
    if settings.database_url.startswith("postgresql"):
        from wms_sync.targets.ducklake.catalogue import LakeCatalogue

        with LakeCatalogue(settings.database_url) as catalogue:
            if (place := catalogue.data_path()) is not None:
                raise FormerLake(place)
    return None


def target_of(settings: Settings) -> Target:
    """Return the target that the settings name."""
    if settings.analytics == "ducklake":
        from wms_sync.targets.ducklake.target import Lake

        return Lake(settings)
    from wms_sync.targets.file import FileTarget

    return FileTarget(settings)


def note_published(store: StateStore, target: Target, size: int) -> None:
    """Record that the target has been published."""
    store.observe(PUBLISHED, size, target.name)


def is_gone(store: StateStore, target: Target) -> bool:
    """Return whether the target was published and was deleted since."""
    noted = store.observation(PUBLISHED)
    return noted is not None and noted.about == target.name and not target.is_published
