"""Errors of the steps between the Parquet files and the published tables.

Refusals by the system, the disk or DuckDB (of memory, a thread, a file, a statement) are explained here too.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb

from wms_sync.errors import NoThread, OutOfMemory, SettingsError, TooManyFiles, WmsSyncError
from wms_sync.grammar import count_of
from wms_sync.layout import LAKE

REBUILT_IF_LOST = " If files of a lake are lost, `wms-sync rebuild` rebuilds it."
STATEMENT = re.compile(r'(Failed to (?:execute query|prepare COPY)) ".*', re.DOTALL)
SAYS = re.compile(r"^.*?ERROR:\s+(.*)$", re.MULTILINE)
NO_THREAD = "can't start new thread"
"""The text of Python's error; nothing else distinguishes it from other errors."""
TOO_MANY_FILES = os.strerror(errno.EMFILE)


def without_statement(error: Exception) -> str:
    """Return the message of DuckDB's error without the statement that DuckDB sent to PostgreSQL.

    The statement of a commit contains the minimum and maximum values of columns, which may be personal data.
    """
    text = str(error)
    said = SAYS.findall(text)
    return "; ".join([STATEMENT.sub(r"\1", text).strip(), *said[:1]]) if STATEMENT.search(text) else text


def may_lack_files(error: Exception) -> bool:
    """Return whether an error shows that a file of the lake may be missing; only a rebuild repairs that."""
    return isinstance(error, duckdb.IOException) and f"/{LAKE}/" in str(error)


class AnalyticsError(WmsSyncError):
    """An operation on the tables failed."""


class CountsDisagreeError(AnalyticsError):
    """Rows would be lost or duplicated between two steps; the transaction was rolled back."""


class RawPagesDamagedError(AnalyticsError):
    """Raw pages on disk differ from the received pages; their windows count as unread from now on."""

    def __init__(self, reasons: Sequence[str]) -> None:
        self.reasons = tuple(reasons)
        shown = "\n".join(f"- {reason}" for reason in reasons)
        super().__init__(
            f"{count_of(len(reasons), 'window has', 'windows have')} a damaged raw page; nothing was merged or "
            "published. Damaged windows now count as unread: run `wms-sync sync` to reread them, then repeat "
            f"your command.\n{shown}"
        )


class TablesNewer(AnalyticsError):
    """The tables contain something that neither this nor an earlier release defines."""

    def __init__(self, found: str) -> None:
        super().__init__(
            f"The tables were written by a newer release of wms-sync: {found}. Nothing was loaded. Update wms-sync, "
            "then run again."
        )


class DatabaseOpenError(AnalyticsError):
    """The tables, or a load's copy of them, cannot be opened or are damaged."""


class UnknownShipmentError(AnalyticsError):
    """No page that was read contains the shipment to be explained."""


class UnknownOrderError(AnalyticsError):
    """A name matches no order, or several."""

    exit_code = 2


class ForgottenOrdersLostError(AnalyticsError):
    """Neither the file nor the state store has a list of forgotten orders that is certain to be complete."""

    def __init__(self, path: Path, damage: str) -> None:
        super().__init__(
            f"{path} {damage}, and the state store is new or an old copy: the list of forgotten orders is lost, so "
            "their personal data would be stored again. Nothing was read or loaded. Restore a copy of this file or of "
            "the state store, or write the file yourself: a JSON list of the ids of all forgotten orders, such as "
            "[4711, 4712], or [] if there are none."
        )


