"""Explain refusals by the system, the disk or DuckDB: of memory, a thread, a file, a statement."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

import duckdb

from wms_sync.errors import NoThread, OutOfMemory, TooManyFiles, WmsSyncError
from wms_sync.targets.ducklake.place import may_lack_files
from wms_sync.targets.errors import REBUILT_IF_LOST, AnalyticsError, without_statement

NO_THREAD = "can't start new thread"
"""The text of Python's error; nothing else distinguishes it from other errors."""
TOO_MANY_FILES = os.strerror(errno.EMFILE)


@contextmanager
def reported_refusals() -> Iterator[None]:
    """Raise the system's refusals inside the block as ``OutOfMemory``, ``NoThread`` or ``TooManyFiles``."""
    try:
        yield
    except MemoryError as error:
        raise OutOfMemory from error
    except OSError as error:
        if TOO_MANY_FILES in str(error):
            raise TooManyFiles from error
        if error.errno != errno.ENOMEM:
            raise
        raise OutOfMemory from error
    except RuntimeError as error:
        if str(error) != NO_THREAD:
            raise
        raise NoThread from error


@contextmanager
def refusals_explained(failed: str, kept: str) -> Iterator[None]:
    """Raise errors of DuckDB and the disk inside the block as ``AnalyticsError``.

    ``failed`` and ``kept`` are clauses: the step that failed, and the data that is unchanged.
    """
    try:
        yield
    except WmsSyncError:  # has advice already, even if it is an ``OSError``
        raise
    except duckdb.OutOfMemoryException as error:
        raise AnalyticsError(
            f"DuckDB needs more memory than WMS_MEMORY_LIMIT allows, or has no disk to spill to ({error}). Raise the "
            f"limit, or lower WMS_PAGE_SIZE, and run again: {kept}."
        ) from error
    except (duckdb.Error, OSError) as error:
        if TOO_MANY_FILES in str(error):
            raise TooManyFiles from error
        lost = REBUILT_IF_LOST if may_lack_files(error) else ""
        raise AnalyticsError(
            f"{failed} ({type(error).__name__}: {without_statement(error)}): {kept}. Check the disk (`wms-sync "
            f"doctor`) and run again.{lost}"
        ) from error
