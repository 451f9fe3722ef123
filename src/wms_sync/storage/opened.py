"""Open the storage that ``WMS_FILES_URL`` names; obstore is imported only then."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from wms_sync.errors import SettingsError
from wms_sync.storage.files import Files

SCHEMES = ("s3", "gs", "az", "file")
RETRIES = 6
"""Pauses start at 0.1 s and grow, so a store that is down for a few seconds does not make a run fail."""
SENT = {"s3": "AWS_", "az": "AZURE_"}
"""The prefix of the variables whose values obstore puts into headers unchanged."""
TOKEN_FILE = "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"  # noqa: S105 - the name of a variable
"""The variable that names a file whose content obstore puts into a header unchanged."""
CONNECT_SECONDS, REQUEST_SECONDS = 5, 120


def checked_place(value: str) -> str:
    """Return the URL without a slash at its end. Raise ``ValueError`` if it is not a location that can be opened."""
    url = urlsplit(value.strip())
    if url.scheme not in SCHEMES or not (url.netloc or (url.scheme == "file" and url.path.strip("/"))):
        raise ValueError("must look like s3://bucket/prefix, gs://bucket/prefix, az://container/prefix or file:///path")
    if url.username or url.password or url.query or url.fragment:
        raise ValueError("must be a bucket and a prefix, without a query; credentials belong in the environment")
    _refuse_line_breaks(url.scheme)
    return value.strip().rstrip("/")


@cache
def bucket_files(url: str, endpoint: str | None, parent: Path) -> Files:
    """Return the files of a location: the same object each time, because it caches the listing.

    ``parent`` is the folder for copies. obstore takes credentials and region from ``AWS_*``, ``GOOGLE_*`` and
    ``AZURE_*`` in the environment, or from the machine's role. Raise ``SettingsError`` if the location cannot be
    opened.
    """
    from obstore.exceptions import BaseError
    from obstore.store import from_url

    from wms_sync.storage.bucket import BucketFiles

    scheme = urlsplit(url).scheme
    try:
        store = from_url(url, mkdir=True) if scheme == "file" else from_url(url, **_options(endpoint))
    except (BaseError, ValueError, OSError) as error:
        raise SettingsError(f"WMS_FILES_URL: {url} cannot be opened ({str(error).partition(chr(10))[0]})") from None
    return BucketFiles(store, url, parent, is_conditional=scheme != "file", numbers_versions=scheme == "gs")


def _refuse_line_breaks(scheme: str) -> None:
    """Raise ``ValueError`` if credentials contain a line break, as a secret that was written with ``echo`` does.

    obstore would panic: it would raise an error that is not an ``Exception``, after printing a page of Rust's stack.
    """
    if (prefix := SENT.get(scheme)) is None:
        return
    for name, value in os.environ.items():
        if name.startswith(prefix) and _has_line_break(value.encode(errors="surrogateescape")):
            raise ValueError(f"{name} contains a line break, which no request can carry: set it without one")
    path = os.environ.get(TOKEN_FILE)
    with suppress(OSError):  # obstore reports a file that cannot be read
        if scheme == "s3" and path and _has_line_break(Path(path).read_bytes()):
            raise ValueError(
                f"{path}, the file of {TOKEN_FILE}, contains a line break, which no request can carry: write "
                "it without one (`printf %s`, not `echo`)"
            )


def _has_line_break(value: bytes) -> bool:
    return b"\n" in value or b"\r" in value


def _options(endpoint: str | None) -> dict[str, Any]:
    client = {
        "connect_timeout": timedelta(seconds=CONNECT_SECONDS),
        "timeout": timedelta(seconds=REQUEST_SECONDS),
        "allow_http": endpoint is not None and endpoint.startswith("http:"),
    }
    return {"client_options": client, "retry_config": {"max_retries": RETRIES}} | (
        {} if endpoint is None else {"endpoint": endpoint}
    )
