"""The root of the error tree.

Each package draws its branch at the top of its ``errors.py``. A message says what was tried, what happened and what to
do next; facts are attributes. ``exit_code`` is the exit code of the command line (1: failed, 2: wrong settings or
usage).
"""

from __future__ import annotations


class WmsSyncError(Exception):
    """An expected error, explained in its message; any other exception that reaches a user is a defect."""

    exit_code = 1


class SettingsError(WmsSyncError):
    """A setting is absent or wrong; the message names the variable and what it should be."""

    exit_code = 2


class OutOfMemory(WmsSyncError):
    """The machine, or a limit on the process, has no memory left."""

    def __init__(self) -> None:
        super().__init__(
            "There is not enough memory for this process. Nothing was published, and landed pages are not read again. "
            "Give it more memory (ulimit, container, machine), or lower WMS_MEMORY_LIMIT, WMS_PAGE_SIZE or "
            "WMS_MAX_PARALLEL_REQUESTS. Then run again."
        )


class NoThread(WmsSyncError):
    """The system starts no further thread for this process."""

    def __init__(self) -> None:
        super().__init__(
            "The system starts no further thread for this process: its memory, or its number of processes, is limited "
            "(ulimit -v, ulimit -u, pids of a container). Nothing was published, and landed pages are not read again. "
            "Raise the limit, or lower WMS_MAX_PARALLEL_REQUESTS. Then run again."
        )


class TooManyFiles(WmsSyncError):
    """The system opens no further file for this process."""

    def __init__(self) -> None:
        super().__init__(
            "This process may not open more files at once. Nothing was published, and landed pages are not read again. "
            "Raise the limit (ulimit -n, LimitNOFILE of systemd) to 1024 or more. Then run again."
        )
