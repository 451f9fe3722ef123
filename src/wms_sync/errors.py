"""The root of the error tree.

Each package draws its own branch at the top of its ``errors.py``. A message says what was tried, what came and what
to do next; facts are attributes. ``exit_code`` is what the command line ends with (1 failed, 2 wrong settings or
usage).
"""

from __future__ import annotations


class WmsSyncError(Exception):
    """Something that is named and explained; anything else that reaches a user is a defect."""

    exit_code = 1


class SettingsError(WmsSyncError):
    """A setting is missing or wrong; the message names the variable and what it should be."""

    exit_code = 2


class OutOfMemory(WmsSyncError):
    """The machine, or a limit on the process, has no more memory to give."""

    def __init__(self) -> None:
        super().__init__(
            "There is no more memory for this process. Nothing was published, and what is landed is not asked for "
            "again. Give it more (ulimit, container, machine), or let it take less: lower WMS_MEMORY_LIMIT, "
            "WMS_PAGE_SIZE or WMS_MAX_PARALLEL_REQUESTS. Then run again."
        )
