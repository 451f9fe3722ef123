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

from wms_sync.analytics.errors import FormerLake
from wms_sync.settings import Settings
from wms_sync.state.turns import Turn

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
    """One load of the tables: open it as often as needed, then finish it. Analysts see nothing of it before the end.

    ``merges_ahead``: windows can be merged in transactions of their own before the load. ``keeps_refused``: what a
    blocking check refuses is kept for the next load, so the windows count as loaded. ``most`` is how many shipments a
    load takes at once, None if it frees its memory meanwhile.
    """

    merges_ahead: bool
    keeps_refused: bool
    most: int | None

    def begin(self) -> None:
        """Continue from the tables that there are. Repeating it does nothing."""

    def begin_anew(self) -> None:
        """Make every table again; what there is stays until the end."""

    def open(self, memory_limit: str | None = None) -> Opened:
        """Open the tables for writing. Raise ``DatabaseOpenError`` or ``TablesNewer``.

        ``memory_limit``: of what is merged ahead; by default that of the settings.
        """

    @property
    def seal(self) -> str | None:
        """Return what tells the tables that this load works on from all others while they are closed; see ``seal``.

        None if nothing does.
        """

    def measure(self, connection: duckdb.DuckDBPyConnection, rows: int) -> None:
        """Look what ``finish`` has to do. ``rows`` are those of all tables without schema ``history``."""

    def finish(self, *, accepted: bool) -> int:
        """Publish what is ``accepted``; return the size of what is published in bytes, 0 if nothing is."""

    def throw_away(self) -> None:
        """Discard what was merged since ``begin``."""


class Target(Protocol):
    """Where the tables are kept."""

    @property
    def name(self) -> str:
        """Return the name of what analysts open."""

    @property
    def title(self) -> str:
        """Return what messages call it."""

    is_beside_the_state: bool
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

    @property
    def published_seal(self) -> str | None:
        """Return what tells the published tables from all others; None if nothing does."""

    @property
    def newest_seal(self) -> str | None:
        """Return what tells the tables that the next load continues from from all others; None if nothing does."""

    def published(self, *, memory_limit: str | None = None) -> Opened:
        """Open the published tables for reading; something must be published. Raise ``DatabaseOpenError``.

        With ``memory_limit``, queries take no more than that and spill into the writer's folder, as those of a load do.
        """

    def newest(self, *, memory_limit: str | None = None) -> Opened:
        """Open the tables that the next load continues from, for reading; the caller holds the writer's lock.

        Raise ``DatabaseOpenError``, also if there are none.
        """

    def examined(self) -> str:
        """Open the tables as the next load does, and return a sentence on them. Raise as ``Loading.open``."""

    def refuse_others(self) -> None:
        """Raise what a load would raise because the tables lie elsewhere, or another installation has their place."""

    def try_files(self) -> str | None:
        """Do with a file what a load does where the tables lie, and return a sentence; None if nothing needs a trial.

        Raise what a load would raise at its end.
        """

    def readers_in_the_way(self) -> tuple[int, ...]:
        """Return the sessions of readers for which the last step of forgetting would wait now."""

    def load(self, turn: Turn) -> Loading:
        """Return a load, to be begun."""

    @property
    def loads_gathered(self) -> int:
        """Return how many loads have left files that maintenance would put together."""

    def maintain(self, turn: Turn, keep: timedelta) -> Maintained | None:
        """Put together what loads have left, and delete what was replaced longer ago than ``keep``.

        Return None where loads leave nothing. Raise ``MaintenanceError``.
        """

    def erase(self, turn: Turn, order_ids: Collection[int], *, anyway: bool) -> tuple[int, ...]:
        """Remove the personal data of these orders; return how many rows each database had that were or held some.

        ``anyway``: do so even if no row has any, because what is no row any more may still be there.
        """


def former_target(settings: Settings) -> Target | None:
    """Return where the tables were before ``WMS_ANALYTICS`` named another place; None if nothing is left there.

    Raise ``FormerLake`` if a lake is left: its files may be anywhere.
    """
    if settings.analytics == "ducklake":
        from wms_sync.analytics.file_target import FileTarget

        layout = settings.layout
        return FileTarget(settings) if layout.published.exists() or layout.working_database.exists() else None
    if settings.database_url.startswith("postgresql"):
        from wms_sync.analytics.lake_catalogue import LakeCatalogue  # which takes no extension

        with LakeCatalogue(settings.database_url) as catalogue:
            if (place := catalogue.data_path()) is not None:
                raise FormerLake(place)
    return None


def target_of(settings: Settings) -> Target:
    """Return the target that the settings name."""
    if settings.analytics == "ducklake":
        from wms_sync.analytics.lake import Lake  # which needs the extra

        return Lake(settings)
    from wms_sync.analytics.file_target import FileTarget

    return FileTarget(settings)
