"""Errors of the steps between the Parquet files and the published file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from wms_sync.errors import SettingsError, WmsSyncError
from wms_sync.grammar import count_of

REBUILT_IF_LOST = " If files of a lake are lost, `wms-sync rebuild` makes it anew."
STATEMENT = re.compile(r'(Failed to (?:execute query|prepare COPY)) ".*', re.DOTALL)
SAYS = re.compile(r"^.*?ERROR:\s+(.*)$", re.MULTILINE)


def without_statement(error: Exception) -> str:
    """Return what DuckDB says of an error, without the statement that it sent to PostgreSQL.

    The statement of a commit has the least and the greatest values of columns, which may name persons.
    """
    text = str(error)
    said = SAYS.findall(text)
    return "; ".join([STATEMENT.sub(r"\1", text).strip(), *said[:1]]) if STATEMENT.search(text) else text


class AnalyticsError(WmsSyncError):
    """Loading, checking or publishing failed; the published file is unchanged."""


class CountsDisagreeError(AnalyticsError):
    """Rows would be lost or duplicated between two steps; the transaction was rolled back."""


class RawPagesDamagedError(AnalyticsError):
    """Raw pages on disk are not as they were received; their windows count as unread from now on."""

    def __init__(self, reasons: Sequence[str]) -> None:
        self.reasons = tuple(reasons)
        shown = "\n".join(f"- {reason}" for reason in reasons)
        super().__init__(
            f"{count_of(len(reasons), 'window has', 'windows have')} a damaged raw page; nothing was merged or "
            "published. That time now counts as unread: run `wms-sync sync`, which reads it again, then repeat what "
            f"you wanted to do.\n{shown}"
        )


class TablesNewer(AnalyticsError):
    """The tables have what neither this nor an earlier release defines."""

    def __init__(self, found: str) -> None:
        super().__init__(
            f"The tables were written by a newer release of wms-sync: {found}. Nothing was loaded. Update wms-sync, "
            "then run again."
        )


class DatabaseOpenError(AnalyticsError):
    """The working or the published file cannot be opened, or is damaged."""


class NothingCheckedError(AnalyticsError):
    """No load has published yet what the checks are to be asked of, or what they found."""


class UnknownShipmentError(AnalyticsError):
    """No page that was read holds the shipment that is to be explained."""


class UnknownOrderError(AnalyticsError):
    """A name matches no order, or several."""

    exit_code = 2


class ForgottenOrdersLostError(AnalyticsError):
    """Neither the file nor the state store is sure to know all forgotten orders."""

    def __init__(self, path: Path, damage: str) -> None:
        super().__init__(
            f"{path} {damage}, and the state store is new or an old copy: which orders were forgotten is not known any "
            "more, and their personal data would be stored again. Nothing was read or loaded. Restore a copy of this "
            "file or of the state store, or write the file yourself: a JSON list of the ids of all forgotten orders, "
            "such as [4711, 4712], or [] if there are none."
        )


class NotCommitted(AnalyticsError):
    """A load of a lake was made and could not be committed."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(
            f"The load could not be committed ({type(cause).__name__}: {without_statement(cause)}). Nothing of it was "
            "published, and what is landed is not read again. Look whether PostgreSQL answers: `wms-sync doctor`. Then "
            "run again."
        )


class MaintenanceError(AnalyticsError):
    """Maintenance of a lake stopped half way. ``may_lack_files``: a rebuild may be needed before it can go on."""

    def __init__(self, cause: Exception, *, may_lack_files: bool) -> None:
        self.may_lack_files = may_lack_files
        lost = REBUILT_IF_LOST if may_lack_files else ""
        super().__init__(
            f"Maintenance of the lake stopped ({type(cause).__name__}: {without_statement(cause)}). The tables are as "
            "they were, and what was put together stays so. Look whether PostgreSQL and the files answer: `wms-sync "
            "doctor`. If memory was short, raise WMS_MEMORY_LIMIT. Then run `wms-sync maintain`, which continues."
            f"{lost}"
        )


