"""The paths below the data folder. Only this module names files and folders there."""

from __future__ import annotations

import re
from pathlib import Path

from msgspec import Struct

from wms_sync.storage.files import Files, FolderFiles, unmarked

RAW = "raw/shipments"
PARQUET = "parquet"
FLATTENED = f"{PARQUET}/_windows"
FORGOTTEN = "forgotten-orders.json"
LAKE = "lake"
"""The name of the folder of a lake's files, of the attached database, and of the schema of its catalogue."""
LAKE_OWNER = "lake.json"
"""A file next to the folder ``lake/``, with the identity of the lake that the files in the folder belong to."""
MANIFEST = "manifest.json"
"""A file in a complete window's folder of raw pages: the state store's record of the window."""
PAGES_DROPPED = "pages-dropped.json"
"""A file in a window's folder: the time at which retention deleted the window's raw pages."""
FOREIGN_LOG = ".of-an-earlier-file"
"""The suffix of a log that was found next to the published file and renamed."""
_WINDOW, _MARK = r"[A-Za-z0-9][\w.-]*", "(-[0-9a-f]{8})?"
_RESTORABLE = re.compile(
    rf"""analytics\.duckdb | {re.escape(FORGOTTEN)} | rejects/(?!\.{{1,2}}\Z)[^/\0]+
    | {RAW}/{_WINDOW}/ ( {re.escape(MANIFEST)} | {re.escape(PAGES_DROPPED)} | page-\d{{5,}}{_MARK}\.json\.(gz|zst) )
    | {PARQUET}/[a-z][a-z_]*/{_WINDOW}-\d{{5,}}{_MARK}\.parquet | {FLATTENED}/{_WINDOW}\.json""",
    re.ASCII | re.VERBOSE,
)
"""The paths in a data folder that a backup may contain."""


class Layout(Struct, frozen=True):
    """Paths below ``WMS_DATA_DIR``, and the store of those files that may be kept elsewhere."""

    root: Path
    elsewhere: Files | None = None
    """The store of raw pages and Parquet files if it is not the data folder."""

    @property
    def files(self) -> Files:
        """Return the store of raw pages and Parquet files, by key."""
        return self.elsewhere or FolderFiles(self.root)

    # --- raw pages ---

    @property
    def raw(self) -> Path:
        """Return the folder of raw pages, with one folder per window; each page is written once."""
        return self.root / RAW

    def window(self, window_id: str) -> Path:
        """Return the folder of a window's raw pages."""
        return self.raw / window_id

    def windows(self) -> list[str]:
        """Return the ids of the windows that have a folder of raw pages, sorted."""
        return self.files.names(RAW)

    def pages(self, window_id: str) -> list[str]:
        """Return the names of the stored raw pages of a window, sorted."""
        return [name for name in self.files.names(window_key(window_id)) if name.startswith("page-")]

    def page(self, window_id: str, number: int) -> str | None:
        """Return the key of a raw page, whatever its compression; None if the page is not stored."""
        pages = self.pages(window_id)
        return next(
            (raw_key(window_id, name) for name in pages if unmarked(name).startswith(f"page-{number:05d}.")), None
        )

    # --- Parquet ---

    @property
    def parquet(self) -> Path:
        """Return the folder of flattened batches, with one folder per table; each file is written once."""
        return self.root / PARQUET

    def flattened_manifest(self, window_id: str) -> Path:
        """Return the path of the list of a window's Parquet files. The list is written after these files."""
        return self.root / flattened_key(window_id)

    def parquet_files(self, slug: str) -> list[str]:
        """Return the keys of all Parquet files of the table with this slug."""
        return [parquet_key(slug, name) for name in self.files.names(f"{PARQUET}/{slug}") if name.endswith(".parquet")]

    # --- the analytics database ---

    @property
    def published(self) -> Path:
        """Return the path of the database that analysts open. It is always complete and never locked by wms-sync."""
        return self.root / "analytics.duckdb"

    @property
    def published_log(self) -> Path:
        """Return the path of a log of DuckDB next to the published file. If it exists, another program wrote it."""
        return log_of(self.published)

    def foreign_logs(self) -> list[Path]:
        """Return the paths of logs that were found next to the published file and renamed."""
        return sorted(self.root.glob(f"{self.published_log.name}*{FOREIGN_LOG}"))

    @property
    def lake(self) -> Path:
        """Return the folder of a lake's files. Only the lake's catalogue knows their names."""
        return self.root / LAKE

    # --- private files of the writer ---

    @property
    def work(self) -> Path:
        """Return the folder of private files of the run that holds the lock."""
        return self.root / "work"

    @property
    def copies(self) -> Path:
        """Return the folder of local copies of files elsewhere. Each process that only reads has a folder in it."""
        return self.work / "copies"

    @property
    def staged(self) -> Layout:
        """Return the data folder that a restore prepares before it changes this one."""
        return Layout(self.work / "restored")

    @property
    def turns(self) -> Path:
        """Return the folder with a folder for each run that writes. A run moves finished files out by renaming them."""
        return self.work / "turns"

    def lock(self, what: str) -> Path:
        """Return the path of the lock file for work that only one process may do at a time."""
        return self.work / f"{what}.lock"

    # --- state ---

    @property
    def state(self) -> Path:
        """Return the path of the state store, unless ``WMS_STATE_URL`` names another database."""
        return self.root / "state.db"

    @property
    def forgotten_orders(self) -> Path:
        """Return the path of a copy of the list of forgotten orders, in case the state store is lost."""
        return self.root / FORGOTTEN

    @property
    def creates(self) -> Path:
        """Return the path of the journal of products sent since the last publishing, in case the state is lost."""
        return self.root / "creates.jsonl"

    @property
    def restoring(self) -> Path:
        """Return the path of the record of a restore under way. While it exists, no command reads or writes here."""
        return self.root / "restoring.json"

    @property
    def report(self) -> Path:
        """Return the path of the report on shipping, which is written after a load."""
        return self.root / "report.html"

    @property
    def metrics(self) -> Path:
        """Return the path of the metrics for a Prometheus exporter, which are written at the end of each run."""
        return self.root / "metrics.prom"

    @property
    def rejects(self) -> Path:
        """Return the folder of files with rows that could not be pushed, and the reasons."""
        return self.root / "rejects"

    @property
    def kept_as_they_are(self) -> list[Path]:
        """Return the paths of the list of forgotten orders, which need not exist, and of the rejects."""
        return [self.forgotten_orders, *sorted(self.rejects.glob("*"))]

    @property
    def dagster_home(self) -> Path:
        """Return Dagster's home if ``DAGSTER_HOME`` is not set: next to the data folder, not inside it."""
        root = self.root.absolute()
        return root.with_name(f"{root.name}-dagster")


