"""The context that the parts of one run share."""

from __future__ import annotations

from msgspec import Struct

from wms_sync.layout import Layout
from wms_sync.settings import Settings
from wms_sync.state.store import StateStore
from wms_sync.state.turns import Turn


class Run(Struct, frozen=True):
    """One run that writes: its settings, the state store opened in its turn, and its id.

    The id is Dagster's if Dagster runs it, also from the command line.
    """

    settings: Settings
    store: StateStore
    id: str

    @property
    def layout(self) -> Layout:
        """Return the paths below the data folder."""
        return self.settings.layout

    @property
    def turn(self) -> Turn:
        """Return the right to write."""
        return self.store.turn