class ReadersInTheWay(AnalyticsError):
    """PostgreSQL cannot write the statistics of a lake anew while somebody reads them."""

    def __init__(self, sessions: Sequence[int]) -> None:
        ended = ", ".join(f"pg_terminate_backend({session})" for session in sessions) or "pg_terminate_backend(...)"
        super().__init__(
            "The persons are gone from every table, file and snapshot of the lake, but not yet from what PostgreSQL "
            "keeps of deleted statistics: readers keep a transaction open. Every run tries again, and so does "
            f"`wms-sync forget`. Let them commit, or end their sessions: select {ended}"
        )


class FormerLake(AnalyticsError):
    """A lake is left that the settings do not name any more, and that has persons too."""

    def __init__(self, place: str) -> None:
        super().__init__(
            f"The database of WMS_STATE_URL still has a lake, whose files in {place} hold persons too. Nothing was "
            "changed. If nobody needs it, run `drop schema lake cascade` in PostgreSQL and delete these files; then "
            "run again. If it is in use, set WMS_ANALYTICS=ducklake."
        )


class DatabaseForbidden(DatabaseOpenError):
    """This process may not read the file, of which nothing else is wrong."""


class DatabaseNewer(DatabaseOpenError):
    """A newer DuckDB than ours has written the file."""

    def __init__(self, path: Path, version: str) -> None:
        super().__init__(
            f"{path} was written by a newer release of wms-sync, whose DuckDB is newer than {version}. Nothing was "
            "changed. Update wms-sync, then run again."
        )


class LakeElsewhere(DatabaseOpenError):
    """The lake's files are in another place than the settings say."""

    def __init__(self, recorded: str, named: str) -> None:
        super().__init__(
            f"The lake of this database has its files in {recorded}, and the settings name {named}: a lake stays "
            "where it is. Nothing was published. Set WMS_DATA_DIR or WMS_FILES_URL as they were. Or, once the raw "
            "pages and Parquet files are in the new place, let the next load make a new lake there: run `drop schema "
            "lake cascade` in PostgreSQL and delete the old files."
        )


class LakeUnreachable(AnalyticsError):
    """DuckDB cannot do in the bucket of a lake what a load and maintenance do there."""

    def __init__(self, what: str, place: str, cause: Exception) -> None:
        super().__init__(
            f"DuckDB cannot {what} {place} ({type(cause).__name__}: {str(cause).partition(chr(10))[0]}), so no load "
            "can succeed. DuckDB takes keys from the environment alone, and neither from a role of the machine or the "
            "container nor from a token file: set AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION, and "
            "AWS_SESSION_TOKEN where keys are lent. They must be allowed to put, get, list and delete there. "
            "`wms-sync doctor` tries each."
        )


class LakeReplaced(AnalyticsError):
    """Another lake was made in the place of this one."""

    def __init__(self, place: str, owner: str) -> None:
        super().__init__(
            f"Another lake was made in the place of this one: {owner} ({place}). Each would delete the other's files, "
            "so nothing was changed. If another installation uses the place by mistake, set its WMS_FILES_URL or "
            "WMS_DATA_DIR to a place of its own and delete that file; then run `wms-sync rebuild` here. If the other "
            "lake is the right one, this installation has an old WMS_STATE_URL."
        )


class AnotherServiceError(SettingsError):
    """The data folder holds data of another service than ``WMS_BASE_URL`` names."""

    def __init__(self, held: str, base_url: str) -> None:
        super().__init__(
            f"This data folder holds {held}, and WMS_BASE_URL is {base_url}: a data folder holds one service only. "
            f"Nothing was read, loaded or sent. Set another WMS_DATA_DIR for {base_url} (and another WMS_STATE_URL, if "
            "you set that)."
        )
