"""Say which extra of the package is missing, before anything that needs it begins."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec

from wms_sync.errors import SettingsError

MODULES: Mapping[str, tuple[str, ...]] = {
    "alerts": ("apprise",),
    "files": ("obstore",),
    "lake": ("duckdb_extension_ducklake", "duckdb_extension_httpfs", "duckdb_extension_postgres_scanner", "psycopg"),
    "postgres": ("psycopg",),
    "report": ("vl_convert",),
}
"""What each extra brings, as it is imported."""


def lacks(extra: str) -> str | None:
    """Return what there is to say if the extra is not installed; None if it is."""
    if all(find_spec(name) is not None for name in MODULES[extra]):
        return None
    return f"needs the extra `{extra}`, which is not installed: pip install 'wms-sync[{extra}]'"


def require_extra(extra: str, needed_by: str) -> None:
    """Raise ``SettingsError`` if the extra is not installed."""
    if said := lacks(extra):
        raise SettingsError(f"{needed_by} {said}.")