class BackupLayout(Struct, frozen=True):
    """Paths below a folder of backups. Each backup is one record, which lists its files by their SHA-256."""

    root: Path

    @property
    def files(self) -> Path:
        """Return the folder with the files of all backups. Identical files are stored once."""
        return self.root / "files"

    def file(self, sha256: str) -> Path:
        """Return the path of the kept file with this SHA-256."""
        return self.files / sha256[:2] / sha256

    def kept(self) -> list[Path]:
        """Return the path of every kept file."""
        return sorted(self.files.glob("??/*"))

    def unfinished(self) -> list[Path]:
        """Return the paths of temporary files that a killed backup left."""
        return sorted((*self.files.glob(".*"), *self.root.glob(".*.tmp")))

    def backup(self, name: str) -> Path:
        """Return the path of a backup's record. The record is written after the backup's files."""
        return self.root / f"{name}.json"

    def backups(self) -> list[Path]:
        """Return the paths of the records of all backups, the newest last."""
        return sorted(self.root.glob("backup-??????-*.json"))

    @property
    def forgotten_orders(self) -> Path:
        """Return the path of the list of orders that had been forgotten when one of these backups was made."""
        return self.root / FORGOTTEN


def is_restorable(place: str) -> bool:
    """Return whether a restore may write a file of a backup to this path below the data folder."""
    return _RESTORABLE.fullmatch(place) is not None


def window_key(window_id: str) -> str:
    """Return the key of the folder of a window's raw pages."""
    return f"{RAW}/{window_id}"


def raw_key(window_id: str, name: str) -> str:
    """Return the key of a file in a window's folder of raw pages."""
    return f"{RAW}/{window_id}/{name}"


def parquet_key(slug: str, name: str) -> str:
    """Return the key of a Parquet file of a table."""
    return f"{PARQUET}/{slug}/{name}"


def flattened_key(window_id: str) -> str:
    """Return the key of the list of a window's Parquet files."""
    return f"{FLATTENED}/{window_id}.json"


def name_of(key: str) -> str:
    """Return the last part of a key."""
    return key.rpartition("/")[2]


def suffix_of(key: str) -> str:
    """Return the suffix of a raw page: ``json.gz``."""
    return name_of(key).partition(".")[2]


def page_name(number: int, suffix: str) -> str:
    """Return the name of a raw page: ``page-00001.json.gz``."""
    return f"page-{number:05d}.{suffix}"


def parquet_name(window_id: str, part: int) -> str:
    """Return the name of a window's Parquet file in the folder of a table: ``<window>-00001.parquet``."""
    return f"{window_id}-{part:05d}.parquet"


def window_of(name: str) -> str:
    """Return the id of the window of a Parquet file."""
    return unmarked(name).rpartition("-")[0]


def spill(folder: Path) -> Path:
    """Return the folder that DuckDB spills to while it works on files of ``folder``."""
    return folder / "spill"


def log_of(database: Path) -> Path:
    """Return the path of DuckDB's log next to a database."""
    return database.with_name(f"{database.name}.wal")
