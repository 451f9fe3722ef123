"""Errors of files that do not lie in the data folder.

FilesError
├── FilesUnavailable    the store did not answer
│   └── FilesRefused    it refused, or has no such bucket
├── OddName             an object lies there whose name nobody can ask for
├── NameTaken           other content lies under the name
└── VersionsKept        the store keeps what is deleted
"""

from __future__ import annotations

import re

from wms_sync.errors import WmsSyncError

_QUERY = re.compile(r"\?[^\s\"]*")
"""What stands behind the question mark of an address may be a signature."""


class FilesError(WmsSyncError):
    """Something about the files in object storage."""


class FilesUnavailable(FilesError):
    """A request to the store failed, after all its retries."""

    def __init__(self, what: str, where: str, error: Exception) -> None:
        first = _QUERY.sub("?...", str(error).partition("\n")[0])
        super().__init__(
            f"{where} could not be {what} ({type(error).__name__}: {first}). What was recorded before stays valid, and "
            "the next run goes on there. Check that the bucket exists, its region, the credentials and what they may "
            "do, and the network: `wms-sync doctor` tries each kind of request."
        )


class FilesRefused(FilesUnavailable):
    """The store does not let us, or has no such bucket: to wait mends nothing."""


class OddName(FilesError):
    """An object has a name that is no path, so that nothing beside it can be listed."""

    def __init__(self, where: str, error: Exception) -> None:
        super().__init__(
            f"{where} could not be listed, because an object there has a name that is none of wms-sync's: "
            f"{_QUERY.sub('?...', str(error).partition(chr(10))[0])}. Nothing was changed. Delete that object with the "
            "tools of the store, see who else may write there, and run again."
        )


class NameTaken(FilesError):
    """Other content lies under the name of a file that is put."""

    def __init__(self, where: str) -> None:
        super().__init__(
            f"{where} exists with other content, and nothing was overwritten. Another installation writes below the "
            "same WMS_FILES_URL: give each instance a prefix of its own."
        )


class VersionsKept(FilesError):
    """The bucket keeps versions, or has some, so what is deleted is not gone."""

    def __init__(self, url: str) -> None:
        super().__init__(
            f"{url} keeps old versions of its objects, or has objects from when it did, so that personal data which is "
            "deleted would stay there. Nothing was changed. Turn the bucket's versioning off, copy every object onto "
            "itself, which gives it no version, and delete all old versions; then run again."
        )
