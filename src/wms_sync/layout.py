"""Where things live under the data folder: every name of a file or folder there stands in this module alone."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from wms_sync.storage.folder import FolderFiles
from wms_sync.storage.interface import Files, unmarked

RAW = "raw/shipments"
PARQUET = "parquet"
FLATTENED = f"{PARQUET}/_windows"
LOADS = f"{PARQUET}/_loads"
"""Which Parquet files each load brought, for data warehouses that load them, a file a load."""
FORGOTTEN = "forgotten-orders.json"
LAKE_OWNER = "lake.json"
"""Beside ``lake/``, where its files lie: which lake they are of."""
MANIFEST = "manifest.json"
"""In a window's folder of raw pages: what the state store knows of the window, once it is complete."""
PAGES_DROPPED = "pages-dropped.json"
"""In a window's folder: its raw pages were deleted on purpose, and when."""
SET_ASIDE = ".of-an-earlier-file"
"""The end of the name of a log that was found beside the published file."""
_WINDOW, _MARK = r"[A-Za-z0-9][\w.-]*", "(-[0-9a-f]{8})?"
_RESTORABLE = re.compile(
    rf"""analytics\.duckdb | {re.escape(FORGOTTEN)} | clocks\.json | rejects/(?!\.{{1,2}}\Z)[^/\0]+
    | {RAW}/{_WINDOW}/ ( {re.escape(MANIFEST)} | {re.escape(PAGES_DROPPED)} | page-\d{{5,}}{_MARK}\.json\.(gz|zst) )
    | {PARQUET}/[a-z][a-z_]*/{_WINDOW}-\d{{5,}}{_MARK}\.parquet | {FLATTENED}/{_WINDOW}\.json""",
    re.ASCII | re.VERBOSE,
)
"""The places of what a backup keeps of a data folder."""


class Layout(Struct, frozen=True):
    """Paths below ``WMS_DATA_DIR``, and the files that may lie elsewhere."""

    root: Path
    elsewhere: Files | None = None
    """Raw pages and Parquet files, where they do not lie in the data folder."""

    @property
    def files(self) -> Files:
        """Raw pages and Parquet files, by key."""
        return self.elsewhere or FolderFiles(self.root)

    # --- raw pages ---

    @property
    def raw(self) -> Path:
        """Raw pages, a folder a window; written once."""
        return self.root / RAW

    def window(self, window_id: str) -> Path:
        """The folder of a window's raw pages."""
        return self.raw / window_id

    def windows(self) -> list[str]:
        """The windows that have a folder, in order."""
        return self.files.names(RAW)

    def pages(self, window_id: str) -> list[str]:
        """The names of the raw pages of a window that are there, in order."""
        return [name for name in self.files.names(window_key(window_id)) if name.startswith("page-")]

    def page(self, window_id: str, number: int) -> str | None:
        """The key of one raw page, however it is compressed; None when it is not there."""
        pages = self.pages(window_id)
        return next(
            (raw_key(window_id, name) for name in pages if unmarked(name).startswith(f"page-{number:05d}.")), None
        )

    # --- Parquet ---

    @property
    def parquet(self) -> Path:
        """Flattened batches, a folder a table; written once."""
        return self.root / PARQUET

    def flattened_manifest(self, window_id: str) -> Path:
        """Which Parquet files a window has, written after the last of them; without it the window is flattened."""
        return self.root / flattened_key(window_id)

    def parquet_files(self, slug: str) -> list[str]:
        """The keys of all files of a table, named by its ``slug``."""
        return [parquet_key(slug, name) for name in self.files.names(f"{PARQUET}/{slug}") if name.endswith(".parquet")]

    # --- the analytics database ---

    @property
    def published(self) -> Path:
        """What analysts open: always whole, never locked by us."""
        return self.root / "analytics.duckdb"

    @property
    def published_log(self) -> Path:
        """DuckDB's log beside the published file; never ours, since that is always checkpointed."""
        return log_of(self.published)

    def foreign_logs(self) -> list[Path]:
        """Logs that were found beside the published file, renamed."""
        return sorted(self.root.glob(f"{self.published_log.name}*{SET_ASIDE}"))

    @property
    def lake(self) -> Path:
        """The files of a lake, which only its catalogue names."""
        return self.root / "lake"

    # --- the writer's own ---

    @property
    def work(self) -> Path:
        """The writer's private files."""
        return self.root / "work"

    @property
    def copies(self) -> Path:
        """Copies of files that lie elsewhere, for those who only read: a folder a process."""
        return self.work / "copies"

    @property
    def staged(self) -> Layout:
        """What a restore makes ready before it changes anything: a data folder of its own."""
        return Layout(self.work / "restored")

    @property
    def turns(self) -> Path:
        """A folder for each run that writes: what it makes there is put in place by a rename."""
        return self.work / "turns"

    def lock(self, what: str) -> Path:
        """The lock on something that only one process may do."""
        return self.work / f"{what}.lock"

    # --- state ---

    @property
    def state(self) -> Path:
        """The state store, unless ``WMS_STATE_URL`` says otherwise."""
        return self.root / "state.db"

    @property
    def forgotten_orders(self) -> Path:
        """Ids of the orders that were forgotten, for the day on which the state store is lost."""
        return self.root / FORGOTTEN

    @property
    def creates(self) -> Path:
        """Products that were sent since the last publishing, for the day on which the state store is lost."""
        return self.root / "creates.jsonl"

    @property
    def clocks(self) -> Path:
        """What was seen of the service's clock, for the day on which the state store is lost."""
        return self.root / "clocks.json"

    @property
    def restoring(self) -> Path:
        """Where a restore comes from while it replaces what is here: until it ends nothing is read or written."""
        return self.root / "restoring.json"

    @property
    def report(self) -> Path:
        """The report on how shipping goes, made after a load."""
        return self.root / "report.html"

    @property
    def metrics(self) -> Path:
        """What a Prometheus exporter reads, written at the end of each run."""
        return self.root / "metrics.prom"

    @property
    def rejects(self) -> Path:
        """Files of rows that could not be pushed, with reasons."""
        return self.root / "rejects"

    @property
    def dagster_home(self) -> Path:
        """Dagster's home where ``DAGSTER_HOME`` names none: beside the data folder, so that one can fill up alone."""
        root = self.root.absolute()
        return root.with_name(f"{root.name}-dagster")


