"""The paths below the data folder. Only this module names files and folders there."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from wms_sync.storage.files import Files, FolderFiles, unmarked

RAW = "raw/shipments"
SNAPSHOTS = "raw"
"""The folder of snapshots of the state store, which is above that of raw pages."""
PARQUET = "parquet"
FLATTENED = f"{PARQUET}/_windows"
FORGOTTEN = "forgotten-orders.json"
CREATES = "creates.jsonl"
LAKE = "lake"
"""The name of the folder of a lake's files, of the attached database, and of the schema of its catalogue."""
LAKE_OWNER = "lake.json"
"""A file next to the folder ``lake/``, with the identity of the lake that the files in the folder belong to."""
PAGES_DROPPED = "pages-dropped.json"
"""A file in a window's folder: the time at which retention deleted the window's raw pages."""
FOREIGN_LOG = ".of-an-earlier-file"
"""The suffix of a log that was found next to the published file and renamed."""
_SNAPSHOT = re.compile(r"state-\d{8,}\.json\.gz")
LONGEST_ID = 64
"""The maximum number of characters of a window's id."""
_WINDOW, _MARK = rf"[A-Za-z0-9][\w.-]{{0,{LONGEST_ID - 1}}}", "(-[0-9a-f]{8})?"
_OF_WINDOWS = re.compile(
    rf"""{RAW}/{_WINDOW}/page-\d{{5,}}{_MARK}\.json\.(gz|zst)
    | {PARQUET}/[a-z][a-z_]*/{_WINDOW}-\d{{5,}}{_MARK}\.parquet | {FLATTENED}/{_WINDOW}\.json""",
    re.ASCII | re.VERBOSE,
)
_BACKUP = f"{'[0-9]' * 8}T{'[0-9]' * 6}Z"
"""A pattern for the names of backups, which are times. A dot precedes the name while a backup is made or deleted."""


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

    def windows(self) -> list[str]:
        """Return the ids of the windows that have a folder of raw pages, sorted; other names there are ignored."""
        return [name for name in self.files.names(RAW) if is_of_window(flattened_key(name))]

    def pages(self, window_id: str) -> list[str]:
        """Return the names of the stored raw pages of a window, sorted."""
        return [name for name in self.files.names(window_key(window_id)) if name.startswith("page-")]

    def page(self, window_id: str, number: int) -> str | None:
        """Return the key of a raw page, whatever its compression; None if the page is not stored."""
        pages = self.pages(window_id)
        return next(
            (raw_key(window_id, name) for name in pages if unmarked(name).startswith(f"page-{number:05d}.")), None
        )

    # --- snapshots of the state store ---

    def snapshots(self) -> list[str]:
        """Return the keys of the snapshots of the state store, the newest last."""
        return [f"{SNAPSHOTS}/{name}" for name in self.files.names(SNAPSHOTS) if _SNAPSHOT.fullmatch(name)]

    # --- Parquet ---

    @property
    def parquet(self) -> Path:
        """Return the folder of flattened batches, with one folder per table; each file is written once."""
        return self.root / PARQUET

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
    def leases(self) -> Path:
        """Return the folder with a folder for each run that writes. A run moves finished files out by renaming them."""
        return self.work / "leases"

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
        """Return the path of the journal of creates, the ledger's one other copy."""
        return self.root / CREATES

    @property
    def restoring(self) -> Path:
        """Return the path of the record of a restore under way. While it exists, no command reads or writes here."""
        return self.root / "restoring.json"

    @property
    def backup_record(self) -> Path:
        """Return the path of the record that makes this data folder a backup: then no run may write here."""
        return self.root / "backup.json"

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
    def dagster_home(self) -> Path:
        """Return Dagster's home if ``DAGSTER_HOME`` is not set: next to the data folder, not inside it."""
        root = self.root.absolute()
        return root.with_name(f"{root.name}-dagster")


def is_of_window(key: str) -> bool:
    """Return whether a raw page, a Parquet file or the list of a window's Parquet files may have this key."""
    return _OF_WINDOWS.fullmatch(key) is not None


def backups_in(folder: Path) -> list[Path]:
    """Return the backups in a folder of backups, the newest last."""
    return sorted(path for path in folder.glob(_BACKUP) if path.is_dir() and not path.is_symlink())


def unfinished_backups_in(folder: Path) -> list[Path]:
    """Return the backups whose making or deletion was killed."""
    return [path for path in folder.glob(f".{_BACKUP}") if path.is_dir() and not path.is_symlink()]


def new_backup_in(folder: Path) -> Path:
    """Return the path of a new backup: its time, or a later one if the clock went back, so that it sorts last."""
    taken = [re.sub(r"\D", "", path.name) for form in (_BACKUP, f".{_BACKUP}") for path in folder.glob(form)]
    time = max([int(datetime.now(UTC).strftime("%Y%m%d%H%M%S")), *(int(digits) + 1 for digits in taken)])
    return folder / f"{time // 10**6}T{time % 10**6:06d}Z"


def snapshot_key(number: int) -> str:
    """Return the key of a snapshot of the state store."""
    return f"{SNAPSHOTS}/state-{number:08d}.json.gz"


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
