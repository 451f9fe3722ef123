"""The root of the error tree.

Each package defines its branch in its ``errors.py``, or beside what raises it. A message says what was tried, what
happened and what to do next; facts are attributes. ``exit_code`` is the exit code of the command line (1: failed, 2:
wrong settings or usage).
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec

MODULES: Mapping[str, tuple[str, ...]] = {
    "alerts": ("apprise",),
    "files": ("obstore",),
    "lake": (
        "duckdb_extension_aws",
        "duckdb_extension_ducklake",
        "duckdb_extension_httpfs",
        "duckdb_extension_postgres_scanner",
        "psycopg",
    ),
    "postgres": ("psycopg",),
    "report": ("vl_convert",),
}
"""The modules that each extra installs, by the name of the extra."""


class WmsSyncError(Exception):
    """An expected error, explained in its message; any other exception that reaches a user is a defect."""

    exit_code = 1


class SettingsError(WmsSyncError):
    """A setting is missing or wrong, or ``.env`` cannot be read; the message says what to change."""

    exit_code = 2


class MasterDataError(WmsSyncError):
    """Master data could not be pushed. A row that breaks a rule raises no error: the other rows are still handled."""


class OutOfMemory(WmsSyncError):
    """The process has used up the memory of the machine, or has reached its own limit."""

    def __init__(self) -> None:
        super().__init__(
            "There is not enough memory for this process. Nothing was published, and landed pages are not read again. "
            "Give it more memory (ulimit, container, machine), or lower WMS_MEMORY_LIMIT, WMS_PAGE_SIZE or "
            "WMS_MAX_PARALLEL_REQUESTS. Then run again."
        )


class NoThread(WmsSyncError):
    """The system refused to start another thread."""

    def __init__(self) -> None:
        super().__init__(
            "The system cannot start another thread for this process: its memory or number of processes is limited "
            "(ulimit -v, ulimit -u, pids of a container). Nothing was published, and landed pages are not read again. "
            "Raise the limit, or lower WMS_MAX_PARALLEL_REQUESTS. Then run again."
        )


class TooManyFiles(WmsSyncError):
    """The system refused to open another file."""

    def __init__(self) -> None:
        super().__init__(
            "This process cannot open more files and connections at once. Nothing was published, and landed pages are "
            "not read again. Raise the limit (ulimit -n, LimitNOFILE of systemd) to 1024 or more. Then run again."
        )


def lacks(extra: str) -> str | None:
    """Return the end of an error message if the extra is not installed; None if it is installed."""
    if all(find_spec(name) is not None for name in MODULES[extra]):
        return None
    return f"needs the extra `{extra}`, which is not installed: pip install 'wms-sync[{extra}]'"