class BackupLayout(Struct, frozen=True):
    """Paths below a folder of backups: a file a backup, which names its files by their SHA-256."""

    root: Path

    @property
    def files(self) -> Path:
        """The files of all backups, each once."""
        return self.root / "files"

    def file(self, sha256: str) -> Path:
        """Where a file is kept."""
        return self.files / sha256[:2] / sha256

    def kept(self) -> list[Path]:
        """Every file that is kept."""
        return sorted(self.files.glob("??/*"))

    def unfinished(self) -> list[Path]:
        """What a killed backup left."""
        return sorted((*self.files.glob(".*"), *self.root.glob(".*.tmp")))

    def backup(self, name: str) -> Path:
        """The record of a backup, written after all its files."""
        return self.root / f"{name}.json"

    def backups(self) -> list[Path]:
        """The records of all backups, the newest last."""
        return sorted(self.root.glob("backup-??????-*.json"))

    @property
    def forgotten_orders(self) -> Path:
        """Ids of all orders that were forgotten at any of the backups."""
        return self.root / FORGOTTEN


def is_restorable(place: str) -> bool:
    """Return whether a backup may have a file of this name, by which a restore puts it below the data folder."""
    return _RESTORABLE.fullmatch(place) is not None


def window_key(window_id: str) -> str:
    """The key of the folder of a window's raw pages."""
    return f"{RAW}/{window_id}"


def raw_key(window_id: str, name: str) -> str:
    """The key of a raw page or manifest of a window."""
    return f"{RAW}/{window_id}/{name}"


def parquet_key(slug: str, name: str) -> str:
    """The key of a Parquet file of a table."""
    return f"{PARQUET}/{slug}/{name}"


def flattened_key(window_id: str) -> str:
    """The key of the record of which Parquet files a window has."""
    return f"{FLATTENED}/{window_id}.json"


def load_list_key(listed_at: datetime) -> str:
    """The key of the list of a load; they sort by time."""
    return f"{LOADS}/{listed_at.astimezone(UTC):%Y%m%dT%H%M%S%fZ}.json"


def name_of(key: str) -> str:
    """The last part of a key."""
    return key.rpartition("/")[2]


def suffix_of(key: str) -> str:
    """What a raw page is packed as: ``json.gz``."""
    return name_of(key).partition(".")[2]


def page_name(number: int, suffix: str) -> str:
    """The name of a raw page: ``page-00001.json.gz``."""
    return f"page-{number:05d}.{suffix}"


def parquet_name(window_id: str, part: int) -> str:
    """The name of a window's Parquet file in the folder of a table."""
    return f"{window_id}-{part:05d}.parquet"


def window_of(name: str) -> str:
    """The window of a Parquet file."""
    return unmarked(name).rpartition("-")[0]


def spill(folder: Path) -> Path:
    """Where DuckDB spills to while it works on files of this folder."""
    return folder / "spill"


def log_of(database: Path) -> Path:
    """Return the path of DuckDB's log beside a database."""
    return database.with_name(f"{database.name}.wal")
