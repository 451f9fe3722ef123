"""Errors of files in object storage.

FilesError
├── FilesUnavailable    the store did not answer
│   └── FilesRefused    the store refused, or has no such bucket
├── OddName             an object has a name that is not a valid path
├── NameTaken           the name has other content
└── VersionsKept        the store keeps deleted objects
"""

from __future__ import annotations

import re

from wms_sync.errors import WmsSyncError

_QUERY = re.compile(r"\?[^\s\"]*")
"""The query of a URL, which may contain a signature."""


class FilesError(WmsSyncError):
    """An error of files in object storage."""


class FilesUnavailable(FilesError):
    """A request to the store failed, after all its retries."""

    def __init__(self, what: str, where: str, error: Exception) -> None:
        first = _QUERY.sub("?...", str(error).partition("\n")[0])
        super().__init__(
            f"{where} could not be {what} ({type(error).__name__}: {first}). Everything recorded so far stays valid, "
            "and the next run continues from there. Check the network, the bucket and its region, the credentials and "
            "their permissions: `wms-sync doctor` tries each kind of request."
        )


class FilesRefused(FilesUnavailable):
    """The store denies access, or has no such bucket: waiting does not help."""


class OddName(FilesError):
    """An object has a name that is not a valid path, so its folder cannot be listed."""

    def __init__(self, where: str, error: Exception) -> None:
        super().__init__(
            f"{where} could not be listed, because an object there has a name that wms-sync does not use: "
            f"{_QUERY.sub('?...', str(error).partition(chr(10))[0])}. Nothing was changed. Delete that object with the "
            "tools of the store, check who else can write there, and run again."
        )


class NameTaken(FilesError):
    """The name of a file to be put already has other content."""

    def __init__(self, where: str) -> None:
        super().__init__(
            f"{where} exists with other content; nothing was overwritten. Another installation writes to the same "
            "WMS_FILES_URL: give each installation its own prefix."
        )


class VersionsKept(FilesError):
    """The bucket keeps versions, or has some, so deleted objects are not gone."""

    def __init__(self, url: str) -> None:
        super().__init__(
            f"{url} keeps old versions of its objects, or has objects from when it did, so deleted personal data would "
            "stay there. Nothing was changed. Turn versioning off for the bucket, copy every object onto itself, which "
            "removes its version, and delete all old versions; then run again."
        )
