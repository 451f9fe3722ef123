"""DuckDB's extensions for a lake, from the wheels of the extra ``lake``: a run downloads nothing."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import duckdb

from wms_sync.catalogue import literal
from wms_sync.errors import SettingsError

OF_LAKE = ("ducklake", "postgres_scanner")
OF_BUCKET = "httpfs"
"""If its files are in S3."""
ONLY_FROM_WHEELS = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_unsigned_extensions": "true",
}
"""DuckDB's settings, by which an extension that is not loaded is an error. pip has compared the wheels with their
hashes, as it has all code that runs here; DuckDB would hash them again, 0.2 s of a processor for each connection."""


class ExtensionMissing(SettingsError):
    """A wheel of the extra ``lake`` is not installed, or is for another version of DuckDB."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"WMS_ANALYTICS=ducklake needs DuckDB's extension {name} for DuckDB {duckdb.__version__}, which is not "
            "installed. Install wms-sync[lake], or set WMS_ANALYTICS=file."
        )


def load_extensions(connection: duckdb.DuckDBPyConnection, names: Sequence[str]) -> None:
    """Load extensions. Raise ``ExtensionMissing``."""
    for name in names:
        connection.execute(f"load {literal(str(path_of(name)))}")


def path_of(name: str) -> Path:
    """Return the file of an extension. Raise ``ExtensionMissing``."""
    found = find_spec(f"duckdb_extension_{name}")
    for folder in (found.submodule_search_locations or ()) if found else ():
        path = Path(folder) / "extensions" / f"v{duckdb.__version__}" / f"{name}.duckdb_extension"
        if path.exists():
            return path
    raise ExtensionMissing(name)