class NotCommitted(AnalyticsError):
    """A finished load of a lake could not be committed."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(
            f"The load could not be committed ({type(cause).__name__}: {without_statement(cause)}). Nothing was "
            "published; landed pages are kept and not read again. Check that PostgreSQL answers (`wms-sync doctor`), "
            "then run again."
        )


class MaintenanceError(AnalyticsError):
    """Maintenance of a lake stopped halfway; with ``may_lack_files``, it may need a rebuild before it can continue."""

    def __init__(self, cause: Exception, *, may_lack_files: bool) -> None:
        self.may_lack_files = may_lack_files
        lost = REBUILT_IF_LOST if may_lack_files else ""
        super().__init__(
            f"Maintenance of the lake stopped ({type(cause).__name__}: {without_statement(cause)}). No row is "
            "lost, and merged files stay merged. Check that PostgreSQL and the file store answer (`wms-sync "
            "doctor`). If memory was short, raise WMS_MEMORY_LIMIT. Then run `wms-sync maintain`, which continues."
            f"{lost}"
        )


class ReadersInTheWay(AnalyticsError):
    """PostgreSQL cannot rewrite the statistics of a lake while another session reads them."""

    def __init__(self, sessions: Sequence[int]) -> None:
        ended = ", ".join(f"pg_terminate_backend({session})" for session in sessions) or "pg_terminate_backend(...)"
        super().__init__(
            "The personal data is gone from every table, file and snapshot of the lake, but not yet from PostgreSQL's "
            "deleted statistics: readers keep a transaction open. Every run tries again, and so does "
            f"`wms-sync forget`. Let them commit, or end their sessions: select {ended}"
        )


class DatabaseForbidden(DatabaseOpenError):
    """This process has no permission to read the file."""


class DatabaseNewer(DatabaseOpenError):
    """The file was written by a DuckDB newer than the installed one."""

    def __init__(self, path: Path, version: str) -> None:
        super().__init__(
            f"{path} was written by a newer release of wms-sync, whose DuckDB is newer than {version}. Nothing was "
            "changed. Update wms-sync, then run again."
        )


class LakeElsewhere(DatabaseOpenError):
    """The lake's files are not where the settings say."""

    def __init__(self, recorded: str, named: str) -> None:
        super().__init__(
            f"The lake of this database has its files in {recorded}, but the settings name {named}: a lake cannot be "
            "moved. Nothing was published. Set WMS_DATA_DIR or WMS_FILES_URL back. Or, once the raw pages and Parquet "
            "files are in the new place, let the next load create a new lake there: run `drop schema lake cascade` in "
            "PostgreSQL, delete the old files, and grant the readers their rights again (`wms-sync reader`)."
        )


class LakeReplaced(AnalyticsError):
    """Another lake was created in the location of this lake."""

    def __init__(self, place: str, owner: str) -> None:
        super().__init__(
            f"Another lake was created in this lake's location: {owner} ({place}). Each would delete the other's "
            "files, so nothing was changed. If another installation uses the location by mistake, set its "
            "WMS_FILES_URL or WMS_DATA_DIR to a location of its own and delete that file; then run `wms-sync rebuild` "
            "here. If the other lake is the right one, this installation has an old WMS_STATE_URL."
        )


class PublishedElsewhere(SettingsError):
    """The published file is a symbolic link."""

    def __init__(self, path: Path) -> None:
        there = path.readlink()
        super().__init__(
            f"{path} is a symbolic link to {there}. A load would replace the link, and readers of {there} would keep "
            f"the old tables. Nothing was read or loaded. Move the file itself to {path}, and let readers open it "
            "there. To keep files on another disk, set WMS_DATA_DIR."
        )


class AnotherServiceError(SettingsError):
    """The data folder holds data of a service other than that of ``WMS_BASE_URL``."""

    def __init__(self, held: str, base_url: str) -> None:
        super().__init__(
            f"This data folder holds {held}, and WMS_BASE_URL is {base_url}: a data folder holds one service only. "
            f"Nothing was read, loaded or sent. If both are the same service, set WMS_BASE_URL={held}. Otherwise set a "
            f"different WMS_DATA_DIR for {base_url} (and WMS_STATE_URL, if you set that)."
        )


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
    """Raise the block's errors of DuckDB and the disk as ``AnalyticsError`` or ``TooManyFiles``.

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
