"""Where things live under the data folder; the one place that knows the names."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Layout:
    """Paths below ``WMS_DATA_DIR``."""

    root: Path

    @property
    def raw(self) -> Path:
        """Raw pages, a folder a window; written once."""
        return self.root / "raw" / "shipments"

    @property
    def parquet(self) -> Path:
        """Flattened batches, a folder a table; written once."""
        return self.root / "parquet"

    @property
    def work(self) -> Path:
        """The writer's private files."""
        return self.root / "work"

    @property
    def turns(self) -> Path:
        """A folder for each turn that goes on: what is made in it is put in place by a rename."""
        return self.work / "turns"

    @property
    def working_database(self) -> Path:
        """What the writer changes; analysts never open it."""
        return self.work / "analytics.duckdb"

    @property
    def published(self) -> Path:
        """What analysts open: always whole, never locked by us."""
        return self.root / "analytics.duckdb"

    @property
    def rejects(self) -> Path:
        """Files of rows that could not be pushed, with reasons."""
        return self.root / "rejects"

    @property
    def forgotten_orders(self) -> Path:
        """Ids of the orders that were forgotten, for the day on which the state store is lost."""
        return self.root / "forgotten-orders.json"

    def window(self, window_id: str) -> Path:
        """The folder of a window's raw pages."""
        return self.raw / window_id
